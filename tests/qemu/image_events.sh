# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test that every sample is credited to its image, with each sample source and each source of image
# events. Covers processes that live for a millisecond, exec under one process id, threads whose
# leader has exited, libraries that replace each other at one address, and process ids that are
# reused at once. tests/fixtures/programs/storm.c makes misattributed samples detectable.
#
# With /lib/storm.seconds (make check-storm), a single storm runs for that number of seconds.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh
# shellcheck source=tests/lib/storm.sh
. /lib/storm.sh

storm_dir=/lib
storm_layout
rounds=500000

sql()
{
	query "$2"
}

# at_most LABEL COUNT OF PER_10000: test that COUNT is at most PER_10000 / 10,000 of OF
at_most()
{
	check "$1: $2 of $3" sh -c "[ '$3' -gt 100 ] && [ $((${2:-1} * 10000)) -le $((${3:-0} * $4)) ]"
}

ambiguous=

replaced()
{
	query "SELECT coalesce(sum(count), 0) FROM counter
		WHERE counter_group = 'unknown' AND name IN ('replaced', 'address')"
}

# judge LABEL: test the rates of unknown samples and of samples credited to another image. With
# $ambiguous, samples may be unknown where the kernel's key cannot distinguish two processes.
judge()
{
	# shellcheck disable=SC2046 # numbers
	set -- "$1" $(storm_counts "$db") $(storm_unknown "$db")
	at_most "$1: credited to another image" "$3" "$2" 5
	at_most "$1: unknown" "$(($4 - $(if [ "$ambiguous" ]; then replaced; else echo 0; fi)))" "$5" 5
	query "SELECT '# ' || group_concat(name || ' ' || count, ', ') FROM counter
		WHERE count > 0 AND (counter_group = 'unknown' OR name = 'image_events_lost')"
}

# profiled LABEL SOURCE FEED COMMAND...: profile the command and judge the result
profiled()
{
	label=$1 source=$2 feed=$3
	shift 3
	daemon_start --source "$source" --image-events "$feed" -e cpu-clock:180000-200000
	is "$label: the daemon starts" $? 0
	like "$label: the epoch says who tells events" "$(cat /tmp/status)" "image events: $feed"
	echo "# $("$@" 2>&1)"
	daemon_stop
	is "$label: the daemon ends with 0" $? 0
	judge "$label"
}

storm()
{
	/lib/image_0 run "$1" 4 $((4 * rounds)) /lib/image_[0-9] /lib/user_1[0-5] /lib/tiny_2[0-9]
}

# For a machine where an instruction takes a nanosecond: 1,000 processes per second of machine time
long_storm()
{
	tiny='/lib/tiny_2[0-9] /lib/tiny_2[0-9] /lib/tiny_2[0-9] /lib/tiny_2[0-9]'
	# shellcheck disable=SC2086 # patterns
	/lib/image_0 run "$1" 4 50000 /lib/image_[0-9] /lib/user_1[0-5] $tiny | tee /tmp/rate
}

pid_storm()
{
	old=$(cat /proc/sys/kernel/pid_max)
	echo 400 > /proc/sys/kernel/pid_max
	storm 4
	echo "$old" > /proc/sys/kernel/pid_max
}

pongs()
{
	/lib/image_1 pong 80 $rounds /lib/image_2
	/lib/image_3 pong-thread 40 $rounds /lib/image_4
}

# Starting and stopping to watch patches functions of the kernel and restores them. While functions
# are patched, the module cannot be unloaded.
watch_again()
{
	storm 3 >/dev/null 2>&1 &
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		: </dev/dcpi-images || return 1
	done
	exec 7</dev/dcpi-images 8</dev/dcpi-images
	! rmmod dcpi 2>/dev/null || return 1
	exec 7<&- 8<&-
	wait $!
}

check "the module loads" insmod /lib/dcpi.ko
feed=bpf
[ -e /sys/kernel/btf/vmlinux ] || feed=perf
if [ -e /lib/storm.seconds ]; then
	seconds=$(cat /lib/storm.seconds)
	profiled "storm of $seconds s, kmod, $feed" kmod "$feed" long_storm "$seconds"
	check "a thousand processes a second" [ "$(cut -d ' ' -f 1 /tmp/rate)" -ge $((seconds * 1000)) ]
	accounted ""
	tap_done
	exit
fi
profiled "storm, kmod" kmod "$feed" storm "${STORM_SECONDS:-5}"
if [ -e /dev/dcpi-images ]; then
	like "the module tells of mappings" "$(cat /tmp/status)" 'image events: bpf \(dcpi.ko\)'
	check "watching begins and ends while processes do" watch_again
fi
profiled "exec, kmod" kmod "$feed" pongs
# A process id is reused between two drains, after the same number of execs: the key is the same.
# Samples of the first process are unknown ("replaced"), or at an address that the second process
# does not have.
ambiguous=yes
profiled "process ids that come back, kmod" kmod "$feed" pid_storm
ambiguous=
# The BPF source needs BTF, too, which kernels with error checkers lack.
[ "$feed" != bpf ] || profiled "storm, bpf" bpf bpf storm 4

# Samples of libraries that alternate at one address may be unknown, but must not be credited to the
# wrong library.
daemon_start --source kmod --image-events "$feed" -e cpu-clock:180000-200000
/lib/load load 20 $((rounds * 6)) /lib/libstorm_11.so /lib/libstorm_12.so
daemon_stop
# shellcheck disable=SC2046 # numbers
set -- $(storm_counts "$db") $(storm_unknown "$db")
at_most "libraries by turns, kmod: credited to the other one" "${2:-1}" "$((${1:-0} + ${3:-0}))" 5
echo "# right $1, unknown $3 of $4"
# The same with the loader hook alone. With the time stamps that most samples of perf have, most are
# known, also samples of libraries that were reported while the daemon had no time. The socket's
# queue is as long as under systemd. A full queue is a loss ("lost"), which is not tested here.
echo 512 >/proc/sys/net/unix/max_dgram_qlen
hook_by_turns()
{
	label="libraries by turns, $1"
	daemon_start --source perf --image-events audit -e cpu-clock:180000-200000
	LD_AUDIT=/lib/libdcpi-audit.so /lib/load load "$2" $((rounds * 6)) /lib/libstorm_11.so \
		/lib/libstorm_12.so &
	loads=$!
	"$3"
	wait "$loads"
	daemon_stop
	# shellcheck disable=SC2046 # numbers
	set -- $(storm_counts "$db") $(storm_unknown "$db")
	at_most "$label: credited to the other one" "${2:-1}" "$((${1:-0} + ${3:-0}))" 5
	check "$label: most have an image" [ "${1:-0}" -gt "${3:-0}" ]
	echo "# right $1, unknown $3 of $4"
	query "SELECT '# ' || group_concat(counter_group || ' ' || name || ' ' || count, ', ')
		FROM counter WHERE count > 0 AND counter_group IN ('loss', 'unknown')"
}

# Stop the daemon for 80 ms repeatedly, so that events queue up.
hinder()
{
	while kill -0 "$loads" 2>/dev/null; do
		kill -STOP "$daemon"
		sleep 0.08
		kill -CONT "$daemon"
		sleep 0.03
	done
}

hook_by_turns "loader hook" 20 true
hook_by_turns "loader hook, the daemon behind" 60 hinder
check "the module unloads" rmmod dcpi
tap_done
