#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure the memory of dcpid on a machine with 500 live processes, and its maximum.
MEMORY_BENCH=1 exec "$(dirname "$0")/../../cli/cli_memory.sh"
