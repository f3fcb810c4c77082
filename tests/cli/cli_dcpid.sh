#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Test dcpid and dcpictl as users run them. Needs perf_event_open for the machine.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
split_build
socket=$work/dcpid.sock
daemon=("$bin/dcpid" --source perf --socket "$socket" --config "$work/empty.conf")
: > "$work/empty.conf"

# missed DB PIDS: print the samples of these processes that are in no known image
missed()
{
	sql "$1" "SELECT ifnull(sum(samples), 0) FROM profile p JOIN image i ON i.id = p.image
		WHERE i.kind = 5 AND pid IN ($2)"
}

# none_missed NAME DB PIDS: test that samples of these processes are in known images, if the kernel
# reported every process to the daemon. (Other processes may run code that is in no file.)
none_missed()
{
	local missed lost

	missed=$(missed "$2" "$3")
	lost=$(sql "$2" "SELECT ifnull(sum(count), 0) FROM counter WHERE name = 'image_events_lost'")
	if [ "$missed" -gt 0 ] && [ "$lost" -gt 0 ]; then
		not_measured "$1" "the kernel dropped $lost image events; $missed samples have no image"
	else
		is "$1" "$missed" 0
	fi
}

if ! "$bin/dcpid" --source perf --socket "" --db "$work/probe2.db" --label probe \
	--config "$work/empty.conf" --version > /dev/null || ! daemon_start --db "$work/probe2.db"; then
	skip "dcpid" "$(tail -n 1 "$work/log")"
	tap_done
	exit
fi
daemon_stop

# Profiles of the machine are correct, for every event.
for event in $events; do
	db=$work/$event.db
	starts "$event: starts" -e "$event" --db "$db" --merge-interval 2 --per-process unknown
	"$work/split" 6000 &
	split_pids=$!
	wait $!
	check "$event: flushes" ctl flush
	like "$event: counts add up while it runs" "$(ctl stats)" '^identity +exact'
	is "$event: the database adds up while it runs" "$(identity "$db")" ""
	"$work/split" 1000 &
	split_pids=$split_pids,$!
	wait $!
	daemon_stop
	is "$event: stops with 0" "$daemon_status" 0
	is "$event: accounts for every sample" "$(identity "$db")" ""
	is "$event: nothing is pending" "$(loss "$db" pending)" 0
	is "$event: the epoch is closed" "$(sql "$db" "SELECT sum(open) FROM epoch")" 0
	shares_are_right "$event" "$db" 1
	none_missed "$event: no process was missed" "$db" "$split_pids"
	is "$event: symbols of the kernel are kept" "$(sql "$db" "SELECT count(*) > 100
		FROM dcpi_symbols")" "$([ "$(awk '$3 == "_text" { print $1 }' /proc/kallsyms)" \
		!= 0000000000000000 ] && echo 1 || echo 0)"
done

# Processes start and end faster than samples are drained.
db=$work/storm.db
starts "starts for a fork storm" --db "$db" --merge-interval 1 --per-process unknown
storm_pids=0
for _ in $(seq 400); do
	/bin/true &
	storm_pids=$storm_pids,$!
	wait $!
done
"$work/split" 300
daemon_stop
is "a fork storm: accounts for every sample" "$(identity "$db")" ""
none_missed "a fork storm: no process is missed" "$db" "$storm_pids"

# A daemon is stopped until events are lost: it forgets processes that ended meanwhile.
sleepers=()
for _ in $(seq 200); do
	sleep 1000 &
	sleepers+=($!)
done
starts "starts beside many processes" --db "$work/held.db" --merge-interval 1 --drain-interval 100 \
	--image-events perf
# The daemon reads the list of processes after its start.
many_are_known()
{
	known=$(ctl_status | awk '$1 == "processes" { print $2 }')
	[ "$known" -ge 200 ]
}
eventually many_are_known
few_are_left()
{
	left=$(ctl_status | awk '$1 == "processes" { print $2 }')
	[ "$left" -lt $((known - 150)) ]
}
kill -STOP "$daemon_pid"
for _ in $(seq 6000); do
	/bin/true
