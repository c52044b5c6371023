#!/bin/sh
# Runs a command in an unpacked image as a container runtime does: with a root, a user and
# a loopback of its own. It needs no root, but ip and unshare: container.sh ROOT COMMAND...
set -eu
# shellcheck disable=SC2016 # it is the shell inside that expands them
exec unshare --user --map-root-user --mount --pid --net --ipc --fork --kill-child sh -euc '
  root=$1
  shift
  ip link set lo up
  mkdir -p "$root/proc" "$root/dev"
  mount -t proc proc "$root/proc"
  for device in null zero random urandom; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
  done
  exec env -i HOME=/home/skewrig PATH=/usr/bin \
    unshare --user --map-user=65532 --map-group=65532 --root="$root" --wd=/work "$@"
' container "$@"
