#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Branch records of recordings (perf record -b), from the import to the reports: programs whose
# executions, edges and block times are known, because their execution is simulated.
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
truth_check=tests/lib/branch_records_check.py
make=$build/tests/make_branch_records
cd "$top" || exit 2
make -s "$make" || exit 2

# imported MODE SEED: simulate a program, and import the recording into $work/SEED.db
# shellcheck disable=SC2317 # called by check
imported()
{
	local program=$work/program$2

	"$make" code "$2" > "$program.s" &&
		as -o "$program.o" "$program.s" &&
		ld --build-id=sha1 -e procedure_0 -o "$program.all" "$program.o" &&
		nm "$program.all" > "$program.nm" &&
		objcopy --wildcard --strip-symbol='block_*' --strip-symbol='last_*' \
			"$program.all" "$program" &&
		"$make" "$1" "$2" "$program.nm" "$program" \
			"$(readelf -n "$program" | sed -n 's/.*Build ID: //p')" "$work/$2.data" \
			> "$work/$2.truth" &&
		"$bin/dcpiimport" --db "$work/$2.db" "$work/$2.data" 2> "$work/$2.summary" &&
		"$bin/dcpicalc" --db "$work/$2.db" --all --json -i "program$2" > "$work/$2.json"
}

if [ "$(uname -m)" != x86_64 ]; then
	skip "the programs are for x86-64"
	tap_done
	exit
fi

seeds=(1 4)
[ "${ALL:-}" != 1 ] || seeds=({1..8})
for seed in "${seeds[@]}"; do
	check "program $seed: imported" imported timed "$seed"
	"$bin/dcpicfg" --db "$work/$seed.db" -i "program$seed" procedure_5 > "$work/$seed.dot"
	check "program $seed: executions, edges and block times" "$truth_check" counts \
		"$work/$seed.truth" "$work/$seed.json" "$work/$seed.dot"
	rm "$work/$seed.data"
	check "program $seed: the JSON is as documented" tests/lib/dcpicalc_schema.py \
		"$work/$seed.json"
done
like "the summary counts the records" "$(cat "$work/4.summary")" '[0-9]+ branch records'
edges=$("$bin/dcpiprof" --db "$work/4.db" --by edge -n 1)
like "the edges are listed" "$edges" '^ *[0-9]+  record  procedure_'
like "they are counted" "$edges" '^edges .*delivered = .* 0 lost: exact'
like "the evidence names them" \
	"$("$bin/dcpicalc" --db "$work/4.db" -i program4 --evidence procedure_5)" \
	'branch records: [0-9]+, of which 0 contradict the code'
is "no record contradicts another" "$(sql "$work/4.db" "SELECT sum(count) FROM counter
	WHERE name IN ('branch_damaged', 'branch_invalid', 'branch_speculative')")" 0

# Without cycles the directions are known, and the executions only within wide intervals.
check "without cycles: imported" imported untimed 12
check "without cycles: intervals" "$truth_check" intervals "$work/12.truth" "$work/12.json"
like "without cycles: records on a wrong path are not used" "$(sql "$work/12.db" \
	"SELECT count > 10000 FROM counter WHERE name = 'branch_speculative'")" 1
tap_done
exit
