# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043 # ash and dash have "local"
#
# TAP for shell tests, on the host and (as /lib/tap.sh) in test machines. A test script sources this
# file, calls the functions below, and ends with tap_done.
#
# - ok NAME: the test passed.
# - not_ok NAME [WHY]: it failed.
# - skip NAME WHY: it could not run here (never with CI=true).
# - not_measured NAME WHY: a precondition of its measurement was checked and did not hold.
# - check NAME CMD...: ok if the command succeeds; shows its output if not
# - is NAME GOT WANT: ok if both strings are equal
# - like NAME GOT RE: ok if GOT matches the extended regular expression
# - refuses NAME RE CMD...: ok if the status is 2 and one line on stderr matches RE
#
# No test may depend on how fast the machine is. A test waits with these functions:
#
# - patience: print the seconds to wait for a condition: 60 on an idle machine, multiplied by the
#   runnable threads per CPU on a busy one. PATIENCE_S replaces the 60; tests/qemu/run.sh sets it to
#   the patience of the host
# - eventually CMD...: run the command until it succeeds; fails when patience has run out
# - cpu_used PID TICKS: succeed if the process has used this CPU time; 100 ticks are a second
# - within CMD...: run the program; ends it (status 124) when patience has run out
#
# A test that needs N samples runs its program until there are N. `not_measured` is for the rest:
# where waiting longer does not help because a precondition of the measurement does not hold. The
# caller checks that precondition (samples that the kernel granted, events that it dropped) and
# names it in WHY. A wrong result while the preconditions hold is a failure. tests/run.sh counts
# these tests separately and prints each one.

tap_count=0
tap_failed=0

ok()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

not_ok()
{
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	echo "not ok $tap_count - $1"
	if [ $# -gt 1 ]; then
		printf '%s\n' "$2" | sed 's/^/#   /'
	fi
}

skip()
{
	if [ "${CI:-}" = true ]; then
		not_ok "$1" "would be skipped: $2"
		return
	fi
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

not_measured()
{
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # NOT MEASURED $2"
}

patience()
{
	local load running cpus _

	read -r load _ _ running _ < /proc/loadavg
	load=${load%.*} running=${running%/*}
	[ "$running" -le "$load" ] || load=$running
	cpus=$(grep -c '^processor' /proc/cpuinfo)
	[ "$cpus" -gt 0 ] || cpus=1
	[ "$load" -gt "$cpus" ] || load=$cpus
	echo $((${PATIENCE_S:-60} * load / cpus))
}

# uptime_s: print the whole seconds of a clock that cannot be set
uptime_s()
{
	local up _

	read -r up _ < /proc/uptime
	echo "${up%.*}"
}

eventually()
{
	local begin deadline

	begin=$(uptime_s)
	deadline=$((begin + $(patience)))
	until "$@"; do
		if [ "$(uptime_s)" -ge "$deadline" ]; then
			# The load may have grown meanwhile.
			deadline=$((begin + $(patience)))
			[ "$(uptime_s)" -lt "$deadline" ] || return 1
		fi
		sleep 0.1
	done
}

cpu_used()
{
	local ticks

	# The second field is the name, in parentheses; it may have spaces.
	ticks=$(sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | awk '{ print $12 + $13 }')
	[ "${ticks:-0}" -ge "$2" ]
}

within()
{
	timeout "$(patience)" "$@"
}

check()
{
	local name="$1" output status=0

	shift
	output=$("$@" 2>&1) || status=$?
	if [ "$status" -eq 0 ]; then
		ok "$name"
	else
		not_ok "$name" "exit $status: $*
$output"
	fi
}

is()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got:  $2
want: $3"
	fi
}

like()
{
	if printf '%s\n' "$2" | grep -qE -- "$3"; then
		ok "$1"
	else
		not_ok "$1" "got:  $2
want: /$3/"
	fi
}

refuses()
{
	local name="$1" want="$2" got status=0

	shift 2
	got=$("$@" 2>&1 > /dev/null) || status=$?
	is "$name: exit status" $status 2
	like "$name: says why" "$got" "$want"
	is "$name: in one line" "$(printf '%s\n' "$got" | wc -l)" 1
}

tap_done()
{
	echo "1..$tap_count"
	[ $tap_failed -eq 0 ]
}
