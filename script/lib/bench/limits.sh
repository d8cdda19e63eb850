# Limits under load: what one person notices while others occupy the server, and what becomes of it. A probe asks for pages
# 100 times a second, alone and then beside them:
#
#   10 000 connections that do nothing, 2000 that send a head or a body a byte a second, 500 that read 100 bytes a second,
#   512 that ask without a pause; a viewer who does the most expensive things that he may, 64 times at once; and a server
#   that is out of descriptors.
#
# The bars: nobody who asks is refused, and the viewer costs the others at most 3 times their p99.

limits() {
  local count=${1:-1000000} seconds=${2:-15} data=$folder/limits uid viewer client=$folder/limits-bench path
  (cd Benchmarks/limits-bench && go build -o "$client" .)
  # shellcheck source=script/lib/bench/http2.sh
  source script/lib/bench/http2.sh
  large_database "$data" "$count"
  start_receiver
  bind_receiver "$data"
  start_console "$data" --max-connections 12000
  viewer=$(session_of vera@example.com viewer "$data")
  broadcast_once "Before"
  wait_for_push "$uid"
  : >"$folder/limits.tsv"
  local pages="/ /pushes /pushes/$uid /devices /api/v1/pushes?limit=50"
  occupy "kept, idle" idle 10000
  occupy "heads, a byte a second" heads 2000
  occupy "bodies, a byte a second" bodies 2000 -path /api/v1/devices/import \
    -others-fields "Authorization: Bearer $token"
  occupy "answers, read slowly" readers 500 -path /api/openapi.json
  occupy "requests without a pause" busy 512 -path /healthz -one-address
  local audience="/audiences/explanation?app=com.example.app&environment=production&audience=all"
  for path in /devices.csv /devices.json /pushes/:id/deliveries.csv "/pushes?q=nothing" "/devices?q=nothing" \
    "/audiences/suggestions?app=1&q=t" "$audience" /pushes/:id "/pushes/:id?outcome=failed" /api/openapi.json; do
    occupy "viewer: \`$path\`" busy 64 -path "${path/:id/$uid}" -one-address \
      -others-fields "Cookie: signalbox_session=$viewer"
  done
  end "$serve"
  out_of_descriptors
  stop_receiver
  echo "| others | opened | refused | ended | answered | probe at rest: p50, p99 in ms | beside them | p99 ratio \
| probe failed | MB at rest, beside | CPU, % | descriptors, after |"
  echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
  awk -F'\t' '
    {
      ratio = $10 / ($8 > 0 ? $8 : 1)
      if ($11 > 0 || ($1 ~ /^viewer/ && ratio > 3)) bad = 1
      printf "| %s | %d | %d | %d | %d | %s, %s | %s, %s | %.1f | %d | %d, %d | %d | %d, %d |\n", $1, $3, $4, $5, $6,
        $7, $8, $9, $10, ratio, $11, $12, $13, $14, $15, $16
    }
    END {exit bad > 0}' "$folder/limits.tsv" ||
    { echo "script/bench: a request of the probe failed, or a viewer costs the others over 3 times their p99" >&2; return 1; }
}

# occupy NAME KIND COUNT [OPTION…]: a row of "$folder/limits.tsv".
occupy() {
  printf '%s\t' "$1" >>"$folder/limits.tsv"
  "$client" -kind "$2" -count "$3" -url "$base" -pid "$serve" -seconds "$seconds" -probe "$pages" \
    -fields "Cookie: signalbox_session=$cookie|Authorization: Bearer $token" "${@:4}" >>"$folder/limits.tsv"
  tail -n 1 "$folder/limits.tsv" >&2
}

# out_of_descriptors: 600 connections to a server that may have 300, and a push to everybody meanwhile.
out_of_descriptors() {
  local crowd
  descriptors=300 start_console "$data"
  occupy "kept, idle, 300 descriptors" idle 600 &
  crowd=$!
  # Once they are there: the probe asks alone first.
  until [ "$(find "/proc/$serve/fd" -type l 2>/dev/null | wc -l)" -ge 150 ]; do
    kill -0 "$crowd" 2>/dev/null || { echo "script/bench: the server never ran out of descriptors" >&2; return 1; }
    read -rt 0.1 <> <(:) || true
  done
  broadcast_once "Out of descriptors"
  wait_for_push "$uid"
  sqlite3 "$data/signalbox.sqlite" "SELECT 'a broadcast without descriptors: ' || count(*) || ' pushes, ' || accepted ||
    ' of ' || target || ' accepted' FROM pushes WHERE uid = '$uid'" >&2
  wait "$crowd"
  end "$serve"
}
