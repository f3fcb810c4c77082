# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# The last script on a kernel with kmemleak: report leaked objects. kmemleak reports an object when
# two scans in a row find no pointer to it.
# shellcheck source=tests/lib/tap.sh
. /lib/tap.sh

mount -t debugfs debug /sys/kernel/debug 2> /dev/null
leaks=/sys/kernel/debug/kmemleak
check "this kernel looks for leaks" test -w $leaks
# Objects younger than five seconds are not reported.
sleep 6
echo scan > $leaks
sleep 6
echo scan > $leaks
is "nothing has leaked" "$(cat $leaks)" ""
tap_done
