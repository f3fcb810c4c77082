#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the tests in the machine whose clock counts instructions, for tests/run.sh.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
exec make --no-print-directory -s qemu-check-exact QEMU_TIMEOUT=$((15 * $(patience)))
