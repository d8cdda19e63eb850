# Broadcast: `signalbox send --broadcast`, the whole way: devices in SQLite, through the engine and the APNs provider,
# to as many recorded outcomes. Beside it, h2load sends as many requests over as many connections with 1000 streams to
# the same local server, and records nothing; from a file of addresses, each its own token, or one address for all,
# which is less work. CPU and time are of the whole process, its start included.

broadcast() {
  local count=${1:-100000} rounds=${2:-3} measure idle data=$folder/broadcast found cores connections=4
  measure="broadcast to $count devices"
  # shellcheck source=script/lib/bench/http2.sh
  source script/lib/bench/http2.sh
  # shellcheck source=script/lib/bench/import.sh
  source script/lib/bench/import.sh
  if [ "$count" -gt 2000000 ]; then
    # Made in bulk: an import of ten million takes minutes. h2load would need gigabytes for as many addresses.
    large_database "$data" "$count"
    start_receiver
    addresses 1
  else
    devices_file "$count"
    new_database "$data"
    "$signalbox" devices import "$folder/devices.ndjson" --data "$data" >/dev/null
    start_receiver
    addresses "$count"
  fi
  bind_receiver "$data"
  measured "$client_core" "$signalbox" devices list --data "$data" >/dev/null
  idle=$peak
  # Engine, database and connection have threads of their own: with two cores it shares one with the server.
  cores=0-$(($(nproc) - 1))
  for _ in $(seq "$rounds"); do
    measured "$cores" "$signalbox" send --app com.example.app --environment production --broadcast \
      --title "$(printf '%0180d' 0)" --data "$data" >"$folder/send.log"
    found=$(sqlite3 "$data/signalbox.sqlite" \
      'SELECT count(*) FROM deliveries WHERE outcome = 1 AND push_id = (SELECT max(id) FROM pushes)')
    [ "$found" = "$count" ] || { cat "$folder/send.log" >&2; echo "script/bench: $found of $count" >&2; return 1; }
    row "$measure" Signalbox "$user_system" "$wall" "$count"
    echo "  peak $peak MB, $(awk -v a="$peak" -v b="$idle" 'BEGIN {print a - b}') MB above a command that lists" >&2
    [ "$count" -gt 2000000 ] ||
      h2load_round "$measure" "h2load, own addresses" "$folder/addresses" "$count" "$connections"
    h2load_round "$measure" "h2load, one address" "$folder/address" "$count" "$connections"
  done
  stop_receiver
}
