#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine's tests, for tests/run.sh.
#
# A run takes four minutes, on a busy host ten. The emulator has been seen to execute for
# ever what the kernel had overwritten (still.c): a machine that came to its end by that, as
# its memory and registers prove (stuck.awk), gets a second chance, once, and it is told. One
# that stands still for whatever else, or whose kernel has more to complain of than CPUs
# that are stuck, does not.
cd "$(dirname "$0")/../.." || exit 2
output=$(mktemp) || exit 2
trap 'rm -f "$output"' EXIT

emulators_fault()
{
	grep -qE '^# machine (stood still|stopped) ' "$output" &&
		grep -q "^# | emulator's fault: " "$output" &&
		! grep -aE 'BUG:|WARNING:|Oops|Kernel panic' build/qemu/console.log | grep -qv 'soft lockup'
}

run()
{
	make --no-print-directory -s qemu-check QEMU_SILENCE=180 QEMU_TIMEOUT=1200 > "$output" 2>&1
}

run
status=$?
if [ $status -ne 0 ] && emulators_fault; then
	sed -n "s/^# | \(emulator's fault: .*\)/# \1; once more/p" "$output"
	run
	status=$?
fi
cat "$output"
exit $status