done
kill "${sleepers[@]}"
wait "${sleepers[@]}" 2> /dev/null
kill -CONT "$daemon_pid"
eventually few_are_left
if [ "$(ctl --json stats | jq '."stat.image_events_lost"')" -gt 0 ]; then
	check "who ended untold is forgotten (of $known, $left are left)" \
		[ "$left" -lt $((known - 150)) ]
else
	skip "who ended untold is forgotten" "no event was lost"
fi
daemon_stop
is "after a loss: accounts for every sample" "$(identity "$work/held.db")" ""

# Control commands.
db=$work/steered.db
soft=$(ulimit -Sn)
ulimit -Sn 128
starts "starts" --db "$db" --label first --per-process "$work/split" --merge-interval 600
ulimit -Sn "$soft"
is "takes as many descriptors as it may" "$(awk '/open files/ { print $4 }' \
	"/proc/$daemon_pid/limits")" "$(awk '/open files/ { print $5 }' "/proc/$daemon_pid/limits")"
"$work/split" 1500 &
split_pid=$!
wait $split_pid
check "an epoch is ended" ctl epoch "the second one"
"$work/split" 500
like "status tells the epoch" "$(ctl_status)" '^epoch +2$'
like "status in words" "$(ctl status)" '^dcpid [0-9.]+.* has been sampling this machine'
status_counts()
{
	ctl status | grep -qE '^epoch .*: [1-9][0-9]* samples'
}
# Samples are in the rings until the next drain, for at most a second.
eventually status_counts
like "status counts samples that are not in the database yet" "$(ctl status)" \
	'^epoch .*: [1-9][0-9]* samples, [0-9]+ of them in the database'
like "per-process: a name that matches no image is reported" "$(ctl per-process "splt" 2>&1)" \
	'no image or file is named .splt. \(did you mean .split.\?\)'
is "per-process: the name of a file is enough" "$(ctl per-process "$(basename "$work/split")" 2>&1)" ""
is "per-process: a pattern for the path" "$(ctl per-process "$work/sp*t none*x" 2>&1)" \
	"dcpictl: no known image matches 'none*x'"
ln -s split "$work/linked"
is "per-process: a symbolic link to a file" "$(ctl per-process "$work/linked" 2>&1)" ""
ctl per-process "$work/split"
like "what is lost is told" "$(ctl status)" '^lost +0.00%: none$'
is "status as JSON" "$(ctl --json status | jq -r '.epoch, .source, .db')" "2
perf
$db"
is "stats: values are one column" "$(ctl stats |
	awk '{ match($0, /^[^ ]+ +/); print RLENGTH }' | sort -u | wc -l)" 1
is "stats as JSON are numbers" "$(ctl --json stats |
	jq -r '.interrupts == .stored + ([to_entries[] | select(.key | startswith("loss.")) | .value] |
		add)')" true
metrics=$(ctl metrics)
like "metrics for Prometheus" "$metrics" '^dcpi_samples_taken_total [0-9]+$'
is "each with its type" "$(grep -c '^# TYPE' <<< "$metrics")" \
	"$(sed -n 's/^\([a-z_]*\)[ {].*/\1/p' <<< "$metrics" | sort -u | wc -l)"
is "and each once" "$(grep -v '^#' <<< "$metrics" | sed 's/ [^ ]*$//' | sort | uniq -d)" ""
like "losses by name" "$metrics" '^dcpi_epoch_lost{reason="[a-z_]+"} [0-9]+$'
is "accounts are exact" "$(grep '^dcpi_accounts' <<< "$metrics")" 'dcpi_accounts_exact 1'
check "the daemon's database is checked" ctl --db "$db" status
refused "another database than the daemon's" "writes to" "$bin/dcpictl" --socket "$socket" \
	--db "$work/other.db" status
