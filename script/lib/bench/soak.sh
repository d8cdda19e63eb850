# Soak: everything that a console does, over and over, and whether memory, descriptors or threads grow. Every 10 seconds a
# broadcast to 100 000 devices, pages 100 times a second, registrations and receipts of 500 phones, an import of 1000
# devices, an export, and readers of events that come and go; every minute a backup, a check of the certificates, 1000
# connections that come and go, and 64 requests at once of one person.
#
# The devices are so many because caches of the database fill first: they end at 64 MB for the writer and 8 MB for a reader.
# The bars: the memory of the last quarter is at most a tenth above that of the second, and no descriptor or thread is left.

soak() {
  local minutes=${1:-30} count=100000 data=$folder/soak client=$folder/limits-bench phones=$folder/apps-bench
  local key uid round=0 until before failed=0
  (cd Benchmarks/limits-bench && go build -o "$client" .)
  (cd Benchmarks/apps-bench && go build -o "$phones" .)
  # shellcheck source=script/lib/bench/http2.sh
  source script/lib/bench/http2.sh
  # shellcheck source=script/lib/bench/import.sh
  source script/lib/bench/import.sh
  large_database "$data" "$count"
  devices_file 1000
  key=$("$signalbox" apps client-keys com.example.app --add --json --data "$data" | sed -n 's/.*"key" *: *"\([^"]*\)".*/\1/p')
  start_receiver
  bind_receiver "$data"
  # Each phone has an address, and so a limit of its own.
  SIGNALBOX_TRUSTED_PROXY=127.0.0.1 start_console "$data"
  broadcast_once "Before"
  wait_for_push "$uid"
  before="$(descriptors_of "$serve") $(threads_of "$serve")"
  : >"$folder/soak.tsv"
  until=$(($(date +%s) + minutes * 60))
  while [ "$(date +%s)" -lt "$until" ]; do
    round=$((round + 1))
    soak_round || failed=$((failed + 1))
    kill -0 "$serve" || { cat "$folder/serve.log" >&2; return 1; }
    printf '%s\t%s\t%s\t%s\t%s\n' "$round" "$(memory_of "$serve" VmRSS)" "$(descriptors_of "$serve")" \
      "$(threads_of "$serve")" "$(stat -c %s "$data/signalbox.sqlite")" >>"$folder/soak.tsv"
    [ $((round % 6)) -ne 0 ] || tail -n 1 "$folder/soak.tsv" >&2
  done
  # Connections that were kept, and threads that wait for work, have gone by then.
  "$client" -kind none -url "$base" -pid "$serve" -seconds 40 -probe /healthz >/dev/null
  echo "Soak of $minutes min: $round rounds, $failed with a failure; descriptors and threads before: $before," \
    "after: $(descriptors_of "$serve") $(threads_of "$serve")"
  sqlite3 "$data/signalbox.sqlite" "SELECT count(*) || ' pushes, ' || sum(accepted) || ' of ' || sum(target) ||
    ' accepted, ' || sum(state <> 'finished') || ' not finished' FROM pushes"
  awk -F'\t' '
    { memory[NR] = $2; size = $5 }
    function median(from, to,   n, i, j, t, v) {
      for (i = from; i <= to; i++) v[++n] = memory[i]
      for (i = 2; i <= n; i++) for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
      return v[int((n + 1) / 2)]
    }
    END {
      quarter = int(NR / 4); second = median(quarter + 1, 2 * quarter); last = median(3 * quarter + 1, NR)
      printf "memory, MB: first %.1f, medians of the quarters %.1f, %.1f, %.1f, %.1f; the file has %d MB\n", memory[1],
        median(1, quarter), second, median(2 * quarter + 1, 3 * quarter), last, size / 1048576
      exit last > second * 1.1
    }' "$folder/soak.tsv" || { echo "script/bench: memory grows" >&2; return 1; }
  [ "$failed" -eq 0 ] || return 1
  end "$serve"
  stop_receiver
}

descriptors_of() { find "/proc/$1/fd" -type l 2>/dev/null | wc -l; }
threads_of() { awk '$1 == "Threads:" {print $2}' "/proc/$1/status"; }

# soak_round: 10 seconds of everything; the probe takes 4 seconds twice, and one afterwards.
soak_round() {
  local jobs=() bad=0 job number
  broadcast_once "Round $round" || return 1
  "$client" -kind none -url "$base" -pid "$serve" -seconds 4 -fields "Cookie: signalbox_session=$cookie" \
    -probe "/ /pushes /pushes/$uid /devices /devices?q=user-7 /incidents /activity /certificates /audiences /settings" \
    >>"$folder/soak.log" &
  jobs+=($!)
  "$phones" register "$base" "$key" 500 16 >>"$folder/soak.log" &
  jobs+=($!)
  for number in 1 2 3 4; do
    curl -sN -m "$number" -o /dev/null -H "Cookie: signalbox_session=$cookie" "$base/pushes/$uid/events" || true
  done &
  jobs+=($!)
  curl -sSf -o /dev/null -H "Authorization: Bearer $token" -H 'Content-Type: application/x-ndjson' \
    --data-binary "@$folder/devices.ndjson" "$base/api/v1/devices/import" || bad=1
  wait_for_push "$uid" || bad=1
  curl -sSf -o /dev/null -H "Cookie: signalbox_session=$cookie" "$base/pushes/$uid/deliveries.csv" || bad=1
  if [ $((round % 6)) -eq 0 ]; then
    "$signalbox" backup --to "$folder/backups" --keep 2 --data "$data" >/dev/null || bad=1
    "$signalbox" check-certificates --data "$data" >/dev/null || bad=1
    "$client" -kind idle -count 1000 -url "$base" -pid "$serve" -seconds 1 >>"$folder/soak.log" || bad=1
    "$client" -kind busy -count 64 -one-address -url "$base" -pid "$serve" -seconds 2 -path "/pushes/$uid" \
      -others-fields "Cookie: signalbox_session=$cookie" >>"$folder/soak.log" || bad=1
  fi
  for job in "${jobs[@]}"; do wait "$job" || bad=1; done
  return "$bad"
}
