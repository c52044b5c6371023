#!/bin/sh
# init.sh SCRIPT [ARGUMENT...] is the first process of namespaces: it runs the script that prepares
# them, with the arguments, and then waits until its standard input is closed, which the kernel does
# when skewrig ends. A shell that waits for a command also takes notice of the end of orphans.
set -e
mount --make-rprivate /
mount -t proc proc /proc
prepare=$1
shift
eval "$prepare" >&2
echo ready
exec >/dev/null 2>&1
cat
