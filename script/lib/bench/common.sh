# What every part of script/bench uses. Sourced, not run.
#
# A row of "$rows" is: measure, subject, CPU in µs for one unit, units a second; the first subject of a measure is
# Signalbox, the others are its peers. Rounds alternate between the subjects.

rows=$folder/rows

# CPU seconds (user + system, all threads) that a living process and its children have used; to 10 ms.
cpu_of() {
  local total=0 pid fields
  for pid in "$@"; do
    fields=$(sed 's/.*) //' "/proc/$pid/stat")
    # shellcheck disable=SC2086
    set -- $fields
    total=$((total + ${12} + ${13}))
  done
  awk -v t="$total" -v hz="$(getconf CLK_TCK)" 'BEGIN {printf "%.2f", t / hz}'
}

# A process's state in MB, as VmHWM (its peak) or VmRSS.
memory_of() { awk -v name="$2:" '$1 == name {printf "%.1f", $2 / 1024}' "/proc/$1/status"; }

# measured CPUS COMMAND…: runs it on those cores; then $user_system (CPU s), $wall (s) and $peak (MB) are set.
measured() {
  local cores=$1
  shift
  command time -q -f '%U %S %e %M' -o "$folder/time" taskset -c "$cores" "$@" || return
  read -r user_system wall peak < <(awk '{print $1 + $2, $3, $4 / 1024}' "$folder/time")
}

# row MEASURE SUBJECT CPU-SECONDS SECONDS UNITS
row() {
  awk -v measure="$1" -v subject="$2" -v cpu="$3" -v wall="$4" -v n="$5" 'BEGIN {
    printf "%s\t%s\t%.3f\t%.1f\n", measure, subject, cpu / n * 1e6, n / (wall > 0 ? wall : 0.001)
  }' | tee -a "$rows" | awk -F'\t' '{printf "  %-34s %-26s %10.2f us CPU %12.0f/s\n", $1, $2, $3, $4}' >&2
}

machine() {
  echo "Machine: $(nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), Linux $(uname -r)," \
    "load $(cut -d' ' -f1-3 /proc/loadavg), $(date -u +%Y-%m-%dT%H:%MZ)"
}

# wait_for FILE TEXT PID: until the file holds the text; fails if the process ends first, or after 30 s.
wait_for() {
  local tries=0
  until grep -q "$2" "$1" 2>/dev/null; do
    kill -0 "$3" 2>/dev/null && [ $((tries += 1)) -lt 300 ] || { echo "script/bench: $1 never said “$2”" >&2; return 1; }
    read -rt 0.1 <> <(:) || true
  done
}

# Ends processes that this script started, and waits for them.
end() {
  local pid
  for pid in "$@"; do kill "$pid" 2>/dev/null || true; done
  for pid in "$@"; do wait "$pid" 2>/dev/null || true; done
}

# Medians and spread of all rows; ratios are of medians, ours to theirs, with those of the single rounds in brackets.
table() {
  awk -F'\t' '
    function sorted(text, v,   n, i, j, t) {
      n = split(text, v, " ")
      for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
      return n
    }
    function median(v, n) { return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2 }
    function spread(text,   v, n) { n = sorted(text, v); return sprintf("%.4g (%.4g–%.4g)", median(v, n), v[1], v[n]) }
    function ratio(ours, theirs,   a, b, n, i, r, v, w, m) {
      n = split(ours, a, " "); split(theirs, b, " "); r = ""
      for (i = 1; i <= n; i++) if (b[i] > 0) r = r " " a[i] / b[i]
      n = sorted(ours, v); m = median(v, n); n = sorted(theirs, w)
      n = split(r, a, " "); if (!n || median(w, n) == 0) return "–"
      sorted(r, v)
      return sprintf("%.2g (%.2g–%.2g)", m / median(w, n), v[1], v[n])
    }
    {
      key = $1 FS $2
      if (!(key in cpu)) { keys[++count] = key; if (!($1 in first)) first[$1] = key }
      cpu[key] = cpu[key] " " $3; rate[key] = rate[key] " " $4
    }
    END {
      print "| measure | subject | CPU, µs a unit | units/s | CPU ratio | rate ratio |"
      print "| --- | --- | --- | --- | --- | --- |"
      for (i = 1; i <= count; i++) {
        split(keys[i], part, FS); ours = first[part[1]]; isPeer = keys[i] != ours
        printf "| %s | %s | %s | %s | %s | %s |\n", part[1], part[2], spread(cpu[keys[i]]), spread(rate[keys[i]]),
          isPeer ? ratio(cpu[ours], cpu[keys[i]]) : "", isPeer ? ratio(rate[ours], rate[keys[i]]) : ""
      }
    }' "$rows"
  echo "Ratios: Signalbox's median divided by the peer's (in brackets, those of the single rounds)."
}

