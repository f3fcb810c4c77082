#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The machine with a PMU, for tests/run.sh: what differs from x86-64, as its time is
# long. `make qemu-check-arm64` runs all; see "Known limits" in docs/architecture.md.
scripts=
for name in kmod_exercise kmod_mmap kmod_edges pmu; do
	scripts="$scripts tests/qemu/$name.sh"
done
exec make --no-print-directory -s -C "$(dirname "$0")/../.." CROSS=arm64 qemu-check \
	"QEMU_SCRIPTS=$scripts"
