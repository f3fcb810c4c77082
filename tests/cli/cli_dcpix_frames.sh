#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Rewritten programs can be unwound at each of their instructions, including the added ones and
# those of the runtime: a path is timed every 50 checks.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

dcpix=$PWD/build/bin/dcpix
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export DCPIX_OUT=$scratch/counts
old=$scratch/backtraces
new=$scratch/backtraces.new

# is_unwound WHAT MODE...: test that backtraces are complete in these modes
is_unwound()
{
	local what=$1
	shift
	"$dcpix" -q --mode "$@" -o "$new" "$old"
	is "backtraces $what: $*" "$(within "$new" 2>&1; echo $?)" "enough, 0 lost
0"
	rm -f "$scratch"/counts.*
}

for flags in "-O2" "-O0" "-O2 -no-pie -fno-pie" "-O3 -fno-omit-frame-pointer" "-O2 -static" \
	"-O2 -fcf-protection=full -Wl,-z,ibtplt"; do
	# shellcheck disable=SC2086 # words
	${CC:-gcc} $flags tests/fixtures/programs/backtraces.c tests/fixtures/programs/tracer.c -o "$old"
	is "backtraces $flags: it worked before" "$("$old")" "enough, 0 lost"
	is_unwound "$flags" counts
	is_unwound "$flags" paths
	is_unwound "$flags" bursts
	is_unwound "$flags" variation --checks 50
	[[ $flags == *-static* ]] && continue
	# If an interrupting handler is rewritten, recording of calls restarts. A rewritten tracer
	# would do that at each instruction. Therefore the tracer is in a library here.
	# shellcheck disable=SC2086 # words
	${CC:-gcc} $flags -shared -fPIC tests/fixtures/programs/tracer.c -o "$scratch/libtracer.so"
	# shellcheck disable=SC2086 # words
	${CC:-gcc} $flags tests/fixtures/programs/backtraces.c "$scratch/libtracer.so" -o "$old"
	is_unwound "$flags, traced by a library" calls
	is_unwound "$flags, traced by a library" context
done
tap_done
