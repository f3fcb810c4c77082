#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# File systems that are or become read-only, damaged rows, a lock. Needs perf_event_open for the
# machine.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
socket=$work/dcpid.sock
db=$work/dcpi.db
: > "$work/empty.conf"
split_build
${CC:-gcc} -O2 -shared -fPIC -D_GNU_SOURCE -o "$work/failing_write.so" \
	"$top/tests/fixtures/programs/failing_write.c" || exit 1
daemon=(env "LD_PRELOAD=$work/failing_write.so" "FAILING_WRITE=$work/fail" "$bin/dcpid"
	--source perf --socket "$socket" --config "$work/empty.conf" --image-store none)
if ! daemon_start --db "$db" --merge-interval 1; then
	skip "adversity" "$(tail -n 1 "$work/log")"
	tap_done
	exit
fi

# The file system becomes read-only while the daemon runs; this is handled like a full disk.
"$work/split" 100
: > "$work/fail"
refused "a flush to a file system that has become read-only" "Read-only|disk I/O|cannot write" \
	"$bin/dcpictl" --socket "$socket" flush
"$work/split" 200
like "samples wait" "$(ctl stats | awk '$1 == "loss.pending" { print $2 }')" '^[1-9][0-9]*$'
like "and are counted" "$(ctl stats)" '^identity +exact'
refused "a new epoch waits, too" "cannot write" "$bin/dcpictl" --socket "$socket" epoch other
rm "$work/fail"
check "it can be written again" ctl flush
# The next merge may be in progress between the flush and the query.
nothing_lost()
{
	lost=$(identity "$db")$(loss "$db" pending)
	[ "$lost" = 0 ] && return
	ctl flush
	return 1
}
eventually nothing_lost
is "nothing was lost" "$lost" 0
is "nor begun" "$(sql "$db" "SELECT count(*) FROM epoch")" 1

# A damaged row of the epoch that is being written.
sqlite3 -cmd ".timeout 60000" "$db" "UPDATE profile SET data = zeroblob(length(data)) WHERE image =
	(SELECT id FROM image WHERE path = '$work/split')"
refused "a report of a damaged row" "is damaged" "$bin/dcpiprof" --db "$db"
damage_met()
{
	"$work/split" 100
	ctl flush
	logged 'is damaged'
}
eventually damage_met
like "merges go on, and tell" "$(cat "$work/log")" \
	'the database is damaged: [0-9]+ samples that were stored are lost'
ctl flush
# damaged_identity: as identity after the damage: slices still have the samples that the epoch lost
damaged_identity()
{
	identity "$db" | grep -v "reasons\|slices have [0-9]* of [0-9]* samples of image"
}
is "what it had is lost by name" "$(damaged_identity)$(sql "$db" "SELECT count > 0
	FROM counter WHERE counter_group = 'loss' AND name = 'damaged'")" 1
check "and reports are possible again" "$bin/dcpiprof" --db "$db"

# Another program holds the database's lock for longer than a ring buffer can hold samples.
check "another epoch begins" ctl epoch locked
hold_s=$(($(patience) / 8))
{
	printf '.timeout 60000\nBEGIN IMMEDIATE;\n.shell touch %s\n' "$work/locked"
	sleep "$hold_s"
} | sqlite3 "$db" &
locker=$!
eventually test -e "$work/locked"
refused "a flush of a locked database" "locked" "$bin/dcpictl" --socket "$socket" flush
"$work/split" 1000
wait $locker
gap=$(ctl stats | awk '$1 == "stat.drain_gap_ms" { print $2 }')
check "samples were read all the time ($gap ms without, locked for $hold_s s)" \
	[ $((${gap:-0} * 2)) -lt $((hold_s * 1000)) ]
check "it is not locked any more" ctl flush
like "merges waited" "$(ctl stats | awk '$1 == "stat.merge_failures" { print $2 }')" '^[1-9]'
is "nothing was lost to the lock" "$(damaged_identity)$(sql "$db" "SELECT ifnull(sum(count), 0)
	FROM counter WHERE counter_group = 'loss' AND name <> 'pending' AND
		epoch = (SELECT max(id) FROM epoch)")" 0
daemon_stop TERM
is "stops in good order" "$daemon_status" 0

# The file system is read-only from the beginning.
if [ "$(id -u)" -eq 0 ] && mkdir "$work/full" &&
	mount -t tmpfs -o size=16m dcpi-test "$work/full" 2> /dev/null; then
	cp "$db" "$work/full/dcpi.db"
	mount -o remount,ro "$work/full"
	refused "to write on a read-only file system" "Read-only" "$bin/dcpid" -q --source perf \
		--socket "" --config "$work/empty.conf" --db "$work/full/dcpi.db"
	check "reports are made there" "$bin/dcpiprof" --db "$work/full/dcpi.db"
	umount "$work/full"
else
	skip "a read-only file system" "cannot mount a tmpfs"
fi
tap_done
