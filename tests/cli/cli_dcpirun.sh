#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Test dcpirun as users run it.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
split_build
db=$work/run.db
run=$bin/dcpirun

# Profiles are correct, for every event.
epoch=0
for event in $events; do
	epoch=$((epoch + 1))
	check "$event: runs" "$run" -e "$event" --db "$db" "$work/split" 6000
	is "$event: accounts for every sample" "$(identity "$db")" ""
	shares_are_right "$event" "$db" $epoch
	is "$event: is recorded with the epoch" \
		"$(sql "$db" "SELECT name FROM event WHERE epoch = $epoch")" "$event"
	is "$event: few samples are unknown" "$(sql "$db" "SELECT
		100 * ifnull((SELECT sum(count) FROM counter WHERE epoch = $epoch AND
			counter_group = 'unknown'), 0) < interrupts
		FROM epoch WHERE id = $epoch")" 1
	is "$event: the epoch is closed, nothing is pending" "$(sql "$db" "SELECT open,
		(SELECT count FROM counter c WHERE c.epoch = e.id AND name = 'pending')
		FROM epoch e WHERE id = $epoch")" "0|0"
	is "$event: alone it was counted all the time, whatever the number of CPUs" \
		"$(sql "$db" "SELECT 1000 * running_ns >= 999 * enabled_ns AND running_ns > 0
			FROM event WHERE epoch = $epoch")" 1
	is "$event: the process has a name" "$(sql "$db" "SELECT command FROM process
		WHERE epoch = $epoch")" split
done
is "what a clock's samples stand for is known: the core's clock is" "$(sql "$db" "SELECT
	count(*), min(count) > 0 FROM counter WHERE name LIKE 'core_clock_m%_khz' AND
		epoch = (SELECT epoch FROM event WHERE name = 'cpu-clock')")" "2|1"

# The kernel counts the command's system calls exactly, and the analysis derives the executions of its
# procedures: 700,000 reads and as many writes.
"$run" -q -e cpu-clock --db "$work/dd.db" -- dd if=/dev/zero of=/dev/null bs=4k count=700000 2> /dev/null
is "the kernel's counts of the command are stored" "$(sql "$work/dd.db" "SELECT count(*) FROM counter
	WHERE counter_group = 'command' AND name IN ('reads', 'writes') AND
		count BETWEEN 700000 AND 700100")" 2
# executions_of PROCEDURE: print its estimated executions; nothing: it was not sampled
executions_of()
{
	"$bin/dcpicalc" --db "$work/dd.db" --json "$1" 2> /dev/null |
		jq '.instructions[0].frequency // empty | floor'
}
for procedure in vfs_read vfs_write; do
	executions=$(executions_of "$procedure")
	if [ -z "$executions" ]; then
		not_measured "executions of $procedure" "no samples in the kernel's code"
		continue
	fi
	is "executions of $procedure are within 45% of the reads ($executions)" \
		"$((executions > 700000 * 100 / 145 && executions < 700000 * 145 / 100))" 1
done

# Descendants are followed, each with its own samples.
check "follows descendants" "$run" --db "$db" \
	sh -c "$work/split 1000 & $work/split 1000 & wait"
is "keeps processes apart" "$(sql "$db" "SELECT count(DISTINCT pid) FROM dcpi_samples
	WHERE epoch = $((epoch + 1)) AND path = '$work/split'")" 2
is "accounts for every sample of several processes" "$(identity "$db")" ""

# The program is replaced by another build after it was profiled.
cp "$work/split" "$work/rebuilt"
"$run" -q --db "$work/kept.db" --image-store "$work/*" -- "$work/rebuilt" 500
cp --remove-destination /bin/true "$work/rebuilt"
is "an image that is kept has names when its file has changed" \
	"$("$bin/dcpiprof" --db "$work/kept.db" -i rebuilt --csv | grep -c split_seventy)" 1
is "no other image is kept" "$(find "$work/kept.db-images" -name '*.elf' | wc -l)" 1
# The names of sampled procedures are in the database, which may be copied without the images.
mkdir "$work/elsewhere"
cp "$work/kept.db" "$work/elsewhere"
is "a copy of the database has the names of the program that was replaced" \
	"$("$bin/dcpiprof" --db "$work/elsewhere/kept.db" -i rebuilt --csv | grep -c split_seventy)" 1
like "but not its code" "$("$bin/dcpicalc" --db "$work/elsewhere/kept.db" split_seventy 2>&1)" \
	"rebuilt' is not the file that was profiled"
