#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the tests in the x86-64 machine, for tests/run.sh.
#
# A run takes four minutes, on a busy host longer; see patience in tests/lib/tap.sh. The emulator
# sometimes executes overwritten code of the kernel forever (still.c). A machine that hung for that
# reason, as its memory and registers prove (stuck.awk), is run a second time, and a line reports
# it. A machine that stops for another reason is not run again, nor is a machine whose kernel
# complains of anything but stuck CPUs.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
# shellcheck source=tests/qemu/first_run.sh
. tests/qemu/first_run.sh
first_run_select QEMU_SCRIPTS
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
	make --no-print-directory -s -j "$(nproc)" qemu-check QEMU_SILENCE=$((3 * $(patience))) \
		QEMU_TIMEOUT=$((20 * $(patience))) "${scripts[@]}" > "$output" 2>&1
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
