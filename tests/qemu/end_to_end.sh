# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Test the whole path in a machine with the module: dcpid drains it, dcpiprof reports. A program
# with a known distribution of time must be reported within two percentage points, user and kernel
# procedures must have names, and every interrupt must be accounted for.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh
# shellcheck source=tests/qemu/profile.sh
. /lib/profile.sh

check "without the module, kmod is refused in one line" sh -c "
	dcpid --source kmod --config /dev/null --db /tmp/none.db 2> /tmp/err
	[ \$? -eq 2 ] && [ \$(wc -l < /tmp/err) -eq 1 ] && grep -q dcpi.ko /tmp/err"
check "the module loads" insmod /lib/dcpi.ko
# A shorter period than the default, so that a deviation of two points is not due to chance.
daemon_start -e cpu-clock:180000-200000
is "the daemon starts" $? 0
like "it chose the module by itself" "$(cat /tmp/status)" '^source +kmod'
check "a second daemon is refused in one line" sh -c "
	dcpid -e cpu-clock --config /dev/null --db $db --socket /run/other.sock 2> /tmp/err
	[ \$? -eq 2 ] && [ \$(wc -l < /tmp/err) -eq 1 ]"
split_sampled
# Kernel work in a known procedure.
dd if=/dev/urandom of=/dev/null bs=64k count=400 2> /dev/null
# Processes that end before the first drain.
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sh -c 'true; busybox true'
done
check "the daemon stores everything when asked" dcpictl --socket "$dcpid_socket" flush
dcpictl --socket "$dcpid_socket" stats > /tmp/stats
like "its counters add up while it runs" "$(cat /tmp/stats)" '^identity +exact'
daemon_stop
is "the daemon ends with 0" $? 0

split_shares ""
dcpiprof --db "$db" --csv --image 'vmlinux*' > /tmp/kernel.csv
check "kernel procedures have names" sh -c "
	[ \$(grep -vc proc_0x /tmp/kernel.csv) -gt 20 ] && grep -q 'chacha\|blake\|random' /tmp/kernel.csv"
accounted ""
unknown=$(query "SELECT 10000 * sum(count * (path = 'unknown')) / sum(count) FROM dcpi_samples")
check "at most 0.05% match no image (${unknown:-?} in 10,000)" [ "${unknown:-9999}" -le 5 ]
check "the module unloads" rmmod dcpi

dcpiprof --db "$db" -n 12 | sed 's/^/# /'
sed 's/^/# /' /tmp/stats /tmp/dcpid.log
tap_done
