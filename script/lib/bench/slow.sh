# Slow answers: the local server answers each push after 50 ms, as APNs may from afar. No client can be faster than
# connections × streams / 0.05 s; the row "limit" is that rate. Before the clock starts, the connections are made with
# pushes that are not counted: Signalbox adds one every 100 ms while all are full. h2load makes all its connections at
# once, inside its time.

slow() {
  local count=${1:-100000} rounds=${2:-3} delay=50 shape connections streams measure
  count=$(((count + 9999) / 10000 * 10000))
  # shellcheck source=script/lib/bench/http2.sh
  source script/lib/bench/http2.sh
  start_receiver 0 "$delay"
  addresses "$count"
  for _ in $(seq "$rounds"); do
    for shape in 1x1000 4x1000 10x100; do
      connections=${shape%x*} streams=${shape#*x}
      measure="50 ms answers, $connections × $streams streams"
      # As many as it sends in the time that it takes to grow, and half as long again.
      signalbox_round "$measure" "$count" "$connections" "$streams" $((connections * streams * 3 * connections / 1000 * 1000 + 1000))
      row "$measure" limit 0 \
        "$(awk -v n="$count" -v c="$connections" -v s="$streams" -v d="$delay" 'BEGIN {print n / (c * s) * d / 1000}')" "$count"
      h2load_round "$measure" "h2load, own addresses" "$folder/addresses" "$count" "$connections" "$streams"
    done
  done
  stop_receiver
}