check "is stopped by a request" ctl stop
wait "$daemon_pid"
is "a request stops it with 0" $? 0
is "each epoch adds up" "$(identity "$db")" ""
is "epochs have their labels" "$(sql "$db" "SELECT label FROM epoch ORDER BY id")" "first
the second one"
is "epochs do not overlap" "$(sql "$db" "SELECT count(*) FROM epoch a JOIN epoch b
	ON a.id < b.id WHERE a.end_ns > b.start_ns")" 0
is "images asked for are kept by process" "$(sql "$db" "SELECT DISTINCT pid FROM dcpi_samples
	WHERE epoch = 1 AND path = '$work/split'")" "$split_pid"
# Samples of the profiler's processes have a number of their own (PROFILE_PID_PROFILER).
is "others are not" "$(sql "$db" "SELECT DISTINCT pid FROM dcpi_samples
	WHERE path <> '$work/split' AND pid <> -4294967296")" -1
is "the socket is gone" "$(ls "$socket" 2> /dev/null)" ""

# Reloading of the configuration.
#
# hangup_handled: return true if the daemon has taken the signal and answers, so that it has read
# its configuration
hangup_handled()
{
	local pending

	pending=$(awk '$1 == "ShdPnd:" { print substr($2, length($2)) }' "/proc/$daemon_pid/status")
	[ $((0x$pending & 1)) -eq 0 ] && daemon_answers
}

db=$work/reloaded.db
config=$work/dcpid.conf
daemon=("$bin/dcpid" --source perf --socket "$socket" --config "$config")
printf 'label = one\n' > "$config"
starts "starts with a configuration" --db "$db"
mkdir "$config.d"
printf 'label = two\n' > "$config.d/10-label.conf"
kill -HUP "$daemon_pid"
eventually status_is epoch 2
printf 'colour = red\n' > "$config.d/20-bad.conf"
kill -HUP "$daemon_pid"
eventually logged colour
like "a bad configuration is refused, by file and line" "$(cat "$work/log")" \
	"20-bad.conf:1: unknown key 'colour'"
check "and sampling goes on" ctl flush
mv "$config.d/20-bad.conf" "$work/bad.conf"
printf 'log_level = error\n' > "$config.d/20-level.conf"
kill -HUP "$daemon_pid"
eventually hangup_handled
mv "$work/bad.conf" "$config.d/30-bad.conf"
kill -HUP "$daemon_pid"
eventually logged 30-bad
is "a level of messages is obeyed at once" "$(tail -n 1 "$work/log" | grep -c 30-bad) $(
	grep -c 'configuration has not changed' "$work/log")" "1 0"
daemon_stop INT
is "an interrupt stops it with 0" "$daemon_status" 0
is "reloading began an epoch" "$(sql "$db" "SELECT label FROM epoch ORDER BY id")" "one
two"
is "reloading lost nothing" "$(identity "$db")" ""
rm -rf "$config.d"
daemon=("$bin/dcpid" --source perf --socket "$socket" --config "$work/empty.conf")

