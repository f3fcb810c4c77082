# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test the whole path without the module: a BPF program counts samples, dcpid reads the program's
# maps, and dcpiprof reports. Repeats the tests of end_to_end.sh and adds tests for this source:
#
# - the exec generation of processes that started before the daemon,
# - exec during a drain interval,
# - a CPU that goes offline and comes back (for the perf source and its image events, too),
# - many samples for a small store.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

db=/tmp/bpf.db

# identity: print 1 if in every epoch interrupts = samples in profiles + losses
identity()
{
	query "SELECT sum(interrupts) = (SELECT sum(count) FROM dcpi_samples) +
		(SELECT sum(count) FROM counter WHERE counter_group = 'loss') FROM epoch"
}

# The process starts before the daemon: only the kernel knows its exec generation.
split 40000 &
old=$!
daemon_start -e cpu-clock:180000-200000
is "the daemon starts" $? 0
like "without the module it takes bpf" "$(cat /tmp/status)" '^source +bpf'
like "and says why" "$(cat /tmp/status)" '^source +bpf \(not kmod: dcpi.ko is not loaded'
split_sampled
dd if=/dev/urandom of=/dev/null bs=64k count=400 2> /dev/null
# Each process calls exec twice in quick succession: one address space belongs to a shell, the next
# to busybox.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sh -c 'exec sh -c "exec busybox true"'
done
check "it stores everything when asked" dcpictl --socket /run/dcpid.sock flush
dcpictl --socket /run/dcpid.sock stats > /tmp/stats
like "its counters add up while it runs" "$(cat /tmp/stats)" '^identity +exact'
# Branches are sought in one sample in 256: on a busy host, the machine needs a while to find some
# tens of them.
branches_found()
{
	dcpictl --socket /run/dcpid.sock stats > /tmp/stats
	[ "$(awk '$1 == "stat.branches_found" { print $2 }' /tmp/stats)" -ge 40 ]
}
eventually branches_found
like "one sample in some leads to branches, without being asked" "$(cat /tmp/stats)" \
	'^stat.branches_found +[1-9][0-9]+'
kill "$old"
daemon_stop
is "the daemon ends with 0" $? 0
split_shares ""
dcpiprof --db "$db" --csv --image 'vmlinux*' > /tmp/kernel.csv
check "kernel procedures have names" sh -c "
	[ \$(grep -vc proc_0x /tmp/kernel.csv) -gt 20 ]"
is "interrupts = samples + losses" "$(identity)" 1
# The number of branches is left to chance: a sample yields one or eight.
is "all edges that are known are in the database" "$(query "SELECT
	sum(count) > 0 AND sum(count) = (SELECT sum(CASE WHEN name = 'edges' THEN count
			WHEN name IN ('edges_gone', 'edges_unknown') THEN -count END)
		FROM counter WHERE counter_group = 'stat')
	FROM dcpi_edges WHERE kind = 'branch'")" 1
# Some of the branches, or all branches of one sample, may belong to a library without samples: the
# search continues there from a library that has samples.
is "edges are those of programs that were sampled" "$(query "SELECT
	20 * sum(count * (path NOT IN (SELECT path FROM dcpi_samples))) <= max(sum(count), 160)
	FROM dcpi_edges WHERE kind = 'branch'")" 1
is "nothing was lost" "$(query "SELECT sum(count) FROM counter WHERE counter_group = 'loss'")" 0
unknown=$(query "SELECT 10000 * sum(count * (path = 'unknown')) / sum(count) FROM dcpi_samples")
check "at most 0.05% match no image (${unknown:-?} in 10,000)" [ "${unknown:-9999}" -le 5 ]

# A CPU goes offline and comes back.
db=/tmp/hotplug.db
daemon_start --source bpf -e cpu-clock:180000-200000 --drain-interval 100
is "it starts again" $? 0
split 1000
echo 0 > /sys/devices/system/cpu/cpu1/online
split 1000
echo 1 > /sys/devices/system/cpu/cpu1/online
sleep 1
split 2000 & split 2000
wait $!
dcpictl --socket /run/dcpid.sock stats > /tmp/stats
like "counters add up after a CPU went and came" "$(cat /tmp/stats)" '^identity +exact'
daemon_stop
is "and in the database" "$(identity)" 1

