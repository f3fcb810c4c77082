#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bursts_part.sh CHECKS BURST PROGRAM [ARGUMENT]...: check that a program that is rewritten to
# record bursts records a part of all its references (tests/lib/bursts_part.py). The complete recording
# is one continuous burst. The code of both recordings has the same size, and their processes have
# no random addresses, so that all addresses are equal. Nothing may be recorded where the program
# has too few checks for a burst.
set -u
cd "$(dirname "$0")/../.." || exit 2
checks=$1
burst=$2
program=$(readlink -f "$(command -v "$3")")
shift 3
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export DCPIX_OUT=$work/record

# record CHECKS BURST NAME: record the program's references
record()
{
	rm -f "$work/new"
	build/bin/dcpix -q --mode bursts --checks "$1" --burst "$2" --room 8000000 \
		-o "$work/new" "$program" || return
	setarch -R "$work/new" "${@:4}" > /dev/null 2>&1 < /dev/null
	build/bin/dcpibursts --csv --by reference "$work/new" "$DCPIX_OUT".* > "$work/$3"
	rm -f "$DCPIX_OUT".*
}
record 1 2000000000 all "$@" && record "$checks" "$burst" part "$@" || exit 2
if [ ! -s "$work/part" ]; then
	record 1 1 each "$@" || exit 2
	passed=$((2 * $(tail -n +2 "$work/each" | cut -d , -f 1,2 | sort -u | wc -l)))
	echo "nothing, of some $passed checks"
	[ "$passed" -le "$checks" ]
	exit
fi
python3 tests/lib/bursts_part.py "$work/all" "$work/part"
