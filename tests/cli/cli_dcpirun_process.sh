#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# dcpirun: a process that runs already, a rate, and a duration.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"

# A process that runs already: its samples only, until it or the time ends.
cat > "$work/forever.c" << 'C'
static volatile unsigned long sink;
int main(void) { for (;;) sink++; }
C
gcc -O1 -o "$work/forever" "$work/forever.c" || exit 1
"$work/forever" &
forever=$!
pids+=("$forever")
"$work/forever" &
pids+=("$!")
attach=("$bin/dcpirun" -p "$forever" -F 500 -e cpu-clock --db "$work/attach.db")
if "${attach[@]}" --duration 2 2> "$work/attach.log"; then
	is "a process: no other one has samples" "$(sql "$work/attach.db" \
		'SELECT group_concat(DISTINCT pid) FROM profile WHERE pid >= 0')" "$forever"
	check "a process: it has samples" [ "$(sql "$work/attach.db" \
		'SELECT sum(samples) FROM profile')" -gt 0 ]
	is "a process: every sample is accounted for" "$(identity "$work/attach.db")" ""
	is "a process: the epoch has its name" "$(sql "$work/attach.db" 'SELECT label FROM epoch')" \
		"process $forever (forever)"
	is "a rate: periods of 500 a second" "$(sql "$work/attach.db" \
		'SELECT period_min || "-" || period_max FROM event')" 1875000-2000000
	"${attach[@]}" 2> "$work/attach.log" &
	attached=$!
	attach_began()
	{
		[ "$(sql "$work/attach.db" 'SELECT count(*) FROM epoch' 2> /dev/null)" = 2 ]
	}
	eventually attach_began
	kill "$forever"
	wait "$attached"
	is "a process: dcpirun ends with it" "$?" 0
	refused "a process that has ended" "cannot profile process $forever: No such process" \
		"${attach[@]}"
else
	like "a process: refused with a reason" "$(cat "$work/attach.log")" 'not permitted|No such'
	skip "a process: only with privileges"
fi
"$bin/dcpirun" -q --duration 1 --db "$work/duration.db" "$work/forever" 2> /dev/null
is "a duration ends the command" "$?" 143
refused "a process and a command" "mutually exclusive" "$bin/dcpirun" -p 1 true
refused "no process ID" "'0' is not a valid process ID" "$bin/dcpirun" -p 0
refused "no rate" "'x' is not a valid sampling rate" "$bin/dcpirun" -F x true
tap_done
