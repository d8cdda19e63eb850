# Pages: requests a second and CPU of the server for each, over 32 kept-alive connections of wrk. A static file beside
# nginx with one worker (access log off, sendfile); pages and API calls beside Go's net/http and html/template, which
# shows the same rows out of memory, without a database: Signalbox asks SQLite for session or token and for the rows on
# every request. Server on one core, wrk on another.

pages_load() { # MEASURE SUBJECT SECONDS URL HEADER PIDS…
  local measure=$1 subject=$2 seconds=$3 url=$4 header=$5 before after count wall
  shift 5
  # Warmed up, so that caches of both are filled.
  taskset -c "$client_core" wrk -t1 -c32 -d1s -H "$header" "$url" >/dev/null
  before=$(cpu_of "$@")
  taskset -c "$client_core" wrk -t1 -c32 -d"${seconds}s" -H "$header" "$url" >"$folder/wrk.log"
  after=$(cpu_of "$@")
  if grep -q 'Non-2xx\|Socket errors' "$folder/wrk.log"; then cat "$folder/wrk.log" >&2; return 1; fi
  count=$(awk '/requests in/ {print $1}' "$folder/wrk.log")
  wall=$(awk '/Requests\/sec/ {print 1 / $2}' "$folder/wrk.log")
  row "$measure" "$subject" "$(awk -v a="$before" -v b="$after" 'BEGIN {print b - a}')" \
    "$(awk -v n="$count" -v w="$wall" 'BEGIN {print n * w}')" "$count"
}

pages_nginx() { # PORT
  local user=
  # Started by root its worker becomes somebody who cannot read root's folders.
  [ "$(id -u)" -ne 0 ] || user="user $(id -un) $(id -gn);"
  mkdir "$folder/nginx"
  cat >"$folder/nginx/nginx.conf" <<CONF
daemon off;
$user
worker_processes 1;
pid $folder/nginx/pid;
error_log $folder/nginx/error.log;
events { worker_connections 512; }
http {
  include /etc/nginx/mime.types;
  access_log off;
  sendfile on;
  tcp_nopush on;
  keepalive_requests 1000000000;
  open_file_cache max=100;
  client_body_temp_path $folder/nginx/body;
  proxy_temp_path $folder/nginx/proxy;
  fastcgi_temp_path $folder/nginx/fastcgi;
  uwsgi_temp_path $folder/nginx/uwsgi;
  scgi_temp_path $folder/nginx/scgi;
  server { listen 127.0.0.1:$1; root $folder/site/Public; }
}
CONF
  taskset -c "$server_core" nginx -p "$folder/nginx" -c "$folder/nginx/nginx.conf" 2>"$folder/nginx/start.log" &
  nginx=$!
  started+=("$nginx")
}

