#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test the perf source at rates that this machine may not sustain: print the samples taken, the
# losses by cause, and how often the kernel disabled the event for the rest of a tick. Needs root:
# the kernel's limits are raised while this runs, and restored.
#
#	tests/eval/overhead/perf_rate.sh [EVENT:PERIOD]...
#
#	PERF_RATE_SECONDS	length of each run (10)
#
# Exit status: 0 if all interrupts are accounted for.
set -u
cd "$(dirname "$0")/../../.." || exit 2
# shellcheck source=tests/lib/perf_limits.sh
. tests/lib/perf_limits.sh

seconds=${PERF_RATE_SECONDS:-10}
perf_limits_raise 1000000
work=$(mktemp -d) || exit 2
# shellcheck disable=SC2317 # called at the end
remove_work()
{
	rm -rf "$work"
}
perf_limits_cleanup=remove_work
status=0

# measure EVENT:PERIOD: sample with this period
measure()
{
	local daemon load samples

	setsid build/bin/dcpid -q --source perf -e "$1" --config /dev/null \
		--socket "$work/socket" --db "$work/db" 2> "$work/log" 9>&- &
	daemon=$!
	perf_limits_end $daemon
	setsid "$BASH" -c 'while :; do :; done & while :; do /bin/true; done' 9>&- &
	load=$!
	perf_limits_end $load
	sleep "$seconds" 9>&- &
	wait $!
	build/bin/dcpictl --socket "$work/socket" stats > "$work/stats"
	awk '{ ticks = $14 + $15 } END { printf "%s: dcpid took %.1f percent of a CPU\n", event,
		100 * ticks / hz / seconds }' event="$1" hz="$(getconf CLK_TCK)" \
		seconds="$seconds" "/proc/$daemon/stat"
	kill -TERM $daemon
	wait $daemon || { cat "$work/log" >&2; exit 2; }
	kill -TERM -- "-$load"
	perf_limits_ended
	build/bin/dcpiprof --db "$work/db" -n 1 > "$work/report"
	samples=$(sed -n 's/^accounting *\([0-9]*\) interrupts.*/\1/p' "$work/report")
	echo "    $((samples / seconds / $(nproc))) samples a second and CPU on $(nproc) CPUs"
	sed -n 's/^accounting */    /p' "$work/report"
	grep -E '^(loss|stat.*throttl)' "$work/stats" | awk '{ print "    " $1, $2 }'
	grep -i throttl "$work/log" | sed 's/^/    /'
	grep -q '^accounting .*: exact$' "$work/report" || status=1
	rm -f "$work"/db*
}

for event in "${@:-cycles:27000-33000}"; do
	measure "$event"
done
exit $status
