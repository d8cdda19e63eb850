# Rows: how quickly pages and API find what they show among 100 million deliveries, how large a row is, and whether the
# trimmer holds a broadcast's batches back. The database is built in bulk by signalbox-bench (pushes to everybody and to
# a fifth in turn, three of a hundred devices not reached, one push that reached nearly nobody, 100 000 pushes in the
# history) and asked through the queries of Store. SIGNALBOX_BENCH_ROWS=FILE keeps the database and uses it again.

rows() {
  local count=${1:-100000000} pushes=${2:-100000} devices file=${SIGNALBOX_BENCH_ROWS:-$folder/rows.sqlite} need free
  devices=$((count / 100 > 1000 ? count / 100 : 1000))
  # Rows with their indexes, and once more what sorting an index writes; 5 GB stay free.
  need=$(((count * 64 + devices * 300 + pushes * 900 + count * 24) / 1000000 + 5000))
  free=$(df -Pm "$(dirname "$file")" | awk 'NR == 2 {print $4}')
  echo "A database of $count rows: up to $((need - 5000)) MB, 5000 MB stay free; there are $free MB." >&2
  if [ ! -e "$file" ] && [ "$free" -lt "$need" ]; then
    echo "script/bench: not enough room for that in $(dirname "$file"): name fewer rows, or another TMPDIR." >&2
    return 1
  fi
  local slow=0
  SQLITE_TMPDIR=$(dirname "$file") "$bench" rows "$file" "$count" "$devices" "$pushes" || slow=1
  sqlite3 "$file" "SELECT name, pageno * (SELECT page_size FROM pragma_page_size) AS bytes, ncell FROM dbstat WHERE name LIKE 'deliveries%'
    AND aggregate = TRUE" 2>/dev/null || true
  echo "The file: $(stat -c %s "$file") bytes, $(($(stat -c %s "$file") / count)) for each delivery with all else."
  "$bench" trim "$file" 20
  return "$slow"
}
