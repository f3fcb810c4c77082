#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine with a PMU, for tests/run.sh: what differs from x86-64, as its time is
# long. `make qemu-check-arm64` runs all.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
exec make --no-print-directory -s qemu-check-arm64 QEMU_TIMEOUT=$((15 * $(patience))) \
	PARALLEL_SCRIPTS='tests/qemu/kmod_events.sh tests/qemu/kmod_hotplug.sh'
