# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The cost of commands, for scripts that have $work.

# cpu_time() user|all COMMAND...: print its user time, or user and system time, in ms. A child
# process that read the times of its parent would get its own. ("times" has only hundredths of a
# second.)
cpu_time()
{
	local which=$1 TIMEFORMAT='%3U %3S'

	shift
	# shellcheck disable=SC2154 # the script's
	{ time "$@" > /dev/null 2>&1 < /dev/null; } 2> "$work/times"
	awk -v all="$([ "$which" = all ] && echo 1)" '
		{ printf "%.0f\n", 1000 * ($1 + (all ? $2 : 0)) }' "$work/times"
}

# executed PROGRAM [ARGUMENT]...: print the instructions of the whole process, counted by an
# emulator (make count-plugin); the counts are then in $work/truth.
executed()
{
	qemu-x86_64 -cpu max -plugin "$PWD/build/tests/count_plugin.so,out=$work/truth" "$@" \
		> /dev/null 2>&1 < /dev/null
	awk 'NF == 4 && !/^image / { sum += $4 } END { printf "%.0f\n", sum }' "$work/truth"
}
