#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# tests/run.sh adds up the results of test programs, and tests/lib/tap.sh waits as long as necessary.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# program NAME LINE...: make a test program that prints these lines
program()
{
	local name=$1

	shift
	{
		echo '#!/bin/sh'
		printf "echo '%s'\n" "$@"
	} > "$scratch/$name"
	chmod +x "$scratch/$name"
}

# run CI ARGUMENT...: sets $status, $out
run()
{
	local ci=$1

	shift
	out=$(CI=$ci tests/run.sh --log "$scratch/logs" "$@" 2>&1)
	status=$?
}

program good 'ok 1 - a' 'ok 2 - b' '1..2'
program bad 'ok 1 - a' 'not ok 2 - b' '1..2'
program skipping 'ok 1 - a' 'ok 2 - b # SKIP no tool' '1..2'
program cmocka 'ok 1 - a' 'not ok 2 # SKIP b' '# ok - tests'
program refused 'ok 1 - a' 'ok 2 - the share # NOT MEASURED 7 of 100 samples granted' '1..2'
program empty '1..0'

run '' "good=$scratch/good" "refused=$scratch/refused"
is "tests that did not measure are no failure" $status 0
is "the last lines name them, with the reason" "$(tail -n 3 <<< "$out")" "1 not measured
  refused: the share: 7 of 100 samples granted
3 passed, 0 failed, 0 skipped"
like "the program's line has their number" "$out" '^refused +1 passed, 1 not measured +\([0-9]+ s\)$'
run '' "good=$scratch/good"
is "the number is printed if it is 0" "$(tail -n 2 <<< "$out")" "0 not measured
2 passed, 0 failed, 0 skipped"
run '' --queue a "one=$scratch/refused" --queue b "two=$scratch/refused" \
	--queue a "three=$scratch/good" "four=$scratch/bad"
is "the tests of all queues are added" "$(tail -n 4 <<< "$out")" "2 not measured
  one: the share: 7 of 100 samples granted
  two: the share: 7 of 100 samples granted
5 passed, 1 failed, 0 skipped"
is "and each program has a line" "$(grep -cE '^(one|two|three|four) +[0-9]+ passed' <<< "$out")" 4
PARALLEL_QUEUES=1 run '' --parallel "one=$scratch/good" --queue a "two=$scratch/good" --parallel "three=$scratch/bad" \
	--parallel "four=$scratch/refused" "five=$scratch/good"
is "parallel programs run once each, in some queue" \
	"$(sed 's/.* //' "$scratch/logs/durations" | sort | paste -sd' ') $(tail -n 1 <<< "$out")" \
	"five four one three two 8 passed, 1 failed, 0 skipped"
like "the CPU time and the queues' lengths are printed" "$out" \
	'^[0-9]+ CPU seconds; main [0-9]+ s, (a [0-9]+ s, parallel.0|parallel.0 [0-9]+ s, a) [0-9]+ s$'
PARALLEL_QUEUES=0 run '' --parallel "one=$scratch/good" --parallel "two=$scratch/good" --queue a "three=$scratch/good"
is "queues that have finished run them" \
	"$(sed 's/.* //' "$scratch/logs/durations" | sort | paste -sd' ') $(tail -n 1 <<< "$out")" \
	"one three two 6 passed, 0 failed, 0 skipped"
# A script that fails runs again, with the log of its first run.
for name in varying failing; do
	program $name.sh 'ok 1 - a' 'not ok 2 - b' '1..2'
done
# shellcheck disable=SC2016 # a line of the script
sed -i '2i [ -z "${FIRST_LOG:-}" ] || { grep -v "^not" "$FIRST_LOG"; exit; }' "$scratch/varying.sh"
run '' "one=$scratch/varying.sh" --queue a "two=$scratch/good"
is "a script that fails is repeated, and the second result counts" "$status $(tail -n 1 <<< "$out")" \
	"0 3 passed, 0 failed, 0 skipped"
