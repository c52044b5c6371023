#!/bin/sh
# put.sh PART FILE writes its input to a file, which is whole from the beginning. PART is where it
# is until then.
set -eu
cat >"$1"
mv "$1" "$2"
