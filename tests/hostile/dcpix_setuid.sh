#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# A rewritten program that runs with more rights than its user's writes no file to a place that the
# user chooses, and works as before. Covers set-user-ID and set-group-ID programs, and file
# capabilities. Rewritten with --allow-setuid, it records, and the user does not choose the place.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"

if [ "$(id -u)" -ne 0 ] || [ "$(uname -m)" != x86_64 ]; then
	skip "rewritten programs with more rights" "needs root, and dcpix"
	tap_done
	exit
fi
# The work folder may be on a file system that ignores set-user-ID bits.
cat > "$work/rights.c" <<'C'
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline, noclone)) static int add(int n)
{
	volatile int sum = 0;
	while (n > 0)
		sum += n--;
	return sum;
}
int main(int argc, char **argv)
{
	if (argc > 1 && fork() != 0) {
		wait(NULL);
		return 0;
	}
	printf("%d %lu\n", add(100), getauxval(AT_SECURE));
	return 0;
}
C
${CC:-gcc} -O1 -o "$work/rights" "$work/rights.c" || exit 1
mkdir -m 755 "$work/bin"
mkdir -m 1777 "$work/anybody"
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups --)

# rewritten FILE OWNER MODE OPTION...: make the rewritten program FILE
rewritten()
{
	local file=$1 owner=$2 mode=$3

	shift 3
	"$bin/dcpix" -q -o "$file" --profile "$work/anybody/default" "$@" "$work/rights" || exit 1
	chown "$owner" "$file"
	chmod "$mode" "$file"
}

files()
{
	find "$work" /tmp -maxdepth 2 -newer "$work/before" \( -name 'stolen*' -o -name 'default.*' \) \
		-type f 2> /dev/null | sort -u | wc -l
}

# stays_silent NAME WANT COMMAND...: test that the output is WANT, and that no file appears
stays_silent()
{
	local name=$1 want=$2

	shift 2
	touch "$work/before"
	rm -f "$work"/anybody/*
	is "$name: works as before" "$(cd "$work/anybody" && DCPIX_OUT=$work/anybody/stolen "$@" 2>&1)" \
		"$want"
	is "$name: also with a name in this folder" "$(cd "$work/anybody" && DCPIX_OUT=stolen "$@" 2>&1)" \
		"$want"
	is "$name: also without the variable" "$(cd "$work/anybody" && "$@" 2>&1)" "$want"
	is "$name: writes no file" "$(files)" 0
}

for mode in counts paths calls; do
	rewritten "$work/bin/$mode" 0:0 4755 --mode "$mode"
	stays_silent "$mode, set-user-ID" "5050 1" "${nobody[@]}" "$work/bin/$mode"
done
stays_silent "a child of a set-user-ID program" "5050 1" "${nobody[@]}" "$work/bin/counts" fork
rewritten "$work/bin/group" 0:0 2755
stays_silent "set-group-ID" "5050 1" "${nobody[@]}" "$work/bin/group"
# A program of another user. Its process cannot read its own file in /proc.
rewritten "$work/bin/other" 1:1 4755
stays_silent "set-user-ID of another user" "5050 1" "${nobody[@]}" "$work/bin/other"
if command -v setcap > /dev/null; then
	rewritten "$work/bin/capable" 0:0 755
	if setcap cap_net_raw+ep "$work/bin/capable" 2> "$work/stderr"; then
		stays_silent "file capabilities" "5050 1" "${nobody[@]}" "$work/bin/capable"
	else
		skip "file capabilities" "$(cat "$work/stderr")"
	fi
else
	skip "file capabilities" "no setcap"
fi

# The same programs record for users without more rights.
rewritten "$work/bin/plain" 0:0 755
touch "$work/before"
is "without more rights: works" "$(DCPIX_OUT=$work/anybody/stolen "${nobody[@]}" "$work/bin/plain")" \
	"5050 0"
is "without more rights: records where it is told" "$(find "$work/anybody" -name 'stolen.*' \
	-user 65534 | wc -l)" 1

# With --allow-setuid, the folder of --profile is used.
rm -f "$work"/anybody/*
rewritten "$work/bin/allowed" 0:0 4755 --allow-setuid
is "--allow-setuid: works" "$(DCPIX_OUT=$work/anybody/stolen "${nobody[@]}" "$work/bin/allowed")" \
	"5050 1"
is "--allow-setuid: records, not where the user says" "$(find "$work/anybody" -type f -name 'default.*' | wc -l), $(files)" "1, 1"
is "--allow-setuid: for root only" "$(stat -c '%u %a' "$work"/anybody/default.*)" "0 600"
tap_done
