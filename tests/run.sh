#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs test programs that speak TAP (cmocka's are told to) and adds up.
#
#   tests/run.sh [--log DIR] [[LABEL=]PROGRAM | --beside [LABEL=]PROGRAM | --join]...
#
# One after the other; those --beside have a queue of their own, which is worked off at
# the same time. --join waits for it, for the sake of what wants the machine to itself.
#
# Prints one line a program and the output of each program that fails. The end is a list of the
# tests that failed, a list of the tests that could not measure ("N not measured", names and
# reasons), and "N passed, N failed, N skipped". With CI=true a skipped test is a failure. A test that could not measure is
# in none of these three numbers; with CI=true more than NOT_MEASURED_MAX (10) of them are a failure.
# DIR (build/test-logs) gets the programs' output, and in the file "durations" the elapsed seconds
# and the CPU seconds of each program.
set -u

passed=0 failed=0 skipped=0 unmeasured=0
log_dir=build/test-logs
if [ "${1:-}" = --log ]; then
	log_dir=$2
	shift 2
fi
mkdir -p "$log_dir"
rm -f "$log_dir"/failed.* "$log_dir"/unmeasured.* "$log_dir/durations"

TIMEFORMAT='%R %U %S'
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# what_failed NAME LOG STATUS: the tests of a program that failed, and what they said
what_failed()
{
	echo "$1, exit $3:"
	awk '/^not ok / && !/# SKIP/ || /^(not )?ok .*# SKIP/ && ENVIRON["CI"] == "true" {
			print; said = 0; next }
		/^#/ && said++ < 12 { print; next }
		{ said = 12 }' said=12 "$2"
}

run_one()
{
	local name=${1%%=*} program=${1#*=} start=$SECONDS
	local log="$log_dir/${name//\//_}.log"
	local status=0 p f s u

	{ time "$program" > "$log" 2>&1 || status=$?; } 2> "$log.time"
	# cmocka prints "not ok 1 # SKIP name", tests/tap.sh "ok 1 - name # SKIP reason".
	s=$(grep -cE '^(not )?ok .*# SKIP' "$log")
	u=$(grep -cE '^ok .*# NOT MEASURED' "$log")
	p=$(grep -E '^ok ' "$log" | grep -cvE '# (SKIP|NOT MEASURED)')
	f=$(grep -E '^not ok ' "$log" | grep -cv '# SKIP')
	# A program that dies, or says that it failed, failed at least once.
	if [ $status -ne 0 ] && [ "$f" -eq 0 ]; then
		f=1
	fi
	if [ $((p + f + s + u)) -eq 0 ]; then
		echo "(no test was run)" >> "$log"
		f=1
	fi
	if [ "${CI:-}" = true ] && [ "$s" -gt 0 ]; then
		f=$((f + s))
		s=0
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	unmeasured=$((unmeasured + u))
	printf '%-34s %4d passed' "$name" "$p"
	[ "$f" -gt 0 ] && printf ', %d FAILED' "$f"
	[ "$s" -gt 0 ] && printf ', %d skipped' "$s"
	[ "$u" -gt 0 ] && printf ', %d not measured' "$u"
	printf '  (%d s)\n' $((SECONDS - start))
	tail -n 1 "$log.time" | awk -v name="$name" '{ printf "%.1f %.1f %s\n", $1, $2 + $3, name }' \
		>> "$log_dir/durations"
	rm -f "$log.time"
	if [ "$u" -gt 0 ]; then
		sed -nE "s|^ok [0-9]+ - (.*) # NOT MEASURED (.*)|  $name: \1: \2|p" "$log" \
			> "$log_dir/unmeasured.${name//\//_}"
	fi
	if [ "$f" -gt 0 ]; then
		echo "--- $log (exit $status)"
		tail -n 60 "$log"
		echo "---"
		what_failed "$name" "$log" "$status" > "$log_dir/failed.${name//\//_}"
	fi
}

# The queue's sums come back in a file: it is worked off by another process.
queue=() queue_pid=
work_off_queue()
{
	local passed=0 failed=0 skipped=0 unmeasured=0 argument

	for argument in "${queue[@]}"; do
		run_one "$argument"
	done > "$log_dir/beside.out"
	echo "$passed $failed $skipped $unmeasured" > "$log_dir/beside.sums"
}

start_queue()
{
	[ ${#queue[@]} -gt 0 ] || return
	work_off_queue &
	queue_pid=$!
	queue=()
}

join_queue()
{
	local p f s u

	[ -n "$queue_pid" ] || return 0
	wait "$queue_pid"
	queue_pid=
	cat "$log_dir/beside.out"
	# One that did not live to tell its sums has failed.
	p=0 f=1 s=0 u=0
	[ ! -e "$log_dir/beside.sums" ] || read -r p f s u < "$log_dir/beside.sums"
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	unmeasured=$((unmeasured + u))
	rm -f "$log_dir/beside.out" "$log_dir/beside.sums"
}

rm -f "$log_dir/beside.out" "$log_dir/beside.sums"
while [ $# -gt 0 ]; do
	case $1 in
	--beside)
		queue+=("$2")
		shift
		;;
	--join) join_queue ;;
	*)
		start_queue
		run_one "$1"
		;;
	esac
	shift
done
start_queue
join_queue
cat "$log_dir"/failed.* 2> /dev/null
echo "$unmeasured not measured"
cat "$log_dir"/unmeasured.* 2> /dev/null
if [ "${CI:-}" = true ] && [ "$unmeasured" -gt "${NOT_MEASURED_MAX:-10}" ]; then
	echo "more than ${NOT_MEASURED_MAX:-10} tests were not measured"
	failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
