#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the tests in the machine with a PMU that differ from those on x86-64, for tests/run.sh. The
# others are left out because this machine is slow; "make qemu-check-arm64" runs all.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
exec make --no-print-directory -s qemu-check-arm64 QEMU_TIMEOUT=$((15 * $(patience))) \
	PARALLEL_SCRIPTS='tests/qemu/kmod_events.sh tests/qemu/kmod_hotplug.sh'
