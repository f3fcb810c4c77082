#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure how many samples find no image, or the wrong one, while more than a thousand processes a
# second start and end on a loaded machine, and while programs exec each other under one process id:
# tests/cli/cli_storm.sh for a longer time. The rest of the load has a lower priority; otherwise there
# would be no CPU time for a thousand processes.
set -u
cd "$(dirname "$0")/../../.." || exit 2
for _ in $(seq "$(nproc)"); do
	nice -n 19 gzip -c < /dev/urandom > /dev/null &
done
STORM_BENCH=1 STORM_SECONDS=${STORM_SECONDS:-60} STORM_EXECS=${STORM_EXECS:-10000} \
	STORM_ROUNDS=${STORM_ROUNDS:-150000} STORM_TINY=${STORM_TINY:-50} tests/cli/cli_storm.sh
status=$?
# shellcheck disable=SC2046 # numbers
kill $(jobs -p)
exit $status
