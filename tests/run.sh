#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Run test programs that print TAP (cmocka is set to) and add up the results.
#
#   tests/run.sh [--log DIR] [[LABEL=]PROGRAM | --queue NAME [LABEL=]PROGRAM |
#                --parallel [LABEL=]PROGRAM]...
#
# The programs run one after the other. The programs of a queue do so too, at the same time as these
# and as other queues. A program after --parallel can run at the same time as any other.
# PARALLEL_QUEUES (2) further queues run these programs, in order, and so does every queue that has
# finished its own programs. No core is then idle before the last programs.
#
# Prints one line a program and the output of each program that fails. The end is a list of the
# tests that failed, a list of the tests that could not measure ("N not measured", names and
# reasons), and "N passed, N failed, N skipped". With CI=true a skipped test is a failure. A test
# that could not measure is in none of these three numbers; with CI=true more than
# NOT_MEASURED_MAX (16) of them are a failure. A program that has not ended after PROGRAM_SECONDS
# (2400) is ended, with its process group, and has failed; its processes are listed first.
#
# Scripts measure a machine that runs other programs, too, and samples vary, so a few of the thousands
# of tests fail by chance. When all programs have ended, a script that failed runs a second time, alone,
# with the log of the first run in FIRST_LOG, and the second result counts. Both are printed, and the
# end lists the scripts ("N repeated"). If more than REPEATED_MAX (3) scripts failed, or a program that
# is not a script, nothing is repeated.
#
# DIR (build/test-logs) gets the programs' output, and in the file "durations" the elapsed seconds
# and the CPU seconds of each program. The output has their sum, and the elapsed seconds of each queue.
set -u

passed=0 failed=0 skipped=0 unmeasured=0 repeated=0
log_dir=build/test-logs
if [ "${1:-}" = --log ]; then
	log_dir=$2
	shift 2
fi
mkdir -p "$log_dir"
rm -f "$log_dir"/failures* "$log_dir"/{failed,repeated,unmeasured,queue}.* "$log_dir/durations"

TIMEFORMAT='%R %U %S'
export CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:abort_on_error=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# what_failed NAME LOG STATUS: the failed tests of a program, with their output
what_failed()
{
	echo "$1, exit $3:"
	awk '/^not ok / && !/# SKIP/ || /^(not )?ok .*# SKIP/ && ENVIRON["CI"] == "true" {
			print; said = 0; next }
		/^#/ && said++ < 12 { print; next }
		{ said = 12 }' said=12 "$2"
}

# descendants PID: the process and all that it started, as a list for ps
descendants()
{
	ps -e -o pid=,ppid= | awk -v root="$1" '
		{ parent[$1] = $2 }
		END {
			for (pid in parent) {
				for (p = pid; p in parent && p != root; p = parent[p]) { }
				if (p == root) { print pid }
			}
		}' | paste -s -d ,
}

# end_group PID: ends a process group and what its processes started in other groups
end_group()
{
	local pids

	IFS=, read -ra pids <<< "$(descendants "$1")"
	kill -TERM -- "-$1" "${pids[@]}" 2> /dev/null
}

# limited PROGRAM: runs it, in a process group of its own, for at most PROGRAM_SECONDS
limited()
{
	local limit=${PROGRAM_SECONDS:-2400} ended status=0

	# Job control makes the group, and leaves SIGINT as it is.
	set -m
	"$1" < /dev/null &
	running=$!
	sleep "$limit" > /dev/null 2>&1 &
	timer=$!
	set +m
	wait -n -p ended $running $timer || status=$?
	if [ "$ended" = $timer ]; then
		echo "not ok - ended within $limit s"
		ps -o pid,ppid,stat,time,wchan:24,args -p "$(descendants $running)" | sed 's/^/# /'
		end_group $running
		timeout 20 tail --pid=$running -f /dev/null
		kill -KILL -- -$running 2> /dev/null
		wait $running
		status=124
	fi
	kill $timer 2> /dev/null
	running='' timer=''
	return $status
}

