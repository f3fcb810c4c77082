# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Runs in the machine that counts instructions: one workload under one subject, as specified on the
# kernel's command line: cost.run=SUBJECT,WORKLOAD,UNITS,INTERVAL,. Each subject gets a separate
# boot, so that all start in the same state; cost.sh evaluates the figures.
#
#   bare    nothing else
#   again   the same
#   floor   overflow interrupts with a handler that does nothing
#   hold    dcpi.ko, never drained: handler and perf core
#   dcpi    dcpi.ko and dcpid with defaults, until the samples are in the database:
#           in INTERVAL seconds it merges everything once
#   perf    perf record -a, until the samples are in its file
#   keys    dcpi.ko, drained and counted by meter: the best that a table can achieve
#
# Prints "mark WORKLOAD SUBJECT N" and the output of meter after N units, and with "end" for N when
# the subject is done. Idle time is not a cost, and takes no time of the host: waiting is free.
mean=62000

# Each unit takes about half a second.
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

# The same as database in one long-lived process, one for each shell
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

# mark N: print the counters after N units; sets $now to the time
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

# Measure the workload, and then the work that outlasts it: flush, and $1. Without a daemon the
# flush fails, so that the cost of the command itself is in every figure. Another shell does the
# work. A fork copies the memory of a shell and a wait looks at each of its children, and this shell
# has more children with some subjects than with others.
measure()
{
	# Start with the same process id for each subject, no matter how many processes ran before.
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

# Nearly all samples of the wide loop miss a small table once it is full.
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

# The work of the whole interval, as for dcpi
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

# The daemon already knows the images, and their symbols are in the database. Images are not copied
# to the image store: this happens once per image and is not a cost of a sample. The daemon flushes
# INTERVAL seconds after its start and then again after each INTERVAL, with a resolution of one
# second, the drain interval. The measurement lies between two flushes, and ends with one.
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

# The cost of a flush with almost no samples
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
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh
echo 0 >/proc/sys/vm/dirty_writeback_centisecs
echo -1 >/proc/sys/kernel/perf_event_paranoid
pmu_unlimited
# Initialise the kernel's random numbers. Until a process requests true random numbers, as dcpid and
# sqlite3 do, the kernel needs thousands of instructions for each random number that it uses itself,
# in every fork and system call.
head -c 8 /dev/random >/dev/null
insmod /lib/dcpi.ko
# Let the kernel finish its work after booting.
sleep 5
case $subject in
bare | again) bare ;;
perf) perf_record ;;
*) $subject ;;
esac
tap_done
