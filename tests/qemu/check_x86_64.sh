#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine's tests, for tests/run.sh.
#
# A run takes four minutes, on a busy host ten. The emulator has been seen to stand still,
# both of the machine's CPUs deep in interrupts and the kernel without a complaint: such a
# machine gets a second chance, once, and it is told. One whose kernel complains does not.
cd "$(dirname "$0")/../.." || exit 2
output=$(mktemp) || exit 2
trap 'rm -f "$output"' EXIT

stood_still()
{
	grep -qE '^# machine (stood still|stopped after)' "$output" &&
		! grep -qE 'BUG:|Oops|lockup|Kernel panic' build/qemu/console.log
}

run()
{
	make --no-print-directory -s qemu-check QEMU_SILENCE=180 QEMU_TIMEOUT=1200 > "$output" 2>&1
}

run
status=$?
if [ $status -ne 0 ] && stood_still; then
	echo "# the machine stood still; once more"
	run
	status=$?
fi
cat "$output"
exit $status
