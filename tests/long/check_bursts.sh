#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of Debian, rewritten to record bursts: the bursts are a part of all references, in the
# requested proportion (tests/lib/bursts_part.sh), with any placement of checks, and all recorded
# references are true (tests/lib/bursts_truth.sh).
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
head -c 12000 docs/operations.md > "$work/text"
for program in quicksort queens interpreter btree huffman lexer; do
	"${CC:-gcc}" -O2 -I. -D_GNU_SOURCE -o "$work/$program" tests/eval/truth/programs/$program.c -lm ||
		exit 2
done

# part NAME PROGRAM ARGUMENT...: test one program
part()
{
	local name=$1 rate got

	shift
	if got=$(tests/lib/bursts_truth.sh "$@" 2>&1); then
		ok "$name: $got"
	else
		not_ok "$name is true" "$got"
	fi
	for rate in "100 20" "1000 50" "7 1"; do
		# shellcheck disable=SC2086 # words
		if got=$(tests/lib/bursts_part.sh $rate "$@" 2>&1); then
			ok "$name, $rate: $got"
		else
			not_ok "$name, $rate" "$got"
		fi
	done
}
part gzip gzip -6c "$work/text"
part bzip2 bzip2 -c "$work/text"
part xz xz -1c -T1 "$work/text"
part sed sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' "$work/text"
part sort sort --parallel=1 "$work/text"
# shellcheck disable=SC2016 # awk's
part mawk mawk '{ for (i = 1; i <= NF; i++) c[$i]++ } END { print NF, c["the"] }' "$work/text"
part md5sum md5sum "$work/text"
part od od -x "$work/text"
for program in quicksort queens interpreter btree huffman lexer; do
	part $program "$work/$program" 1
done
tap_done
