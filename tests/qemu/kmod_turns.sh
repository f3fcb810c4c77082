# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# Emulated interrupts take so long that perf would throttle them.
if [ "$(cat /proc/sys/kernel/perf_cpu_time_max_percent)" != 0 ]; then
	echo 100000 >/proc/sys/kernel/perf_event_max_sample_rate
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
fi
insmod /lib/dcpi.ko || exit 1
kmod_turns
status=$?
rmmod dcpi || exit 1
exit $status
