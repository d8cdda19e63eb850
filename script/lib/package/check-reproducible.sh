#!/usr/bin/env bash
# check-reproducible.sh DIR: what `script/package check-reproducible` does. The two folders differ in name and depth, and
# the two builds in umask, time zone and language.
set -euo pipefail
output=$1
mkdir -p "$output"

git diff --quiet HEAD -- || echo "script/package: changes that are not committed are left out" >&2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# build NAME FOLDER SETTING…: a package of the last commit, built in the folder.
build() {
  echo "check-reproducible: build $1, in $2" >&2
  git clone --quiet --shared . "$2"
  (cd "$2" && env "${@:3}" script/package "$folder/$1" >/dev/null) 2>"$folder/log" || { tail "$folder/log" >&2; return 1; }
}
(umask 022 && build one "$folder/a" TZ=UTC LC_ALL=C)
(umask 027 && build two "$folder/another/folder/of-the-second-build" TZ=Asia/Shanghai LC_ALL=C.UTF-8)

one=("$folder"/one/signalbox_*.deb)
two=("$folder"/two/signalbox_*.deb)
(cd "$folder" && sha256sum {one,two}/*.deb {one,two}/*.spdx.json)
if cmp -s "${one[0]}" "${two[0]}" && cmp -s "${one[0]%.deb}.spdx.json" "${two[0]%.deb}.spdx.json"; then
  cp "$folder"/one/signalbox_* "$output"
  echo "check-reproducible: both builds have the same bytes; $output/$(basename "${one[0]}")"
  exit 0
fi

# Names, modes and times first, then the content of each file.
for number in one two; do
  package=("$folder/$number"/signalbox_*.deb)
  dpkg-deb -R "${package[0]}" "$folder/$number/files"
  dpkg-deb -c "${package[0]}" >"$folder/$number/list"
done
echo "check-reproducible: FAILED: the builds differ" >&2
diff "$folder/one/list" "$folder/two/list" | head -n 4 >&2 || true
while IFS= read -r -d '' file; do
  cmp -s "$folder/one/files/$file" "$folder/two/files/$file" && continue
  echo "check-reproducible: the first file that differs: $file" >&2
  cmp "$folder/one/files/$file" "$folder/two/files/$file" >&2 || true
  break
done < <(cd "$folder/one/files" && find . -type f -print0 | sort -z)
exit 1