is "the names take less than 20 bytes for each procedure, and a file without a symbol table" \
	"$(sql "$work/kept.db" "SELECT count(*) FROM symbol JOIN image i ON i.id = image
		WHERE i.kind = 0 AND length(data) > 60 + 20 * symbols")" 0
"$run" -q --db "$work/unkept.db" --image-store none --symbols 0 "$work/split" 500
is "names are not stored on request" "$(sql "$work/unkept.db" "SELECT count(*) FROM symbol
	JOIN image i ON i.id = image WHERE i.kind = 0")" 0
check "none is kept if none is asked for" [ ! -e "$work/unkept.db-images" ]

# The summary is one line that agrees with the database.
summary=$("$run" --db "$work/one.db" "$work/split" 500 2>&1)
like "prints one line" "$(printf '%s' "$summary" | wc -l):$summary" \
	"^0:dcpirun: $work/one.db: [0-9]+ samples, 0 lost, [0-9]+ unknown \(epoch 1\)(; it cost ([0-9.]+% to|at least) [0-9.]+% of the CPU time \\((bound [0-9]+%|above the bound of [0-9]+%)\\): samples ([0-9.]+%|not known), snapshots [0-9.]+%, probes up to [0-9.]+%, dcpirun [0-9.]+% \\(start and end [0-9.]+ s\\))?$"
is "the summary is true" "$(printf '%s' "$summary" | grep -oE '[0-9]+ samples')" \
	"$(sql "$work/one.db" "SELECT sum(count) FROM dcpi_samples") samples"
# The parts add up to a total in the interval, and the part of the samples is the database's.
is "the sum of the parts is in the interval of the cost" "$(printf '%s' "$summary" | sed -nE 's/.*it cost ([0-9.]+)% to ([0-9.]+)%.*samples ([0-9.]+)%, snapshots ([0-9.]+)%, probes up to ([0-9.]+)%, dcpirun ([0-9.]+)%.*/\1 \2 \3 \4 \5 \6/p' |
	awk '{ d = $3 + $4 + $6; if (d < $1 - 0.25 || d + $5 > $2 + 0.25) print }')" ""
reported=$(printf '%s' "$summary" | sed -nE 's/.*: samples ([0-9.]+)%.*/\1/p')
cost=$(sql "$work/one.db" "SELECT 100.0 * interrupts * ifnull((SELECT count FROM counter
	WHERE name = 'sample_cost_ns'), 0) / (SELECT enabled_ns FROM event) FROM epoch")
if [ -n "$reported" ]; then
	is "the cost of samples is that of the database" \
		"$(awk -v a="$reported" -v b="$cost" 'BEGIN { print (a - b < 1 && b - a < 1) }')" 1
else
	is "without a cost there are few samples, or theirs is not known" "$(awk -v c="$cost" \
		-v n="$(sql "$work/one.db" "SELECT interrupts FROM epoch")" \
		-v ns="$(sql "$work/one.db" "SELECT enabled_ns FROM event")" \
		'BEGIN { print (c == 0 || n < 100 || ns < 101e6) }')" 1
fi

# dcpirun prints the CPU time that the system accounts for it and its processes, less the command's.
# bash prints the time of the command; the time of dcpirun has that, too.
used=$( { TIMEFORMAT='own %U %S'
	time "$run" --db "$work/rusage.db" bash -c "TIMEFORMAT='command %U %S'; time $work/split 6000"
	} 2>&1)
stated=$(printf '%s\n' "$used" | sed -nE 's/.*, dcpirun ([0-9.]+)% \(start.*/\1/p')
truth=$(printf '%s\n' "$used" | awk '$1 == "own" { own = $2 + $3 } $1 == "command" { command = $2 + $3 }
	END { print own - command }')
if [ -n "$stated" ]; then
	stated=$(sql "$work/rusage.db" "SELECT $stated * enabled_ns / 1e11 FROM event LIMIT 1")
	# The exit of bash and of dcpirun is in neither of the figures.
	is "the CPU time of dcpirun is the system's ($stated s, $truth s)" "$(awk -v a="$stated" \
		-v b="$truth" 'BEGIN { d = a - b; print (d < 0.05 + 0.1 * b && d > -0.05 - 0.1 * b) }')" 1
else
	not_measured "the CPU time of dcpirun is the system's" "no figure: $used"
fi
# The cost of hardware events and of other events is known, or reported as unknown.
for event in $events; do
	case $event in
	page-faults | *switches* | *migrations*) continue ;;
	esac
	like "$event: the cost is printed, or that of a sample is not known" \
		"$("$run" -e "$event" --db "$work/known.db" "$work/split" 8000 2>&1)" \
		'it cost ([0-9.]+% to|at least) [0-9.]+%.*samples ([0-9.]+%|not known)'
