#!/bin/sh
# lastlog.sh DIRECTORY COMPONENT prints the newest log of a static pod, whose name begins with that
# of its one container. DIRECTORY is where a kubelet has the logs of pods.
set -eu
# shellcheck disable=SC2012 # a kubelet names the files
log=$(ls -t "$1"/kube-system_"$2"-*/"$2"/*.log | head -n 1)
[ -z "$log" ] || cat "$log"