# The kernel lowers its limit on samples: periods get longer, in a new epoch. (A bind mount makes a
# file of this test the limit, for the daemon only.)
db=$work/limited.db
limit=/proc/sys/kernel/perf_event_max_sample_rate
echo 20000 > "$work/limit"
if [ "$(id -u)" -eq 0 ] && unshare -m mount --bind "$work/limit" $limit 2> /dev/null; then
	plain=("${daemon[@]}")
	# shellcheck disable=SC2016
	daemon=(unshare -m sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' "$work/limit"
		"$limit" "${plain[@]}" --drain-interval 100)
	starts "starts within the limit" -e cpu-clock:100000-110000,page-faults:5000 --db "$db" \
		--label limited --merge-interval 600
	"$work/split" 500
	echo 1000 > "$work/limit"
	eventually status_is epoch 2
	split_until "$db" 2 1000
	like "a lower limit is told" "$(cat "$work/log")" \
		'cpu-clock: periods raised to 2000000-2200000: the kernel allows 1000 samples'
	like "and shown" "$(ctl_status)" '^event.0 +cpu-clock:2000000-2200000 ns$'
	echo 900 > "$work/limit"
	eventually status_is epoch 3
	like "counts add up after that" "$(ctl stats)" '^identity +exact'
	echo 20000 > "$work/limit"
	kill -HUP "$daemon_pid"
	eventually status_is epoch 4
	daemon_stop
	is "each epoch has its periods" "$(sql "$db" "SELECT epoch, period_min, period_max FROM event
		WHERE name = 'cpu-clock' ORDER BY epoch")" "1|100000|110000
2|2000000|2200000
3|2222223|2444445
4|100000|110000"
	is "other events keep theirs" "$(sql "$db" "SELECT DISTINCT period_min FROM event
		WHERE name = 'page-faults'")" 5000
	is "each has its samples" "$(sql "$db" "SELECT count(*) FROM epoch WHERE id < 3 AND
		(SELECT sum(count) FROM dcpi_samples WHERE epoch = id) > 100")" 2
	is "each adds up" "$(identity "$db")" ""
	is "each has the label" "$(sql "$db" "SELECT DISTINCT label FROM epoch")" limited
	shares_are_right "after the change" "$db" 2
	daemon=("${plain[@]}")
else
	skip "a lower limit" "cannot mount"
fi

# The budget for sampling.
db=$work/cost.db
starts "starts and measures" -e cpu-clock --db "$db" --overhead 1
like "tells what a sample costs" "$(cat "$work/log")" 'the cost of a sample|a sample costs [0-9.]+ us'
if grep -q 'a sample costs' "$work/log"; then
	like "the cost is kept" "$(ctl stats)" '^stat.sample_cost_ns +[0-9]+$'
fi
is "the rate is the paper's at most" "$(ctl_status | awk '$1 == "event.0" {
	split($2, part, /[:-]/); print (part[3] >= 192307) }')" 1
daemon_stop
is "and is in the database" "$(sql "$db" "SELECT count(*) FROM counter WHERE name = 'sample_cost_ns'")" \
	"$(grep -c 'a sample costs [0-9]' "$work/log")"
starts "starts with a period" -e cpu-clock:4000000 --db "$db"
is "says no more than what that will cost" "$(grep -c 'samples per second and CPU' "$work/log")" 0
like "and takes it" "$(ctl_status)" '^event.0 +cpu-clock:[4-9][0-9]{6}-'
daemon_stop

# Two daemons with separate databases and sockets: both have all samples.
usual=("${daemon[@]}")
starts "the first of two daemons starts" -e cpu-clock:1000000 --db "$work/first.db" --merge-interval 1
first_pid=$daemon_pid
daemon=("$bin/dcpid" --source perf --config "$work/empty.conf" --socket "$work/second.sock")
socket=$work/second.sock
starts "so does the second" -e cpu-clock:1000000 --db "$work/second.db" --merge-interval 1
"$work/split" 4000
check "the second flushes" ctl flush
daemon_stop
is "the second stops with 0" "$daemon_status" 0
daemon_pid=$first_pid socket=$work/dcpid.sock daemon=("${usual[@]}")
check "the first still flushes" ctl flush
daemon_stop
is "the first stops with 0" "$daemon_status" 0
for name in first second; do
	is "the $name accounts for every sample" "$(identity "$work/$name.db")" ""
	shares_are_right "the $name" "$work/$name.db" 1
done
first=$(split_samples "$work/first.db" 1) second=$(split_samples "$work/second.db" 1)
# Samples of a busy machine hit the program by chance: allow three standard deviations.
check "both have as many samples of the program ($first, $second)" \
	awk -v a="$first" -v b="$second" 'BEGIN {
		d = a > b ? a - b : b - a
		exit !(a > 100 && d < 0.05 * a + 3 * sqrt(a + b)) }'

