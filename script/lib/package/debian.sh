# What the trials of the package share. Sourced, not run. Mirror: as debootstrap chooses, or SIGNALBOX_DEBIAN_MIRROR.

# The trials read what signalbox says.
export LC_ALL=C.UTF-8

# needs PROGRAM…: as root, with these programs, which are Debian packages of the same name.
needs() {
  local program
  [ "$(id -u)" -eq 0 ] || { echo "script/package: this needs root" >&2; exit 1; }
  for program in "$@"; do
    command -v "$program" >/dev/null || { echo "script/package: apt-get install $program" >&2; exit 1; }
  done
}

# newest_package DIR
newest_package() {
  local packages=("$1"/signalbox_*.deb)
  [ -e "${packages[0]}" ] || { echo "script/package: no package in $1; run script/package first" >&2; exit 1; }
  ls -t "${packages[@]}" | head -n 1
}

# fresh_debian FOLDER LOG: Debian 12 with the network settings of this machine.
fresh_debian() {
  debootstrap --variant=minbase bookworm "$1" ${SIGNALBOX_DEBIAN_MIRROR:+"$SIGNALBOX_DEBIAN_MIRROR"} >"$2" 2>&1 ||
    { tail "$2" >&2; return 1; }
  cp /etc/resolv.conf "$1/etc/" 2>/dev/null || true
  cp -r /etc/apt/apt.conf.d/. "$1/etc/apt/apt.conf.d/" 2>/dev/null || true
}

# await_serve PROCESS LOG: until the server says where it is; fails if it ends before.
await_serve() {
  for _ in $(seq 300); do
    ! grep -q ' at http' "$2" || return 0
    kill -0 "$1" 2>/dev/null || { cat "$2" >&2; return 1; }
    read -rt 0.1 <> <(:) || true
  done
  return 1
}

# descendants PROCESS: the processes that it started, and those that they started.
descendants() {
  local child
  for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do echo "$child"; descendants "$child"; done
}

# serving PROCESS: those of its descendants that are signalbox. It stands behind chroot and su, or buildah.
serving() {
  local child
  for child in $(descendants "$1"); do
    [ "$(cat "/proc/$child/comm" 2>/dev/null)" != signalbox ] || echo "$child"
  done
}

# push_to_the_end ADDRESS TOKEN CURL…: sends a push to the demo's devices, waits until it has finished, and prints its ID.
push_to_the_end() {
  local push
  push=$("${@:3}" -sf -H "Authorization: Bearer $2" -H 'Content-Type: application/json' \
    -d '{"app":"com.example.shop","environment":"development","audience":"all","notification":{"title":"Hello"}}' \
    "$1/api/v1/pushes" | sed -nE 's/.*"id": ?"([^"]+)".*/\1/p')
  for _ in $(seq 100); do
    if has_finished "$1" "$2" "$push" "${@:3}"; then echo "$push" && return 0; fi
    read -rt 0.1 <> <(:) || true
  done
  return 1
}

# has_finished ADDRESS TOKEN PUSH CURL…
has_finished() {
  "${@:4}" -sf -H "Authorization: Bearer $2" "$1/api/v1/pushes/$3" | grep -qE '"state": ?"finished"'
}
