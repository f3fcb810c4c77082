# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Common code of the tests of dcpicalls and dcpicct. Source it after tests/lib/tap.sh; they set $WORK.

# truth calls|context NAME PROGRAM ARGUMENT...: test that the recorded calls equal an emulator's
truth()
{
	local mode=$1 got

	shift
	got=$(tests/lib/call_truth.sh "$mode" "$@") && ok "$1: as an emulator sees it ($got)" && return
	not_ok "$1: as an emulator sees it" "$got"
}
