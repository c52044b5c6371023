#!/bin/sh
# runtime.sh is a runtime for Docker that takes CAP_SYS_RESOURCE out of what runc is to give a
# container (OCI runtime specification, config.json; runc(8), --bundle and --process), and then
# runs runc.
bundle=.
for word; do
	case $before in
	--bundle | -b) bundle=$word ;;
	--process | -p) files="$files $word" ;;
	esac
	before=$word
done
for file in $files "$bundle/config.json"; do
	[ ! -f "$file" ] || sed -i 's/"CAP_SYS_RESOURCE",//g; s/,"CAP_SYS_RESOURCE"//g' "$file"
done
exec runc "$@"
