# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# In the machine that counts instructions: the same work bare and under each
# profiler. cost.sh says what is made of the figures. Each line "figure WORKLOAD
# SUBJECT NS IDLE_NS INTERRUPTS" is one run; SUBJECT is
#
#   bare    nothing else
#   floor   overflow interrupts with a handler that does nothing
#   hold    dcpi.ko, drained never: handler and perf core
#   dcpi    dcpi.ko and dcpid, until the samples are in the database
#   perf    perf record -a, until the samples are in its file
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

period=60000-64000
mean=62000

# figure WORKLOAD SUBJECT BEFORE AFTER: three numbers each, of meter now
figure()
{
	echo "figure $1 $2 $(($6 - $3)) $(($7 - $4)) $(($8 - $5))"
}

# measure WORKLOAD SUBJECT [END]: run the work, flush, then END. Without a daemon
# the flush fails: so what the command itself costs is everywhere.
measure()
{
	before=$(meter now)
	work "$1" >/dev/null
	flush
	[ -z "${3:-}" ] || $3
	after=$(meter now)
	# shellcheck disable=SC2086 # lists of numbers
	figure "$1" "$2" $before $after
}

flush()
{
	dcpictl --socket "$dcpid_socket" flush >/dev/null 2>&1
}

# About a second each, at a scale of 1
work()
{
	case $1 in
	loop) split $((2000 * scale)) ;;
	compress) repeat 1 gzip -c /lib/input ;;
	database) repeat 3 sqlite3 :memory: ".read /lib/queries.sql" ;;
	compiler) repeat 1 compile ;;
	shell) repeat 500 /bin/busybox expr 1 + 1 ;;
	memory) walk $((40000000 * scale)) ;;
	kernel) repeat 1 copy ;;
	wide) wide $((3000 * scale)) ;;
	esac 2>/dev/null
}

# repeat TIMES COMMAND...
repeat()
{
	i=$(($1 * scale))
	shift
	while [ $i -gt 0 ]; do
		"$@"
		i=$((i - 1))
	done
}

compile()
{
	for file in /lib/source?.i; do
		cc1 -quiet -O1 "$file" -o /dev/null
	done
}

copy()
{
	dd if=/dev/urandom of=/dev/null bs=64k count=200
	dd if=/dev/zero of=/dev/null bs=512 count=100000
	tar cf - -C /lib . | cat
}

hold()
{
	meter hold "$2" "$3" >/tmp/held &
	holder=$!
	sleep 0.2
	[ -z "${5:-}" ] || wide 500 # fill the table
	measure "$1" "$4"
	kill "$holder"
	wait "$holder"
	echo "held $1 $4 $(cat /tmp/held)"
}

floor()
{
	insmod /lib/floor.ko
	measure "$1" floor
	rmmod floor
}

counters()
{
	dcpictl --socket "$dcpid_socket" stats | awk '
		{ v[$1] = $2 }
		END { print v["interrupts"], v["stat.hits"], v["stat.misses"], v["stat.entries"] }'
}

# The daemon is warm: it knows the images, their symbols are in the database.
dcpi()
{
	daemon_start --source kmod -e cycles:$period
	work "$1" >/dev/null
	flush
	sleep 3
	flush
	echo "counters $1 before $(counters)"
	measure "$1" dcpi
	echo "counters $1 after $(counters)"
	measure_flush "$1"
	daemon_stop
	accounted "$1: "
}

# What a flush costs that has next to nothing to bring
measure_flush()
{
	before=$(meter now)
	flush
	after=$(meter now)
	# shellcheck disable=SC2086 # lists of numbers
	figure "$1" flush $before $after
}

perf_end()
{
	kill -INT "$recorder"
	wait "$recorder"
}

under_perf()
{
	perf record -q -a -B -e cycles -c $mean -o /tmp/perf.data >/tmp/perf.log 2>&1 &
	recorder=$!
	sleep 1
	measure "$1" perf perf_end
	rm -f /tmp/perf.data
}

scale=$(cat /lib/scale)
pmu_unlimited
echo 0 >/proc/sys/kernel/randomize_va_space
echo -1 >/proc/sys/kernel/perf_event_paranoid
insmod /lib/dcpi.ko
# Let the kernel finish what it does after it has booted.
sleep 5
for workload in $(cat /lib/workloads); do
	work $workload >/dev/null
	measure $workload bare
	floor $workload
	hold $workload 16384 131072 hold
	dcpi $workload
	under_perf $workload
	measure $workload again
done
# Handlers alone: nearly all samples miss; nearly all hit in the loop.
work wide
measure wide bare
floor wide
hold wide 1024 65536 hold warm
measure wide again
tap_done
