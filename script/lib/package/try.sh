#!/usr/bin/env bash
# try.sh DIR: what `script/package try` does with the newest package of the folder. Mirror: as debootstrap chooses, or
# SIGNALBOX_DEBIAN_MIRROR.
set -euo pipefail
# shellcheck source=script/lib/package/debian.sh
source "$(dirname "$0")/debian.sh"
needs debootstrap
package=$(newest_package "$1")

folder=$(mktemp -d)
system=$folder/system
serve=
leave() {
  # shellcheck disable=SC2046
  [ -z "$serve" ] || kill -KILL $(descendants "$serve") "$serve" 2>/dev/null || true
  umount "$system/proc" 2>/dev/null || true
  rm -rf --one-file-system "$folder"
}
trap leave EXIT
say() { echo "try: $*"; }
fail() { echo "try: FAILED: $*" >&2; exit 1; }
inside() { DEBIAN_FRONTEND=noninteractive chroot "$system" "$@"; }
as_user() { inside su -s /bin/sh signalbox -c "cd /var/lib/signalbox && SIGNALBOX_DATA=/var/lib/signalbox $*"; }
# files: everything but what apt and dpkg keep for themselves.
files() { (cd "$system" && find . -xdev \( -path ./proc -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/log -o -path ./tmp \) -prune -o -print | sort); }

say "fresh Debian 12 in a folder"
fresh_debian "$system" "$folder/log" || fail "debootstrap"
mount -t proc proc "$system/proc"
cp "$package" "$system/tmp/first.deb"
# The same program once more under a later version.
dpkg-deb -R "$package" "$folder/second"
sed -i 's/^Version: .*/&+1/' "$folder/second/DEBIAN/control"
dpkg-deb --build --root-owner-group "$folder/second" "$system/tmp/second.deb" >/dev/null
inside apt-get update -qq >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "apt-get update"; }
# What the program needs comes before the comparison, so that only Signalbox's own files are looked at.
depends=$(dpkg-deb -f "$package" Depends | sed 's/([^)]*)//g; s/,/ /g')
# shellcheck disable=SC2086
inside apt-get install -y -qq --no-install-recommends $depends curl sqlite3 >"$folder/log" 2>&1 ||
  { tail "$folder/log" >&2; fail "dependencies"; }
files >"$folder/before"

say "install $(basename "$package")"
inside apt-get install -y -qq --no-install-recommends /tmp/first.deb >"$folder/log" 2>&1 ||
  { cat "$folder/log" >&2; fail "install"; }
inside signalbox --version
[ "$(stat -c %a "$system/var/lib/signalbox")" = 700 ] || fail "the data folder can be read by others"
[ -s "$system/usr/share/man/man1/signalbox.1.gz" ] || fail "no manual page"
echo "SIGNALBOX_LOG_LEVEL=warning" >>"$system/etc/default/signalbox"

start() {
  : >"$folder/serve"
  as_user "exec signalbox serve --demo --listen 127.0.0.1:0" >"$folder/serve" 2>&1 &
  serve=$!
  await_serve "$serve" "$folder/serve" || fail "it does not serve"
  address=$(sed -n 's/.* at \(http[^ ]*\)$/\1/p' "$folder/serve" | head -n 1)
}
finish() {
  # shellcheck disable=SC2046
  kill -TERM $(serving "$serve") || true
  wait "$serve" || true
  serve=
}

say "drive it with curl"
start
[ "$(inside curl -sf "$address/healthz")" = ok ] || fail "healthz"
inside curl -sf "$address/session/new" | grep -q signalbox.css || fail "the sign-in page"
token=$(as_user "signalbox tokens add try --role operator" | tail -n 1)
push=$(push_to_the_end "$address" "$token" inside curl) || fail "the push did not finish"
finish

say "upgrade"
inside apt-get install -y -qq --no-install-recommends /tmp/second.deb >"$folder/log" 2>&1 ||
  { cat "$folder/log" >&2; fail "upgrade"; }
grep -q SIGNALBOX_LOG_LEVEL=warning "$system/etc/default/signalbox" || fail "the options are lost"
start
has_finished "$address" "$token" "$push" inside curl || fail "the push is lost"
finish

say "remove"
inside apt-get remove -y -qq signalbox >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "remove"; }
[ ! -e "$system/usr/bin/signalbox" ] && [ ! -e "$system/usr/share/signalbox" ] || fail "the program is still there"
[ -s "$system/var/lib/signalbox/signalbox.sqlite" ] || fail "removing took the data"
say "purge"
inside apt-get purge -y -qq signalbox >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "purge"; }
! inside getent passwd signalbox >/dev/null || fail "the user is still there"
files >"$folder/after"
left=$(comm -13 "$folder/before" "$folder/after" | grep -vE '^\./(etc/(passwd|group|shadow|gshadow|subuid|subgid)-|run/|root/)' || true)
[ -z "$left" ] || fail "left behind: $left"
say "all as it should be"
