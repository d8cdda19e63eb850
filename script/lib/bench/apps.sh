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
    # The push of one who knows its signature, to the devices that were just registered.
    sqlite3 "$data/signalbox.sqlite" ".timeout 5000" "INSERT INTO pushes(uid, seed, app_id, environment, draft, search,
      state, source, created_by, created_at, started_at, signature) VALUES ('bench', 1, 1, 'development', '{}', '',
      'finished', 'api', 'bench', $(date +%s)000, $(date +%s)000, 'signature-bench-')"
    before=$(cpu_of "$serve")
    wall=$(taskset -c "$client_core" "$peer" report "$base" bench signature-bench- "$count" 1 64 0)
    row "receipt, one a request" Signalbox \
      "$(awk -v a="$before" -v b="$(cpu_of "$serve")" 'BEGIN {print b - a}')" "$wall" "$count"
    end "$serve"
    new_apps "$data"
    taskset -c "$server_core" "$peer" serve "$data/signalbox.sqlite" >"$folder/peer.log" 2>&1 &
    server=$!
    started+=("$server")
    wait_for "$folder/peer.log" 'listening at' "$server"
    before=$(cpu_of "$server")
    wall=$(taskset -c "$client_core" "$peer" register "$(sed 's/.* //' "$folder/peer.log")" - "$count" 64)
    row "registration" "Go net/http, SQLite" \
      "$(awk -v a="$before" -v b="$(cpu_of "$server")" 'BEGIN {print b - a}')" "$wall" "$count"
    end "$server"
    # In transactions as large as those of a busy server.
    measured "$server_core" "$peer" insert "$data/signalbox.sqlite" 1 "$count" 64
    row "receipt, one a request" "bare SQLite insert" "$user_system" "$wall" "$count"
  done
  beside "$count"
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
        state, source, created_by, created_at, started_at, signature) VALUES ('bench-${#took[@]}', 1, 1, 'development',
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
  taskset -c "$server_core" "$signalbox" serve --data "$1" --listen 127.0.0.1:0 --trusted-proxy 127.0.0.1 \
    --log-level error >"$folder/serve.log" 2>&1 &
  serve=$!
  started+=("$serve")
  wait_for "$folder/serve.log" 'Signalbox .* at http' "$serve"
  base=http://127.0.0.1:$(sed -n 's/.*at http:.*:\([0-9]*\)$/\1/p' "$folder/serve.log" | head -n 1)
}
