# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What commands cost, for scripts that have $work.

# cpu_time user|all COMMAND...: its user time, or with the system's, in ms. A process
# that asked for its parent's would get its own. (times would tell hundredths of a second.)
cpu_time()
{
	local which=$1 TIMEFORMAT='%3U %3S'

	shift
	# shellcheck disable=SC2154 # the script's
	{ time "$@" > /dev/null 2>&1 < /dev/null; } 2> "$work/times"
	awk -v all="$([ "$which" = all ] && echo 1)" '
		{ printf "%.0f\n", 1000 * ($1 + (all ? $2 : 0)) }' "$work/times"
}

# executed PROGRAM [ARGUMENT]...: instructions of the whole process, by an emulator that
# counts (make count-plugin); what it ran is then in $work/truth.
executed()
{
	qemu-x86_64 -cpu max -plugin "$PWD/build/tests/count_plugin.so,out=$work/truth" "$@" \
		> /dev/null 2>&1 < /dev/null
	awk 'NF == 4 && !/^image / { sum += $4 } END { printf "%.0f\n", sum }' "$work/truth"
}
