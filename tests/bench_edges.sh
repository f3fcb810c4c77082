#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Sampled edges against exact ones, as lines of tests/bench.h: of the kernel
# module on the arm64 machine that counts instructions (edge_right, edge_yield,
# edge_cost, double_right), of the perf source here (edge_right, edge_yield).
cd "$(dirname "$0")/.." || exit 2
make --no-print-directory -s qemu-check-edges | sed -n 's/^# edges: # \({"name".*}\)$/\1/p'
DCPI_BENCH=1 tests/cli_edges.sh | grep '^{'
exit 0
