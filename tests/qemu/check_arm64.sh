#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine with a PMU, for tests/run.sh: what differs from x86-64, as its time is
# long. `make qemu-check-arm64` runs all.
exec make --no-print-directory -s -C "$(dirname "$0")/../.." qemu-check-arm64 \
	PARALLEL_SCRIPTS='tests/qemu/kmod_events.sh tests/qemu/kmod_hotplug.sh'
