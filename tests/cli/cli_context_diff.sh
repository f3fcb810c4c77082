#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# dcpidiff --contexts: a procedure that became slower for one of its two callers.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
db=$work/regression.db

# Before, the two callers take the same time; afterwards one of them takes three times as much.
cat > "$work/program.c" << 'C'
static volatile unsigned long sink;
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE void reg_copy(int n) { for (int i = 0; i < n * 1000; i++) sink += i; }
NOINLINE void reg_query(void) { reg_copy(10); sink++; }
NOINLINE void reg_report(void) { reg_copy(SLOW); sink++; }
int main(void)
{
	for (int i = 0; i < 40000; i++) {
		reg_query();
		reg_report();
	}
}
C
for slow in 10 30; do
	gcc -O1 -DSLOW=$slow -o "$work/program" "$work/program.c" || exit 1
	within "$bin/dcpirun" -q -e cpu-clock:900000-1100000 --stack-every 2 --db "$db" "$work/program"
	is "run $slow" "$?" 0
done

"$bin/dcpidiff" --contexts --csv --db "$db" > "$work/rows" 2> "$work/log"
status=$?
stacks=$("$bin/dcpiprof" --inclusive --json --epoch 1 --db "$db" |
	sed -n 's/.*"stacks": *\([0-9]*\).*/\1/p')
if [ "${stacks:-0}" -lt 150 ]; then
	not_measured "contexts" "the kernel took only ${stacks:-0} stacks"
	tap_done
	exit
fi
is "status" "$status" 0
like "the header of the table" "$(head -1 "$work/rows" | tr -d '\r')" \
	'^before_percent,after_percent,difference,error,context$'
# One half before, three quarters afterwards.
for row in "reg_report 50 75" "reg_query 50 25"; do
	read -r name before after <<< "$row"
	# shellcheck disable=SC2016 # columns of awk
	check "$name: from $before to $after percent" awk -F, -v name="$name" -v before="$before" \
		-v after="$after" '
		$5 ~ "> main > " name " > reg_copy" { found = 1; x = $1 - before; y = $2 - after; d = $3 }
		END { exit !(found && x * x < 144 && y * y < 144 && d * (after - before) > 0) }' "$work/rows"
done
cp "$db" "$work/copy.db"
output=$("$bin/dcpidiff" --contexts "$db@1" "$work/copy.db@1" 2>&1)
is "equal sets: status" "$?" 1
like "equal sets" "$output" 'no context differs significantly'
refused "with --by-image" 'contexts cannot be listed with' \
	"$bin/dcpidiff" --contexts --by-image --db "$db"
refused "more than two sets" 'contexts are of two sets' "$bin/dcpidiff" --contexts --by label --db "$db"
tap_done
