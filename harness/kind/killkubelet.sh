#!/bin/sh
# killkubelet.sh kills the kubelet of a node, and has systemd not start it again, as it does a second
# later (kind, kubelet.service, RestartSec).
set -eu
systemctl kill --signal=KILL kubelet.service
systemctl stop kubelet.service
