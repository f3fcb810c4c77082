#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpiimport: recordings of this machine, compared exactly with perf report; invalid files.
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
split_build
import=$bin/dcpiimport
db=$work/import.db

# Threads, dozens of processes, a program that executes others, kernel and libraries.
cat > "$work/load" <<-'EOF2'
	head -c 1000000 /dev/urandom | xz -T2 -1 > /dev/null &
	for i in $(seq 60); do /bin/true; (:); ls / > /dev/null; done
	perl -e 'for (1..400000) { $x += $_ }'
	python3 -c 'import threading
	def add():
	    sum(range(2000000))
	for t in [threading.Thread(target=add) for _ in range(4)]:
	    t.start()'
	wait
EOF2

# recorded NAME OPTION...: record the load as $work/NAME.data; without copies of the sampled files
# in ~/.debug (where perf 6.1 sometimes fails an assertion).
recorded()
{
	perf_alive perf record -q -N -o "$work/$1.data" "${@:2}" -- bash "$work/load" > /dev/null 2>&1
}

# perf_alive CMD...: a command with perf. Another profiler can damage the records of perf, which
# then aborts (perf 6.1); so the command has five attempts. Status 128 and more: all aborted.
perf_alive()
{
	local status=0

	for _ in 1 2 3 4 5; do
		status=0
		"$@" || status=$?
		[ $status -ge 128 ] || break
	done
	return $status
}

# measured NAME CMD...: like check; if perf aborts each time, the test is skipped
measured()
{
	local name=$1 output status=0

	shift
	output=$("$@" 2>&1) || status=$?
	if [ $status -ge 128 ]; then
		not_measured "$name" "perf was ended by signal $((status - 128)), five times"
	elif [ $status -ne 0 ]; then
		not_ok "$name" "exit $status: $*
$output"
	else
		ok "$name"
	fi
	return $status
}

if ! recorded probe -a -e cpu-clock -F 99; then
	skip "perf cannot record the whole machine here"
	tap_done
	exit
fi

# compared NAME CMD...: like check; status 3 means that there was too little data to compare
compared()
{
	local name=$1 output status=0

	shift
	output=$("$@" 2>&1) || status=$?
	case $status in
	0) ok "$name" ;;
	3) not_measured "$name" "programs of other root directories, or rebuilt: ${output//$'\n'/; }" ;;
	*) not_ok "$name" "exit $status: $*
$output" ;;
	esac
}

# same_as_perf LABEL FILE EVENT...: import a recording as the database's next epoch, and compare it
same_as_perf()
{
	local label=$1 file=$2 event arguments=()
	shift 2

	check "$label: imported" "$import" -q --db "$db" "$file"
	is "$label: every sample is accounted for" "$(identity "$db")" ""
	# perf reads the maps of JIT compilers in /tmp, for processes that it believes to be local.
	measured "$label: perf reports it" perf_report "$file" || return
	for event; do
		"$bin/dcpiprof" --db "$db" --epoch last --no-demangle --csv -e "$event" \
			> "$work/$event.csv"
		arguments+=("$event=$work/$event.csv")
	done
	compared "$label: images and symbols have the samples that perf report gives them" \
		tests/lib/perf_report_check.py "$work/perf" "$work/perf.maps" "${arguments[@]}"
}

perf_report()
{
	perf_alive perf report -i "$1" -n --stdio --no-demangle -F sample,dso,sym -t '|' \
		--percent-limit 0 -g none > "$work/perf" 2> /dev/null &&
		perf_alive perf script -i "$1" -F comm --show-mmap-events > "$work/perf.maps" 2> /dev/null
}

cd "$top" || exit 2
measured "several events are recorded" recorded events -a -e cpu-clock -e page-faults \
	-e context-switches -F 997 &&
	same_as_perf "several events" "$work/events.data" cpu-clock page-faults context-switches
measured "a command is recorded" recorded command -e cpu-clock:u -F 1999 &&
	same_as_perf "a command" "$work/command.data" cpu-clock:u
if recorded packed -z -a -e cpu-clock -F 499; then
	same_as_perf "compressed" "$work/packed.data" cpu-clock
else
	skip "this perf does not compress"
fi
measured "recorded with build-ids in mappings" recorded by_id --buildid-mmap -a -e cpu-clock -F 499 &&
	same_as_perf "with build-ids in mappings" "$work/by_id.data" cpu-clock

# Recordings through a pipe, as a file, and truncated.
perf_to_pipe()
{
	perf record -q -N -o - -a -e cpu-clock -F 499 -- bash "$work/load" > "$work/pipe.data" \
		2> /dev/null
}
perf_from_pipe()
{
	perf script -i - -F ip < "$work/pipe.data" > "$work/ips" 2> /dev/null
}
if measured "recorded to a pipe" perf_alive perf_to_pipe; then
	check "from a pipe" "$import" -q --db "$db" - < <(cat "$work/pipe.data")
	measured "from a pipe: perf reads it" perf_alive perf_from_pipe &&
		is "from a pipe: as many samples as perf finds" \
			"$(sql "$db" 'SELECT interrupts FROM epoch ORDER BY id DESC LIMIT 1')" \
			"$(grep -c . "$work/ips")"
