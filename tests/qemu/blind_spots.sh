# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Measure which code cannot be sampled, and where its samples go instead; docs/blind-spots.md has
# the results. The interrupt is an NMI or not, depending on the kernel's command line.
# tests/eval/blind/blind.c disables interrupts for 30% of its time. Then dcpi.ko's handler itself is
# sampled, as in the paper's meta-method. Prints lines for blind_spots.awk:
#
# - blind DELIVERY EVENT OFF_NS EXPECTED OFF ENABLE ON: samples
# - load DELIVERY SHARE PROCEDURE: shares of an ordinary workload, in percent
# - metaof DELIVERY INTERRUPTS: the number of interrupts that dcpi.ko handled
# - meta DELIVERY SAMPLES PROCEDURE: samples in dcpi.ko meanwhile
# - insn DELIVERY SAMPLES OFFSET PROCEDURE: the same by instruction
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

# A mean period of 100 us, in units of the clock event (ns) and of a 1 GHz cycle counter.
window=90000-110000 mean=100000
meta_window=9600-10400
# The loop runs for one second.
total_ns=1000000000

pmu_delivery()
{
	if grep -q 'irqchip.gicv3_pseudo_nmi=1' /proc/cmdline; then
		echo NMI
	else
		echo IRQ
	fi
}

samples_of()
{
	awk -F, -v name="$1" '$4 == name { n = $1 } END { print n + 0 }' /tmp/blind.csv
}

# blind DELIVERY EVENT OFF_NS: sample the loop while it disables interrupts for OFF_NS at a time
blind()
{
	daemon_start --source kmod -e "$2:$window"
	echo "$3 $((total_ns * 3 / 10 / $3))" >/sys/module/blind/parameters/run
	daemon_stop
	like "$1 $2, off for $3 ns: all that came is accounted for" "$(dcpiprof --db "$db")" \
		'^accounting .*: exact$'
	dcpiprof --db "$db" --csv >/tmp/blind.csv
	off=$(samples_of blind_off) on=$(samples_of blind_on) enable=$(samples_of blind_enable)
	echo "blind $1 $2 $3 $((total_ns / mean)) $off $enable $on"
	if [ "$1" = NMI ]; then
		check "NMI: three tenths are seen in the section itself" \
			test $((100 * off)) -ge $((28 * (off + on))) -a \
			$((100 * off)) -le $((32 * (off + on)))
		check "NMI: none gathers behind it" test $((1000 * enable)) -le $((off + on))
	else
		is "$1 $2: no sample in the section" "$off" 0
		check "$1 $2: samples gather behind it" test $((100 * enable)) -ge "$on"
	fi
}

# Random numbers, pipes, files and processes
ordinary_work()
{
	dd if=/dev/urandom of=/dev/null bs=64k count=30
	dd if=/dev/zero bs=512 count=20000 | cat | wc -c
	tar cf - -C / bin lib | cat | wc -c
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sh -c 'busybox true; echo a | cat'
	done
} >/dev/null 2>&1

load()
{
	daemon_start --source kmod -e cycles:9600-10400
	for _ in 1 2 3 4 5; do
		ordinary_work
	done
	daemon_stop
	like "$1: ordinary work is accounted for" "$(dcpiprof --db "$db")" '^accounting .*: exact$'
	dcpiprof --db "$db" --csv | awk -F, -v d="$1" '
		$1 ~ /^[0-9]+$/ && $4 != "arch_cpu_idle" && $4 != "cpu_do_idle" {
			n[$4] += $1
			sum += $1
		}
		END { for (p in n) print "load", d, 100 * n[p] / sum, p }'
}

# metamethod DELIVERY: dcpi.ko samples cpu-clock while the perf source samples cycles, also those
# that dcpi.ko uses. Two daemons write two separate databases.
metamethod()
{
	daemon_start --source kmod -e cpu-clock:50000-60000
	watched=$daemon
	db=/tmp/meta.db dcpid_socket=/run/meta.sock
	daemon_start --source perf -e cycles:$meta_window
	is "$1: a second daemon watches the first one's handler" $? 0
	split 2000
	daemon_stop
	like "$1: what it saw is accounted for" "$(dcpiprof --db "$db")" '^accounting .*: exact$'
	dcpiprof --db "$db" --csv --image '*dcpi*' | awk -F, -v d="$1" '
		$5 !~ /^\// && $4 ~ /^(handler_|sample_store_|period_|branch_|drain_)/ { print "meta", d, $1, $4 }' >/tmp/meta
	cat /tmp/meta
	# Two queries instead of a join, because neither table has an index.
	query "SELECT image, offset, offset + bytes FROM dcpi_symbols WHERE name = 'handler_plain'" |
		tr '|' ' ' | while read -r image begin end; do
		query "SELECT printf('insn $1 %d %x handler_plain', sum(count), offset - $begin)
			FROM dcpi_samples WHERE image = $image AND offset >= $begin AND offset < $end
			GROUP BY offset ORDER BY offset"
	done
	kill "$watched"
	wait "$watched"
	db=/tmp/dcpi.db dcpid_socket=/run/dcpid.sock
	like "$1: so is what the module counted" "$(dcpiprof --db "$db")" '^accounting .*: exact$'
	echo "metaof $1 $(query 'SELECT sum(interrupts) FROM epoch')"
	if [ "$1" = NMI ]; then
		check "NMI: samples inside the handler" grep -q ' handler_plain$' /tmp/meta
	else
		is "IRQ: no sample inside the handler" "$(cat /tmp/meta)" ""
	fi
}

pmu_unlimited
delivery=$(pmu_delivery)
grep -i 'pmu' /proc/interrupts | sed 's/^/# /'
dmesg | grep -i 'nmi\|pmu' | sed 's/^/# /'
check "the modules load" sh -c "insmod /lib/dcpi.ko && insmod /lib/blind.ko"
for off_ns in 10000 100000 1000000; do
	blind "$delivery" cycles $off_ns
	blind timer cpu-clock $off_ns
done
load "$delivery"
metamethod "$delivery"
check "the modules unload" sh -c "rmmod blind && rmmod dcpi"
tap_done
