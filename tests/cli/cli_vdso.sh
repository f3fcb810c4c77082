#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Code that is in no file: the vDSO. A program that reads the clock has most of its samples there.
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$top/tests/lib/profile_cli.sh"

cat > "$work/clock.c" << 'END'
#include <time.h>

int main(void)
{
	struct timespec time;
	long sum = 0;

	for (int i = 0; i < 10000000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &time);
		sum += time.tv_nsec;
	}
	return sum == 42;
}
END
${CC:-gcc} -O2 -o "$work/clock" "$work/clock.c" || exit 1

profile clock "$work/clock"
total=$(sql "$db" "SELECT sum(samples) FROM profile")
vdso=$(sql "$db" "SELECT ifnull(sum(samples), 0) FROM profile
	JOIN image ON image.id = profile.image WHERE image.path = '[vdso]'")
if [ "$((2 * vdso))" -lt "$total" ]; then
	not_measured "the vDSO is analysed" "this clock is read by a system call"
	tap_done
	exit
fi
is "the database has the vDSO's code" "$(sql "$db" "SELECT count(*) FROM code
	JOIN image ON image.id = code.image WHERE image.path = '[vdso]'")" 1

# Each tool shows the hottest procedure of dcpiprof, with the same number of samples.
"$bin/dcpiprof" --db "$db" --csv -i '[[]vdso]' > "$work/prof.csv"
procedure=$(awk -F, 'NR == 2 { sub(/ .*/, "", $4); print $4 }' "$work/prof.csv")
samples=$(awk -F, 'NR == 2 { print $1 }' "$work/prof.csv")
is "all of its procedures have names" "$(grep -c 'no symbol' "$work/prof.csv")" 0
like "dcpicalc shows the procedure with its samples" "$("$bin/dcpicalc" --db "$db" 2>&1)" \
	"^procedure +$procedure.*: $samples samples"
like "dcpicalc decodes its instructions" "$("$bin/dcpicalc" --db "$db" "$procedure" 2>&1)" \
	'rdtscp?|mrs|rdpru'
like "dcpilist shows it" "$("$bin/dcpilist" --db "$db" --asm "$procedure" 2>&1)" 'rdtscp?|mrs|rdpru'
like "dcpicfg draws it" "$("$bin/dcpicfg" --db "$db" "$procedure" 2>&1)" "digraph|$procedure"
like "dcpisumm analyses it" "$("$bin/dcpisumm" --db "$db" 2>&1)" '%.* \[vdso\]'
like "dcpitopstalls analyses it" "$("$bin/dcpitopstalls" --db "$db" 2>&1)" 'vdso'
like "dcpiexport exports it" "$("$bin/dcpiexport" --db "$db" --format callgrind 2>&1)" \
	"$procedure"
tap_done
