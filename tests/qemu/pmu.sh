# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Overflow interrupts of an emulated PMU, from the counter to the report: cycles, in user space and
# in the kernel. (For instructions see pmu_instructions.sh.)
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

# Print the number of PMU interrupts so far, all CPUs.
pmu_interrupts()
{
	awk '/arm-pmu/ { for (i = 2; $i ~ /^[0-9]+$/; i++) sum += $i } END { print sum + 0 }' \
		/proc/interrupts
}

pmu_unlimited
check "the kernel found a PMU" test -d /sys/bus/event_source/devices/armv8_pmuv3*
insmod /lib/dcpi.ko
before=$(pmu_interrupts)
daemon_start --source kmod -e cycles:60000-64000
is "the daemon starts" $? 0
split 1000
dd if=/dev/urandom of=/dev/null bs=64k count=100 2>/dev/null
daemon_stop
is "the daemon ends with 0" $? 0
came=$(($(pmu_interrupts) - before))
taken=$(query 'SELECT sum(interrupts) FROM epoch')
check "each sample was an interrupt of the PMU ($taken of $came)" \
	test "$taken" -gt 5000 -a "$taken" -le "$came"
accounted ""
split_shares ""
check "the kernel was sampled, with names" sh -c "
	dcpiprof --db $db --csv --image 'vmlinux*' | grep -q 'chacha\|blake\|random'"

check "the module unloads" rmmod dcpi

dcpiprof --db "$db" -n 12 | sed 's/^/# /'
tap_done
