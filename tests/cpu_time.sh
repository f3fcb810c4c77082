# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# What commands cost, for scripts that have $work.

# cpu_time user|all COMMAND...: its user time, or with the system's, in ms. A process that
# asked for its parent's would get its own.
cpu_time()
{
	local which=$1 before after

	shift
	# shellcheck disable=SC2154 # the script's
	times > "$work/times"
	before=$(tail -n 1 "$work/times")
	"$@" > /dev/null 2>&1 < /dev/null
	times > "$work/times"
	after=$(tail -n 1 "$work/times")
	awk -v a="$before" -v b="$after" -v all="$([ "$which" = all ] && echo 1)" '
		function ms(t, p) { split(t, p, /[ms]/); return 1000 * (60 * p[1] + p[2]) }
		function sum(t, p) { split(t, p, " "); return ms(p[1]) + (all ? ms(p[2]) : 0) }
		BEGIN { printf "%.0f\n", sum(b) - sum(a) }'
}

# executed PROGRAM [ARGUMENT]...: instructions of the whole process, by an emulator that
# counts (make count-plugin); what it ran is then in $work/truth.
executed()
{
	qemu-x86_64 -cpu max -plugin "$PWD/build/tests/count_plugin.so,out=$work/truth" "$@" \
		> /dev/null 2>&1 < /dev/null
	awk 'NF == 4 && !/^image / { sum += $4 } END { printf "%.0f\n", sum }' "$work/truth"
}