fi
head -c "$(($(stat -c %s "$work/events.data") / 2))" "$work/events.data" > "$work/half.data"
like "a file without its end: said, and imported" \
	"$("$import" --db "$work/half.db" "$work/half.data" 2>&1 | tr '\n' ' ')" \
	'is truncated.*[0-9]+ samples'
is "a file without its end: adds up" "$(identity "$work/half.db")" ""

# contents RECORDING: import a recording, and print the database without the parts that differ in any
# two imports: identities, the processor's clock, CPU times of the import, the name of the recording
contents()
{
	rm -f "$work/order.db"*
	"$import" -q --db "$work/order.db" "$1" || return
	sqlite3 "$work/order.db" .dump | grep -vE "'(core_clock_[a-z_]+|[a-z_]+_ms)'" |
		sed -E "s/X'[0-9a-f]{32}'/X/g; s/imported from [^']*'//"
}

# other_order LABEL RECORDING [--pack]: test that a big-endian machine's recording is the same
other_order()
{
	tests/lib/perfdata_swap.py "${@:3}" "$2" "$work/big.data" && touch -r "$2" "$work/big.data" &&
		contents "$2" > "$work/order.little" && contents "$work/big.data" > "$work/order.big"
	is "the other byte order, $1: imported" "$? $(grep -c . "$work/order.little")" \
		"0 $(grep -c . "$work/order.big")"
	check "the other byte order, $1: the same database" cmp "$work/order.little" "$work/order.big"
}
perf_short_to_pipe()
{
	perf record -q -N -o - -e cpu-clock -F 199 -- bash "$work/load" > "$work/short.data" 2> /dev/null
}
if measured "a short recording of two events" recorded two -e cpu-clock -e page-faults -F 199; then
	other_order "two events" "$work/two.data"
	head -c 9000 "$work/big.data" > "$work/big.half"
	like "the other byte order, without its end: said" \
		"$("$import" --db "$work/half.db" "$work/big.half" 2>&1)" 'is truncated'
fi
measured "a short recording to a pipe" perf_alive perf_short_to_pipe &&
	other_order "compressed, from a pipe" "$work/short.data" --pack
for kind in stacks branches; do
	"$build/tests/make_perfdata" "$work/$kind.data" $kind
	other_order "$kind" "$work/$kind.data"
done

# Losses that perf recorded.
perf_stats()
{
	perf_alive perf report -i "$work/lost.data" --stats > "$work/stats" 2> /dev/null
}
if measured "losses: recorded" recorded lost -m 1 -a -e cpu-clock -c 20000; then
	check "losses: imported" "$import" -q --db "$work/lost.db" "$work/lost.data"
	measured "losses: perf reports them" perf_stats &&
		is "losses: as many as perf reports" "$(loss "$work/lost.db" ring_full)" \
			"$(awk '/^cpu-clock stats/ { mine = 1 } /^dummy/ { mine = 0 }
				mine && /LOST_SAMPLES/ { n = $3 } END { print n + 0 }' "$work/stats")"
	is "losses: every sample is accounted for" "$(identity "$work/lost.db")" ""
fi

# An imported profile can be used like any other.
perf_alive perf record -q -N -o "$work/split.data" -e cpu-clock -c 1000000 -- "$work/split" 3000 \
	2> /dev/null
check "a program whose times are known" "$import" -q --db "$work/split.db" "$work/split.data"
shares_are_right cpu-clock "$work/split.db" 1
like "dcpicalc analyses it" "$("$bin/dcpicalc" --db "$work/split.db" -n 1 split_seventy)" \
	'Best-case.*CPI'
like "the epoch says where it is from" "$("$bin/dcpiprof" --db "$work/split.db")" \
	'source +perf.data'
is "it has the command's name" "$(sql "$work/split.db" 'SELECT command FROM process')" split

# JIT code, from perf maps that are still there when the recording is imported.
${CC:-gcc} -O2 -o "$work/jit_maps" "$top/tests/fixtures/programs/jit_maps.c" || exit 1

# jit_recorded MODE ARGUMENT...: make $work/jit.data, and set $pid to the program's process
jit_recorded()
{
	# shellcheck disable=SC2016 # of the inner shell
	perf_alive perf record -q -N -o "$work/jit.data" -e cpu-clock:u -F 999 -- \
		sh -c 'echo $$ > "$0"; exec "$@"' "$work/pid" "$work/jit_maps" "$@" 2> /dev/null
	pid=$(cat "$work/pid")
}

