#!/bin/sh
# import.sh DIRECTORY has containerd have the images of all archives in a directory, which are
# unpacked on nodes, and removes it.
set -eu
for archive in "$1"/*; do
	ctr --namespace=k8s.io images import --all-platforms --no-unpack "$archive"
done
rm -r "$1"