# A signal that ends this script also ends the programs and the queues.
running='' timer=''
stop()
{
	[ -z "$running" ] || end_group "$running"
	[ -z "$timer" ] || kill "$timer" 2> /dev/null
	[ ${#queue_pids[@]} -eq 0 ] || kill -TERM "${queue_pids[@]}" 2> /dev/null
	exit 1
}
trap stop INT TERM

run_one()
{
	local name=${1%%=*} program=${1#*=} start=$SECONDS
	local log="$log_dir/${name//\//_}.log"
	local status=0 p f s u

	{ time limited "$program" > "$log" 2>&1 || status=$?; } 2> "$log.time"
	# cmocka prints "not ok 1 # SKIP name", tests/lib/tap.sh "ok 1 - name # SKIP reason".
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
		echo "$p $f $s $u $1" >> "$log_dir/failures"
	fi
}

# Queues by name: their programs, one a line, and the processes that run them. The sums of a
# queue come back in a file.
declare -A queues=() queue_pids=()
# Programs that may run at the same time as any other. A file has the index of the next one.
parallel=()

# parallel_take: set $taken to the index of a program that no other queue has taken
parallel_take()
{
	local file="$log_dir/queue.parallel"

	{
		flock 9
		taken=$(cat "$file" 2> /dev/null || echo 0)
		echo $((taken + 1)) > "$file"
	} 9> "$file.lock"
	[ "$taken" -lt ${#parallel[@]} ]
}

# run_queue NAME PROGRAM...: run the programs, then those of the list that no queue has taken
run_queue()
{
	local passed=0 failed=0 skipped=0 unmeasured=0 file="$log_dir/queue.$1" argument own taken

	queue_pids=()
	trap stop INT TERM
	shift
	SECONDS=0
	for argument; do
		run_one "$argument" > "$file.out"
		cat "$file.out"
	done
	own=$SECONDS
	while parallel_take; do
		run_one "${parallel[taken]}" > "$file.out"
		cat "$file.out"
	done
	echo "$passed $failed $skipped $unmeasured $own" > "$file.sums"
}

start_queues()
{
	local name programs n

	for name in "${!queues[@]}"; do
		mapfile -t programs <<< "${queues[$name]%$'\n'}"
		run_queue "$name" "${programs[@]}" &
		queue_pids[$name]=$!
	done
	for ((n = 0; n < (${#parallel[@]} ? ${PARALLEL_QUEUES:-2} : 0); n++)); do
		run_queue "parallel.$n" &
		queue_pids[parallel.$n]=$!
	done
}

join_queues()
{
	local name file p f s u own

	for name in "${!queue_pids[@]}"; do
		wait "${queue_pids[$name]}"
		file="$log_dir/queue.$name"
		# A queue that ended without its sums has failed.
		p=0 f=1 s=0 u=0 own=0
		[ ! -e "$file.sums" ] || read -r p f s u own < "$file.sums"
		lengths+=", $name $own s"
		passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
		unmeasured=$((unmeasured + u))
		rm -f "$file.out" "$file.sums"
	done
	queue_pids=()
}

# repeat_failures: run the scripts that failed a second time, if they are few
repeat_failures()
{
	local p f s u program name list="$log_dir/failures"

	[ -e "$list" ] && [ "$(wc -l < "$list")" -le "${REPEATED_MAX:-3}" ] || return
	! grep -qv '\.sh$' "$list" || return
	mv "$list" "$list.first"
	while read -r p f s u program; do
		name=${program%%=*}
		name=${name//\//_}
		mv "$log_dir/failed.$name" "$log_dir/repeated.$name"
		rm -f "$log_dir/unmeasured.$name"
		mv "$log_dir/$name.log" "$log_dir/$name.first.log"
		passed=$((passed - p)) failed=$((failed - f)) skipped=$((skipped - s))
		unmeasured=$((unmeasured - u)) repeated=$((repeated + 1))
		echo "repeated:"
		FIRST_LOG=$(realpath "$log_dir/$name.first.log") run_one "$program"
	done < "$list.first"
}

main=()
while [ $# -gt 0 ]; do
	case $1 in
	--queue)
		queues[$2]+="$3"$'\n'
		shift 2
		;;
	--parallel)
		parallel+=("$2")
		shift
		;;
	*) main+=("$1") ;;
	esac
	shift
done
start_queues
# The shell's own queue has no name, and its sums are in this shell.
for argument in "${main[@]}"; do
	run_one "$argument"
done
lengths="main $SECONDS s"
while parallel_take; do
	run_one "${parallel[taken]}"
done
join_queues
repeat_failures
awk -v lengths="$lengths" '{ sum += $2 } END { printf "%.0f CPU seconds; %s\n", sum, lengths }' \
	"$log_dir/durations"
cat "$log_dir"/failed.* 2> /dev/null
if [ "$repeated" -gt 0 ]; then
	echo "$repeated repeated; the first run:"
	cat "$log_dir"/repeated.*
fi
echo "$unmeasured not measured"
cat "$log_dir"/unmeasured.* 2> /dev/null
if [ "${CI:-}" = true ] && [ "$unmeasured" -gt "${NOT_MEASURED_MAX:-16}" ]; then
	echo "more than ${NOT_MEASURED_MAX:-16} tests were not measured"
	failed=$((failed + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
