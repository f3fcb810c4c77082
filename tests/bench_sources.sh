#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What collecting costs beside the interrupts: dcpid with its bpf and its perf
# source against "perf record -a", one after the other, each for SECONDS_EACH
# (20) at 5,200 samples a second and CPU of the same event, under the same load.
# Prints lines of tests/bench.h; says on stderr why, if it cannot run.
#
# Counted is the time that the process ran, in user space and in the kernel, on
# its own behalf (/proc/PID/schedstat, ns), not the interrupts' on behalf of what
# they interrupt. "steady": from two seconds after the start on, flushes and
# merges included, perf's look-up of build-ids at its end not. "whole": all of it
# (getrusage). Bytes: all that the process wrote, the database's log included
# (/proc/PID/io wchar, to the end), and the size of the files at the end.
#
# The limits on sampling are raised meanwhile and put back.
set -u
cd "$(dirname "$0")/.." || exit 2
bin=${DCPI_BUILD:-build}/bin
case $bin in
/*) ;;
*) bin=$PWD/$bin ;;
esac
seconds=${SECONDS_EACH:-20}
rate=5200
period=$((1000000000 / rate))
sysctl=/proc/sys/kernel
work=$(mktemp -d) || exit 2
pids=()

give_up()
{
	echo "bench_sources: $1" >&2
	exit 0
}

# limits_set PERCENT RATE: with 100 percent the kernel takes no other rate
limits_set()
{
	echo 25 > "$sysctl/perf_cpu_time_max_percent"
	echo "$2" > "$sysctl/perf_event_max_sample_rate"
	echo "$1" > "$sysctl/perf_cpu_time_max_percent"
}

cleanup()
{
	local pid

	for pid in "${pids[@]}"; do
		kill "$pid" 2> /dev/null && wait "$pid" 2> /dev/null
	done
	limits_set "$saved_percent" "$saved_rate"
	rm -rf "$work"
}

[ "$(id -u)" -eq 0 ] || give_up "needs root"
command -v perf > /dev/null || give_up "needs perf (package linux-perf)"
saved_percent=$(cat "$sysctl/perf_cpu_time_max_percent")
saved_rate=$(cat "$sysctl/perf_event_max_sample_rate")
trap cleanup EXIT
limits_set 100 40000
[ "$(cat "$sysctl/perf_event_max_sample_rate")" -ge $((2 * rate)) ] ||
	give_up "the kernel allows no $rate samples a second"

# Every CPU is busy, in user space and in the kernel, with some processes that
# come and go.
load()
{
	local cpu

	${CC:-gcc} -O2 -o "$work/split" tests/programs/split.c || exit 2
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		taskset -c "$cpu" "$work/split" 3600000 > /dev/null &
		pids+=($!)
		taskset -c "$cpu" gzip -c < /dev/urandom > /dev/null &
		pids+=($!)
	done
	while sleep 0.1; do
		/bin/true
	done &
	pids+=($!)
}

# run_ns PID: what all threads of a process have run
run_ns()
{
	cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%.0f", sum }'
}

# measure SUBJECT COMMAND...: sets $steady (ns), $whole (ns), $written (bytes)
measure()
{
	local subject=$1 pid before

	shift
	# The parent's children are this one: its times are the shell's "times".
	bash -c '"$@" & echo $! > "$0.pid"; wait $!; times > "$0.times"' "$work/$subject" "$@" \
		> "$work/$subject.out" 2>&1 &
	pids+=($!)
	sleep 2
	pid=$(cat "$work/$subject.pid")
	before=$(run_ns "$pid")
	sleep "$seconds"
	steady=$(($(run_ns "$pid") - before))
	[ "$subject" = perf_record ] ||
		"$bin/dcpictl" --socket "$work/sock" status > "$work/$subject.status"
	kill -STOP "$pid"
	written=$(awk '$1 == "wchar:" { print $2 }' "/proc/$pid/io")
	kill -CONT "$pid"
	kill -INT "$pid"
	wait "${pids[-1]}" 2> /dev/null
	unset 'pids[-1]'
	whole=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += t[1] * 60 + t[2] } }
		END { printf "%.0f", sum * 1e9 }' "$work/$subject.times")
}

# report NAME SUBJECT WORKLOAD VALUE UNIT
report()
{
	printf '{"name": "%s", "subject": "%s", "workload": "%s", "value": %s, "unit": "%s"}\n' "$@"
}

# ratio A B
ratio()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", (b > 0 ? a / b : 0) }'
}

load
sleep 1
measure perf_record env --default-signal=INT perf record -q -a -e cpu-clock -c $period \
	-o "$work/perf.data"
perf_steady=$steady perf_whole=$whole perf_written=$written
perf_size=$(stat -c %s "$work/perf.data")
perf_samples=$(perf report --stats -i "$work/perf.data" 2> /dev/null |
	awk '$1 == "SAMPLE" && $2 == "events:" { print $3; exit }')
report collect_steady perf_record mixed "$(ratio "$perf_steady" $((seconds * 1000)))" "us/s"
report collect_samples perf_record mixed "${perf_samples:-0}" samples
for source in bpf perf; do
	db=$work/$source.db
	measure $source env --default-signal=INT "$bin/dcpid" --source $source \
		-e cpu-clock:$((period - 1000))-$((period + 1000)) --config /dev/null \
		--socket "$work/sock" --db "$db"
	[ -s "$db" ] || give_up "dcpid --source $source: $(tail -n 1 "$work/$source.out")"
	grep 'periods raised\|throttles' "$work/$source.out" | sed 's/^/bench_sources: /' >&2
	report collect_steady $source mixed "$(ratio "$steady" $((seconds * 1000)))" "us/s"
	report collect_samples $source mixed \
		"$(awk '$1 == "taken" { print $2 }' "$work/$source.status")" samples
	report cpu_vs_perf $source "mixed" "$(ratio "$steady" "$perf_steady")" ratio
	report cpu_vs_perf $source "mixed, whole run" "$(ratio "$whole" "$perf_whole")" ratio
	report bytes_vs_perf $source "mixed, written" "$(ratio "$written" "$perf_written")" ratio
	report bytes_vs_perf $source "mixed, files" \
		"$(ratio "$(du -cb "$db"* | awk 'END { print $1 }')" "$perf_size")" ratio
done
