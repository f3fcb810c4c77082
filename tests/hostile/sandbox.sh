#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Files that crash their parser or make it loop forever: the report leaves the file out, names it,
# and is otherwise complete. The process that makes a report has no privileges.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/daemon_cli.sh

db=$work/run.db
export XDG_CACHE_HOME=$work/cache LC_ALL=C.UTF-8

# spin NAME: make a program with debug information, whose procedure is called NAME
spin()
{
	echo "volatile unsigned long sink;
	__attribute__((noinline)) void $1(unsigned long n) { while (n--) sink += n; }
	int main(void) { for (int i = 0; i < 300; i++) $1(1000000); }" > "$work/$1.c"
	gcc -g -O1 -Wl,--build-id -o "$work/$1" "$work/$1.c"
}

spin honest
spin hostile
tests/hostile/endless_dwarf.py "$work"
objcopy --remove-section .debug_aranges --remove-section .debug_str \
	--remove-section .debug_line_str --remove-section .debug_rnglists \
	--update-section .debug_info="$work/info" --update-section .debug_abbrev="$work/abbrev" \
	--update-section .debug_line="$work/line" --add-section .debug_ranges="$work/ranges" \
	"$work/hostile"

# samples PROCEDURE: print its samples in $db
samples()
{
	"$bin/dcpiprof" --db "$db" --csv 2> /dev/null |
		awk -F, -v name="$1" '$0 ~ name { sum += $1 } END { print sum + 0 }'
}

profile()
{
	"$bin/dcpirun" -q --db "$db" -e cpu-clock --branch-every 0 \
		sh -c "$work/honest; $work/hostile" > "$work/out" 2>&1 &&
		"$bin/dcpiprof" --db "$db" --csv 2> "$work/err" > "$work/csv" &&
		grep -q honest "$work/csv" && grep -q hostile "$work/csv"
}

check "both programs are sampled" eventually profile
cp "$work/csv" "$work/all.csv"

# --- a file whose parsing does not end ---------------------------------------

# CPU time is limited, so that the test does not depend on the speed of the machine.
(ulimit -St 3; "$bin/dcpiprof" --db "$db" --by line --csv > "$work/lines" 2> "$work/err")
is "a report with a file whose parsing does not end" $? 0
like "it names the file and the reason" "$(cat "$work/err")" \
	"^dcpiprof: skipped: '$work/hostile': parsing exceeds the limit of CPU time$"
is "in one line" "$(wc -l < "$work/err")" 1
like "other files have lines" "$(cat "$work/lines")" 'honest\.c,2,'

(ulimit -St 3; "$bin/dcpilist" --db "$db" hostile > "$work/list" 2> "$work/err")
is "a report of nothing else fails" $? 2
like "and names the file" "$(cat "$work/err")" "'$work/hostile': parsing "

# --- a parser that crashes ---------------------------------------------------

cat > "$work/crash.c" << 'END'
#include <elfutils/libdw.h>
/* As libdw does after a failed allocation. */
Dwarf_Line *dwarf_getsrc_die(Dwarf_Die *die, Dwarf_Addr address)
{
	(void)address;
	return *(Dwarf_Line *volatile *)(die->addr = 0);
}
END
gcc -shared -fPIC -o "$work/crash.so" "$work/crash.c"
objcopy -g "$work/hostile"
rm -rf "$work/cache"
LD_PRELOAD=$work/crash.so "$bin/dcpiprof" --db "$db" --by line --csv -i honest \
	> "$work/lines" 2> "$work/err"
is "a report whose parser crashes" $? 0
like "it names the file and the signal" "$(cat "$work/err")" \
	"^dcpiprof: skipped: '$work/honest': parsing crashed \(signal 11\)$"
like "its samples are counted" "$(cat "$work/lines")" "^[0-9]+,.*,$work/honest,"

# --- without seccomp -----------------------------------------------------------

"$build/tests/no_seccomp" "$bin/dcpiprof" --db "$db" --csv > "$work/csv" 2> "$work/err"
status=$?
if [ $status -eq 77 ]; then
	skip "without seccomp" "filters are not allowed here"
else
	is "a report without seccomp" "$status" 0
	like "says so" "$(cat "$work/err")" \
		'^dcpiprof: warning: seccomp is not available: .*; files are parsed without a sandbox$'
	check "and is the same" cmp "$work/csv" "$work/all.csv"
fi

# --- privileges of the process ---------------------------------------------------

# field NAME: print a field of the status of the report's process
field()
{
	awk -v name="$1:" '$1 == name { print $2 }' "/proc/$report/status"
}

"$bin/dcpitop" --db "$db" --batch --no-flush -d 3600 > "$work/top" 2>&1 &
top_pid=$!
pids+=("$top_pid")
report_started()
{
	report=$(cat "/proc/$top_pid/task/$top_pid/children" 2> /dev/null)
	report=${report%% *}
	[ -n "$report" ] && [ -s "$work/top" ]
}
check "a report runs as a process of its own" eventually report_started
report_started
is "with a filter for system calls" "$(field Seccomp)" 2
is "without new privileges" "$(field NoNewPrivs)" 1
is "without capabilities" "$(field CapEff)" 0000000000000000
if [ "$(id -u)" -eq 0 ]; then
	is "as nobody" "$(field Uid)" 65534
	is "without a root directory" "$(readlink "/proc/$report/root" | sed 's,/proc/[0-9]*/,,')" \
		fdinfo
fi
gone()
{
	[ ! -e "/proc/$report" ] || [ "$(field State)" = Z ]
}
kill -9 "$top_pid"
check "it ends with its parent" eventually gone

tap_done
