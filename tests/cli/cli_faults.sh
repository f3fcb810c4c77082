#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# A sample of the faults of make check-faults, of make fuzz-database and of make fuzz-perfdata.
# Needs perf_event_open.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/lib/tap.sh
for arguments in "--sample 2 --jobs 2" "--damage-database 5" "--damage-perfdata 3"; do
	# shellcheck disable=SC2086 # they are words
	output=$(tests/long/faults.py $arguments 2>&1)
	status=$?
	while IFS= read -r line; do
		echo "# $line"
	done <<< "$output"
	if echo "$output" | grep -q "^ok 1 - faults # SKIP"; then
		skip "faults.py $arguments" "dcpirun cannot sample here"
	else
		is "faults.py $arguments" "$status" 0
	fi
done
tap_done