# A CPU goes offline and comes back while the daemon is stopped, so the daemon sees the same set of
# online CPUs before and after.
for source in bpf perf; do
	db=/tmp/unseen-$source.db
	daemon_start --source "$source" --image-events "$source" -e cpu-clock:180000-200000
	is "$source: it starts again" $? 0
	sleep 1
	kill -STOP "$daemon"
	echo 0 > /sys/devices/system/cpu/cpu1/online
	echo 1 > /sys/devices/system/cpu/cpu1/online
	kill -CONT "$daemon"
	sleep 5
	taskset 2 split 2000
	dcpictl --socket /run/dcpid.sock stats > /tmp/stats
	like "$source: counters add up" "$(cat /tmp/stats)" '^identity +exact'
	daemon_stop
	got=$(query "SELECT ifnull(sum(count), 0) FROM dcpi_samples WHERE path LIKE '%/split'")
	check "$source: a CPU is sampled that was offline while nobody looked ($got)" \
		[ "$got" -gt 100 ]
	is "$source: and in the database" "$(identity)" 1
done

# The events of a profiled program are inherited. Children that live on would not get new events for
# a CPU that came back.
db=/tmp/target.db
rm -f /tmp/begun /tmp/go
dcpirun -q --db "$db" -e cpu-clock:180000-200000 -- sh -c '
	sh -c "touch /tmp/begun; until [ -e /tmp/go ]; do sleep 0.2; done; exec taskset 2 split 2000" &
	wait' 2> /tmp/target.log &
target=$!
eventually test -e /tmp/begun
echo 0 > /sys/devices/system/cpu/cpu1/online
sleep 3
echo 1 > /sys/devices/system/cpu/cpu1/online
sleep 3
touch /tmp/go
wait $target
is "dcpirun ends as its program" "$? $(cat /tmp/target.log)" "0 "
got=$(query "SELECT ifnull(sum(count), 0) FROM dcpi_samples WHERE path LIKE '%/split'")
check "a child that lived is sampled on a CPU that went and came ($got)" [ "$got" -gt 100 ]
is "and all is accounted for" "$(identity)" 1

# The store is so small that it overflows at once: all losses, if any, are recorded with a cause.
db=/tmp/small.db config=/tmp/small.conf
printf 'table_entries = 64\nbuffer_entries = 64\n' > "$config"
daemon_start --source bpf -e cpu-clock:100000-110000
is "it starts with a small store" $? 0
# buffers_full: run programs, and return true if buffers were full. A busy host has few interrupts.
buffers_full()
{
	dd if=/dev/urandom of=/dev/null bs=64k count=200 2> /dev/null
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sh -c 'ls -lR /proc/self > /dev/null 2>&1'
	done
	dcpictl --socket "$dcpid_socket" stats > /tmp/stats
	[ "$(awk '$1 == "stat.flips" { print $2 }' /tmp/stats)" -gt 5 ]
}
check "buffers were full" eventually buffers_full
daemon_stop
is "each sample is stored or named" "$(identity)" 1

# A BPF program also collects edges for the perf source, and probes of branches where the kernel
# supports them (6.6). Without that support there are no probes, and nothing else is missing.
counter()
{
	awk -v name="stat.$1" '$1 == name { print $2 }' /tmp/probes
}

db=/tmp/probes.db config=/dev/null
daemon_start --source perf --branch-every 1 --probes 50 -e cpu-clock:500000-600000
is "it starts with the source perf" $? 0
split 12000
is "a program ends well while its branches are probed" $? 0
dcpictl --socket /run/dcpid.sock flush
dcpictl --socket /run/dcpid.sock stats > /tmp/probes
version=$(uname -r | awk -F. '{ print 100 * $1 + $2 }')
if [ "$version" -ge 606 ] && [ "$(awk '$1 == "stat.probes_unavailable" { print $2 }' /tmp/probes)" = 0 ]; then
	# The machine is emulated and slow: the breakpoint must be removed, but not within 100 ms.
	stop_profiler stop 3 "$daemon" > /tmp/stopped
	check "the kernel removes breakpoints of a stopped daemon" grep -q gone /tmp/stopped
	is "all of them" "$(grep -c stuck /tmp/stopped)" 0
	sed 's/^/# /' /tmp/stopped
fi
daemon_stop
check "samples lead to branches" [ "$(counter branches_found)" -gt 500 ]
check "by what a BPF program kept" [ -n "$(counter snapshots_missed)" ]
if [ "$version" -ge 606 ] && [ "$(counter probes_unavailable)" = 1 ]; then
	skip "branches are probed" "not measured: the emulated machine is too slow"
elif [ "$version" -ge 606 ]; then
	check "branches were probed ($(counter probes))" [ "$(counter probes)" -gt 0 ]
	check "and seen" [ "$(query "SELECT sum(count) FROM dcpi_edges WHERE kind = 'probe'")" -gt 100 ]
else
	is "this kernel probes none" "$(counter probes)" 0
	is "and a counter reports that" "$(counter probes_unavailable)" 1
fi
is "interrupts = samples + losses, with edges" "$(identity)" 1

sed 's/^/# /' /tmp/stats /tmp/probes /tmp/dcpid.log
tap_done
