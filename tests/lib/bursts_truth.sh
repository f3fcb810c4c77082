#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# bursts_truth.sh PROGRAM [ARGUMENT]...: rewrite a program to record all its references, and check
# that these are the references of the original in an emulator (see tests/lib/bursts_truth.py there).
# The address of the stack depends on the lengths of the program's name and environment, so these
# are made equal.
set -u
cd "$(dirname "$0")/../.." || exit 2
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
python3 tests/lib/bursts_truth.py "$work/truth" "$work/all"