done

# A rate that the user gives is not changed, and the summary states that the cost is above the bound.
# cost_is_stated SUMMARY PERCENT: test that the statement is that of the figures
cost_is_stated()
{
	awk -v text="$1" -v bound="$2" 'BEGIN {
		if (!match(text, /it cost (at least )?[0-9.]+/))
			exit 1
		least = substr(text, RSTART, RLENGTH)
		sub(/.* /, "", least)
		above = index(text, "(above the bound of " bound "%: the rate was given)") > 0
		within = index(text, "(bound " bound "%)") > 0
		least += 0
		exit !(above + within == 1 && (above ? least >= bound - 0.05 : least <= bound + 0.05)) }'
}
high=$("$run" --overhead 1 --probes 0 -F 5000 --db "$work/high.db" "$work/split" 3000 2>&1)
check "a cost above the bound is stated, with a given rate: $high" cost_is_stated "$high" 1
high=$("$run" --overhead 100 --probes 0 -e cpu-clock:200000-200000 --db "$work/high.db" "$work/split" 3000 2>&1)
check "a cost within the bound is not: $high" cost_is_stated "$high" 100
is "the rate is the given one" "$(sql "$work/high.db" "SELECT count(*) FROM event
	WHERE (period_min + period_max) / 2 BETWEEN 190000 AND 200000")" 2

# mean_period PERCENT: print the period that this bound of the cost selects
mean_period()
{
	"$run" -q --overhead "$1" --probes 0 --db "$work/overhead$1.db" "$work/split" 200
	sql "$work/overhead$1.db" "SELECT period_min + period_max FROM event LIMIT 1"
}
if [ "$(sql "$work/one.db" "SELECT count(*) FROM counter WHERE name = 'sample_cost_ns'")" = 1 ]; then
	few=$(mean_period 1) many=$(mean_period 100)
	check "a lower bound of the cost takes fewer samples ($few, $many)" [ "$few" -gt "$many" ]
fi
# At a rate that the user chooses, samples cost more than 1%: fewer of them are interpreted.
tried()
{
	"$run" -q --overhead "$1" --probes 0 -e cpu-clock:190000-210000 --db "$work/tried$1.db" \
		"$work/split" 15000
	sql "$work/tried$1.db" "SELECT 100 * count / (SELECT sum(count) FROM dcpi_samples)
		FROM counter WHERE name = 'branches_tried'"
}
few=$(tried 1) many=$(tried 100)
if [ "${many:-0}" -lt 50 ]; then
	not_measured "fewer samples are interpreted" "without a bound only $many% are interpreted"
else
	check "a cost above the bound interprets fewer samples ($few%, $many%)" \
		[ $((4 * few)) -lt $((3 * many)) ]
