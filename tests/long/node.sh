#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Code that Node.js compiles at run time, reported in perf maps and in jitdumps (make check-node).
# Needs Debian's nodejs, or another node in the PATH, and fails without.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"

# samples FUNCTION: print its samples, in all compiled versions
samples()
{
	"$bin/dcpiprof" --db "$db" --csv -i '*node \[jit\]' | python3 -c '
import csv, re, sys
print(sum(int(r["cpu-clock"]) for r in csv.DictReader(sys.stdin)
	if re.match(r"JS:[~^+*]?" + sys.argv[1] + " ", r["procedure"])))' "$1"
}

if ! command -v node > /dev/null; then
	not_ok "there is a node to test with" "install nodejs"
	tap_done
	exit
fi
cd "$work" || exit 1
for option in --perf-basic-prof --perf-prof; do
	db=$work/node$option.db
	# shellcheck disable=SC2016 # for that shell, which becomes the program
	check "$option: runs" "$bin/dcpirun" -q --db "$db" -e cpu-clock \
		sh -c 'echo $$ > "$0"; exec "$@"' "$work/pid" \
		node $option "$top/tests/fixtures/programs/seventy.js" 2000
	rm -f "/tmp/perf-$(cat "$work/pid").map"
	a=$(samples seventy)
	b=$(samples thirty)
	check "$option: 70 to 30 ($a, $b)" awk -v a="$a" -v b="$b" 'BEGIN {
		share = a + b ? 100 * a / (a + b) : 0
		exit !(a + b > 1000 && share > 66 && share < 74) }'
	is "$option: every sample is accounted for" "$(identity "$db")" ""
	check "$option: less than 1 percent is unknown" [ "$(sql "$db" "SELECT 100 *
		(SELECT ifnull(sum(count), 0) FROM counter WHERE counter_group = 'unknown') <
		interrupts FROM epoch")" = 1 ]
done
like "what a jitdump told is analysed" "$("$bin/dcpicalc" --db "$db" -i '*node*jit*' 2>&1)" \
	'procedure +JS:.*seventy'
tap_done
