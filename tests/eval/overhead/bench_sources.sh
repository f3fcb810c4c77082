#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure the cost of collecting in addition to the interrupts: dcpid with its bpf and its perf
# source, compared with "perf record -a". They run one after the other, each for SECONDS_EACH (20)
# at 5,200 samples a second and CPU of the same event, under the same load. None of them takes
# edges, except bpf_edges, which has the settings of the installed dcpid. Prints lines of
# tests/eval/bench/bench.h. If it cannot run, it prints the reason on stderr and fails.
#
# The figures count the CPU time of the process itself, in user space and in the kernel
# (/proc/PID/schedstat, getrusage). They do not count the interrupts on behalf of other processes.
#
# - mixed: from two seconds after the start to the exit. This includes sampling, the daemon's last
#   flush and merge, and perf's last pass over its file, for build-ids.
# - mixed, while sampling: without the exit. dcpid has counted, but merged little; perf has copied.
# - mixed, whole run: with the start, which includes scanning /proc and reading the kernel's
# symbols.
# - mixed, a sample: "mixed" divided by the samples of each. perf loses some samples if it gets the
#   CPU too late.
#
# Bytes are those that the process wrote while sampling, including its database's log (/proc/PID/io
# wchar), and the final growth of the files. As on a machine in use, the database knows the images
# from an earlier run. With "new file", it does not, and not the kernel's symbols either.
#
# The limits on sampling are raised meanwhile and restored.
set -u
cd "$(dirname "$0")/../../.." || exit 2
bin=${DCPI_BUILD:-build}/bin
case $bin in
/*) ;;
*) bin=$PWD/$bin ;;
esac
# shellcheck source=tests/lib/perf_limits.sh
. tests/lib/perf_limits.sh

seconds=${SECONDS_EACH:-20}
rate=5200
period=$((1000000000 / rate))
work=$(mktemp -d) || exit 2
pids=()

give_up()
{
	echo "bench_sources: $1" >&2
	exit 2
}

cleanup()
{
	local pid

	for pid in "${pids[@]}"; do
		kill "$pid" 2> /dev/null && wait "$pid" 2> /dev/null
	done
	rm -rf "$work"
}

[ "$(id -u)" -eq 0 ] || give_up "needs root"
command -v perf > /dev/null || give_up "needs perf (package linux-perf)"
perf_limits_cleanup=cleanup
perf_limits_raise 40000
[ "$(cat "$perf_limits_rate")" -ge $((2 * rate)) ] ||
	give_up "the kernel allows no $rate samples a second"

# Keep every CPU busy, in user space and in the kernel, with some processes that start and end.
load()
{
	local cpu

	${CC:-gcc} -O2 -o "$work/split" tests/fixtures/programs/split.c || exit 2
	for cpu in $(seq 0 $(($(nproc) - 1))); do
		taskset -c "$cpu" "$work/split" 3600000 > /dev/null &
		pids+=($!)
		taskset -c "$cpu" gzip -c < /dev/urandom > /dev/null &
		pids+=($!)
	done
	while sleep 0.5; do
		/bin/true
	done &
	pids+=($!)
}

# run_ns PID: print the CPU time of all threads of a process
run_ns()
{
	cat "/proc/$1/task/"*/schedstat | awk '{ sum += $1 } END { printf "%.0f", sum }'
}

# measure SUBJECT COMMAND...: sets $sampling, $whole, $started (ns), $written (bytes)
measure()
{
	local subject=$1 pid

	shift
	# Run in a separate shell, so that "times" has the times of this command only.
	bash -c '"$@" & echo $! > "$0.pid"; wait $!; times > "$0.times"' "$work/$subject" "$@" \
		> "$work/$subject.out" 2>&1 &
	pids+=($!)
	sleep 2
	pid=$(cat "$work/$subject.pid")
	started=$(run_ns "$pid")
	sleep "$seconds"
	sampling=$(($(run_ns "$pid") - started))
	[ "$subject" = perf_record ] ||
		"$bin/dcpictl" --json --socket "$work/sock" status > "$work/$subject.status"
	kill -STOP "$pid"
	written=$(awk '$1 == "wchar:" { print $2 }' "/proc/$pid/io")
	kill -CONT "$pid"
	kill -INT "$pid"
	wait "${pids[-1]}" 2> /dev/null
	unset 'pids[-1]'
	whole=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); sum += t[1] * 60 + t[2] } }
		END { printf "%.0f", sum * 1e9 }' "$work/$subject.times")
}

