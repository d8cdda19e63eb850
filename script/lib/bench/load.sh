# Load: how long a page takes while a broadcast runs, beside the same pages at rest. One person clicks on (100 requests
# a second over curl, one after the other), while a push to everybody goes out to a light local server as fast as it can.
# The bar: p99 of all pages together under load is at most 5 times that at rest; of a single page it is one of its slowest
# requests, and moves by some milliseconds from run to run. Beside it, the events of the result page: how long the
# longest silence was.

load() {
  local count=${1:-1000000} rounds=${2:-1} data=$folder/load uid round kind bad
  # shellcheck source=script/lib/bench/http2.sh
  source script/lib/bench/http2.sh
  # shellcheck source=script/lib/bench/import.sh
  source script/lib/bench/import.sh
  large_database "$data" "$count"
  start_receiver
  bind_receiver "$data"
  start_console "$data"
  # One push before, so that every page has something to show.
  broadcast_once "Before"
  wait_for_push "$uid"
  local paths=(/ /pushes "/pushes?q=nothing" /pushes/:id "/pushes/:id?outcome=failed" /devices
    "/devices?q=user-77" "/api/v1/pushes?limit=50" /api/v1/pushes/:id /api/v1/pushes/:id/deliveries)
  : >"$folder/samples"
  for round in $(seq "$rounds"); do
    sample rest 40
    broadcast_once "Under load $round"
    curl -sN -H "Cookie: signalbox_session=$cookie" "$base/pushes/$uid/events" |
      while IFS= read -r line; do
        case $line in data:*) echo "$EPOCHREALTIME" ;; esac
      done >"$folder/events.log" &
    local listener=$!
    while [ "$(push_state "$uid")" = sending ] || [ "$(push_state "$uid")" = queued ]; do sample load 2; done
    end "$listener"
    sqlite3 "$data/signalbox.sqlite" "SELECT 'broadcast: ' || target || ' devices in ' ||
      ((finished_at - started_at) / 1000.0) || ' s, ' || state FROM pushes WHERE uid = '$uid'"
    awk 'NR > 1 {g = $1 - last; if (g > max) max = g; n++} {last = $1}
      END {printf "events of the result page: %d, longest silence %.0f ms\n", NR, max * 1000}' "$folder/events.log"
  done
  echo "| page | at rest p50, ms | p99 | under load p50, ms | p99 | p99 ratio | samples |"
  echo "| --- | --- | --- | --- | --- | --- | --- |"
  awk -F'\t' '{print; print $1 FS "all of them" FS $3}' OFS='\t' FS='\t' "$folder/samples" |
    sort -t$'\t' -k2,2 -k1,1 -k3,3n | awk -F'\t' '
    function quantile(key, share,   i) { i = int(n[key] * share) + 1; return v[key, i > n[key] ? n[key] : i] }
    { key = $1 FS $2; v[key, ++n[key]] = $3 * 1000; if (!seen[$2]++) path[++paths] = $2 }
    END {
      for (i = 1; i <= paths; i++) {
        rest = "rest" FS path[i]; load = "load" FS path[i]
        ratio = quantile(load, 0.99) / quantile(rest, 0.99); if (path[i] == "all of them") bad = ratio > 5
        printf "| `%s` | %.1f | %.1f | %.1f | %.1f | %.1f | %d, %d |\n", path[i], quantile(rest, 0.5),
          quantile(rest, 0.99), quantile(load, 0.5), quantile(load, 0.99), ratio, n[rest], n[load]
      }
      exit bad > 0
    }' || { echo "script/bench: pages take over 5 times the time at rest" >&2; bad=1; }
  echo "Memory of the server at its peak: $(memory_of "$serve" VmHWM) MB" >&2
  end "$serve"
  stop_receiver
  return "${bad:-0}"
}

# sample KIND TIMES: asks each of $paths so often, and notes how long each took.
sample() {
  local kind=$1 urls=() path _
  for _ in $(seq "$2"); do
    for path in "${paths[@]}"; do urls+=(-o /dev/null "$base${path/:id/$uid}"); done
  done
  curl -sSf --rate 100/s -H "Cookie: signalbox_session=$cookie" -H "Authorization: Bearer $token" \
    -w "$kind\t%{url}\t%{time_total}\n" "${urls[@]}" | sed "s|$base||; s|$uid|:id|" >>"$folder/samples"
}
