#!/bin/sh
# gone.sh FILE waits until there is no such file.
set -eu
while [ -e "$1" ]; do sleep 0.1; done