# report NAME SUBJECT WORKLOAD VALUE UNIT: print a line of tests/eval/bench/bench.h
report()
{
	printf '{"name": "%s", "subject": "%s", "workload": "%s", "value": %s, "unit": "%s"}\n' "$@"
}

# ratio A B: print A / B
ratio()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4g", (b > 0 ? a / b : 0) }'
}

# compare SUBJECT SAMPLES: report the results of measure, relative to perf's
compare()
{
	[ -z "$samples" ] || report cpu_vs_perf "$1" "mixed, a sample" \
		"$(ratio "$(ratio $((whole - started)) "$2")" "$(ratio "$perf_sampled" "$samples")")" ratio
	report cpu_vs_perf "$1" "mixed" "$(ratio $((whole - started)) "$perf_sampled")" ratio
	report cpu_vs_perf "$1" "mixed, while sampling" "$(ratio "$sampling" "$perf_sampling")" ratio
	report cpu_vs_perf "$1" "mixed, whole run" "$(ratio "$whole" "$perf_whole")" ratio
	report bytes_vs_perf "$1" "mixed, written" "$(ratio "$written" "$perf_written")" ratio
}

# absolute SUBJECT SAMPLES: report the same without perf
absolute()
{
	report collect_cpu "$1" "mixed" "$(ratio $((whole - started)) $((seconds * 1000)))" "us/s"
	report collect_cpu "$1" "mixed, while sampling" "$(ratio "$sampling" $((seconds * 1000)))" "us/s"
	report collect_samples "$1" "mixed" "${2:-0}" samples
}

# size FILE...: print the size of all files
size()
{
	du -cb "$@" | awk 'END { print $1 }'
}

# daemon SUBJECT DB: print the command
daemon()
{
	local edges=(--branch-every 0)

	case $1 in *_edges) edges=() ;; esac
	echo env --default-signal=INT "$bin/dcpid" --source "${1%_edges}" "${edges[@]}" \
		-e "cpu-clock:$((period - 1000))-$((period + 1000))" --config /dev/null \
		--socket "$work/sock" --db "$2"
}

# warm_up SUBJECT DB: run briefly, for a database that is not new
warm_up()
{
	# shellcheck disable=SC2046,SC2091 # a command
	$(daemon "$1" "$2") > "$work/$1.out" 2>&1 &
	pids+=($!)
	for _ in $(seq 100); do
		"$bin/dcpictl" --json --socket "$work/sock" status > "$work/$1.status" 2>&1 && break
		kill -0 "${pids[-1]}" 2> /dev/null ||
			give_up "dcpid, $1: $(tail -n 1 "$work/$1.out")"
		sleep 0.1
	done
	sleep 2
	kill -INT "${pids[-1]}"
	wait "${pids[-1]}"
	unset 'pids[-1]'
}

load
sleep 1
measure perf_record env --default-signal=INT perf record -q -a -e cpu-clock -c $period \
	-o "$work/perf.data"
perf_sampling=$sampling perf_sampled=$((whole - started)) perf_whole=$whole perf_written=$written
perf_size=$(size "$work/perf.data")
samples=$(perf report --stats -i "$work/perf.data" 2> /dev/null |
	awk '$1 == "SAMPLE" && $2 == "events:" { print $3; exit }')
# perf 6.1 aborts in its last pass if a program with an invalid build-id has run.
[ -n "$samples" ] || echo "bench_sources: perf record failed at its end, so that its cost is" \
	"too low: $(tail -n 2 "$work/perf_record.out" | tr '\n' ' ')" >&2
absolute perf_record "$samples"
for subject in bpf perf bpf_edges; do
	db=$work/$subject.db
	warm_up $subject "$db"
	before=$(size "$db"*)
	# shellcheck disable=SC2046
	measure $subject $(daemon $subject "$db")
	grep 'periods raised\|throttles' "$work/$subject.out" | sed 's/^/bench_sources: /' >&2
	taken=$(jq .taken "$work/$subject.status")
	absolute $subject "$taken"
	compare $subject "$taken"
	report bytes_vs_perf $subject "mixed, files" "$(ratio $(($(size "$db"*) - before)) "$perf_size")" ratio
	report bytes_vs_perf $subject "mixed, new file" "$(ratio "$(size "$db"*)" "$perf_size")" ratio
done
