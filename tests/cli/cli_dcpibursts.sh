#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Programs with two clones of their procedures behave like the originals, even if they often switch
# between the clones; and the references recorded in bursts are those of the program.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
. tests/lib/recorded_db.sh

dcpix=$PWD/build/bin/dcpix
dcpibursts=$PWD/build/bin/dcpibursts
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export DCPIX_OUT=$scratch/record

# same LABEL CHECKS BURST [--checks-at WHERE] PROGRAM ARGUMENT...: test that output and exit status
# are the same
same()
{
	local label=$1 checks=$2 burst=$3 at=EC+L4 old want got

	shift 3
	[ "$1" = --checks-at ] && at=$2 && shift 2
	old=$(readlink -f "$(command -v "$1")")
	shift
	check "$label: it is rewritten" "$dcpix" -q --mode bursts --checks "$checks" \
		--burst "$burst" --checks-at "$at" -o "$scratch/new" "$old"
	want=$("$old" "$@" 2>&1 < /dev/null | md5sum; echo "${PIPESTATUS[0]}")
	got=$(exec -a "$old" "$scratch/new" "$@" 2>&1 < /dev/null | md5sum; echo "${PIPESTATUS[0]}")
	is "$label" "$got" "$want"
	rm -f "$DCPIX_OUT".*
}

${CC:-gcc} -O2 -g -pthread tests/fixtures/programs/ways.c -o "$scratch/ways" || exit 2
for way in "threads 7" "fork 5" "jump 1000" "goto 1000" "switch 5000" "signal 100" own; do
	# shellcheck disable=SC2086 # words
	same "ways $way" 5 3 "$scratch/ways" $way
done
g++ -O2 -pthread tests/fixtures/programs/throws.cc -o "$scratch/throws" || exit 2
same "throws" 5 3 "$scratch/throws"
g++ -O2 -fnon-call-exceptions tests/fixtures/programs/traps.cc -o "$scratch/traps" || exit 2
for at in orig EC LN; do
	same "traps, checks at $at" 5 3 --checks-at $at "$scratch/traps"
done
${CC:-gcc} -O2 tests/fixtures/programs/carry.c -o "$scratch/carry" || exit 2
for rate in "1 1" "3 2" "7 5"; do
	# shellcheck disable=SC2086 # words
	same "carry, $rate" $rate --checks-at orig "$scratch/carry"
	# shellcheck disable=SC2086 # words
	same "carry, $rate, several turns a check" $rate --checks-at EC "$scratch/carry"
