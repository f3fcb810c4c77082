#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# call_truth.sh calls|context|sites NAME PROGRAM ARGUMENT...: check that the calls recorded by a
# rewritten program are those that an emulator sees. Compares callers, callees, counts, contexts, and
# the instructions of each, all exactly; "sites" are contexts by call site. Uses the folder $WORK;
# standard input is empty. Prints the compared items, or the differences; the exit status is then 1.
set -u
cd "$(dirname "$0")/../.." || exit 2
what=$1
name=$2
old=$(readlink -f "$(command -v "$3")") || exit 2
shift 3
case $what in
calls) mode=(--mode calls) report=dcpicalls ;;
context) mode=(--mode context) report=dcpicct ;;
sites) mode=(--mode context --sites) report=dcpicct ;;
esac
bin=$PWD/build/bin
new=$WORK/$name
run=$WORK/$name.$what.d

mkdir -p "$run" || exit 2
rm -f "$run"/*
"$bin/dcpix" -q "${mode[@]}" --metric instructions -o "$new.$what" "$old" || exit 2
"$bin/dcpix" -q -o "$new.counts" "$old" || exit 2
build/tests/call_ranges "$new.$what" "$new.counts" > "$run/ranges" || exit 2
# Both runs get the same variables, since programs read them.
variables=(LC_ALL=C "DCPIX_OUT=$run/profile")
# shellcheck disable=SC2016 # the inner shell's
env -i "${variables[@]}" bash -c 'exec -a "$0" "$@"' "$old" "$new.$what" "$@" \
	> "$run/got" 2>&1 < /dev/null
# shellcheck disable=SC2016
env -i "${variables[@]}" bash -c 'exec "$@"' bash qemu-x86_64 -cpu max -E "_=$new.$what" -0 "$old" \
	-plugin "$PWD/build/tests/call_plugin.so,out=$run/truth,ranges=$run/ranges,image=$old" \
	"$old" "$@" > "$run/want" 2>&1 < /dev/null
if ! cmp -s "$run/got" "$run/want"; then
	echo "other output"
	exit 1
fi
"$bin/$report" --json "$new.$what" "$run"/profile.* > "$run/report" || exit 2
tests/lib/call_check.py "$what" "$run/truth" "$run/report" || exit 1
# Without a metric, less is done at calls, but the counts are the same.
rm -f "$run"/profile.*
"$bin/dcpix" -q "${mode[@]}" --metric none -o "$new.$what" "$old" || exit 2
# shellcheck disable=SC2016
env -i "${variables[@]}" bash -c 'exec -a "$0" "$@"' "$old" "$new.$what" "$@" \
	> "$run/got" 2>&1 < /dev/null
"$bin/$report" --json "$new.$what" "$run"/profile.* > "$run/report" || exit 2
tests/lib/call_check.py "$what" "$run/truth" "$run/report" > "$run/differences" && exit
echo "without a metric:"
cat "$run/differences"
exit 1
