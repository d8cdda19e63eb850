# Sourced by script/watch-broadcast: the browser, over the WebDriver protocol, and waiting for what the push does.

# web METHOD PATH [JSON]: a call in the session.
web_call() { curl -sS -m 60 -X "$1" -H 'Content-Type: application/json' ${3:+--data "$3"} "$web/session/$session/$2"; }
open_page() { web_call POST url "{\"url\":\"$1\"}" >/dev/null; }
# script JAVASCRIPT: what it returns, a text.
script() { web_call POST execute/sync "{\"script\":\"$1\",\"args\":[]}" | sed 's/^{"value":"\{0,1\}\(.*[^"]\)"\{0,1\}}$/\1/'; }
picture() {
  web_call GET screenshot | sed 's/^{"value":"\(.*\)"}$/\1/' | base64 -d >"$pictures/$1.png"
  echo "  $1: $(script "return document.querySelector('[data-live=sentence]').textContent + ' | ' + document.querySelector('[data-live=rate]').textContent" || true)"
}
# press ACTION: the button of a form of the page, as a person would.
press() { script "const f = document.querySelector('form[action\$=\\\"/$1\\\"] button'); if (f) f.click(); return f ? 'yes' : 'no'"; }

start_browser() {
  chromedriver --port=0 >"$folder/driver.log" 2>&1 7>&- &
  driver=$!
  wait_for "$folder/driver.log" 'started successfully on port' "$driver"
  web=http://127.0.0.1:$(sed -n 's/.*started successfully on port \([0-9]*\).*/\1/p' "$folder/driver.log")
  session=$(curl -sS -m 60 -X POST "$web/session" -H 'Content-Type: application/json' --data '{"capabilities":{"alwaysMatch":
    {"browserName":"chrome","goog:chromeOptions":{"binary":"/usr/bin/chromium","args":["--headless=new","--no-sandbox",
    "--disable-gpu","--disable-dev-shm-usage","--hide-scrollbars","--window-size=1280,1100","--lang=en",
    "--disable-background-networking","--no-first-run"]}}}}' | sed -n 's/.*"sessionId":"\([^"]*\)".*/\1/p')
  [ -n "$session" ] || { cat "$folder/driver.log" >&2; return 1; }
  open_page "$base/session/new"
  web_call POST cookie "{\"cookie\":{\"name\":\"signalbox_session\",\"value\":\"$cookie\",\"path\":\"/\"}}" >/dev/null
}

# done_of UID: devices with an outcome.
done_of() { sqlite3 "$data/signalbox.sqlite" ".timeout 5000" \
  "SELECT accepted + failed + dead_token + skipped + unknown FROM pushes WHERE uid = '$1'"; }
wait_until_done() { # UID NUMBER
  while [ "$(done_of "$1")" -lt "$2" ]; do
    case $(push_state "$1") in finished | cancelled | failed) return 0 ;; esac
    read -rt 0.2 <> <(:) || true
  done
}
wait_for_state() { # UID STATE
  local tries=0
  until [ "$(push_state "$1")" = "$2" ]; do
    [ $((tries += 1)) -lt 300 ] || { echo "script/watch-broadcast: $1 is not $2" >&2; return 1; }
    read -rt 0.1 <> <(:) || true
  done
}
