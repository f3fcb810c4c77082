#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run dcpid for a long time under mixed load: storms of short processes, dlopen, I/O, reports of the
# database that it writes to, new epochs, reloads with another configuration, dozens of requests.
# Its memory must not grow, no descriptor may leak, every sample must be accounted for, and the
# database must be sound.
#
#	tests/long/soak.sh
#
#	SOAK_SECONDS	length of the test (3600)
#	SOAK_SOURCE	sample source (auto)
#	SOAK_EVENTS	events to sample (cpu-clock; the rate is dcpid's choice)
#	DCPI_BUILD	where the build is (build)
#
# Prints its observations each minute, in the end the figures as lines of tests/eval/bench/bench.h, and the
# faults, if any. Exit status: 0, 1 there are faults, 2 it could not run.
# shellcheck disable=SC2317 # a trap calls cleanup()
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${DCPI_BUILD:-build}
bin=$build/bin
seconds=${SOAK_SECONDS:-3600}
work=$(mktemp -d) || exit 2
socket=$work/socket db=$work/dcpi.db
loads=() wrong=0

cleanup()
{
	[ ${#loads[@]} -gt 0 ] && kill -- "${loads[@]/#/-}" 2> /dev/null
	[ -n "${daemon:-}" ] && kill -KILL "$daemon" 2> /dev/null
	wait 2> /dev/null
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 2' INT TERM

is_wrong()
{
	echo "wrong: $1" >&2
	wrong=1
}

ctl()
{
	timeout 30 "$bin/dcpictl" --socket "$socket" "$@"
}

# load COMMAND: run a shell loop, in a separate process group, at a low priority
load()
{
	setsid nice -n 10 bash -c "$1" > /dev/null 2>&1 &
	loads+=($!)
}

loads_start()
{
	# Short-lived processes, in bursts, under three names.
	# shellcheck disable=SC2016 # for another shell
	load 'while :; do for i in $(seq 200); do /bin/true; /bin/echo x; sh -c :; done; sleep 1; done'
	# Libraries that are loaded and unloaded.
	load 'while :; do python3 -c "
import ctypes, _ctypes, time
names = [\"libm.so.6\", \"libz.so.1\", \"libresolv.so.2\", \"libutil.so.1\"]
for i in range(400):
    for name in names:
        try: _ctypes.dlclose(ctypes.CDLL(name)._handle)
        except OSError: pass
    time.sleep(0.02)"; done'
	# Files written, read, compressed.
	load "while :; do dd if=/dev/urandom of=$work/file bs=64k count=200; sync; gzip -kf $work/file
		md5sum $work/file; sleep 2; done"
	# Threads, and a process that runs for a while.
	load 'while :; do sort -R --parallel=4 /usr/share/dict/words /etc/services | sort -u; sleep 1; done'
	# Reports that read the database meanwhile.
	load "while :; do $bin/dcpiprof --db $db -n 5; $bin/dcpiprof --db $db --by unit --json
		$bin/dcpiprof --db $db -i 'libc*' --by instruction -n 3; sleep 15; done"
}

reload()
{
	echo "merge_interval_s = $((5 + RANDOM % 10))" > "$work/dcpid.conf"
	kill -HUP "$daemon"
}

# held: print the number of image files that the daemon has open for the store; it varies as
# programs on the machine start and end
held()
{
	ctl --json status | awk -F '[:,]' '/"store.(pinned|waiting)"/ { n += $2 } END { print n + 0 }'
}

# look: record kB of memory, in total and without mapped files; descriptors, without held image
# files; ticks of CPU time
look()
{
	local rss anon fds ticks

	rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$daemon/status") || return 1
	anon=$(awk '/^RssAnon/ { print $2 }' "/proc/$daemon/status")
	fds=$(find "/proc/$daemon/fd" -mindepth 1 2> /dev/null | wc -l)
	fds=$((fds - $(held)))
	ticks=$(awk '{ print $14 + $15 }' "/proc/$daemon/stat")
	[ -n "$rss" ] && echo "$SECONDS $rss $anon $fds $ticks" >> "$work/looks"
}

epochs_end() # call it after the end, as merges may be in progress before
{
	sqlite3 -readonly "$db" "PRAGMA integrity_check; PRAGMA foreign_key_check"
	sqlite3 -readonly -cmd ".load $build/lib/dcpi_sqlite" "$db" \
		"SELECT 'epoch ' || e.id || ' is not exact' FROM epoch e WHERE e.interrupts <>
			(SELECT ifnull(sum(count), 0) FROM dcpi_samples WHERE epoch = e.id) +
			(SELECT ifnull(sum(count), 0) FROM counter c
				WHERE c.epoch = e.id AND counter_group = 'loss')"
}

figure()
{
	echo "{\"name\": \"$1\", \"subject\": \"dcpid\", \"workload\": \"soak, $seconds s\"," \
		"\"value\": $2, \"unit\": \"$3\"}"
}

# column FROM TO N: print the median of column N of the observations in a part of the time
column()
{
	awk -v from="$1" -v to="$2" -v n="$3" -v t="$seconds" \
		'$1 >= from * t && $1 <= to * t { print $n }' "$work/looks" | sort -n |
		awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] + 0 }'
}

judge()
{
	local early late fds_early fds_late samples lost unknown

	early=$(column 0.2 0.4 3) late=$(column 0.8 1 3)
	fds_early=$(column 0.2 0.4 4) fds_late=$(column 0.8 1 4)
	[ "$late" -le $((early + early / 10 + 1024)) ] ||
		is_wrong "memory grows: $early kB, later $late kB"
	# A drain may have happened between the two counts.
	[ "$fds_late" -le $((fds_early + 2)) ] || is_wrong "descriptors: $fds_early, later $fds_late"
	[ "$(epochs_end)" = ok ] || is_wrong "$(epochs_end)"
	samples=$(sqlite3 "$db" "SELECT sum(samples) FROM profile")
	lost=$(sqlite3 "$db" "SELECT ifnull(sum(count), 0) FROM counter WHERE counter_group = 'loss'")
	unknown=$(sqlite3 "$db" "SELECT ifnull(sum(count), 0) FROM counter
		WHERE counter_group = 'unknown' AND name <> 'anonymous'")
	figure soak_memory_early "$early" kB
	figure soak_memory_late "$late" kB
	figure soak_memory_most "$(awk '$2 > m { m = $2 } END { print m }' "$work/looks")" kB
	figure soak_descriptors_early "$fds_early" files
	figure soak_descriptors_late "$fds_late" files
	figure soak_cpu "$(awk -v hz="$(getconf CLK_TCK)" 'NR == 1 { t = $1; c = $5 }
		END { printf "%.3f", 100 * ($5 - c) / hz / ($1 - t) }' "$work/looks")" percent
	figure soak_samples "$samples" samples
	figure soak_lost "$lost" samples
	figure soak_unknown "$(awk -v u="$unknown" -v s="$samples" \
		'BEGIN { printf "%.4f", 100 * u / s }')" percent
	sqlite3 -readonly "$db" "SELECT name, sum(count) FROM counter WHERE counter_group = 'unknown'
		GROUP BY name HAVING sum(count) > 0" | tr '|' ' ' |
		while read -r reason count; do
			figure "soak_unknown_$reason" "$count" samples
		done
	figure soak_epochs "$(sqlite3 "$db" "SELECT count(*) FROM epoch")" epochs
	figure soak_database "$(stat -c %s "$db")" bytes
}

: > "$work/dcpid.conf"
nice -n -5 "$bin/dcpid" --config "$work/dcpid.conf" --socket "$socket" --db "$db" \
	--source "${SOAK_SOURCE:-auto}" --event "${SOAK_EVENTS:-cpu-clock}" 2> "$work/log" &
daemon=$!
for _ in $(seq 100); do
	ctl status > /dev/null 2>&1 && break
	sleep 0.1
done
ctl status > /dev/null 2>&1 || { cat "$work/log" >&2; exit 2; }
loads_start
SECONDS=0
while [ "$SECONDS" -lt "$seconds" ]; do
	sleep 5
	if ! look; then
		is_wrong "the daemon has died: $(tail -n 3 "$work/log")"
		exit 1
	fi
	for request in status stats metrics flush; do
		ctl $request > "$work/reply" || is_wrong "no answer to $request"
	done
	[ $((SECONDS / 5 % 12)) -eq 0 ] && tail -n 1 "$work/looks" |
		awk '{ printf "%d s: %d kB, %d kB of them private, %d files, %.1f s of CPU\n",
			$1, $2, $3, $4, $5 / 100 }'
	[ $((SECONDS / 5 % 9)) -eq 0 ] && { ctl epoch "soak $SECONDS" || is_wrong "no epoch"; }
	[ $((SECONDS / 5 % 17)) -eq 0 ] && reload
done
ctl stop || is_wrong "it does not stop"
wait "$daemon" || is_wrong "it ends with status $?: $(tail -n 3 "$work/log")"
daemon=
grep -v -e 'sampling into' -e 'a sample costs' -e '^dcpid: source' -e 'has not changed' "$work/log" |
	sort | uniq -c | sort -rn | head -n 10
judge
exit $wrong
