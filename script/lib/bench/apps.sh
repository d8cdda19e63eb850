# What apps call: a registration beside Go's net/http with the same inserts (bar: 1.5 times its CPU), receipts beside the
# bare inserts of SQLite (bar: 3 times), and a broadcast while receipts come in beside the same at rest (bar: a tenth
# slower). The server trusts this machine as a proxy, because each phone has an address and so a limit of its own.

apps() {
  local count=${1:-20000} rounds=${2:-3} data=$folder/apps peer=$folder/apps-bench key server before wall
  (cd Benchmarks/apps-bench && go build -o "$peer" .)
  for _ in $(seq "$rounds"); do
    new_apps "$data"
    start_apps "$data"
    before=$(cpu_of "$serve")
    wall=$(taskset -c "$client_core" "$peer" register "$base" "$key" "$count" 64)
    row "registration" Signalbox "$(awk -v a="$before" -v b="$(cpu_of "$serve")" 'BEGIN {print b - a}')" "$wall" "$count"
    report_round "receipt, one a request" 0 1 "$count"
    # A phone that was offline for a while.
    report_round "receipt, 20 a request" 1 20 $((count / 4))
    end "$serve"
    new_apps "$data"
    : >"$folder/peer.log"  # that of the last round says the same
    taskset -c "$server_core" "$peer" serve "$data/signalbox.sqlite" >"$folder/peer.log" 2>&1 &
    server=$!
    started+=("$server")
    wait_for "$folder/peer.log" 'listening at' "$server"
    before=$(cpu_of "$server")
    wall=$(taskset -c "$client_core" "$peer" register "$(sed 's/.* //' "$folder/peer.log")" - "$count" 64)
    row "registration" "Go net/http, SQLite" \
      "$(awk -v a="$before" -v b="$(cpu_of "$server")" 'BEGIN {print b - a}')" "$wall" "$count"
    end "$server"
    # One transaction for each request, as the peer above; and as many at a time as a busy server writes.
    insert_round "receipt, one a request" 1 1 "$count"
    insert_round "receipt, 20 a request" 20 1000 $((count / 4))
  done
  beside "$count"
}

# report_round MEASURE NUMBER PUSHES PHONES: phones report of the pushes bench-NUMBER-0 ….
report_round() {
  local before wall
  sqlite3 "$data/signalbox.sqlite" ".timeout 5000" "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n
    WHERE i + 1 < $3) INSERT INTO pushes(uid, seed, app_id, environment, draft, search, state, source, created_by,
    created_at, started_at, signature) SELECT 'bench-$2-' || i, 1, 1, 'development', '{}', '', 'finished', 'api',
    'bench', $(date +%s)000, $(date +%s)000, 'signature-bench-' FROM n"
  before=$(cpu_of "$serve")
  wall=$(taskset -c "$client_core" "$peer" report "$base" "bench-$2" signature-bench- "$4" "$3" 64 0)
  row "$1" Signalbox "$(awk -v a="$before" -v b="$(cpu_of "$serve")" 'BEGIN {print b - a}')" "$wall" $(($3 * $4))
}

# insert_round MEASURE PUSHES SIZE PHONES: the same rows, so many in a transaction.
insert_round() {
  sqlite3 "$data/signalbox.sqlite" "DELETE FROM receipts"
  measured "$server_core" "$peer" insert "$data/signalbox.sqlite" "$4" "$2" "$3"
  row "$1" "bare SQLite insert" "$user_system" "$wall" $(($2 * $4))
}

# beside PHONES: how long a broadcast takes while so many phones report, 1000 a second, beside the same without them.
beside() {
  local count=$1 devices=200000 data=$folder/beside phones took=() uid
  # shellcheck source=script/lib/bench/http2.sh
  source script/lib/bench/http2.sh
  large_database "$data" "$devices"
  key=$("$signalbox" apps client-keys com.example.app --add --json --data "$data" | sed -n 's/.*"key" *: *"\([^"]*\)".*/\1/p')
  start_receiver
  bind_receiver "$data"
  SIGNALBOX_TRUSTED_PROXY=127.0.0.1 start_console "$data"
  # In the other environment, so that the broadcast does not reach them.
  "$peer" register "$base" "$key" "$count" 64 >/dev/null
  broadcast_once "Before"
  wait_for_push "$uid"
  for round in rest reports rest reports; do
    if [ "$round" = reports ]; then
      sqlite3 "$data/signalbox.sqlite" ".timeout 5000" "INSERT INTO pushes(uid, seed, app_id, environment, draft, search,
        state, source, created_by, created_at, started_at, signature) VALUES ('bench-${#took[@]}-0', 1, 1, 'development',
        '{}', '', 'finished', 'api', 'bench', $(date +%s)000, $(date +%s)000, 'signature-bench-')"
      "$peer" report "$base" "bench-${#took[@]}" signature-bench- "$count" 1 64 1000 >"$folder/phones.log" 2>&1 &
      phones=$!
      started+=("$phones")
    fi
    broadcast_once "Beside, $round"
    wait_for_push "$uid"
    took+=("$(sqlite3 "$data/signalbox.sqlite" "SELECT finished_at - started_at FROM pushes WHERE uid = '$uid'")")
    [ "$round" = rest ] || end "$phones"
  done
  end "$serve"
  stop_receiver
  awk -v a="${took[0]}" -v b="${took[2]}" -v c="${took[1]}" -v d="${took[3]}" -v n="$devices" 'BEGIN {
    ratio = (c + d) / (a + b)
    printf "broadcast to %d devices: %d and %d ms at rest, %d and %d ms beside 1000 receipts a second: %.2f times\n", n, a, b, c, d, ratio
    exit ratio > 1.1
  }' || { echo "script/bench: receipts slow a broadcast down by more than a tenth" >&2; return 1; }
}

# new_apps DIRECTORY: with one app; then $key is its client key.
new_apps() {
  rm -rf "$1"
  "$signalbox" apps add com.example.app --name "Example" --data "$1" >/dev/null
  key=$("$signalbox" apps client-keys com.example.app --add --json --data "$1" | sed -n 's/.*"key" *: *"\([^"]*\)".*/\1/p')
}

# start_apps DIRECTORY: then $serve is its process, $base its address.
start_apps() {
  : >"$folder/serve.log"  # that of the last round says the same
  taskset -c "$server_core" "$signalbox" serve --data "$1" --listen 127.0.0.1:0 --trusted-proxy 127.0.0.1 \
    --log-level error >"$folder/serve.log" 2>&1 &
  serve=$!
  started+=("$serve")
  wait_for "$folder/serve.log" 'Signalbox .* at http' "$serve"
  base=http://127.0.0.1:$(sed -n 's/.*at http:.*:\([0-9]*\)$/\1/p' "$folder/serve.log" | head -n 1)
}