# large_database DIRECTORY DEVICES: with one app and so many devices, a third and a fifth of them with a tag, made in
# bulk: an import of ten million takes minutes.
large_database() {
  rm -rf "$1"
  "$signalbox" apps add com.example.app --name "Example" --data "$1" >/dev/null
  "$bench" devices "$1/signalbox.sqlite" "$2" >&2
}

# bind_receiver DIRECTORY: pushes of the app go to the local server.
bind_receiver() {
  openssl ecparam -genkey -name prime256v1 -noout | openssl pkcs8 -topk8 -nocrypt -out "$folder/AuthKey_ABC123DEFG.p8"
  "$signalbox" certificates add "$folder/AuthKey_ABC123DEFG.p8" --team-id DEF123GHIJ --app com.example.app \
    --use-for production --endpoint "localhost:$port" --trust "$folder/ca.pem" --data "$1" >/dev/null
}

# start_console DIRECTORY [OPTION…]: then $serve is its process, $base its address, $cookie a session of an administrator,
# $token one of the API. $descriptors: how many it may have open.
start_console() {
  # Without the pipe that keeps the local server: it ends when nobody holds that any more.
  : >"$folder/serve.log"  # that of the last round says the same
  (
    ulimit -n "${descriptors:-$(ulimit -Hn)}"
    exec "$signalbox" serve --data "$1" --listen 127.0.0.1:0 --log-level error "${@:2}"
  ) >"$folder/serve.log" 2>&1 7>&- &
  serve=$!
  started+=("$serve")
  wait_for "$folder/serve.log" 'Signalbox .* at http' "$serve"
  base=http://127.0.0.1:$(sed -n 's/.*at http:.*:\([0-9]*\)$/\1/p' "$folder/serve.log" | head -n 1)
  token=$("$signalbox" tokens add bench --role admin --data "$1" 2>/dev/null)
  cookie=$(session_of lin@example.com admin "$1")
}

# session_of EMAIL ROLE DIRECTORY: prints the cookie of a new person who is signed in.
session_of() {
  local cookie hash now
  "$signalbox" users add "$1" --role "$2" --data "$3" >/dev/null 2>&1
  cookie=$(head -c 24 /dev/urandom | base64 -w0 | tr '+/' '-_')
  hash=$(printf %s "$cookie" | sha256sum | cut -c1-64)
  now=$(date +%s)000
  sqlite3 "$3/signalbox.sqlite" ".timeout 5000" "INSERT INTO sessions
    (id_hash, user_id, csrf, created_at, seen_at, expires_at)
    SELECT x'$hash', id, 'csrf-bench-0000000000000', $now, $now, $now + 86400000 FROM users WHERE name = '$1'"
  echo "$cookie"
}

# broadcast_once TITLE [RATE]: a push to everybody; then $uid is its id.
broadcast_once() {
  uid=$(curl -sSf -H "Authorization: Bearer $token" -H 'Content-Type: application/json' --data \
    "{\"app\":\"com.example.app\",\"environment\":\"production\",\"platforms\":[\"ios\"],\"audience\":\"all\",
      \"options\":{${2:+\"rate\":$2}},\"notification\":{\"title\":\"$1\",\"body\":\"$(printf '%0120d' 0)\"}}" \
    -o /dev/null -w '%header{location}' "$base/api/v1/pushes")
  uid=${uid##*/}
  [ -n "$uid" ] || { echo "script/bench: no push was made" >&2; return 1; }
}

# push_state UID
push_state() {
  curl -sSf -H "Authorization: Bearer $token" "$base/api/v1/pushes/$1" | sed 's/.*"state":"\([a-z]*\)".*/\1/'
}

# wait_for_push UID: until it is over.
wait_for_push() {
  local state
  while true; do
    state=$(push_state "$1") || { echo "script/bench: the state of push “$1” cannot be read" >&2; return 1; }
    case $state in finished | cancelled | failed) return 0 ;; esac
    kill -0 "$serve" 2>/dev/null || { cat "$folder/serve.log" >&2; return 1; }
    read -rt 0.3 <> <(:) || true
  done
}
