#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs test programs that speak TAP (cmocka's are told to) and adds up.
#
#   tests/run.sh [--log DIR] [LABEL=]PROGRAM...
#
# One line a program, the output of those that fail, and last
# "N passed, N failed, N skipped". With CI=true a skipped test is a failure.
set -u

passed=0 failed=0 skipped=0
log_dir=build/test-logs
if [ "${1:-}" = --log ]; then
	log_dir=$2
	shift 2
fi
mkdir -p "$log_dir"

export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

run_one()
{
	local name=$1 program=$2 log="$log_dir/${1//\//_}.log"
	local status=0 p f s start=$SECONDS

	"$program" > "$log" 2>&1 || status=$?
	s=$(grep -cE '^ok .*# SKIP' "$log")
	p=$(($(grep -cE '^ok ' "$log") - s))
	f=$(grep -cE '^not ok ' "$log")
	# A program that dies, or says that it failed, failed at least once.
	if [ $status -ne 0 ] && [ "$f" -eq 0 ]; then
		f=1
	fi
	if [ $((p + f + s)) -eq 0 ]; then
		echo "(no test was run)" >> "$log"
		f=1
	fi
	if [ "${CI:-}" = true ] && [ "$s" -gt 0 ]; then
		f=$((f + s))
		s=0
	fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	printf '%-34s %4d passed' "$name" "$p"
	[ "$f" -gt 0 ] && printf ', %d FAILED' "$f"
	[ "$s" -gt 0 ] && printf ', %d skipped' "$s"
	printf '  (%d s)\n' $((SECONDS - start))
	if [ "$f" -gt 0 ]; then
		echo "--- $log (exit $status)"
		tail -n 60 "$log"
		echo "---"
	fi
}

for argument in "$@"; do
	case $argument in
	*=*) run_one "${argument%%=*}" "${argument#*=}" ;;
	*) run_one "$argument" "$argument" ;;
	esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
