#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run the tests in the machine whose clock counts instructions, for tests/run.sh.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
# shellcheck source=tests/qemu/first_run.sh
. tests/qemu/first_run.sh
first_run_select EXACT_SCRIPTS
exec make --no-print-directory -s -j "$(nproc)" qemu-check-exact DEBUG_INFO=-g0 \
	QEMU_USER_PROGRAMS='dcpid dcpictl dcpiprof dcpicalc' QEMU_TIMEOUT=$((15 * $(patience))) "${scripts[@]}"
