#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Kill dcpid at any time, repeatedly on the same database: the database opens, is sound, and adds
# up. (unit_power_cut tests that a committed merge stays.) Needs perf_event_open for the machine.
#
#	DCPI_BUILD	where the build is (default: build)
#	POINTS		number of kills (default: 20; make check-crash: 500)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
points=${POINTS:-20}
jobs=8
merge_ms=1000
split_build
: > "$work/empty.conf"

now_ms()
{
	echo $(($(date +%s%N) / 1000000))
}

# start DIRECTORY: start a daemon; sets $daemon_pid
start()
{
	"$bin/dcpid" -q --source perf --socket "$1/sock" --config "$work/empty.conf" \
		--db "$1/dcpi.db" --merge-interval $((merge_ms / 1000)) --drain-interval 10 \
		--image-store-mb 8 -e cpu-clock:2000000 > /dev/null 2> "$1/log" &
	daemon_pid=$!
}

# verify DIRECTORY BEGUN KILLED: print the faults, if any; times in ms
verify()
{
	local db=$1/dcpi.db

	# The daemon was killed before the database was created or set up.
	[ "$(sqlite3 "$db" "SELECT count(*) FROM sqlite_schema")" != 0 ] || return 0
	[ "$(sqlite3 "$db" "PRAGMA integrity_check" 2>&1)" = ok ] || echo "integrity"
	identity "$db" 2>&1
	sql "$db" "SELECT 'epochs overlap' FROM epoch a JOIN epoch b ON a.id < b.id
		WHERE a.end_ns > b.start_ns LIMIT 1" 2>&1
	# A figure without a verdict: it depends on the machine's load as well.
	sql "$db" "SELECT $3 - end_ns / 1000000 FROM epoch WHERE start_ns / 1000000 >= $2 AND
		end_ns > start_ns ORDER BY id DESC LIMIT 1" >> "$1/behind"
}

# run DIRECTORY COUNT: crash COUNT times, one after the other
run()
{
	local i wait_ms begun killed wrong

	mkdir "$1"
	for ((i = 0; i < $2; i++)); do
		# Some kills come while it starts, more while it merges, however long a start takes.
		wait_ms=$((RANDOM % (i % 4 == 3 ? 300 : 2500)))
		begun=$(now_ms)
		rm -f "$1/sock"
		start "$1"
		[ $((i % 4)) -eq 3 ] || until [ -S "$1/sock" ] || ! kill -0 "$daemon_pid"; do sleep 0.05; done
		sleep "$((wait_ms / 1000)).$(printf %03d $((wait_ms % 1000)))"
		killed=$(now_ms)
		kill -KILL "$daemon_pid" 2> /dev/null
		wait "$daemon_pid" 2> /dev/null
		if [ -s "$1/log" ]; then
			cat "$1/log" >> "$1/wrong"
		fi
		wrong=$(verify "$1" "$begun" "$killed")
		if [ -n "$wrong" ]; then
			echo "killed after $((killed - begun)) ms: $wrong" >> "$1/wrong"
		fi
		echo >> "$1/points"
	done
}

start "$work"
socket=$work/sock
eventually daemon_decided
if ! kill "$daemon_pid" 2> /dev/null || ! wait "$daemon_pid"; then
	skip "a daemon that is killed" "$(tail -n 1 "$work/log")"
	tap_done
	exit
fi

"$work/split" 100000000 &
load=$!
pids+=("$load")
runs=()
for ((job = 0; job < jobs; job++)); do
	run "$work/$job" $(((points + job) / jobs)) 2> /dev/null &
	runs+=($!)
done
wait "${runs[@]}"
kill "$load"

is "all $points times the database is sound" "$(cat "$work"/*/wrong 2> /dev/null)" ""
is "as often as asked for" "$(cat "$work"/*/points | wc -l)" "$points"
for ((job = 0; job < jobs; job++)); do
	rm -f "$work/$job/sock"
	start "$work/$job"
	runs[job]=$daemon_pid
done
for ((job = 0; job < jobs; job++)); do
	db=$work/$job/dcpi.db
	daemon_pid=${runs[job]} socket=$work/$job/sock
	eventually daemon_decided
	kill "${runs[job]}"
	wait "${runs[job]}"
	is "a start and a stop in good order: $job" "$?, $(identity "$db")$(sql "$db" \
		"SELECT sum(open) FROM epoch")" "0, 0"
	echo "# $(sql "$db" "SELECT count(*) || ' epochs, ' || sum(interrupts) || ' samples, pending ' ||
		(SELECT sum(count) FROM counter WHERE name = 'pending') FROM epoch")"
done
is "samples were stored" "$(for file in "$work"/*/dcpi.db; do
	sql "$file" "SELECT 1 FROM profile LIMIT 1"
done | sort -u)" 1
echo "# from the last merge to the end, ms: $(sort -n "$work"/*/behind 2> /dev/null | awk '{ v[NR] = $1 }
	END { if (NR) print "median " v[int((NR + 1) / 2)] ", most " v[NR] ", of " NR }')"
tap_done
