#!/bin/sh
# setup.sh makes a node of Debian and kind's files. Programs are where kind's files say they are.
# systemd starts containerd, the kubelet, and what undoes what kind's entrypoint does at first. A
# container's OOM score may be as low as containerd's own: lower takes a capability that not
# every machine has.
set -eu
for program in containerd ctr containerd-shim-runc-v2; do ln -sf /usr/bin/$program /usr/local/bin/$program; done
mkdir -p /opt/cni /etc/kubernetes/manifests
ln -sfn /usr/lib/cni /opt/cni/bin
find /etc/systemd/system -path '*.wants/*' -delete
for target in basic local-fs multi-user; do rm -f /lib/systemd/system/$target.target.wants/*; done
rm -f /lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service /lib/systemd/system/sockets.target.wants/systemd-udev*
echo ReadKMsg=no >>/etc/systemd/journald.conf
systemctl enable containerd.service kubelet.service undo-mount-hacks.service
systemctl mask systemd-binfmt.service
ctr oci spec | jq '.hooks.createContainer += [{path: "/kind/bin/mount-product-files.sh"}] | del(.process.rlimits)' >/etc/containerd/cri-base.json
sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' /etc/containerd/config.toml
