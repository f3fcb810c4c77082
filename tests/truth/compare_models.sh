#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# compare_models.sh BLOCK_CYCLES: the machine models against llvm-mca, on code that is
# on every machine that can run the tests. Prints a JSON object a line.
set -eu
cd "$(dirname "$0")/../.."
arm64=/usr/aarch64-linux-gnu/lib/libc.so.6

tests/truth/mca.py "$1" cortex-a53 cortex-a53 aarch64-linux-gnu $arm64 40
tests/truth/mca.py "$1" cortex-a55 cortex-a55 aarch64-linux-gnu $arm64 40
for cpu in skylake znver2; do
	tests/truth/mca.py "$1" x86-64 $cpu x86_64-linux-gnu /bin/bash 40
done
