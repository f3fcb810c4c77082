#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run a command on a machine that is busy and that another dcpid profiles at the same time.
#
#   tests/busy.sh [COMMAND...]      (default: make check)
#
#	BUSY_TIMES	how often the command runs (3)
#	BUSY_LOOPS	busy loops that run at the same time (4)
#	BUSY_SOURCE	sample source of the other dcpid (auto)
#
# The other dcpid has a separate database and socket. At the end it must still run, and each
# epoch of its database must account for every interrupt: interrupts = stored samples + losses.
# Exit status: 0 if the command succeeded every time and the other dcpid is sound, otherwise 1.
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/lib/daemon_cli.sh"
times=${BUSY_TIMES:-3}
loops=${BUSY_LOOPS:-4}
[ $# -gt 0 ] || set -- make check

${MAKE:-make} --no-print-directory -s -C "$top" all || exit 2
# Copied, because the command may replace the program while it runs.
cp "$bin/dcpid" "$work/dcpid" || exit 2
: > "$work/empty.conf"
socket=$work/dcpid.sock
daemon=("$work/dcpid" -q --source "${BUSY_SOURCE:-auto}" --config "$work/empty.conf"
	--socket "$socket" --audit-socket "" --db "$work/busy.db" --label "beside $1")
daemon_start || {
	echo "busy.sh: the other dcpid does not start: $(tail -n 1 "$work/log")" >&2
	exit 2
}
other_pid=$daemon_pid
for ((i = 0; i < loops; i++)); do
	while :; do :; done &
	pids+=($!)
done

export PROGRAM_SECONDS=${PROGRAM_SECONDS:-7200}
failed=0
for ((i = 1; i <= times; i++)); do
	echo "busy.sh: run $i of $times, $loops busy loops, load $(cut -d ' ' -f 1-3 /proc/loadavg)"
	begin=$SECONDS
	if "$@"; then
		echo "busy.sh: run $i of $times succeeded after $((SECONDS - begin)) s"
	else
		echo "busy.sh: run $i of $times failed with $? after $((SECONDS - begin)) s"
		failed=1
	fi
done

if kill -0 "$other_pid" 2> /dev/null; then
	ctl stats | grep -E '^(interrupts|stored|identity|loss\.)' | awk '$2 != 0'
	daemon_pid=$other_pid
	daemon_stop TERM
	[ "$daemon_status" -eq 0 ] || {
		echo "busy.sh: the other dcpid ended with $daemon_status: $(tail -n 1 "$work/log")"
		failed=1
	}
	unaccounted=$(identity "$work/busy.db")
	[ -z "$unaccounted" ] || {
		echo "busy.sh: the other dcpid's $unaccounted"
		failed=1
	}
else
	echo "busy.sh: the other dcpid has ended: $(tail -n 1 "$work/log")"
	failed=1
fi
exit $failed
