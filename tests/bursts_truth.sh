#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bursts_truth.sh PROGRAM [ARGUMENT]...: a program that is rewritten to record all that it
# refers to records what it refers to in an emulator, as it was (tests/bursts_truth.py).
# Where its stack begins depends on the lengths of its name and environment.
set -u
cd "$(dirname "$0")/.." || exit 2
make --no-print-directory -s reference-plugin || exit 2
program=$(readlink -f "$(command -v "$1")")
shift
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
cp "$program" "$work/old" &&
	build/bin/dcpix -q --mode bursts --checks 1 --burst 2000000000 --room 8000000 \
		-o "$work/new" "$work/old" || exit 2
environment=(env -i "DCPIX_OUT=$work/record")
"${environment[@]}" setarch -R "$work/new" "$@" > /dev/null 2>&1 < /dev/null
build/bin/dcpibursts --csv --by reference "$work/new" "$work"/record.* > "$work/all" || exit 2
"${environment[@]}" qemu-x86_64 -cpu max \
	-plugin "build/tests/reference_plugin.so,out=$work/truth,image=$work/old" \
	"$work/old" "$@" > /dev/null 2>&1 < /dev/null
python3 tests/bursts_truth.py "$work/truth" "$work/all"