fi
refuses "a bound of 0%" overhead_percent "$run" -q --overhead 0 --db "$work/x.db" true
# The enabled time of a command with one thread is at most its elapsed time. It may exceed the CPU
# time that the system accounts for it, if virtual machines of the host wait for each other.
taken=$("$run" -q --db "$work/time.db" bash -c "TIMEFORMAT='%U + %S %R'; time $work/split 2000" 2>&1)
is "the time that it is a part of is the CPU's" "$(sql "$work/time.db" "SELECT
	enabled_ns BETWEEN 0.5e9 * (${taken% *}) AND 1.05e9 * ${taken##* } + 5e7 FROM event")" 1
like "nothing is said of what a command's sleep costs" \
	"$("$run" --db "$work/sleep.db" sleep 1 2>&1)" 'unknown \(epoch 1\)$'
is "says nothing with -q" "$("$run" -q --db "$work/one.db" true 2>&1)" ""

# Edges are sought in samples unless the user disables that.
edges_of()
{
	"$run" -q -e cpu-clock --user "$@" "$work/split" 1000 &&
		sql "$work/edges.db" "SELECT ifnull(sum(count), 0) FROM counter
			WHERE name = 'edges' AND epoch = (SELECT max(id) FROM epoch)"
}
if grep -q '^cpu-clock$' <<< "${events// /$'\n'}"; then
	like "takes edges" "$(edges_of --db "$work/edges.db")" '^[1-9][0-9]*$'
	is "none with --branch-every 0" "$(edges_of --db "$work/edges.db" --branch-every 0)" 0
fi

# The command keeps its input, output, arguments and exit status.
is "passes input and output" "$(echo in | "$run" -q --db "$db" tr a-z A-Z)" IN
is "passes arguments" "$("$run" -q --db "$db" printf '%s.' -e --db x)" "-e.--db.x."
"$run" -q --db "$db" sh -c 'exit 37'
is "exits as the command does" $? 37
"$run" -q --db "$db" sh -c 'kill -TERM $$'
is "exits with 128 + signal" $? 143
before=$(sql "$db" "SELECT count(*), max(id) FROM epoch")
"$run" --db "$db" --repeat 2 "$work/absent" 2> "$work/stderr"
is "exits with 127 if there is no such command" $? 127
is "says so, once, and no more" "$(cat "$work/stderr")" \
	"dcpirun: cannot run '$work/absent': No such file or directory"
"$run" -q --db "$db" "$work" 2> /dev/null
is "exits with 126 if it cannot be run" $? 126
is "what did not run is no epoch" "$(sql "$db" "SELECT count(*), max(id) FROM epoch")" "$before"

# Several runs, each in a separate epoch.
"$run" -q --db "$work/repeat.db" --repeat 3 --label three \
	sh -c "echo x >> $work/runs; $work/split 200; exit \$((\$(wc -l < $work/runs) - 1))"
is "--repeat exits as the first run that failed" $? 1
is "--repeat: an epoch each" "$(sql "$work/repeat.db" "SELECT count(*), sum(open), min(label),
	max(label) FROM epoch WHERE interrupts > 0")" "3|0|three|three"
is "--repeat accounts for every sample" "$(identity "$work/repeat.db")" ""
"$run" -q --db "$work/killed.db" --repeat 3 sh -c 'kill -TERM $$'
is "--repeat ends when a signal ends the command" \
	"$? $(sql "$work/killed.db" "SELECT count(*) FROM epoch")" "143 1"
env --default-signal=INT "$run" -q --db "$work/asked.db" --repeat 100 "$work/split" 1000 &
pid=$!
pids+=("$pid")
eventually pgrep -P $pid > /dev/null
kill -INT $pid
wait $pid
is "--repeat ends when it is asked to" \
	"$? $(sql "$work/asked.db" "SELECT count(*) FROM epoch WHERE open = 0")" "130 1"

# An interrupt ends the command, and the profile is complete. (The shell makes background commands
# ignore interrupts.)
env --default-signal=INT "$run" --db "$work/interrupted.db" "$work/split" 200000 2> "$work/stderr" &
pid=$!
pids+=("$pid")
eventually pgrep -P $pid > /dev/null
eventually cpu_used "$(pgrep -P $pid)" 100
kill -INT $pid
wait $pid
is "an interrupt ends the command" $? 130
is "an interrupted profile is complete" \
	"$(identity "$work/interrupted.db")$(sql "$work/interrupted.db" "SELECT open FROM epoch")" 0
is "an interrupted profile has samples" \
	"$(sql "$work/interrupted.db" "SELECT sum(count) > 20 FROM dcpi_samples")" 1

# An interrupt reaches the command exactly once, regardless of its sender.
${CC:-gcc} -O2 -o "$work/interrupts" "$top/tests/fixtures/programs/interrupts.c" || exit 1
env --default-signal=INT "$run" -q --db "$db" "$work/interrupts" > "$work/ready" &
pid=$!
pids+=("$pid")
eventually grep -q ready "$work/ready"
kill -INT $pid
wait $pid
is "an interrupt from a process is passed on" $? 1
if command -v script > /dev/null; then
	mkfifo "$work/keys"
	env --default-signal=INT script -qefc "exec $run -q --db $db $work/interrupts" "$work/typescript" \
		< "$work/keys" > /dev/null &
	pid=$!
	pids+=("$pid")
	exec 9> "$work/keys"
	eventually grep -qs ready "$work/typescript"
	printf '\003' >&9
	wait $pid
	is "an interrupt from the terminal arrives once" $? 1
	exec 9>&-
else
	skip "an interrupt from the terminal arrives once" "no script(1)"
fi

# Without privileges: own processes, user mode.
if [ "$(id -u)" -eq 0 ]; then
	mkdir -m 777 "$work/nobody"
	cp "$run" "$work/nobody/dcpirun"
	nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --)
	for event in $events; do
		check "$event: runs without privileges" "${nobody[@]}" "$work/nobody/dcpirun" -e "$event" \
			--db "$work/nobody/$event.db" "$work/split" 3000
		is "$event: accounts for every sample without privileges" \
			"$(identity "$work/nobody/$event.db")" ""
		shares_are_right "$event without privileges" "$work/nobody/$event.db" 1
	done
	refused "a database that may not be written" "denied|not permitted|read-only" \
		"${nobody[@]}" "$work/nobody/dcpirun" --db "$work/forbidden.db" true
