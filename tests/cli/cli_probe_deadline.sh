#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# A profiler is stopped or killed while it has breakpoints in a program: the kernel removes
# them within 100 ms (daemon/source/probe_holder.h). The program itself stops the profiler, and
# watches its own code (tests/fixtures/stop_profiler.c).
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
subject=$build/tests/stop_profiler
# The bound of the cost would leave no time for probes on a busy machine.
run=("$bin/dcpirun" -q --overhead 100)
gone_max_us=100000
# A watcher that did not run for this long cannot know when the code was restored.
stalled_max_us=20000

# counter DB NAME: print a counter of the newest epoch
counter()
{
	sql "$1" "SELECT ifnull(sum(count), 0) FROM counter WHERE name = '$2' AND
		epoch = (SELECT max(id) FROM epoch)"
}

# in_time NAME OUTPUT: test that every attempt was in time
in_time()
{
	local late

	case $2 in
	*stuck*) not_ok "$1" "$2"; return ;;
	*gone*) ;;
	*) not_ok "$1" "no breakpoint was ever placed: $2"; return ;;
	esac
	late=$(printf '%s\n' "$2" | awk -v max=$gone_max_us -v stall=$stalled_max_us '
		$1 == "gone" && $2 > max && $4 < stall { late++ }
		$1 == "gone" && $2 > max && $4 >= stall { unknown++ }
		END { print (late > 0 ? "late" : unknown > 0 ? "unknown" : "") }')
	case $late in
	late) not_ok "$1" "$2" ;;
	unknown) not_measured "$1" "the watcher did not run for $stalled_max_us us: ${2//$'\n'/; }" ;;
	*) ok "$1" ;;
	esac
}

"${run[@]}" --db "$work/probe.db" "$bin/dcpiprof" --version > /dev/null 2>&1
if [ "$(sql "$work/probe.db" "SELECT count(*) FROM counter WHERE name = 'probes_unavailable' AND
		count = 0")" -lt 1 ]; then
	skip "breakpoints of a stopped profiler" "no probes here"
	tap_done
	exit
fi

# Print the breakpoints that the kernel could not remove, from its log.
leaks()
{
	dmesg 2> /dev/null | grep -c 'dcpi-holder.*leaking uprobe'
}

# attempt COMMAND...: run a command; sets $output and $status. On a busy host there may be no room
# for a probe within a run. Return: false if the program saw no breakpoint.
attempt()
{
	output=$("$@" 2> "$work/$how.err")
	status=$?
	case $output in
	*gone* | *stuck* | '') ;;
	*) return 1 ;;
	esac
}

leaks_before=$(leaks)
for how in stop trace freeze kill; do
	eventually attempt "${run[@]}" --db "$work/$how.db" "$subject" "$how" 3
	# The command's status; 137: the profiler itself was killed.
	case $status:$how in
	0:* | 137:kill) in_time "dcpirun, $how: breakpoints are gone in time" "$output" ;;
	2:freeze) skip "dcpirun, freeze" "no control groups of version 2" ;;
	*) not_ok "dcpirun, $how: runs" "$output$(cat "$work/$how.err")" ;;
	esac
done

# On a busy machine all windows of a run may have ended before the profiler was stopped.
deadline_counted()
{
	[ "$(counter "$work/stop.db" probe_deadlines)" -ge 1 ] ||
		{ "${run[@]}" --db "$work/stop.db" "$subject" stop 3 > "$work/stop.again" 2>&1; false; }
}
check "windows that ended so are counted" eventually deadline_counted

# The budget of a busy machine may have no room for a second window within one run.
probing_went_on()
{
	[ $(($(counter "$work/stop.db" probes) + $(counter "$work/stop.db" probe_deadlines))) -ge 2 ] ||
		{ "${run[@]}" --db "$work/stop.db" "$subject" stop 3 > "$work/stop.again" 2>&1; false; }
}
if eventually probing_went_on; then
	ok "probing goes on afterwards"
elif [ "$(patience)" -gt "${PATIENCE_S:-60}" ]; then
	not_measured "probing goes on afterwards" "no run on the busy machine had a second window"
else
	not_ok "probing goes on afterwards"
fi

# The daemon.
printf 'branch_every = 1\nprobe_permille = 50\n' > "$work/dcpid.conf"
"$bin/dcpid" -q --source perf --socket "" --config "$work/dcpid.conf" --db "$work/daemon.db" \
	2> "$work/daemon.err" &
daemon=$!
pids+=("$daemon")
how=daemon
eventually attempt "$subject" stop 3 "$daemon"
in_time "dcpid, stop: breakpoints are gone in time" "$output"
holders=$(cat /proc/"$daemon"/task/*/children)
eventually attempt "$subject" kill 1 "$daemon"
in_time "dcpid, kill: breakpoints are gone in time" "$output"
# It still runs if the program saw no breakpoint.
kill -KILL "$daemon" 2> /dev/null
wait "$daemon" 2> /dev/null

# holders_left: print the holders that still run
holders_left()
{
	local pid

	for pid in $holders; do
		grep -qs dcpi-holder "/proc/$pid/comm" && echo "$pid"
	done
}
holders_ended()
{
	[ -z "$(holders_left)" ]
}
eventually holders_ended
is "the processes that held breakpoints end with a daemon that is killed" "$(holders_left)" ""
# The kernel's log has those of other profilers, too, which tests at the same time may kill.
leaks=$(leaks)
if [ "$leaks" != "$leaks_before" ] && pgrep -x 'dcpid|dcpirun' > /dev/null; then
	not_measured "the kernel has left no breakpoint in a program" "other profilers run"
else
	is "the kernel has left no breakpoint in a program" "$leaks" "$leaks_before"
fi
tap_done
