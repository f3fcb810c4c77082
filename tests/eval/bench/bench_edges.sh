#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Compare sampled edges with exact ones, and print lines of tests/eval/bench/bench.h: for the kernel module on
# the arm64 machine that counts instructions (edge_right, edge_yield, edge_cost, double_right), and
# for the perf source here (edge_right, edge_yield).
set -u -o pipefail
cd "$(dirname "$0")/../../.." || exit 2
make --no-print-directory -s qemu-check-edges |
	sed -n -e 's/^not ok/bench_edges: not ok/w /dev/stderr' \
		-e 's/^# edges: # \({"name".*}\)$/\1/p' || exit 1
DCPI_BENCH=1 tests/cli/cli_edges.sh |
	sed -n -e 's/^not ok/bench_edges: not ok/w /dev/stderr' -e '/^{/p'
