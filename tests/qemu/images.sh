# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test kinds of images that need a separate kernel, with the module as sample source and each source
# of image events. The kinds are: code generated at run time, a BPF program, a kernel module that is
# loaded and unloaded, a file that is itself a mount point, and text that is moved.
# tests/cli/cli_images.sh has the other kinds.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

insmod /lib/dcpi.ko
is "the device is the group's" "$(stat -c %a /dev/dcpi)" 660

# procedure NAME IMAGE: print the samples of the procedure
procedure()
{
	dcpiprof --db "$db" --csv --image "$2" | awk -F, -v name="$1" '
		$4 ~ name { sum += $1 } END { print sum + 0 }'
}

# seventy LABEL: test that hot_seventy and hot_thirty have their shares of the program's code
seventy()
{
	a=$(procedure '^hot_seventy$' '*kinds-static \[jit\]')
	b=$(procedure '^hot_thirty$' '*kinds-static \[jit\]')
	check "$1: 70 to 30 ($a, $b)" awk -v a="$a" -v b="$b" 'BEGIN {
		share = a + b ? 100 * a / (a + b) : 0
		exit !(a + b > 500 && share > 65 && share < 75) }'
}

cp /bin/split /tmp/elsewhere
touch /tmp/mounted
mount -o bind /tmp/elsewhere /tmp/mounted

for feed in perf bpf; do
	daemon_start --source kmod --image-events "$feed" -e cpu-clock:500000-600000
	is "$feed: the daemon starts" $? 0
	kinds-static map 1500
	kinds-static dump 1500 /tmp
	bpf_spin 1000 20 || not_ok "$feed: a BPF program runs" "exit status $?"
	/tmp/mounted 500
	# The daemon reads the names of all symbols while the module is loaded. On a busy host that
	# takes as many seconds as here, and the daemon may start late.
	if insmod /lib/dcpi_selftest.ko; then
		begin=$(uptime_s)
		wc -l < /proc/kallsyms > /dev/null
		sleep $((2 + 4 * ($(uptime_s) - begin) + $(patience) / 60))
		rmmod dcpi_selftest
	fi
	daemon_stop
	is "$feed: the daemon ends with 0" $? 0
	seventy "$feed: perf map and jitdump"
	# A procedure of the map whose code was read is the same as that of the jitdump.
	jit="(SELECT id FROM image WHERE path LIKE '%kinds-static [jit]')"
	like "$feed: both kinds' procedures" \
		"$(query "SELECT count(*) FROM dcpi_symbols WHERE image IN $jit")" '^[234]$'
	like "$feed: the jitdump's code" \
		"$(query "SELECT count(*) FROM code WHERE image IN $jit")" '^[234]$'
	check "$feed: a BPF program" [ "$(procedure '_dcpi_spin$' '\[bpf\]')" -gt 300 ]
	is "$feed: a file that is mounted itself has the name of the place" "$(query "
		SELECT group_concat(path) FROM image WHERE path LIKE '/tmp/%ed' OR
		path LIKE '%elsewhere'")" /tmp/mounted
	check "$feed: a module that came and went" \
		[ "$(procedure 'sample_store|store_model' 'dcpi_selftest.ko')" -gt 300 ]
	query "SELECT '# ' || kind || ' ' || path || ' ' || sum(samples) FROM profile
		JOIN image ON image.id = image WHERE kind <> 0 GROUP BY image.id"
	is "$feed: nothing in the kernel is unknown" "$(query "SELECT ifnull(sum(count), 0)
		FROM counter WHERE counter_group = 'unknown' AND name = 'kernel'")" 0
	accounted "$feed: "
	rm -f /tmp/jit-*.dump /tmp/perf-*.map
done
check "the module unloads" rmmod dcpi

# Samples with a time stamp are matched with the mappings of that time.
compat=''
[ "$(uname -m)" != x86_64 ] || compat=compat
daemon_start --source perf --image-events bpf -e cpu-clock:500000-600000
for how in '' $compat; do
	# shellcheck disable=SC2086 # or nothing
	check "a program moves its text${how:+, $how}" moved 1000 $how
done
daemon_stop
for spin in moved${compat:+ moved_$compat}; do
	got=$(procedure "^${spin}_spin$" '*/moved')
	check "text that a copy replaces stays known ($spin: $got)" [ "$got" -gt 50 ]
done
tap_done
