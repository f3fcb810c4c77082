#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What memory dcpid has on a machine with 500 live processes, and at most.
MEMORY_BENCH=1 exec "$(dirname "$0")/cli_memory.sh"