# Two daemons; a daemon that was killed.
db=$work/two.db
starts "starts once" --db "$db" --merge-interval 1
refused "a second daemon on its database" "$db" "$bin/dcpid" -q --source perf --db "$db" \
	--socket "$work/other.sock" --config "$work/empty.conf"
refused "a second daemon on its socket" "another daemon" "$bin/dcpid" -q --source perf \
	--db "$work/other.db" --socket "$socket" --config "$work/empty.conf"
"$work/split" 2500
ctl flush
daemon_stop KILL
is "a crash leaves a database that adds up" "$(identity "$db")" ""
starts "starts after a crash" --db "$db"
daemon_stop
is "the crashed epoch was closed" "$(sql "$db" "SELECT group_concat(open, '') FROM epoch")" 00
is "both add up" "$(identity "$db")" ""

# A full disk: samples wait in memory, and are stored when there is space again.
if [ "$(id -u)" -eq 0 ] && mkdir "$work/full" &&
	mount -t tmpfs -o size=16m dcpi-test "$work/full" 2> /dev/null; then
	db=$work/full/dcpi.db
	starts "starts on a small disk" --db "$db" --merge-interval 600 --image-store none
	"$work/split" 300
	head -c 20m /dev/zero > "$work/full/ballast" 2> /dev/null
	refused "a flush to a full disk" "full" "$bin/dcpictl" --socket "$socket" flush
	like "samples are kept" "$(ctl stats | awk '$1 == "loss.pending" { print $2 }')" '^[1-9][0-9]+$'
	like "and counted" "$(ctl stats)" '^identity +exact'
	rm "$work/full/ballast"
	check "the disk has room again" ctl flush
	is "nothing was lost" "$(identity "$db")$(loss "$db" pending)" 0
	"$work/split" 300
	# The log has no space left: it is empty, and a reader prevents it from being restarted.
	sqlite3 "$db" 'PRAGMA wal_checkpoint(TRUNCATE)' > "$work/checkpoint"
	mkfifo "$work/hold"
	sqlite3 "$db" < "$work/hold" > "$work/held" &
	exec 8> "$work/hold"
	echo "BEGIN; SELECT count(*) FROM epoch;" >&8
	eventually test -s "$work/held"
	head -c 20m /dev/zero > "$work/full/ballast" 2> /dev/null
	daemon_stop
	exec 8>&-
	is "stops with 2 if samples could not be stored" "$daemon_status" 2
	like "and says how many" "$(cat "$work/log")" '[0-9]+ samples are lost'
	is "the database, still on the full disk, has as many" "$(loss "$db" storage)" \
		"$(sed -n 's/.* \([0-9]*\) samples are lost.*/\1/p' "$work/log")"
	like "and that is more than none" "$(loss "$db" storage)" '^[1-9]'
	like "reports say so" "$("$bin/dcpiprof" --db "$db" 2>&1)" \
		"\+ $(loss "$db" storage) lost: exact"
	is "nothing is left beside the database" "$(find "$work/full" -name '*reserve*')" ""
	rm "$work/full/ballast"
	is "the database adds up" "$(identity "$db")" ""
	umount "$work/full"
else
	skip "a full disk" "cannot mount a tmpfs"
fi

# Invalid arguments.
d=("$bin/dcpid" -q --socket "" --config "$work/empty.conf")
refused "an unknown option" "unknown option '--nonsense'" "${d[@]}" --nonsense
refused "an argument" "unexpected argument 'garbage'" "${d[@]}" garbage
refused "an option without its value" "needs a value" "${d[@]}" --db
refused "an unknown event" "unknown event 'cycels'" "${d[@]}" --db "$work/x.db" -e cycels
refused "a period out of range" "outside the range" "${d[@]}" --db "$work/x.db" -e cycles:999
refused "a clock's period out of range" "outside the range 50000-" "${d[@]}" --db "$work/x.db" \
	-e cpu-clock:49999
