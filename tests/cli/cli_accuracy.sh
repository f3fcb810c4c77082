#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test the code that makes the accuracy table: its scores, and one program of one arm from end to
# end, the DCPI paper's copy loop on a simulated 21164.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

scores()
{
	python3 - << 'END'
import random
import sys

sys.path.insert(0, "tests/eval/accuracy")
import in_order
import score

items = [(4, 104, 100, "high", 90, 110), (3, 91, 100, "low", 80, 99),
         (2, 200, 100, "low", 150, 300), (1, None, 100, None, None, None)]
assert score.within(items) == {"within5": 40, "within10": 70, "within15": 70, "within45": 70}
assert score.flagged(items) == 100 and score.flagged(items[:2]) is None
assert score.flagged([(1, 200, 100, "high", 0, 0), (3, 10, 100, "low", 0, 0)]) == 75
assert score.held(items) == round(100 * 4 / 9, 2)
assert score.median_error(items) == 4
assert score.confidences(items) == {"low": 50, "medium": 0, "high": 40}
assert score.histogram(items)[10] == 40 and score.histogram(items)[19] == 30
assert score.histogram(items)[8] == 30 and sum(score.histogram(items)) == 100

# The scale finds any factor again, and proportions are then right.
chance = random.Random(1)
for _ in range(100):
    factor = chance.uniform(0.001, 1000)
    items = [(chance.random(), chance.uniform(1, 100)) for _ in range(50)]
    items = [(w, t / factor, t, "low", t / factor / 2, t / factor * 2) for w, t in items]
    found = score.scale(items)
    assert abs(found / factor - 1) < 1e-9
    assert score.within(score.scaled(items, found))["within5"] == 100
    assert score.held(score.scaled(items, found)) == 100
pairs = [(x, 3 * x + 1) for x in range(10)]
assert score.correlation(pairs) == 1 and score.correlation(pairs[:2]) is None
assert score.correlation([(x, -y) for x, y in pairs]) == -1

# Misses cost 10 or 100 cycles each, so no estimate of cycles is proportional to their number.
rows = {c: [(n * (10 if n % 2 else 100), n * (10 if n % 2 else 100), n) for n in range(1, 9)]
        for c in in_order.EVENTS}
misses = in_order.miss_scores(rows)
assert misses["dcache_cycles"] == 1 and misses["dcache"] == misses["dcache_true"] < 0.9
END
}

check "scores" scores

for tool in qemu-alpha alpha-linux-gnu-gcc-12 jq; do
	if ! command -v "$tool" > /dev/null; then
		skip "the copy loop" "no $tool"
		tap_done
		exit
	fi
done
make --no-print-directory -s build/truth/alpha21164/copy.sim build/bin/dcpicalc \
	build/tests/make_profile_db > "$scratch/make" 2>&1 || { cat "$scratch/make"; exit 2; }

check "the arm of one program" sh -c "tests/eval/accuracy/in_order.py alpha21164 --programs copy \
	--budgets 1000000 --seeds 1 --keep $scratch --details $scratch/programs.json \
	> $scratch/arm.json"
keys='.name, .arm, .split, .budget, .estimator'
is "its frequencies, as JSON lines" "$(jq -r "select(.name == \"instructions\") | [$keys,
	(.within5, .within10, .within15, .within45 | type)] | join(\" \")" "$scratch/arm.json")" \
"instructions alpha21164 tuned 1000000 avg number number number number
instructions alpha21164 tuned 1000000 dcpi number number number number
instructions alpha21164 tuned 1000000 max number number number number
instructions alpha21164 tuned 1000000 paper number number number number"
is "its stalls" "$(jq -r "select(.name == \"culprits\") | [$keys,
	(.recall, .precision, .list_size, .unexplained_percent | type)] | join(\" \")" \
	"$scratch/arm.json")" "culprits alpha21164 tuned 1000000 dcpi number number number number"
is "of each program, too" "$(jq -r 'select(.name == "edges") | .program' \
	"$scratch/programs.json" | sort -u)" copy
# frequencies DATABASE: print the estimated frequencies of the program
frequencies()
{
	build/bin/dcpicalc --db "$1" --json --all -i "$PWD/build/truth/bin/copy.alpha" |
		jq -c '.instructions[].frequency'
}
sampled_branches()
{
	mkdir "$scratch/edges" &&
		tests/eval/accuracy/in_order.py alpha21164 edges --programs copy --budgets 1000000 \
			--seeds 1 --estimators dcpi --keep "$scratch/edges" > "$scratch/edges.json" &&
		frequencies "$scratch/edges/copy.2.db" > "$scratch/with" && [ -s "$scratch/with" ] &&
		frequencies "$scratch/copy.2.db" > "$scratch/without" &&
		! cmp -s "$scratch/with" "$scratch/without"
}
check "sampled branches are looked at" sampled_branches
check "as a table" tests/eval/accuracy/table.py "$scratch/arm.json"
check "as a page" sh -c "docs/gen/accuracy_md.py $scratch/arm.json $scratch |
	grep -q '^| alpha21164 | tuned | 1000000 | dcpi |'"

# Another run with one estimator replaces that estimator's rows, and keeps the others and the goals.
page_kept()
{
	jq -c '.commit = "first" | .within5 = 11.25 | .split = "reported"' "$scratch/arm.json" \
		> "$scratch/first.json" &&
		jq -c 'select(.estimator == "paper") | .commit = "second" | .within5 = 22.25' \
			"$scratch/first.json" > "$scratch/second.json" &&
		mkdir "$scratch/details" &&
		cp "$scratch/programs.json" "$scratch/details/alpha.programs.json" &&
		docs/gen/accuracy_md.py "$scratch/first.json" "$scratch/details" \
			> "$scratch/first.md" &&
		docs/gen/accuracy_md.py "$scratch/second.json" "$scratch" \
			"$scratch/first.md" > "$scratch/second.md" &&
		row='^| alpha21164 | reported | 1000000' &&
		[ "$(grep -c "$row | dcpi | 11.25 .*| first |" "$scratch/second.md")" = 2 ] &&
		[ "$(grep -c "$row | paper | 22.25 .*| second |" "$scratch/second.md")" = 2 ] &&
		[ "$(grep -c "$row" "$scratch/second.md")" = "$(grep -c "$row" "$scratch/first.md")" ] &&
		grep -q '^| frequencies within 5%.*| 11.25 (missed) | - |' "$scratch/second.md" &&
		[ "$(grep -c '^| alpha21164 | copy' "$scratch/second.md")" = 1 ]
}
check "a page keeps rows that were not measured again" page_kept

# The loop has 1,500,000 iterations: three times 2,000,000 elements, four at a time.
build/bin/dcpicalc --db "$scratch/copy.2.db" --json --all \
	-i "$PWD/build/truth/bin/copy.alpha" > "$scratch/calc.json"
loop='select(.procedure == "copy") | .instructions[] | select(.samples > 5000)'
is "the copy loop: its frequency within 5%" "$(jq -r "$loop | .frequency |
	select(. < 1425000 or . > 1575000)" "$scratch/calc.json")" ""
is "its confidence" "$(jq -r "$loop | .confidence" "$scratch/calc.json" | sort -u)" high
is "one store waits for all of memory" "$(jq -r "$loop | select(.cpi > 20) | .cpi > 35" \
	"$scratch/calc.json")" true
is "and the D-cache may be why" "$(jq -r "$loop | select(.cpi > 20) | .culprits[].cause" \
	"$scratch/calc.json" | grep -c '^dcache$')" 1
tap_done
