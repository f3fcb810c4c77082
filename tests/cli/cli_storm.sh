#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Processes that live for a millisecond, and programs that exec each other: every sample is credited
# to its image (tests/fixtures/programs/storm.c explains how that is verified).
#
# - DCPI_BUILD: where the build is (default: build)
# - STORM_SECONDS: length of each storm (2)
# - STORM_EXECS: number of execs under one process id (1000)
# - STORM_ROUNDS: iterations in the life of a storm's process (1000000, some 0.3 ms)
# - STORM_TINY: tiny programs in the storm, for each 16 others, in tens (1)
# - STORM_SOURCES: sample sources (bpf perf)
# - STORM_WORKLOADS: workloads (storm exec starved libraries)
# - STORM_BENCH: if set, print figures (tests/eval/bench/bench.h), not results of tests
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$top/tests/lib/storm.sh"

storm_dir=$work/storm
rounds=1000000
${MAKE:-make} -s -C "$top" -f tests/fixtures/programs/storm.mk CC="${CC:-gcc}" STORM_DIR="$storm_dir" storm ||
	exit 1
storm_layout

# percent PART WHOLE: print the percentage
percent()
{
	awk -v part="$1" -v whole="$2" 'BEGIN { printf "%.4g", (whole > 0 ? 100 * part / whole : 100) }'
}

# at_most LABEL PART WHOLE PERCENT [REASON]: test a share, if there are enough samples. Otherwise
# the test fails or, if there is a reason, is not measured
at_most()
{
	if [ "$3" -ge 100 ] && awk -v p="$(percent "$2" "$3")" -v m="$4" 'BEGIN { exit !(p <= m) }'; then
		ok "$1"
	elif [ -n "${5:-}" ]; then
		not_measured "$1" "$5; $2 of $3 samples"
	else
		not_ok "$1" "$2 of $3 samples (at least 100 are asked for)"
	fi
}

# not_run DB: print the reason if the machine did not let the daemon run: it drained late (the
# interval is a second), and the kernel dropped image events
not_run()
{
	sql "$1" "SELECT 'no drain for ' || gap || ' ms, ' || dropped || ' image events dropped' FROM
		(SELECT max(count) AS gap FROM counter WHERE name = 'drain_gap_ms'),
		(SELECT sum(count) AS dropped FROM counter WHERE name = 'image_events_lost')
		WHERE gap > 2000 AND dropped > 0"
}

# judge SUBJECT WORKLOAD DB: test the profile, or print its figures
judge()
{
	local right wrong unknown all

	read -r right wrong < <(storm_counts "$3")
	read -r unknown all < <(storm_unknown "$3")
	echo "$1, $2: $right right, $wrong wrong, $unknown of $all unknown" >&2
	if [ -n "${STORM_BENCH:-}" ]; then
		printf '{"name": "%s", "subject": "%s", "workload": "%s", "value": %s, "unit": "%s"}\n' \
			unknown_percent "$1" "$2" "$(percent "$unknown" "$all")" percent \
			misattributed_percent "$1" "$2" \
			"$(percent "$wrong" $((right + wrong)))" percent \
			storm_samples "$1" "$2" $((right + wrong)) samples
		return
	fi
	at_most "$1, $2: hardly a sample is credited to another image" "$wrong" $((right + wrong)) 0.2
	# Events that did not reach a starved daemon leave samples unknown, possibly many.
	[ "$2" = starved ] ||
		at_most "$1, $2: hardly a sample is unknown" "$unknown" "$all" 0.5 \
			"$(not_run "$3")"
	is "$1, $2: all is accounted for" "$(identity "$3")" ""
}

# bench_failed REASON: end a benchmark; does nothing in a test
bench_failed()
{
	[ -n "${STORM_BENCH:-}" ] || return 0
	echo "bench_storm: $1" >&2
	exit 1
}