done
cat docs/*.md > "$scratch/text"
same "gzip, at every check" 1 1 gzip -6c "$scratch/text"
same "sed" 50 7 sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' "$scratch/text"
same "mawk" 1000 10 mawk '{ n += NF } END { print n }' "$scratch/text"
# shellcheck disable=SC2016 # perl's
same "perl" 20 30 perl -e 'print map { $_ * 3, "\n" } grep { $_ % 7 } 1 .. 5000; eval { die }'
for at in orig EL EC EN L4 L10 LN EC+L10; do
	same "gzip, checks at $at" 20 3 --checks-at $at gzip -6c "$scratch/text"
	same "ways jump, checks at $at" 2 1 --checks-at $at "$scratch/ways" jump 200
done

# record CHECKS BURST [WHERE]: record walks by 24 bytes through an array, and a recursion
record()
{
	rm -f "$DCPIX_OUT".*
	"$dcpix" -q --mode bursts --checks "$1" --burst "$2" --checks-at "${3:-EC}" \
		-o "$scratch/new" "$scratch/known" &&
		"$scratch/new" 3 > "$scratch/ranges" &&
		"$dcpibursts" --csv --by reference "$scratch/new" "$DCPIX_OUT".* > "$scratch/trace"
}

# in_order BASE BYTES STRIDE: print the number of references to that range, and the number of
# references that neither continue the previous one of the same burst by STRIDE nor restart the walk
in_order()
{
	awk -F, -v base="$1" -v bytes="$2" -v stride="$3" '
		function number(text,    i, value) {
			for (i = 3; i <= length(text); i++)
				value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
			return value + 0
		}
		BEGIN { base = number(base) }
		NR > 1 {
			at = number($4) - base
			if (at < 0 || at >= bytes)
				next
			count++
			if ($2 == burst && at != last + stride && at != 0)
				wrong++
			burst = $2
			last = at
		}
		END { print count + 0, wrong + 0 }' "$scratch/trace"
}

${CC:-gcc} -O2 tests/fixtures/programs/bursts.c -o "$scratch/known" || exit 2
check "known references are recorded" record 1000 100
read -r _ words word_bytes chain chain_bytes < "$scratch/ranges"
read -r count wrong < <(in_order "$words" "$word_bytes" 24)
is "a loop's are in order" "$wrong" 0
check "and as many as its checks ($count)" [ "$count" -gt 20000 ]
read -r count wrong < <(in_order "$chain" "$chain_bytes" 8)
is "a recursion's are in order, over calls" "$wrong" 0
check "and as many as its checks ($count)" [ "$count" -gt 1500 ]
bursts=$(tail -n +2 "$scratch/trace" | cut -d, -f2 | sort -u | wc -l)
is "bursts are numbered one after the other" \
	"$(tail -1 "$scratch/trace" | cut -d, -f2)" "$bursts"

said=$(record 1000 100 EN+L4 2>&1)
is "a small loop without checks records nothing" "$?" 1
like "and that is said" "$said" "nothing was recorded"
check "known references are recorded again" record 1000 100

"$dcpibursts" -n 1 "$scratch/new" "$DCPIX_OUT".* > "$scratch/listing"
like "a listing says how it was recorded" "$(head -1 "$scratch/listing")" \
	" bursts of 100 checks, 1000 between two; [0-9]+ references$"
like "and what by" "$(sed -n 3,4p "$scratch/listing" | tr '\n' ' ')" \
	"references +% +lines +address +procedure .* walk $"
"$dcpibursts" --by procedure --csv "$scratch/new" "$DCPIX_OUT".* > "$scratch/sums"
is "sums are over all references" \
	"$(tail -n +2 "$scratch/sums" | awk -F, '{ sum += $1 } END { print sum }')" \
	"$(($(wc -l < "$scratch/trace") - 1))"

# The database has the same records, by epoch.
stored=$scratch/stored.db
out=$("$dcpix" counts --db "$stored" "$scratch/new" "$DCPIX_OUT".*)
like "bursts are kept" "$out" "^bursts of 1 process of .*known: epoch 1 of "
for how in "" "--by procedure --csv" "--by reference" "--streams --lengths 2-40"; do
	# shellcheck disable=SC2086 # words
	is "the database tells the same${how:+, $how}" \
		"$("$dcpibursts" $how --db "$stored" 2>&1 | md5sum)" \
		"$("$dcpibursts" $how "$scratch/new" "$DCPIX_OUT".* 2>&1 | md5sum)"
done
"$dcpix" counts -q --db "$stored" "$scratch/new" "$DCPIX_OUT".*
is "epochs are summed up" "$("$dcpibursts" --csv --by reference --db "$stored" | wc -l)" \
	$((2 * $(wc -l < "$scratch/trace") - 1))
is "their threads are others" \
	"$("$dcpibursts" --csv --by reference --db "$stored" | tail -n 1 | cut -d, -f1)" 1
"$dcpix" run -q --mode bursts --checks 500 --burst 100 --checks-at EC --db "$stored" \
	"$scratch/known" 3 > /dev/null
is "run keeps them, too" $? 0
like "as an epoch" "$("$dcpibursts" --epoch last --db "$stored" | head -n 1)" \
	" bursts of 100 checks, 500 between two"
refuses "bursts that came otherwise" "differ in the quantity measured" "$dcpibursts" --db "$stored"

# The same holds for a real program, and for other databases.
WORK=$scratch bin=$PWD/build/bin
"$dcpix" -q --mode bursts --checks 1000 --burst 50 -o "$scratch/gzip" "$(command -v gzip)"
for run in first second; do
	DCPIX_OUT=$scratch/$run "$scratch/gzip" -6c "$scratch/text" > "$scratch/packed"
done
same_in_database dcpibursts "$scratch/gzip" "$scratch"/first.* "$scratch"/second.*

# Hot data streams: of the complete recording, of bursts, and their overlap.
chase()
{
	rm -f "$DCPIX_OUT".*
	"$dcpix" -q --mode bursts --room 2000000 "$@" -o "$scratch/new" "$(command -v gzip)" &&
		"$scratch/new" -6c README.md > "$scratch/packed"
}
check "all is recorded" chase --checks 0 --checks-at EC
like "which is told" "$("$dcpibursts" -n 1 "$scratch/new" "$DCPIX_OUT".* | head -1)" \
	": everything is recorded; [0-9]+ references$"
"$dcpibursts" --streams --csv --cover 100 "$scratch/new" "$DCPIX_OUT".* > "$scratch/all"
like "streams of all" "$(sed -n 2p "$scratch/all")" "^[0-9]+,[0-9]+,[0-9]+,[0-9]+,0x[0-9a-f]+ "
is "are no more than all references" "$(awk -F, 'NR > 1 { heat += $1; all = $2; n += $1 != $3 * $4 }
	END { print (heat > 0 && heat <= all), n + 0 }' "$scratch/all")" "1 0"
is "and of lengths that are asked for" \
	"$(awk -F, 'NR > 1 && ($3 < 10 || $3 > 40)' "$scratch/all" | wc -l)" 0
own=$("$dcpibursts" --overlap "$scratch/all" --cover 100 --csv "$scratch/new" "$DCPIX_OUT".* | tail -1)
is "have all in common with themselves" "$own" \
	"$(awk -F, 'NR > 1 { heat += $1; all = $2 } END { printf "%.4f", 100 * heat / all }' "$scratch/all")"
check "bursts are recorded" chase --checks 100 --burst 50 --checks-at EC
part=$("$dcpibursts" --overlap "$scratch/all" --csv "$scratch/new" "$DCPIX_OUT".* | tail -1)
check "have some in common with all ($part of $own)" \
	awk -v p="$part" -v a="$own" 'BEGIN { exit !(p > 0 && p <= a) }'
like "streams of bursts" "$("$dcpibursts" --streams -n 2 --lengths 2-100 --heat 10 "$scratch/new" \
	"$DCPIX_OUT".* | head -1)" "hot data streams, [0-9.]+% of [0-9]+ references; each is 10 at least"

# All references of each instruction equal an emulator's.
head -c 12000 README.md > "$scratch/few"
for program in "gzip -6c" md5sum; do
	# shellcheck disable=SC2086 # words
	if got=$(tests/lib/bursts_truth.sh $program "$scratch/few" 2>&1); then
		ok "what is recorded of $program is true ($got)"
	else
		not_ok "what is recorded of $program is true" "$got"
	fi
done

# 50 of 1050 checks yield that share of all references, in the same order.
if part=$(tests/lib/bursts_part.sh 1000 50 gzip -6c README.md 2>&1); then
	ok "bursts are a part of all ($part)"
else
	not_ok "bursts are a part of all" "$part"
fi
# shellcheck disable=SC2016 # for awk
check "and as large a part as was asked for" awk '{ exit !($1 / $3 > 0.03 && $1 / $3 < 0.07) }' \
	<<< "$part"

refuses "no file" "a rewritten program and the files that it recorded are required" "$dcpibursts" "$scratch/new"
refuses "not rewritten" "was not rewritten" "$dcpibursts" "$scratch/ways" "$scratch/text"
refuses "no profile" "is not a profile" "$dcpibursts" "$scratch/new" "$scratch/text"
refuses "no checks" "is not a valid number \\(1 to" "$dcpix" --mode bursts --burst 0 "$scratch/ways"
refuses "nowhere" "is not a valid placement of checks" "$dcpix" --mode bursts --checks-at EX "$scratch/ways"
refuses "not of streams" "is not an output of --streams" \
	"$dcpibursts" --overlap "$scratch/text" "$scratch/new" "$DCPIX_OUT".*
refuses "no lengths" "is not a valid range of lengths" "$dcpibursts" --streams --lengths 40-10 "$scratch/new" x
refuses "no percentage" "is not a valid percentage" "$dcpibursts" --cover 101 "$scratch/new" x
refuses "no streams" "need --streams" "$dcpibursts" --heat 5 "$scratch/new" x
refuses "no room" "is not a valid number \\(1 to" "$dcpix" --mode bursts --room 0 "$scratch/ways"
refuses "of another mode" "does not support --checks, --burst" "$dcpix" --burst 5 "$scratch/ways"
tap_done