is "the failure of the first run is listed" "$(tail -n 5 <<< "$out")" "1 repeated; the first run:
one, exit 0:
not ok 2 - b
0 not measured
3 passed, 0 failed, 0 skipped"
run '' "one=$scratch/varying.sh" "two=$scratch/failing.sh"
is "a script that fails twice has failed" "$status $(tail -n 1 <<< "$out")" \
	"1 2 passed, 1 failed, 0 skipped"
run '' "one=$scratch/varying.sh" "two=$scratch/bad"
is "nothing is repeated if a program failed that is no script" "$status $(tail -n 1 <<< "$out")" \
	"1 2 passed, 2 failed, 0 skipped"
REPEATED_MAX=0 run '' "one=$scratch/varying.sh"
is "nor if more scripts failed than may be repeated" "$status $(tail -n 1 <<< "$out")" \
	"1 1 passed, 1 failed, 0 skipped"
program hangs 'ok 1 - a'
# In a separate session, as a daemon is. The process id makes the command unique.
nap="sleep 4000.$$"
echo "setsid $nap" >> "$scratch/hangs"
PROGRAM_SECONDS=1 run '' --queue a "one=$scratch/hangs" "two=$scratch/hangs" "three=$scratch/good"
is "a program that does not end is a failure" "$status $(tail -n 1 <<< "$out")" \
	"1 4 passed, 2 failed, 0 skipped"
like "its processes are listed" "$out" "^# +[0-9]+ +[0-9]+ .* $nap\$"
is "and ended" "$(pgrep -fx "$nap")" ""
tests/run.sh --log "$scratch/logs" --queue a "one=$scratch/hangs" "two=$scratch/hangs" \
	> "$scratch/stopped" 2>&1 &
run_sh=$!
hanging() { [ "$(pgrep -cfx "$nap")" -eq "$1" ]; }
check "programs run" eventually hanging 2
kill -TERM $run_sh
wait $run_sh
check "they end with tests/run.sh" eventually hanging 0
NOT_MEASURED_MAX=1 run true "one=$scratch/refused" "two=$scratch/refused"
is "with CI=true too many of them are a failure" "$status $(tail -n 2 <<< "$out")" \
	"1 more than 1 tests were not measured
2 passed, 1 failed, 0 skipped"
NOT_MEASURED_MAX=2 run true "one=$scratch/refused" "two=$scratch/refused"
is "and a few are not" "$status $(tail -n 1 <<< "$out")" "0 2 passed, 0 failed, 0 skipped"
run true "refused=$scratch/refused" "skipping=$scratch/skipping"
is "with CI=true a skipped test is a failure" "$status $(tail -n 1 <<< "$out")" \
	"1 2 passed, 1 failed, 0 skipped"
run true "cmocka=$scratch/cmocka"
is "so is one that cmocka skipped" "$status $(tail -n 1 <<< "$out")" "1 1 passed, 1 failed, 0 skipped"
run '' "cmocka=$scratch/cmocka"
is "without CI=true it is not" "$status $(tail -n 1 <<< "$out")" "0 1 passed, 0 failed, 1 skipped"
run '' "bad=$scratch/bad" "empty=$scratch/empty"
is "a test that failed is a failure, and a program without tests" "$status $(tail -n 1 <<< "$out")" \
	"1 1 passed, 2 failed, 0 skipped"
is "how long each program took is kept" \
	"$(sed -E 's/^[0-9.]+ [0-9.]+ //' "$scratch/logs/durations" | paste -sd' ')" "bad empty"

is "a test that did not measure is printed so" "$(tap_count=4; not_measured "a share" "no samples")" \
	"ok 5 - a share # NOT MEASURED no samples"
check "patience is a minute at least" test "$(patience)" -ge 60
(sleep 0.3; : > "$scratch/appears") &
check "what happens is waited for" eventually test -e "$scratch/appears"
is "and what does not, until patience has run out" \
	"$(patience() { echo 1; }; eventually false; echo $?)" 1
is "a program that hangs is ended" "$(patience() { echo 1; }; within sleep 1000; echo $?)" 124
(while :; do :; done) &
spinner=$!
check "CPU time is waited for" eventually cpu_used $spinner 10
kill $spinner
tap_done
