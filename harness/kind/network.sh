#!/bin/sh
# network.sh FILE writes its input to a file, in place: containerd, which reads what CNI plugins are
# to do again when a file is written, does not when one is renamed.
set -eu
mkdir -p "${1%/*}"
cat >"$1"
