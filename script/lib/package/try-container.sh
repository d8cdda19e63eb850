#!/usr/bin/env bash
# try-container.sh DIR: what `script/package try-container` does with the newest package of the folder. The base image is
# made by debootstrap, so that no registry is needed; the container shares the machine's network (chroot isolation).
set -euo pipefail
# shellcheck source=script/lib/package/debian.sh
source "$(dirname "$0")/debian.sh"
needs debootstrap buildah
package=$(newest_package "$1")
recipe=$(realpath "$(dirname "$0")/Containerfile")

folder=$(mktemp -d)
serve=
image() { buildah --root "$folder/storage" --runroot "$folder/run" --storage-driver vfs "$@"; }

leave() {
  # shellcheck disable=SC2046
  [ -z "$serve" ] || kill -KILL "$serve" $(descendants "$serve") 2>/dev/null || true
  image rm --all >/dev/null 2>&1 || true
  rm -rf --one-file-system "$folder"
}
trap leave EXIT
say() { echo "try-container: $*"; }
fail() { echo "try-container: FAILED: $*" >&2; exit 1; }

say "base image: fresh Debian 12"
fresh_debian "$folder/base" "$folder/log" || fail "debootstrap"
base=$(image from scratch)
image add -q "$base" "$folder/base" / >/dev/null
image commit -q "$base" docker.io/library/debian:12-slim >/dev/null
rm -rf "$folder/base"

say "build with $(basename "$package")"
mkdir "$folder/context"
cp "$package" "$folder/context"
image build --isolation chroot --pull-never -t signalbox -f "$recipe" "$folder/context" >"$folder/log" 2>&1 ||
  { tail "$folder/log" >&2; fail "build"; }

# in_container COMMAND…: as the image's user, with its settings and the volume.
in_container() {
  image run --isolation chroot --env SIGNALBOX_LISTEN=0.0.0.0:0 --volume "$folder/data:/var/lib/signalbox" "$box" "$@"
}

start() {
  box=$(image from --pull-never localhost/signalbox)
  : >"$folder/serve"
  # `buildah run` takes the command from its caller: here the image's own.
  # shellcheck disable=SC2046
  in_container $(image inspect --type image --format '{{range .OCIv1.Config.Entrypoint}}{{.}} {{end}}{{range .OCIv1.Config.Cmd}}{{.}} {{end}}' \
    localhost/signalbox) --demo >"$folder/serve" 2>&1 &
  serve=$!
  await_serve "$serve" "$folder/serve" || fail "it does not serve"
  address=http://127.0.0.1:$(sed -n 's/.* at http.*:\([0-9]*\)$/\1/p' "$folder/serve" | head -n 1)
  process=$(serving "$serve")
  [ -n "$process" ] || fail "no process of the container"
}

# As `podman stop` does.
finish() {
  # shellcheck disable=SC2086
  kill -TERM $process
  wait "$serve" || fail "SIGTERM ended it with $?"
  serve=
  image rm "$box" >/dev/null
}

say "drive it with curl"
mkdir "$folder/data"
user=$(image run --isolation chroot "$(image from --pull-never localhost/signalbox)" id -u)
[ "$user" != 0 ] || fail "it runs as root"
chown "$user" "$folder/data"
start
[ "$(curl -sf "$address/healthz")" = ok ] || fail "healthz"
token=$(in_container signalbox tokens add try --role operator 2>/dev/null | tail -n 1)
grep -q 'http://localhost:.*/session/setup' "$folder/serve" || fail "no link that works outside of the container"
push=$(push_to_the_end "$address" "$token" curl) || fail "the push did not finish"
finish

say "a new container with the same volume"
start
has_finished "$address" "$token" "$push" curl || fail "the push is lost"
finish
say "all as it should be"