refused "an overhead of nothing" "overhead_percent must be" "${d[@]}" --db "$work/x.db" --overhead 0
refused "an unknown source" "unknown source 'magic'; known: auto, kmod, bpf, perf, replay" "${d[@]}" --db "$work/x.db" --source magic
refused "a bad number" 'merge_interval_s must be' "${d[@]}" --db "$work/x.db" --merge-interval soon
refused "a bad number of samples for an edge" 'branch_every must be' "${d[@]}" --db "$work/x.db" \
	--branch-every -1
refused "double samples that never end" 'double_every must be 0' "${d[@]}" --db "$work/x.db" \
	--double-every 1
refused "double samples without the module" "double_every needs source 'kmod'" "${d[@]}" \
	--db "$work/x.db" --source perf --double-every 100
refused "a missing configuration" "absent.conf" "$bin/dcpid" --config "$work/absent.conf"
if [ ! -e /dev/dcpi ]; then
	refused "the module's source without the module" "dcpi.ko is not loaded" "${d[@]}" \
		--db "$work/x.db" --source kmod
fi
echo "this is not a database, and long enough to be sure of it" > "$work/foreign.db"
refused "a foreign file" "foreign.db" "${d[@]}" --source perf --db "$work/foreign.db"
cp "$work/two.db" "$work/newer.db"
sqlite3 "$work/newer.db" "PRAGMA user_version = 999"
refused "a database of a newer version" "newer" "${d[@]}" --source perf --db "$work/newer.db"
refused "a missing directory" "absent" "${d[@]}" --source perf --db "$work/absent/absent/x.db"
if [ "$(id -u)" -eq 0 ]; then
	mkdir -m 777 "$work/nobody"
	cp "$bin/dcpid" "$work/nobody/"
	refused "no permission to profile the machine" "not permitted|denied" \
		setpriv --reuid=65534 --regid=65534 --clear-groups -- "$work/nobody/dcpid" -q \
		--source perf --socket "" --db "$work/nobody/x.db" --config "$work/empty.conf"
fi
refused "dcpictl without a daemon" "no daemon listens on" "$bin/dcpictl" --socket "$work/none" status
if [ "$(id -u)" -eq 0 ]; then
	mkdir -m 700 "$work/closed"
	cp "$bin/dcpictl" "$work/nobody/"
	refused "dcpictl where access is denied" "cannot connect to '.*': Permission denied" \
		setpriv --reuid=65534 --regid=65534 --clear-groups -- "$work/nobody/dcpictl" \
		--socket "$work/closed/socket" status
fi
refused "dcpictl without a command" "no command" "$bin/dcpictl"
refused "dcpictl: an unknown command" "unknown command 'dance'" "$bin/dcpictl" dance
refused "dcpictl: an argument too many" "unexpected argument 'x'" "$bin/dcpictl" status x

# The daemon notifies the service manager.
if command -v python3 > /dev/null; then
	python3 - "$work/notify" "$(patience)" > "$work/notified" <<'PYTHON' &
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
s.settimeout(float(sys.argv[2]))
while True:
    state = s.recv(256).decode()
    print(state, flush=True)
    if state == "STOPPING=1":
        break
PYTHON
	listener=$!
	pids+=("$listener")
	eventually test -S "$work/notify"
	NOTIFY_SOCKET=$work/notify daemon_start --db "$work/notified.db" --drain-interval 100
	eventually grep -q WATCHDOG "$work/notified"
	daemon_stop
	wait $listener
	is "the service manager is told of each state" "$(uniq "$work/notified")" "READY=1
WATCHDOG=1
STOPPING=1"
else
	skip "the service manager is told" "no python3"
fi

tap_done
