#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bench_run_slowdown.sh: time of a program under dcpirun, at the rate that dcpirun chooses, compared
# with the same program under perf record at that rate and with the program alone. Lines of
# tests/eval/bench/bench.h:
#
#	run_slowdown_vs_perf   time under dcpirun / time under perf record, median over pairs.
#	run_slowdown_percent   time under dcpirun / time alone - 1, the median.
#	run_reported_percent   upper bound of the cost that dcpirun reports, the median. Subject "cpu"
#	                       leaves out the CPU time of dcpirun itself, "total" has it.
#
# Time is the CPU time of the program (user and system), which includes interrupts and breakpoints.
# Subject "wall" has elapsed time. ROUNDS (9) rounds run dcpirun, perf, perf and dcpirun. SCALE (300)
# is the amount of work. The script fails if perf or dcpirun cannot sample. On a busy machine dcpirun
# may be unable to measure the cost of a sample: a run without a figure is repeated up to ATTEMPTS
# (5) times. If no run has one, the other figures are printed, the reason is printed on standard
# error, and the script fails.
set -u
cd "$(dirname "$0")/../../.." || exit 2
rounds=${ROUNDS:-9}
scale=${SCALE:-300}
attempts=${ATTEMPTS:-5}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
program=build/tests/branch_loop

# times COMMAND...: CPU time of the program, and elapsed time, as the program prints them (us)
times()
{
	"$@" 2> "$work/err" | awk '$1 == "times" { print $2, $3 }'
}

under_dcpirun()
{
	rm -rf "$work"/db*
	times build/bin/dcpirun --db "$work/db" "$program" "$scale"
}

# reported: print both figures of the last run, or nothing
reported()
{
	sed -n 's/.*it cost [0-9.]*% to \([0-9.]*\)%.*dcpirun \([0-9.]*\)%.*/\1 \2/p' "$work/err"
}

# reported_again: print the figures of the last run or, if it has none, of the first further run
# that has them
reported_again()
{
	local figures _

	figures=$(reported)
	for _ in $(seq "$attempts"); do
		[ -z "$figures" ] || break
		under_dcpirun > /dev/null
		figures=$(reported)
	done
	[ -z "$figures" ] || echo "$figures"
}

under_perf()
{
	times perf record -q -e cpu-clock -c "$period" -o "$work/perf.data" "$program" "$scale"
}

# report NAME SUBJECT UNIT: report the median of the numbers in a file
report()
{
	sort -n "$work/$1.$2" | awk -v name="$1" -v subject="$2" -v unit="$3" '
		{ value[NR] = $1 }
		END {
			middle = NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2
			printf "{\"name\": \"%s\", \"subject\": \"%s\", \"workload\": \"branch_loop\", " \
				"\"value\": %.4g, \"unit\": \"%s\"}\n", name, subject, middle, unit
		}'
}

for needed in "$program" build/bin/dcpirun; do
	[ -x "$needed" ] || {
		echo "bench_run_slowdown: cannot run '$needed'" >&2
		exit 2
	}
done
under_dcpirun > /dev/null
# Periods are drawn from a range: the mean is the rate.
period=$(sqlite3 -readonly "$work/db" "SELECT (period_min + period_max) / 2 FROM event
	WHERE epoch = (SELECT max(id) FROM epoch) LIMIT 1")
if [ -z "$period" ] || [ -z "$(under_perf)" ]; then
	echo "bench_run_slowdown: cannot sample: $(cat "$work/err")" >&2
	exit 2
fi
for _ in $(seq "$rounds"); do
	first=$(under_dcpirun)
	reported_again >> "$work/reported"
	second=$(under_perf)
	third=$(under_perf)
	fourth=$(under_dcpirun)
	alone=$(times "$program" "$scale")
	echo "$first $second $third $fourth $alone" >> "$work/rounds"
done
awk 'NF == 10 { print ($1 + $7) / ($3 + $5) }' "$work/rounds" > "$work/run_slowdown_vs_perf.cpu"
awk 'NF == 10 { print ($2 + $8) / ($4 + $6) }' "$work/rounds" > "$work/run_slowdown_vs_perf.wall"
awk 'NF == 10 { print 100 * (($1 + $7) / 2 / $9 - 1) }' "$work/rounds" \
	> "$work/run_slowdown_percent.cpu"
awk 'NF == 2 { print $1 - $2 }' "$work/reported" > "$work/run_reported_percent.cpu"
awk 'NF == 2 { print $1 }' "$work/reported" > "$work/run_reported_percent.total"
for figure in run_slowdown_vs_perf.cpu run_slowdown_vs_perf.wall run_slowdown_percent.cpu; do
	[ -s "$work/$figure" ] || {
		echo "bench_run_slowdown: no figure $figure" >&2
		exit 1
	}
done
report run_slowdown_vs_perf cpu ratio
report run_slowdown_vs_perf wall ratio
report run_slowdown_percent cpu percent
if [ ! -s "$work/run_reported_percent.cpu" ]; then
	echo "bench_run_slowdown: not measured: run_reported_percent: no run of dcpirun could" \
		"measure the cost of a sample: $(cat "$work/err")" >&2
	exit 1
fi
report run_reported_percent cpu percent
report run_reported_percent total percent