# jit_counts: set $jit to the samples of the JIT code by name and reason, "hot=120 anonymous=3"
jit_counts()
{
	rm -f "$work/jit.db"*
	"$import" -q --db "$work/jit.db" "$work/jit.data" || return
	jit=$("$bin/dcpiprof" --db "$work/jit.db" -i '*jit_maps*jit*' --csv 2> /dev/null | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["procedure"] + "=" + row["cpu-clock:u"], end=" ")')
	jit+=$(sql "$work/jit.db" "SELECT group_concat(name || '=' || count, ' ') FROM counter
		WHERE counter_group = 'unknown' AND count > 0")
}

# jit_share NAME: print its percentage of the samples in JIT code, with and without name
jit_share()
{
	tr ' ' '\n' <<< "$jit" | awk -F= -v name="$1" '
		$1 == name { mine = $2 } { all += $2 } END { print (all > 50 ? int(100 * mine / all) : -1) }'
}

# jit_has WHAT NAME LOW HIGH: test that the name has between LOW and HIGH percent of the samples
jit_has()
{
	local share

	share=$(jit_share "$2")
	if [ "$share" -ge "$3" ] && [ "$share" -le "$4" ]; then
		ok "$1"
	else
		not_ok "$1" "got $share% of: $jit"
	fi
}

jit_recorded big 500 1000
jit_counts
jit_has "a perf map that is still there gives names" hot 97 100
is "the perf map: every sample is accounted for" "$(identity "$work/jit.db")" ""
like "the image is the program's JIT code" "$("$bin/dcpiprof" --db "$work/jit.db" --by-image)" \
	'jit_maps \[jit\]'
chown 65534 "/tmp/perf-$pid.map"
jit_counts
jit_has "a map of another user is not used" anonymous 97 100
chown 0 "/tmp/perf-$pid.map"
mv "/tmp/perf-$pid.map" "$work/kept.map"
ln -s "$work/kept.map" "/tmp/perf-$pid.map"
jit_counts
jit_has "a map behind a symbolic link is not used" anonymous 97 100
rm -f "/tmp/perf-$pid.map"
jit_counts
jit_has "without a map there is no name" anonymous 97 100
cp "$work/kept.map" "/tmp/perf-$pid.map"
jit_counts
jit_has "a map that was written after the program ended is not used" anonymous 97 100
touch -r "$work/kept.map" "/tmp/perf-$pid.map"
jit_counts
jit_has "the same map, with the time of the program" hot 97 100
touch -d '2 days ago' "/tmp/perf-$pid.map"
jit_counts
jit_has "a map from before the program is not used" anonymous 97 100
touch -r "$work/kept.map" "/tmp/perf-$pid.map"
touch -d '90 days ago' "$work/jit.data"
jit_counts
jit_has "a recording from before the last boot gets no names" anonymous 97 100
rm -f "/tmp/perf-$pid.map"

jit_recorded exec 200
jit_counts
jit_has "exec: the last program has the names of the map" gen_3 40 60
jit_has "exec: the programs before have none" anonymous 40 60
rm -f "/tmp/perf-$pid.map"

jit_recorded append 200 100
jit_counts
jit_has "several names at an address are ambiguous" jit_ambiguous 97 100
rm -f "/tmp/perf-$pid.map"

jit_recorded stale 500
jit_counts
jit_has "the map of the program before exec is not used" anonymous 97 100
rm -f "/tmp/perf-$pid.map"

jit_recorded child 500
jit_counts
jit_has "a child has its parent's names" hot 97 100
rm -f "/tmp/perf-$pid.map"

jit_recorded fork 500
jit_counts
like "a child: names that the parent listed after the fork are ambiguous" "$(jit_share jit_ambiguous)" \
	'^(5[5-9]|6[0-9]|7[0-9])$'
rm -f "/tmp/perf-$pid.map"

refused "no such file" 'none.data: cannot open it: No such file' "$import" --db "$db" "$work/none.data"
refused "not a recording" 'not a perf.data file' "$import" --db "$db" /bin/ls
refused "a folder" 'not a folder of a recording' "$import" --db "$db" /tmp
refused "a database that is none" 'not a database' "$import" --db "$work/split.data" "$work/split.data"
{ printf '2ELIFREP'; head -c 200 /dev/zero; } > "$work/swapped"
refused "zeros of the other byte order" 'malformed' "$import" --db "$db" "$work/swapped"
{ head -c 2000 "$work/events.data"; head -c 8000 /dev/zero; } > "$work/noise"
refused "zeros where records should be" 'noise: .*malformed' "$import" --db "$work/noise.db" "$work/noise"
is "nothing of it is in the database" "$(sql "$work/noise.db" 'SELECT count(*) FROM epoch')" 0
tap_done