else
	skip "runs without privileges" "not root: the other tests show it"
fi

# Programs that the kernel does not permit to profile: the reason is reported.
cp /bin/true "$work/privileged"
chmod 755 "$work/privileged"
is "a plain program: no reason" "$("$run" -q --db "$work/x.db" "$work/privileged" 2>&1)" ""
if [ "$(id -u)" -eq 0 ]; then
	chown 65534 "$work/privileged"
	chmod 4755 "$work/privileged"
	like "a set-user-ID program" "$("$run" -q --db "$work/x.db" "$work/privileged" 2>&1)" \
		"'$work/privileged' cannot be sampled by dcpirun: it is set-user-ID"
	like "a set-user-ID program in PATH" \
		"$(PATH=$work:$PATH "$run" -q --db "$work/x.db" privileged 2>&1)" 'it is set-user-ID'
	chown 0:65534 "$work/privileged"
	chmod 2755 "$work/privileged"
	like "a set-group-ID program" "$("$run" -q --db "$work/x.db" "$work/privileged" 2>&1)" \
		'it is set-group-ID'
else
	skip "programs with privileges" "not root: cannot make one"
fi

# The file system fills up: all messages report the samples that cannot be stored as lost.
if [ "$(id -u)" -eq 0 ] && mkdir "$work/full" &&
	mount -t tmpfs -o size=2m dcpi-test "$work/full" 2> /dev/null; then
	"$run" --db "$work/full/x.db" sh -c "cat /dev/zero > $work/full/zeros; $work/split 1000" \
		> "$work/out" 2>&1
	lost=$(sed -n 's/.* \([0-9]*\) samples are lost.*/\1/p' "$work/out")
	like "a full disk: samples are lost" "$lost" '^[1-9]'
	like "a full disk: the summary counts them" "$(cat "$work/out")" " samples, $lost lost, "
	umount "$work/full"
else
	skip "a full disk" "cannot mount a tmpfs"
fi

# Invalid arguments.
refused "no command" "no command" "$run"
refused "a database without a name" "name of the database is empty" "$run" --db "" true
like "a command without a name" "$("$run" -q --db "$work/x.db" "" 2>&1)" "cannot run '': No such file"
refused "an unknown option" "unknown option '--nonsense'" "$run" --nonsense true
refused "an option without its value" "option '--db' needs a value" "$run" --db
refused "an unknown event" "unknown event 'cycels'" "$run" -e cycels --db "$work/x.db" true
if "$(dirname "$run")/dcpid" --list-events | grep -q '^cycles  *no'; then
	refused "an event that the machine has not" "event 'cycles': cpu-clock works" "$run" \
		-e cycles --db "$work/x.db" true
else
	skip "an event that the machine has not" "it has cycles"
fi
refused "a period out of range" "period '10' .*outside the range" "$run" -e cycles:10 \
	--db "$work/x.db" true
refused "too many events" "more than 16 events" "$run" -e "$(seq -f r%g -s , 10 26)" --db "$work/x.db" true
refused "a bad number of samples for an edge" 'branch_every must be .* 0..1000000' "$run" \
	--branch-every often --db "$work/x.db" true
for number in 0 -1 many 10001; do
	refused "no number of runs: $number" "is not a valid number of runs" "$run" --repeat "$number" \
		--db "$work/x.db" true
done
refused "a trace of several runs" "are mutually exclusive" "$run" --repeat 2 \
	--record-trace "$work/x.trace" --db "$work/x.db" true
echo "this is not a database, and long enough to be sure of it" > "$work/foreign.db"
refused "a foreign file" "foreign.db" "$run" --db "$work/foreign.db" true
is "a foreign file is left alone" "$(wc -c < "$work/foreign.db")" 57
refused "a directory as database" "$work" "$run" --db "$work" true
refused "a missing directory" "absent" "$run" --db "$work/absent/x.db" true
is "a refused command has not run" "$("$run" --db "$work/absent/x.db" echo ran 2> /dev/null)" ""

tap_done
