# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The sources that count in the kernel record register pairs, from which dcpicalc reads the clocks of
# loops. The program prints how many iterations its loop made. The iterations that a clock counts
# from one sample to the next, times the samples of the loop, must be within 10% of that.
#
# The test uses this product, and not the estimate of executions: the emulator executes each
# instruction in the same time, which contradicts the models of processors.
#
# In a machine whose clock counts instructions, the result does not depend on the host. In a machine
# whose clock is the host's, a busy host delays timers and stops processors. There, clocks are
# compared only if the kernel took most of the samples that it should have taken.
#
# Every pair that begins is accounted for.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

if [ "$(uname -m)" = aarch64 ]; then
	event=cycles:60000-64000 every=64 mean_ns=0
else
	event=cpu-clock:180000-200000 every=16 mean_ns=190000
fi

# counter NAME: a counter of the database
counter()
{
	query "SELECT coalesce(sum(count), 0) FROM counter WHERE counter_group = 'stat' AND name = '$1'"
}

now_ns()
{
	awk '/^now at/ { print $3; exit }' /proc/timer_list
}

# is_regular ELAPSED_NS: the machine took at least 80% of its samples
is_regular()
{
	[ "$mean_ns" = 0 ] || query "SELECT 10 * sum(interrupts) * $mean_ns >= 8 * $1 * $(nproc) FROM epoch" | grep -q 1
}

# counted: print the iterations by the clock of the procedure's loop, from its evidence
counted()
{
	awk '/^procedure/ { samples = $3 }
		/registers count/ { for (i = 1; i < NF; i++) if ($i == "count") each = $(i + 1) }
		END { print samples * each }' /tmp/evidence
}

# clock NAME COUNT: test the loop's clock
clock()
{
	like "$1: --evidence lists the loop's clock" "$(cat /tmp/evidence)" \
		'^ +loop 0x[0-9a-f]+: registers count [0-9.e+]+ iterations from one sample to the next'
	check "$1: it counts $2 iterations ($(counted))" awk -v count="$2" -v counted="$(counted)" \
		'BEGIN { exit !(counted > 0.9 * count && counted < 1.1 * count) }'
}

# kernel SOURCE NAME PROCEDURE
kernel()
{
	name="$1, $2"
	daemon_start --source "$1" -e "$event" --branch-every $every
	is "$name: the daemon starts" $? 0
	begin=$(now_ns)
	count=$(loop_kernels "$2" 1)
	elapsed=$(($(now_ns) - begin))
	daemon_stop
	is "$name: the daemon ends with 0" $? 0
	dcpicalc --db "$db" --evidence "$3" >/tmp/evidence
	grep -E '^procedure|^evidence|registers count' /tmp/evidence | sed 's/^/# /'
	if is_regular "$elapsed"; then
		clock "$name" "$count"
	else
		not_measured "$name: the loop's clock" "the host delays the machine's timers"
	fi
	begun=$(counter pairs_begun)
	is "$name: every pair that begins is accounted for ($begun)" "$begun" \
		$(($(counter pairs) + $(counter pairs_waiting) + $(counter pairs_ended) + \
			$(counter pairs_expired) + $(counter pairs_migrated) + $(counter pairs_missed)))
	check "$name: pairs are found ($(counter pairs))" [ "$(counter pairs)" -gt 5 ]
}

pmu_unlimited
if [ "$(uname -m)" = x86_64 ]; then
	kernel bpf divide divide
fi
check "the module loads" insmod /lib/dcpi.ko
kernel kmod divide divide
if [ "$(uname -m)" = x86_64 ]; then
	kernel kmod calls calls
else
	kernel kmod chase_small chase
fi
check "the module unloads" rmmod dcpi
tap_done
