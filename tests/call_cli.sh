# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What tests of dcpicalls and dcpicct share. To be sourced behind tests/tap.sh; $WORK is theirs.

# truth calls|context NAME PROGRAM ARGUMENT...: the program's calls are those that an emulator sees
truth()
{
	local mode=$1 got

	shift
	got=$(tests/call_truth.sh "$mode" "$@") && ok "$1: as an emulator sees it ($got)" && return
	not_ok "$1: as an emulator sees it" "$got"
}
