#!/bin/sh
# while.sh COMMAND [ARGUMENT...] runs a command while a containerd runs, in a container that is no
# node. SIGTERM ends both: to the first process of a container it does nothing by itself.
set -eu
log=$(mktemp)
containerd >"$log" 2>&1 &
daemon=$!
until ctr version >/dev/null 2>&1; do
	kill -0 $daemon || {
		cat "$log" >&2
		exit 1
	}
	sleep 0.1
done
"$@" &
trap 'kill $!' TERM
wait $!
kill $daemon
wait $daemon || true
rm "$log"
