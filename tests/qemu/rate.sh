# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test 100,000 samples a second for a minute of the machine's time (make check-rate): nothing
# stalls, losses are counted, and the counts are exact. The clock has 1 GHz, and the kernel's driver
# stops the PMU while it handles an overflow, so that some 440 cycles per sample are not counted.
# Therefore the window is 9,000 to 9,800 cycles, for a sample every 9,840. The test compares the
# PMU's interrupts and the elapsed time, both as the kernel reports them.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

seconds=$(cat /lib/rate.seconds)
window=9000-9800 mean=9400

# now: print the time in hundredths of a second, interrupts of the PMU, ns of CPU time of dcpid
now()
{
	# shellcheck disable=SC2046 # three numbers
	echo $(sed 's/ .*//; s/\.//' /proc/uptime) \
		$(awk '/arm-pmu/ { print $2 }' /proc/interrupts) \
		$(cat /proc/"$daemon"/task/*/schedstat | awk '{ sum += $1 } END { printf "%d", sum }')
}

# Half a second of computing, kernel work and short-lived processes
work()
{
	split 500
	dd if=/dev/urandom of=/dev/null bs=64k count=10 2>/dev/null
	for _ in 1 2 3 4 5; do
		busybox true
	done
}

pmu_unlimited
insmod /lib/dcpi.ko
daemon_start --source kmod -e cycles:$window
is "the daemon starts" $? 0
now >/tmp/rounds
began=$(cut -d' ' -f1 /tmp/rounds)
until [ "$(tail -n 1 /tmp/rounds | cut -d' ' -f1)" -ge $((began + 100 * seconds)) ]; do
	work
	now >>/tmp/rounds
done
dcpictl --socket "$dcpid_socket" stats >/tmp/stats
check "the daemon answers" test -s /tmp/stats
daemon_stop
is "the daemon ends with 0" $? 0

# Print seconds, samples a second, the rate of the slowest round, dcpid's CPU use in percent.
awk 'NR == 1 { t = t0 = $1; n = n0 = $2; c0 = $3; next }
	{ r = ($2 - n) / ($1 - t); if (NR == 2 || r < slowest) slowest = r; t = $1; n = $2 }
	END { printf "%.2f %d %d %.2f %d\n", (t - t0) / 100, 100 * (n - n0) / (t - t0),
		100 * slowest, ($3 - c0) / (t - t0) / 1e5, n - n0 }' /tmp/rounds >/tmp/rates
read -r elapsed rate slowest daemon_share interrupts </tmp/rates
check "$rate samples a second: $interrupts in $elapsed s, window $window" test "$rate" -ge 100000
check "no stall: $slowest a second in the slowest of $(wc -l </tmp/rounds) rounds" \
	test "$slowest" -ge 95000
taken=$(query 'SELECT sum(interrupts) FROM epoch')
check "each was a sample ($taken, start and end included)" test "$taken" -ge "$interrupts"
like "the report says that all is accounted for" "$(dcpiprof --db "$db")" '^accounting .*: exact$'
is "interrupts = samples + losses, by the rows themselves" "$(query '
	SELECT sum(interrupts) = (SELECT sum(count) FROM dcpi_samples) +
		(SELECT sum(count) FROM counter WHERE counter_group = '"'loss'"') FROM epoch')" 1
split_shares ""
check "the module unloads" rmmod dcpi
echo "# $((1000000000 / rate - mean)) cycles a sample are not counted; dcpid ran $daemon_share percent of the time"
echo "# losses by name:"
query "SELECT '#   ' || name, sum(count) FROM counter WHERE counter_group = 'loss' GROUP BY name"
dcpiprof --db "$db" -n 25 | sed 's/^/# /'
sed 's/^/# /' /tmp/stats
tap_done
