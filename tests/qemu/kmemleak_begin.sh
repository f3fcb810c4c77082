# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The first script on a kernel with kmemleak: clear the leaks that the kernel itself has caused
# already, in ACPI for example.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh

mount -t debugfs debug /sys/kernel/debug 2> /dev/null
leaks=/sys/kernel/debug/kmemleak
sleep 6
echo scan > $leaks
sleep 6
echo scan > $leaks
check "the kernel's own leaks are set aside" sh -c "echo clear > $leaks"
tap_done
