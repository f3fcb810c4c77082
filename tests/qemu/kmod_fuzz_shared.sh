# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# A million random calls by four processes; too long for the ordinary tests. The payload may set
# another number in /etc/fuzz_calls. Grace periods are expedited, since each stop waits for some.
echo 1 > /sys/kernel/rcu_expedited
insmod /lib/dcpi.ko || exit 1
kmod_fuzz "$(cat /etc/fuzz_calls 2> /dev/null || echo 1000000)" 4
status=$?
rmmod dcpi || exit 1
exit $status
