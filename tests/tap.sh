# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC3043 # ash and dash have "local"
#
# TAP for shell tests, on the host and (as /lib/tap.sh) in test machines. A
# test script sources this file, calls the functions below, and ends with
# tap_done.
#
#   ok NAME            the test passed
#   not_ok NAME [WHY]  it failed
#   skip NAME WHY      it could not run here (never with CI=true)
#   check NAME CMD...  ok if the command succeeds; shows its output if not
#   is NAME GOT WANT   ok if both strings are equal
#   like NAME GOT RE   ok if GOT matches the extended regular expression
#   refuses NAME RE CMD...  status 2, and why in one line on stderr that matches RE

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
