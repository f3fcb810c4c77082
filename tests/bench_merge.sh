#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a merge costs, in instructions, by what has changed and what there is.
MERGE_BENCH=1 exec "$(dirname "$0")/cli_merge_cost.sh"