pages() {
  local seconds=${1:-3} rounds=${2:-3} data=$folder/pages port=0 token cookie hash now go nginx nginx_port tries=0 worker path
  mkdir "$folder/site"
  cp -r Templates Public "$folder/site"
  head -c 21000 Public/css/signalbox.css >"$folder/site/Public/css/bench.css"
  taskset -c "$server_core" "$signalbox" serve --demo --data "$data" --listen 127.0.0.1:0 --log-level error \
    --resources "$folder/site" \
    >"$folder/serve.log" 2>&1 &
  local serve=$!
  started+=("$serve")
  wait_for "$folder/serve.log" 'Signalbox .* at http' "$serve"
  port=$(sed -n 's/.*at http:.*:\([0-9]*\)$/\1/p' "$folder/serve.log" | head -n 1)
  local base=http://127.0.0.1:$port
  token=$("$signalbox" tokens add bench --role admin --data "$data" 2>/dev/null)
  cookie=$(session_of lin@example.com admin "$data")
  local environment audience
  for number in $(seq 60); do
    environment=development
    [ $((number % 3)) -ne 0 ] || environment=production
    audience='"all"'
    [ $((number % 4)) -ne 0 ] || audience='{"tag":["vip"]}'
    curl -sf -o /dev/null -H "Authorization: Bearer $token" -H 'Content-Type: application/json' --data \
      "{\"app\":\"com.example.shop\",\"environment\":\"$environment\",\"platforms\":[\"ios\"],\"audience\":$audience,
        \"notification\":{\"title\":\"Order $number is on its way\",\"body\":\"It arrives tomorrow\"}}" "$base/api/v1/pushes"
  done
  until [ "$(sqlite3 "$data/signalbox.sqlite" "SELECT count(*) FROM pushes WHERE state = 'finished'")" = 60 ]; do
    [ $((tries += 1)) -lt 100 ] || { echo "script/bench: the pushes did not end" >&2; return 1; }
    read -rt 0.1 <> <(:) || true
  done
  curl -sf -H "Authorization: Bearer $token" "$base/api/v1/pushes?limit=50" >"$folder/pushes.json"
  curl -sf -H "Authorization: Bearer $token" "$base/api/v1/devices/1" >"$folder/device.json"

  (cd Benchmarks/pages-bench && GO111MODULE=on GOPROXY=off GOFLAGS=-mod=mod GOCACHE="$folder/go" go build -o "$folder/pages-bench" .)
  taskset -c "$server_core" "$folder/pages-bench" "$folder" "$cookie" "$token" >"$folder/go.log" 2>&1 &
  go=$!
  started+=("$go")
  wait_for "$folder/go.log" listening "$go"
  local peer=http://$(sed -n 's/^listening //p' "$folder/go.log")

  # nginx cannot tell a port that the system chose: random ones, until one is free.
  for nginx_port in $(shuf -i 20000-32000 -n 5); do
    pages_nginx "$nginx_port"
    tries=0
    until curl -sf -o /dev/null "http://127.0.0.1:$nginx_port/css/bench.css"; do
      kill -0 "$nginx" 2>/dev/null && [ $((tries += 1)) -lt 50 ] || { tries=50; break; }
      read -rt 0.1 <> <(:) || true
    done
    [ "$tries" -ge 50 ] || break
    end "$nginx"
    cat "$folder/nginx/start.log" "$folder/nginx/error.log" >>"$folder/nginx.log" 2>/dev/null || true
    rm -r "$folder/nginx"
  done
  if [ "$tries" -ge 50 ]; then
    echo "script/bench: nginx did not answer" >&2
    cat "$folder/nginx.log" >&2
    return 1
  fi
  worker=$(cat "/proc/$nginx/task/$nginx/children")

  echo "Sizes in bytes, Signalbox and Go:" >&2
  for path in / /pushes; do
    echo "  $path $(curl -sf -H "Cookie: signalbox_session=$cookie" "$base$path" | wc -c)" \
      "$(curl -sf -H "Cookie: signalbox_session=$cookie" "$peer$path" | wc -c)" >&2
  done
  for path in "/api/v1/pushes?limit=50" /api/v1/devices/1; do
    echo "  $path $(curl -sf -H "Authorization: Bearer $token" "$base$path" | wc -c)" \
      "$(curl -sf -H "Authorization: Bearer $token" "$peer$path" | wc -c)" >&2
  done

  local signed_in="Cookie: signalbox_session=$cookie" allowed="Authorization: Bearer $token" measure
  for _ in $(seq "$rounds"); do
    measure="static file, 21 kB"
    pages_load "$measure" Signalbox "$seconds" "$base/css/bench.css" "Accept: */*" "$serve"
    # shellcheck disable=SC2086
    pages_load "$measure" nginx "$seconds" "http://127.0.0.1:$nginx_port/css/bench.css" "Accept: */*" "$nginx" $worker
    for path in / /pushes; do
      measure="page $path"
      pages_load "$measure" Signalbox "$seconds" "$base$path" "$signed_in" "$serve"
      pages_load "$measure" "Go html/template" "$seconds" "$peer$path" "$signed_in" "$go"
    done
    for path in "/api/v1/pushes?limit=50" /api/v1/devices/1; do
      measure="GET $path"
      pages_load "$measure" Signalbox "$seconds" "$base$path" "$allowed" "$serve"
      pages_load "$measure" "Go encoding/json" "$seconds" "$peer$path" "$allowed" "$go"
    done
  done
  echo "Memory, MB: Signalbox $(memory_of "$serve" VmRSS), Go $(memory_of "$go" VmRSS)" >&2
  end "$serve" "$go" "$nginx"
}
