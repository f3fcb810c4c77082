#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure the cost of a merge, in instructions, depending on the changes and the size of the
# database.
MERGE_BENCH=1 exec "$(dirname "$0")/../../cli/cli_merge_cost.sh"
