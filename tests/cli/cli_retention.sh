#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Epochs that begin automatically, removal of old epochs, clocks that are set, and a daemon that is
# stopped for a while. Needs perf_event_open for the machine.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
socket=$work/dcpid.sock
db=$work/dcpi.db
: > "$work/empty.conf"
${CC:-gcc} -O2 -shared -fPIC -o "$work/shifted_clock.so" "$top/tests/fixtures/programs/shifted_clock.c" || exit 1
split_build
daemon=(env "LD_PRELOAD=$work/shifted_clock.so" "SHIFTED_CLOCK=$work/clock" "$bin/dcpid"
	--source perf --socket "$socket" --config "$work/empty.conf" --db "$db"
	--merge-interval 1 --drain-interval 50 --image-store none)

# clock_shift REAL BOOT: set both shifts, in seconds since the start. The change is atomic for
# readers.
clock_shift()
{
	echo "$1 $2" > "$work/clock.new"
	mv "$work/clock.new" "$work/clock"
}

# status_wait KEY VALUE: wait until the status has this value
status_wait()
{
	eventually status_is "$@"
}

clock_shift 0 0
if ! daemon_start --epoch-hours 6 --retention 2; then
	skip "retention" "$(tail -n 1 "$work/log")"
	tap_done
	exit
fi
"$work/split" 300
clock_shift 21500 21500
"$work/split" 100
is "an epoch lasts for as long as it is to" "$(ctl --json status | jq .epoch)" 1
clock_shift 21700 21700
check "then another one begins" status_wait epoch 2
"$work/split" 300
like "the database's size is told" "$(ctl_status)" '^db_bytes +[1-9][0-9]+$'
like "to monitors, too" "$(ctl metrics)" '^dcpi_expired_epochs_total 0$'

# The clock is set forward by ten years: that makes no epoch old.
clock_shift 315381700 21700
check "a clock set forward begins an epoch" status_wait epoch 3
like "and is told of" "$(cat "$work/log")" 'the clock was changed by \+3153[56][0-9]{4} s: a new epoch starts'
"$work/split" 300
ctl flush
sleep 1
is "nothing is forgotten for it" "$(ctl --json status | jq .expired_epochs)" 0
# The clock is set back, to before the start.
clock_shift -864000 21700
check "so does one set back" status_wait epoch 4
"$work/split" 300
check "merges go on" ctl flush
like "counts add up" "$(ctl stats)" '^identity +exact'
is "no epoch is longer than it took" "$(sql "$db" "SELECT max(end_ns - start_ns) / 1000000000 <
	86400 FROM epoch")" 1

# Hours later, and three days later, by all clocks.
clock_shift -842000 43700
check "another epoch, as it is time" status_wait epoch 5
"$work/split" 100
clock_shift -582800 302900
check "and again" status_wait epoch 6
check "the old ones go" status_wait expired_epochs 1
like "which is told" "$(cat "$work/log")" 'deleted the oldest epoch because of its age'
"$work/split" 100
daemon_stop TERM
is "and stay gone" "$(sql "$db" "SELECT group_concat(id) FROM epoch")" "1,2,3,5,6"
is "what is left adds up" "$(identity "$db")" ""

# Limit by size: epochs that have ended exceed it.
for _ in $(seq 60); do
	sqlite3 -cmd ".timeout 60000" "$db" "INSERT INTO epoch (host, start_ns, end_ns, open, cpu_model, cpus, kernel,
		source, source_reason, label, interrupts) SELECT host, max(start_ns) + 1,
		max(end_ns) + 1, 0, '', 1, hex(zeroblob(20000)), 'perf', '', '', 0 FROM epoch"
done
before=$(stat -c %s "$db")
clock_shift 0 0
daemon_start --database-mb 1 --retention 0
is_smaller()
{
	[ "$(stat -c %s "$db")" -le 1200000 ]
}
eventually is_smaller
ctl flush
is "a database that is too large gets smaller" \
	"$([ "$(stat -c %s "$db")" -le 1200000 ] && [ "$before" -gt 2400000 ] && echo yes)" yes
like "and tells why" "$(cat "$work/log")" 'deleted the oldest epoch to make room'
daemon_stop TERM
is "integrity" "$(sqlite3 "$db" "PRAGMA integrity_check")" ok
is "what is left adds up still" "$(identity "$db")" ""

# The daemon is stopped for a while: the kernel's buffers fill up, and further samples are recorded
# as lost.
rm -f "$db"*
daemon_start -e cpu-clock:100000
"$work/split" 200
kill -STOP "$daemon_pid"
before_ns=$(date +%s%N)
"$work/split" 3000
stopped_ns=$(($(date +%s%N) - before_ns))
kill -CONT "$daemon_pid"
"$work/split" 200
check "a daemon that was stopped goes on" ctl flush
like "and accounts for all" "$(ctl stats)" '^identity +exact'
daemon_stop TERM
is "in the database as well" "$(identity "$db")" ""
is "in one epoch" "$(sql "$db" "SELECT count(*) FROM epoch")" 1
# The expected number, if the kernel permits so high a rate; otherwise the number that it permits.
is "with the samples of that time, or their loss" "$(sql "$db" "SELECT sum(interrupts) >
	CASE WHEN max(period_max) < 110000 THEN 3000 ELSE $stopped_ns / 2 / max(period_max) END
	FROM epoch JOIN event ON event.epoch = epoch.id")" 1
tap_done
