# Import: NDJSON through `signalbox devices import` into a new database, beside the sqlite3 command line, whose .import
# reads the same rows as CSV into a table and copies them into the same tables with their indexes, tags and counters.
# Both end with a checkpointed file on disk. Every line has a token, an alias, and a third of them one or two tags.

# devices_file COUNT: writes devices.ndjson and devices.csv, unless they are there with as many.
devices_file() {
  [ "$(cat "$folder/devices.count" 2>/dev/null)" != "$1" ] || return 0
  echo "$1" >"$folder/devices.count"
  awk -v n="$1" -v csv="$folder/devices.csv" 'BEGIN {
    srand(7)
    for (i = 0; i < n; i++) {
      token = ""
      for (j = 0; j < 8; j++) token = token sprintf("%08x", int(rand() * 4294967295))
      beta = i % 3 == 0; news = i % 5 == 0
      tags = (beta ? "\"beta\"" : "") (beta && news ? "," : "") (news ? "\"news\"" : "")
      printf "{\"app\":\"com.example.app\",\"environment\":\"production\",\"platform\":\"ios\",\"token\":\"%s\",\"alias\":\"user-%d\",\"tags\":[%s]}\n", token, i, tags
      printf "%s,user-%d,%d,%d\n", token, i, beta, news >csv
    }
  }' >"$folder/devices.ndjson"
}

# new_database DIRECTORY: with one app.
new_database() {
  rm -rf "$1"
  "$signalbox" apps add com.example.app --name "Example" --data "$1" >/dev/null
}

import() {
  local count=${1:-200000} rounds=${2:-3} measure data=$folder/import found
  measure="import of $count devices"
  devices_file "$count"
  # hex() is there since sqlite3 3.0, its inverse only since 3.41: Debian 12 keeps the token as it is, twice as long.
  # The peer so writes more bytes, but decodes nothing.
  cat >"$folder/import.sql" <<SQL
.bail on
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TEMP TABLE line(token TEXT, alias TEXT, beta INTEGER, news INTEGER);
.mode csv
.import --schema temp $folder/devices.csv line
BEGIN;
INSERT INTO devices(app_id, environment, platform, state, token, alias, created_at, registered_at, seen_at)
  SELECT 1, 2, 1, 1, CAST(token AS BLOB), alias, 1, 1, 1 FROM line;
INSERT INTO tags(app_id, name) VALUES (1, 'beta'), (1, 'news');
INSERT INTO device_tags SELECT 1, rowid FROM line WHERE beta;
INSERT INTO device_tags SELECT 2, rowid FROM line WHERE news;
INSERT INTO device_counters SELECT 1, 2, 1, 1, 1, count(*) FROM line;
INSERT INTO tag_counters SELECT tag_id, 2, 1, 1, 1, count(*) FROM device_tags GROUP BY tag_id;
COMMIT;
PRAGMA wal_checkpoint(TRUNCATE);
SQL
  for _ in $(seq "$rounds"); do
    new_database "$data"
    measured "$client_core" "$signalbox" devices import "$folder/devices.ndjson" --data "$data" >"$folder/import.log"
    found=$(sqlite3 "$data/signalbox.sqlite" 'SELECT count(*) FROM devices')
    [ "$found" = "$count" ] || { echo "script/bench: $found devices instead of $count" >&2; return 1; }
    row "$measure" Signalbox "$user_system" "$wall" "$count"
    echo "  peak $peak MB" >&2
    new_database "$data"
    measured "$client_core" sqlite3 "$data/signalbox.sqlite" <"$folder/import.sql" >"$folder/import.log"
    found=$(sqlite3 "$data/signalbox.sqlite" 'SELECT count(*) FROM devices')
    [ "$found" = "$count" ] || { echo "script/bench: $found devices instead of $count" >&2; return 1; }
    row "$measure" "sqlite3 .import" "$user_system" "$wall" "$count"
  done
}
