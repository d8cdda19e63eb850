# Audiences: resolved page by page as the engine does, beside the sqlite3 command line that runs the query of the whole
# audience once, to /dev/null. Signalbox's figures are those of the walk alone; of sqlite3, the start of the process
# (about a millisecond) is in them.

audience() {
  local count=${1:-200000} rounds=${2:-5} data=$folder/audience name sql columns app="d.app_id = 1 AND d.environment = 2
    AND d.platform IN (1) AND d.state IN (1)" cpu wall found devices
  # shellcheck source=script/lib/bench/import.sh
  source script/lib/bench/import.sh
  devices_file "$count"
  new_database "$data"
  "$signalbox" devices import "$folder/devices.ndjson" --data "$data" >/dev/null
  local database=$data/signalbox.sqlite
  # Which of the two got which number is not said.
  local beta news
  beta=$(sqlite3 "$database" "SELECT id FROM tags WHERE name = 'beta'")
  news=$(sqlite3 "$database" "SELECT id FROM tags WHERE name = 'news'")
  columns="d.id, d.platform, d.token, d.alias, d.registration_id, d.registered_at"
  local -A queries=(
    [all]="SELECT id FROM devices INDEXED BY devices_kind WHERE app_id = 1 AND environment = 2 AND platform = 1
      AND state = 1 ORDER BY 1 LIMIT -1"
    [tag]="SELECT device_id AS id FROM device_tags WHERE tag_id = $beta UNION
      SELECT device_id AS id FROM device_tags WHERE tag_id = $news ORDER BY 1 LIMIT -1"
    [tag_and]="SELECT device_id AS id FROM device_tags WHERE tag_id = $news ORDER BY 1 LIMIT -1"
    [tag_not]="SELECT device_id AS id FROM device_tags WHERE tag_id = $news ORDER BY 1 LIMIT -1"
    [alias]="SELECT id FROM devices INDEXED BY devices_alias WHERE app_id = 1 AND alias IN
      ($(seq 0 7 6993 | sed "s/.*/'user-&'/" | paste -sd,)) ORDER BY 1 LIMIT -1"
  )
  local -A conditions=(
    [tag_and]="AND EXISTS (SELECT 1 FROM device_tags x WHERE x.tag_id IN ($beta) AND x.device_id = d.id)"
    [tag_not]="AND NOT EXISTS (SELECT 1 FROM device_tags x WHERE x.tag_id IN ($beta) AND x.device_id = d.id)"
  )
  for _ in $(seq "$rounds"); do
    for name in all tag tag_and tag_not alias; do
      "$bench" audience "$database" "$name" com.example.app >"$folder/audience.log"
      read -r cpu wall devices < <(sed -n 's/^cpu \(.*\) wall \(.*\) devices \(.*\)$/\1 \2 \3/p' "$folder/audience.log")
      row "audience $name, $devices devices" Signalbox "$cpu" "$wall" "$devices"
      sql="SELECT $columns FROM (${queries[$name]}) m CROSS JOIN devices d ON d.id = m.id WHERE $app ${conditions[$name]:-}"
      found=$(sqlite3 "$database" "SELECT count(*) FROM ($sql)")
      [ "$found" = "$devices" ] || { echo "script/bench: $name: $devices devices, sqlite3 finds $found" >&2; return 1; }
      printf '.output /dev/null\n%s;\n' "$sql" >"$folder/audience.sql"
      sqlite_timed "$database" "$folder/audience.sql"
      row "audience $name, $devices devices" sqlite3 "$cpu" "$wall" "$devices"
    done
  done
}

# CPU and time by the shell itself, in milliseconds: `time` counts in hundredths, and an alias list takes less.
sqlite_timed() {
  local TIMEFORMAT='%U %S %R' user system
  { time sqlite3 "$1" <"$2" >/dev/null; } 2>"$folder/time"
  read -r user system wall <"$folder/time"
  cpu=$(awk -v a="$user" -v b="$system" 'BEGIN {print a + b}')
}
