#!/bin/sh
# overlay.sh DIRECTORY COMMAND [ARGUMENT...] runs a command in a mount namespace in which the root directory is below an
# overlay. What the command changes is in DIRECTORY/upper. The namespaces, of mounts and of processes, are the caller's to
# make.
set -eu
dir=$1
shift
mount --make-rprivate /
mkdir "$dir/upper" "$dir/layers" "$dir/root"
mount -t tmpfs tmpfs "$dir/layers"
mkdir "$dir/layers/upper" "$dir/layers/scratch"
mount -t overlay -o "lowerdir=/,upperdir=$dir/layers/upper,workdir=$dir/layers/scratch" overlay "$dir/root"
mount -t proc proc "$dir/root/proc"
for special in sys dev; do mount --rbind "/$special" "$dir/root/$special"; done
status=0
chroot "$dir/root" "$@" || status=$?
cp -a "$dir/layers/upper/." "$dir/upper/"
exit $status