# storm_rate SUBJECT WORKLOAD: print the rate that storm reported
storm_rate()
{
	sed -n 's/^\([0-9]*\) processes in \([0-9.]*\) s$/\1 \2/p' "$work/storm.out" |
		awk -v s="$1" -v w="$2" '{ printf("{\"name\": \"storm_rate\", \"subject\": \"%s\", " \
			"\"workload\": \"%s\", \"value\": %.0f, \"unit\": \"processes/s\"}\n", s, w, $1 / $2) }'
}

# profiled SOURCE WORKLOAD COMMAND...: profile the command and judge the result
profiled()
{
	local source=$1 workload=$2 db="$work/$1.$2.db" daemon

	shift 2
	"$bin/dcpid" -q --config /dev/null --socket "$work/sock" --source "$source" \
		--image-store none -e cpu-clock:480000-500000 --db "$db" 2> "$work/stderr" &
	daemon=$!
	pids+=("$daemon")
	socket=$work/sock daemon_pid=$daemon
	eventually daemon_decided
	if ! daemon_answers; then
		bench_failed "$source, $workload: $(tail -n 1 "$work/stderr")"
		skip "$source, $workload" "$(tail -n 1 "$work/stderr")"
		return
	fi
	"$@" > "$work/storm.out" 2>&1 || {
		bench_failed "$source, $workload: $(cat "$work/storm.out")"
		not_ok "$source, $workload: the programs run" "$(cat "$work/storm.out")"
	}
	sed "s/^/$source, $workload: /" "$work/storm.out" >&2
	[ -z "${STORM_BENCH:-}" ] || storm_rate "$source" "$workload"
	kill "$daemon"
	wait "$daemon"
	judge "$source" "$workload" "$db"
}

# On a virtual machine a page fault may take 20 us. The page faults of programs with a C library
# leave no time for a thousand processes a second, so most programs must be tiny ones.
workload_storm()
{
	local programs=("$storm_dir"/image_? "$storm_dir"/user_1?)

	for _ in $(seq "${STORM_TINY:-1}"); do
		programs+=("$storm_dir"/tiny_??)
	done
	"$storm_dir/image_0" run "${STORM_SECONDS:-2}" 4 "${STORM_ROUNDS:-$rounds}" "${programs[@]}"
}

workload_exec()
{
	"$storm_dir/image_1" pong "${STORM_EXECS:-1000}" $rounds "$storm_dir/image_2" &&
		"$storm_dir/image_3" pong-thread 100 $rounds "$storm_dir/image_4"
}

# The daemon is stopped for so long that the kernel has no space for events. The first programs may
# have ended before it continues; events of the last ones reach it.
workload_starved()
{
	local pong

	"$storm_dir/image_5" pong 6000 $((rounds / 4)) "$storm_dir/image_6" &
	pong=$!
	sleep 0.5
	# shellcheck disable=SC2154 # profiled()'s
	kill -STOP "$daemon"
	sleep 3
	kill -CONT "$daemon"
	wait "$pong"
	"$storm_dir/image_5" pong 3000 $((rounds / 4)) "$storm_dir/image_6"
}

# Libraries that replace each other: distinguished if samples have time stamps.
workload_libraries()
{
	"$storm_dir/load" load 500 $((3 * rounds)) "$storm_dir/libstorm_11.so" \
		"$storm_dir/libstorm_12.so"
}

[ "$(id -u)" -eq 0 ] || {
	bench_failed "needs root"
	skip "storms" "needs root"
	tap_done
	exit
}
for source in ${STORM_SOURCES:-bpf perf}; do
	for workload in ${STORM_WORKLOADS:-storm exec starved libraries}; do
		# Without time stamps, samples of libraries that alternate cannot be distinguished.
		[ "$workload" != libraries ] || [ "$source" = perf ] || continue
		profiled "$source" "$workload" "workload_$workload"
	done
done
[ -n "${STORM_BENCH:-}" ] || tap_done
