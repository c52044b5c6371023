#!/bin/sh
# prepare.sh BOOT_ID makes what a node has of its own in its mount namespace: /run, what is written
# to /var/lib and /var/log, its boot ID, which is in a file, and what a kubelet and the CNI plugins
# set of the kernel (k8s.io/kubernetes, pkg/kubelet/cm/container_manager_linux.go,
# setupKernelTunables).
set -e
mount -t tmpfs -o mode=755 tmpfs /run
for dir in lib log; do
	mkdir -p /run/skewrig/$dir /run/skewrig/$dir.work
	mount -t overlay -o lowerdir=/var/$dir,upperdir=/run/skewrig/$dir,workdir=/run/skewrig/$dir.work overlay /var/$dir
done
mount --bind "$1" /proc/sys/kernel/random/boot_id
for name in vm/overcommit_memory vm/panic_on_oom kernel/panic kernel/panic_on_oops kernel/keys/root_maxkeys kernel/keys/root_maxbytes net/ipv4/ip_forward; do
	[ -e /proc/sys/$name ] || continue
	mkdir -p /run/skewrig/sys/$name
	cat /proc/sys/$name >/run/skewrig/sys/$name/value
	mount --bind /run/skewrig/sys/$name/value /proc/sys/$name
done
mount --make-rshared /
