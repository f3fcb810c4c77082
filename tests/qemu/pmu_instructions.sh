# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Overflow interrupts of the instruction counter, which the PMU has if the machine's clock counts
# instructions (run.sh --icount 0).
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

pmu_unlimited
insmod /lib/dcpi.ko
# Sampled together with cycles: QEMU 7.2 notices an overflow of the instruction counter only when
# the PMU is accessed otherwise; without cycles that would be the next tick.
daemon_start --source kmod -e cycles:60000-64000,instructions:60000-64000
is "the daemon starts" $? 0
split 1000
daemon_stop
is "the daemon ends with 0" $? 0
accounted ""
split_shares "" instructions
samples=$(query "SELECT sum(count) FROM dcpi_samples
	WHERE path = '/bin/split' AND event = 'instructions'")
# 1000 rounds of 100,000 iterations of 4 instructions each, on average; a sample stands for 62,000
# instructions.
check "samples times period are the instructions executed ($samples)" \
	awk -v n="$samples" 'BEGIN { r = n * 62000 / 4e8; exit !(r > 0.97 && r < 1.03) }'
check "the module unloads" rmmod dcpi
tap_done
