# Providers: CPU for each device of a push through FCM and through JPush, beside the same through APNs, in turn against the
# same local server, which takes everything. FCM has a request for each device, JPush one for 1000.
# shellcheck source=script/lib/bench/http2.sh
source script/lib/bench/http2.sh

providers() {
  local count=${1:-100000} rounds=${2:-3} provider
  count=$(((count + 9999) / 10000 * 10000))
  start_receiver
  for _ in $(seq "$rounds"); do
    for provider in fcm jpush; do
      signalbox_round "push through $provider" "$count" 1 1000 1000 "$provider"
      signalbox_round "push through $provider" "$count" 1 1000 1000 apns "Signalbox, APNs"
    done
  done
  stop_receiver
}
