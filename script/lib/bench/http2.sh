# HTTP/2: POSTs of APNs' shape over one connection with 1000 streams, Signalbox's APNs provider, nghttp2's h2load and a
# Go client in turn against the same local server. Each push of Signalbox has its own token and apns-id; h2load has its
# own address each (it cannot vary a header), or one address for all, which is less work. The true ratio lies between.
# The Go client is of the shape that Go's push programs have (sideshow/apns2): net/http2, a request and an answer for
# each push, 100 goroutines, at which it is at its best; it sends a tenth of the pushes.

# start_receiver [N [MILLISECONDS]]: starts the local server, which refuses one push in N (0: none) and answers after so
# long; then $port is its port.
start_receiver() {
  mkfifo "$folder/input"
  taskset -c "$server_core" "$bench" receive "$folder" 0 "${1:-0}" "${2:-0}" <"$folder/input" >"$folder/receiver.log" &
  receiver=$!
  started+=("$receiver")
  exec 7>"$folder/input"
  wait_for "$folder/receiver.log" listening "$receiver"
  port=$(sed -n 's/^listening .*://p' "$folder/receiver.log" | head -n 1)
}

stop_receiver() {
  exec 7>&-
  wait "$receiver"
  rm "$folder/input"
}

# addresses COUNT: a file with as many addresses of devices, each its own token.
addresses() {
  awk -v n="$1" -v port="$port" 'BEGIN {
    srand(1)
    for (i = 0; i < n; i++) {
      token = ""
      for (j = 0; j < 8; j++) token = token sprintf("%08x", int(rand() * 4294967295))
      print "https://localhost:" port "/3/device/" token
    }
  }' >"$folder/addresses"
  head -n 1 "$folder/addresses" >"$folder/address"
  printf '{"aps":{"alert":{"title":"%0180d"}}}' 0 >"$folder/body"
  jwt=$(head -c 138 /dev/urandom | base64 -w0 | tr '+/' '-_')
}

# signalbox_round MEASURE COUNT CONNECTIONS STREAMS FIRST [PROVIDER [SUBJECT]]
signalbox_round() {
  local cpu wall
  taskset -c "$client_core" "$bench" push "$folder" "$port" "$2" "$3" "$4" "$5" "${6:-apns}" >"$folder/push.log"
  read -r cpu wall < <(sed -n 's/^cpu \(.*\) wall \(.*\)$/\1 \2/p' "$folder/push.log")
  row "$1" "${7:-Signalbox}" "$cpu" "$wall" "$2"
}

# h2load_round MEASURE SUBJECT ADDRESSES COUNT CONNECTIONS [STREAMS]
h2load_round() {
  measured "$client_core" h2load -c"$5" -m"${6:-1000}" -n "$4" -i "$3" -d "$folder/body" \
    -H "authorization: bearer $jwt" -H 'apns-topic: com.example.app' -H 'apns-push-type: alert' \
    -H 'apns-priority: 10' -H 'apns-id: 12345678-9abc-8ef0-8000-000001020304' -H 'content-type: application/json' \
    >"$folder/h2load.log"
  grep -q "$4 succeeded, 0 failed" "$folder/h2load.log" || { cat "$folder/h2load.log" >&2; return 1; }
  row "$1" "$2" "$user_system" "$wall" "$4"
}

build_go_client() {
  # From Debian's package, without network.
  (cd Benchmarks/push-bench && GO111MODULE=off GOFLAGS=-mod=mod GOPATH=/usr/share/gocode GOCACHE="$folder/go" \
    go build -o "$folder/push-bench" .)
}

# go_round MEASURE COUNT
go_round() {
  local cpu wall
  taskset -c "$client_core" "$folder/push-bench" "$folder/ca.pem" "https://localhost:$port" "$folder/addresses" \
    "$folder/body" "$jwt" "$2" 100 >"$folder/go.log"
  read -r cpu wall < <(sed -n 's/^cpu \(.*\) wall \(.*\)$/\1 \2/p' "$folder/go.log")
  row "$1" "Go net/http2, as apns2" "$cpu" "$wall" "$2"
}

http2() {
  local count=${1:-100000} rounds=${2:-3} measure="HTTP/2 push, 1 connection"
  count=$(((count + 9999) / 10000 * 10000))
  build_go_client
  start_receiver
  addresses "$count"
  for _ in $(seq "$rounds"); do
    signalbox_round "$measure" "$count" 1 1000 1000
    h2load_round "$measure" "h2load, own addresses" "$folder/addresses" "$count" 1
    h2load_round "$measure" "h2load, one address" "$folder/address" "$count" 1
    go_round "$measure" $((count / 10))
  done
  stop_receiver
}
