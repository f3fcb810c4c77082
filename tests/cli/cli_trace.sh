#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test traces as users record and replay them.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
socket=$work/dcpid.sock
: > "$work/empty.conf"

# replay_decided PID: the trace has ended, or the daemon
replay_decided()
{
	"$bin/dcpictl" --socket "$socket" stats 2> /dev/null | grep -qE 'replay_ended[^0-9]+1' ||
		! kill -0 "$1" 2> /dev/null
}

# replay DB ARGUMENT...: replay until the trace has ended
replay()
{
	local db=$1 pid

	shift
	"$bin/dcpid" --config "$work/empty.conf" --socket "$socket" --source replay --db "$db" "$@" \
		> /dev/null 2> "$work/log" &
	pid=$!
	pids+=("$pid")
	eventually replay_decided $pid
	kill -TERM $pid 2> /dev/null
	wait $pid
}

# Recording and counting agree to the sample. A trace knows its events by number only: the replay
# gets the same events, independent of this machine's default.
events=cpu-clock,page-faults
# shellcheck disable=SC2016
check "records a trace" "$bin/dcpirun" -q -e $events --db "$work/run.db" \
	--record-trace "$work/run.trace" \
	sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; ls -l /usr/bin'
by_event="SELECT event, sum(count) FROM dcpi_samples GROUP BY event ORDER BY event"
counted=$(sql "$work/run.db" "SELECT sum(count) FROM dcpi_samples")
is "its owner alone can read it" "$(stat -c %a "$work/run.trace")" 600
replay "$work/replay.db" -e $events --trace "$work/run.trace"
is "the replay ends in good order" $? 0
is "has as many samples as were counted" \
	"$(sql "$work/replay.db" "SELECT sum(count) FROM dcpi_samples")" "$counted"
is "each of its event" "$(sql "$work/replay.db" "$by_event")" "$(sql "$work/run.db" "$by_event")"
is "accounts for every sample" "$(identity "$work/replay.db")" ""

# The recorded trace in tests/fixtures/traces.
replay "$work/fixture.db" -e cpu-clock --trace "$top/tests/fixtures/traces/shell.trace"
is "accounts for every sample of a trace from elsewhere" "$(identity "$work/fixture.db")" ""
is "which has samples" \
	"$(sql "$work/fixture.db" "SELECT sum(count) > 200 FROM dcpi_samples")" 1

# Errors and messages.
daemon=("$bin/dcpid" -q --config "$work/empty.conf" --socket "" --db "$work/x.db")
refused "a replay without a trace" "no trace" "${daemon[@]}" --source replay
refused "a trace for another source" "replay" "${daemon[@]}" --trace "$work/run.trace"
refused "a file that is no trace" "is not a trace" "${daemon[@]}" --source replay --trace /bin/sh
refused "recording from the module" "only the source perf" "${daemon[@]}" --source kmod \
	--record-trace "$work/x.trace"
refused "a trace where nothing can be written" "cannot create .*absent" "${daemon[@]}" \
	--record-trace "$work/absent/x.trace"
head -c 1500 "$top/tests/fixtures/traces/shell.trace" > "$work/cut.trace"
"${daemon[@]}" -e cpu-clock --source replay --trace "$work/cut.trace" 2> "$work/stderr"
is "a trace that is cut short ends the daemon" $? 2
like "and is named" "$(cat "$work/stderr")" "cut.trace. is damaged: block [0-9]+ of the trace"

tap_done
