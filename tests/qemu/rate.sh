# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# A sample every 10,000 cycles of a 1 GHz clock, for a minute of the machine's
# time (make check-rate): nothing stalls, what is lost is counted, and the
# accounts are exact. The kernel's driver stops the PMU while it handles an
# overflow, a thousand cycles that are not counted: so 90,000 come a second.
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

seconds=$(cat /lib/rate.seconds)

uptime_s()
{
	cut -d. -f1 /proc/uptime
}

pmu_unlimited
insmod /lib/dcpi.ko
daemon_start --source kmod -e cycles:9600-10400
is "the daemon starts" $? 0
began=$(uptime_s)
ended=$began
rounds=0
while [ $((ended - began)) -lt "$seconds" ]; do
	split 1000
	dd if=/dev/urandom of=/dev/null bs=64k count=20 2>/dev/null
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		busybox true
	done
	ended=$(uptime_s)
	rounds=$((rounds + 1))
done
dcpictl --socket "$dcpid_socket" stats >/tmp/stats
check "the daemon answers" test -s /tmp/stats
daemon_stop
is "the daemon ends with 0" $? 0

samples=$(query 'SELECT sum(interrupts) FROM epoch')
lost=$(query "SELECT sum(count) FROM counter WHERE counter_group = 'loss'")
check "$samples samples in $((ended - began)) s, $lost lost" \
	test "$samples" -gt $((85000 * (ended - began)))
like "the report says that all is accounted for" "$(dcpiprof --db "$db")" '^accounting .*: exact$'
is "interrupts = samples + losses, by the rows themselves" "$(query '
	SELECT sum(interrupts) = (SELECT sum(count) FROM dcpi_samples) +
		(SELECT sum(count) FROM counter WHERE counter_group = '"'loss'"') FROM epoch')" 1
split_shares ""
check "the module unloads" rmmod dcpi
dcpiprof --db "$db" -n 25 | sed 's/^/# /'
sed 's/^/# /' /tmp/stats
tap_done
