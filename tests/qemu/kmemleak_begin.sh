# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# First on a kernel with kmemleak: what it has forgotten by itself, in ACPI or
# wherever, is no concern of ours.
# shellcheck source=tests/tap.sh
. /lib/tap.sh

mount -t debugfs debug /sys/kernel/debug 2> /dev/null
leaks=/sys/kernel/debug/kmemleak
sleep 6
echo scan > $leaks
sleep 6
echo scan > $leaks
check "the kernel's own leaks are set aside" sh -c "echo clear > $leaks"
tap_done
