#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the tests in the machine with a PMU that differ from those on x86-64, for tests/run.sh. The
# others are left out because this machine is slow; "make qemu-check-arm64" runs all.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
# shellcheck source=tests/qemu/first_run.sh
. tests/qemu/first_run.sh
# Its two machines run all of their scripts again.
first_run_select ALL_SCRIPTS
# The scripts run four of the programs, and no debugger.
exec make --no-print-directory -s -j "$(nproc)" qemu-check-arm64 DEBUG_INFO=-g0 \
	QEMU_USER_PROGRAMS='dcpid dcpictl dcpiprof dcpicalc' QEMU_TIMEOUT=$((15 * $(patience))) \
	PARALLEL_SCRIPTS='tests/qemu/kmod_events.sh tests/qemu/kmod_hotplug.sh'
