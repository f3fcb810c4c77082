# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# For scripts inside the test machine: ". /lib/tap.sh", then
#   tap NAME COMMAND...   one test: whether the command succeeds
#   tap_end               the plan; call it last
tap_number=0
tap_failed=0

tap() {
	tap_name=$1
	shift
	tap_number=$((tap_number + 1))
	if "$@"; then
		echo "ok $tap_number - $tap_name"
	else
		echo "not ok $tap_number - $tap_name"
		tap_failed=$((tap_failed + 1))
	fi
}

tap_end() {
	echo "1..$tap_number"
	[ "$tap_failed" = 0 ]
}
