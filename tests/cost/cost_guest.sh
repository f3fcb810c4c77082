# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# In the machine that counts instructions: one piece of work under one subject,
# as the kernel's command line has it: cost.run=SUBJECT,WORKLOAD,UNITS,INTERVAL,.
# A boot for each, so that all begin alike; cost.sh says what is made of them.
#
#   bare    nothing else
#   again   the same
#   floor   overflow interrupts with a handler that does nothing
#   hold    dcpi.ko, drained never: handler and perf core
#   dcpi    dcpi.ko and dcpid as it comes, until the samples are in the database:
#           in INTERVAL seconds it merges everything once
#   perf    perf record -a, until the samples are in its file
#   keys    dcpi.ko, drained and counted by meter: what a table can make of it at best
#
# Prints "mark WORKLOAD SUBJECT N" and what meter says after N units, and with
# "end" for N when the subject is done. Idle time is no cost, and takes none of
# the host's: so waiting is free.
mean=62000

# About half a second each
unit()
{
	case $workload in
	loop) split 2000 ;;
	compress) gzip -c /lib/input ;;
	database) repeat 3 sqlite3 :memory: ".read /lib/queries.sql" ;;
	server) repeat 3 serve ;;
	compiler) compile ;;
	shell) repeat 500 /bin/busybox expr 1 + 1 ;;
	memory) walk 40000000 ;;
	kernel) copy ;;
	wide) wide 3000 ;;
	esac >/dev/null 2>&1
}

repeat()
{
	times=$1
	shift
	while [ "$times" -gt 0 ]; do
		"$@"
		times=$((times - 1))
	done
}

# The same as database in one process that lives on, one for each shell
serve()
{
	if [ -z "${server:-}" ]; then
		server=/tmp/server.$$
		mkfifo $server.ask $server.answer
		sqlite3 :memory: <$server.ask >$server.answer &
		exec 8>$server.ask 9<$server.answer
	fi
	printf '%s\n' 'DROP TABLE IF EXISTS item;' '.output /dev/null' '.read /lib/queries.sql' \
		'.output stdout' '.print done' >&8
	read -r _ <&9
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

# mark N: $now is the time then
mark()
{
	meter now "$watched" >/tmp/now
	read -r now figures </tmp/now
	echo "mark $workload $subject $1 $now $figures" >>/tmp/marks
}

work()
{
	n=0
	while [ $n -lt "$units" ]; do
		unit
		n=$((n + 1))
		mark $n
	done
}

# Whatever does not end with the work itself: flush, and $1. Without a daemon
# the flush fails: so what the command costs is everywhere. The work is another
# shell's: a fork copies what a shell has in memory, and a wait looks at each of its
# children, which this one has more of for some subjects than for others.
measure()
{
	# The same process ids for all, whoever ran before.
	echo 10000 >/proc/sys/kernel/ns_last_pid
	mark 0
	start=$now
	COST_WATCHED=$watched sh "$0"
	flush
	[ -z "${1:-}" ] || $1
	mark end
	cat /tmp/marks
}

flush()
{
	dcpictl --socket "$dcpid_socket" flush >/dev/null 2>&1
}

bare()
{
	unit
	measure
	is "the machine was not idle" "$(awk '{ print $6 }' /tmp/marks | uniq | wc -l)" 1
}

floor()
{
	insmod /lib/floor.ko
	unit
	measure
	ok "measured"
}

# Nearly all samples of the wide loop miss a small table, once it is full.
hold()
{
	size='16384 131072'
	[ "$workload" != wide ] || size='1024 131072'
	# shellcheck disable=SC2086 # two numbers
	meter hold $size >/tmp/held &
	holder=$!
	sleep 0.2
	unit
	measure
	kill "$holder"
	wait "$holder"
	echo "held $workload $(cat /tmp/held)"
	is "nothing was lost" "$(cut -d ' ' -f 4 /tmp/held)" 0
}

# The whole interval's work, as dcpi has it
keys()
{
	meter keys >/tmp/keys &
	holder=$!
	sleep 0.2
	COST_WATCHED=$watched sh "$0"
	kill "$holder"
	wait "$holder"
	echo "keys $workload $(cat /tmp/keys)"
	is "nothing was lost" "$(cut -d ' ' -f 5 /tmp/keys)" 0
}

counters()
{
	dcpictl --socket "$dcpid_socket" stats | awk -v when="$workload $1" '
		{ v[$1] = $2 }
		END { print "counters", when, v["interrupts"], v["stat.hits"], v["stat.misses"],
			v["stat.entries"], v["stat.merges"] }'
}

# The daemon knows the images, and their symbols are in the database. Copying them
# to the image store, once in their life, is no cost of a sample. It flushes
# INTERVAL seconds after it has started, and as long after that, to the second
# of its drains: what is measured lies in between, and ends with the flush.
dcpi()
{
	meter now >/tmp/now
	read -r began figures </tmp/now
	daemon_start --source kmod -e cycles:60000-64000 --merge-interval "$interval" \
		--image-store none
	watched=$daemon
	unit
	flush
	meter now >/tmp/now
	read -r now figures </tmp/now
	wait_ms=$((interval * 1000 + 1300 - (now - began) / 1000000))
	sleep $((wait_ms / 1000)).$((wait_ms % 1000 / 100))
	flush
	counters before
	measure
	counters after
	ended=$now
	is "one merge interval was measured" $(((ended - start) / 100000000 < 10 * interval - 13)) 1
	flush_alone
	daemon_stop
	accounted ""
}

# What a flush costs that has next to nothing to bring
flush_alone()
{
	rm /tmp/marks
	subject=flush
	mark 0
	flush
	mark end
	cat /tmp/marks
}

perf_end()
{
	kill -INT "$recorder"
	wait "$recorder"
}

perf_record()
{
	perf record -q -a -B -e cycles -c $mean -o /tmp/perf.data >/tmp/perf.log 2>&1 &
	recorder=$!
	watched=$recorder
	sleep 1
	unit
	sleep 2
	measure perf_end
	is "perf record has its samples" "$(test -s /tmp/perf.data; echo $?)" 0
}

# shellcheck disable=SC2046 # four words
set -- $(sed 's/.*cost.run=//; y/,/ /' /proc/cmdline)
subject=$1 workload=$2 units=$3 interval=$4
watched=${COST_WATCHED:-1}
if [ -n "${COST_WATCHED:-}" ]; then
	work
	exit
fi
# shellcheck source=tests/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh
echo 0 >/proc/sys/vm/dirty_writeback_centisecs
echo -1 >/proc/sys/kernel/perf_event_paranoid
pmu_unlimited
# Until somebody asks for true random numbers, as dcpid and sqlite3 do, the kernel
# takes thousands of instructions for each that it needs itself, in every fork
# and system call: all shall find that done.
head -c 8 /dev/random >/dev/null
insmod /lib/dcpi.ko
# Let the kernel finish what it does after it has booted.
sleep 5
case $subject in
bare | again) bare ;;
perf) perf_record ;;
*) $subject ;;
esac
tap_done
