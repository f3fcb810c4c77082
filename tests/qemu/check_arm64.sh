#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the tests in the machine with a PMU that differ from those on x86-64, for tests/run.sh. The
# others are left out because this machine is slow; "make qemu-check-arm64" runs all.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
# shellcheck source=tests/qemu/first_run.sh
. tests/qemu/first_run.sh
if [ -n "${FIRST_LOG:-}" ] && ! first_run_scripts > /dev/null; then
	cat "$FIRST_LOG"
	exit 1
fi
# The scripts run four of the programs, and no debugger.
exec make --no-print-directory -s -j "$(nproc)" qemu-check-arm64 DEBUG_INFO=-g0 \
	QEMU_USER_PROGRAMS='dcpid dcpictl dcpiprof dcpicalc' QEMU_TIMEOUT=$((15 * $(patience))) \
	PARALLEL_SCRIPTS='tests/qemu/kmod_events.sh tests/qemu/kmod_hotplug.sh'
