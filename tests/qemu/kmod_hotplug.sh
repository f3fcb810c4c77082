# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
insmod /lib/dcpi.ko || exit 1
kmod_hotplug
status=$?
rmmod dcpi || exit 1
exit $status
