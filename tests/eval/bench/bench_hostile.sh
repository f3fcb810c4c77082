#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure the CPU time of the daemon and its processes while another user attacks it, and the longest
# time between two drains: tests/hostile/quotas.sh, which bounds the work but not the time. Needs root.
#
#	FEEDS		sources of image events (default: perf)
#	HOSTILE_SECONDS	length of an attack (default: 5)
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/lib/hostile_cli.sh
if [ "$(id -u)" -ne 0 ]; then
	echo "bench_hostile: needs root" >&2
	exit 1
fi
hostile_build

# figure NAME ATTACK VALUE UNIT
figure()
{
	printf '{"name": "%s", "subject": "dcpid", "workload": "%s", "value": %s, "unit": "%s"}\n' \
		"$1" "$2" "$3" "$4"
}

# measure WORKLOAD FEED ATTACK ARGUMENT...
measure()
{
	local workload="$1, $2"

	shift
	if ! hostile_attack "$@"; then
		cat "$work/log" >&2
		exit 1
	fi
	figure attack_cpu "$workload" "$permille" permille
	figure attack_drain_gap "$workload" "$(stat_of drain_gap_ms)" ms
	# shellcheck disable=SC2119 # with the usual signal
	daemon_stop
}

for feed in ${FEEDS:-perf}; do
	hostile_baseline "$feed"
	figure attack_cpu "none, $feed" "$baseline" permille
	measure "files" "$feed" numbers "$work/a" 60000
	measure "sparse files" "$feed" holes "$work/a" 300
	measure "call frame information" "$feed" tables "$work/a" "$seconds"
	measure "processes of many mappings" "$feed" mappings "$work/a/file" 5 60000
	measure "replaced mappings" "$feed" remap "$work/a/file" "$seconds"
done
