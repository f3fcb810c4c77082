#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs rewritten by dcpix count the same as an emulator: each instruction, each edge. They count
# nearly all executed instructions of an image. The rest is mostly code that compilers add to a
# program for its start and end.
#
# Programs that read their own mappings (those with libsigsegv: grep, diff) behave differently when
# rewritten, and cannot be compared.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

dcpix=$PWD/build/bin/dcpix
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/lib/dcpix_exact.sh
. tests/lib/dcpix_exact.sh

cat docs/*.md > "$scratch/text"
head -c 300000 "$(command -v perl)" > "$scratch/bytes"
seq 3000 > "$scratch/numbers"
tr ' ' '\n' < "$scratch/text" | awk 'NF { printf "%s{\"a\":\"%s\",\"n\":%d}", n++ ? "," : "[", "x", NR }
	END { print "]" }' > "$scratch/json"

# real LEAST NAME ARGUMENT...: test an installed program
real()
{
	local least=$1 name=$2 path

	path=$(command -v "$name") || { not_ok "$name: it is here"; return; }
	shift 2
	exact "$name" "$least" "$path" "$@"
}

real 99 gzip -9c "$scratch/bytes"
real 99 bzip2 -c "$scratch/bytes"
real 99 zstd -q -9 --single-thread -c "$scratch/bytes"
real 99 xz -T1 -3c "$scratch/bytes"
real 99.9 sort --parallel=1 "$scratch/text"
real 99.9 sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' "$scratch/text"
# shellcheck disable=SC2016 # awk's
real 99 mawk '{ n += NF; for (i = 1; i <= NF; i++) c[$i]++ } END { print n, c["the"] }' "$scratch/text"
# shellcheck disable=SC2016 # perl's
real 99.9 perl -ne 'while (/(\w+)/g) { $n++ } END { print "$n\n" }' \
	"$scratch/text"
real 99 wc "$scratch/text"
real 99 tr a-z A-Z
real 99 md5sum "$scratch/bytes"
real 99 factor 1000000007 999999999989 600851475143
real 95 uniq -c "$scratch/text"
real 99 od -x "$scratch/numbers"
for source in tests/eval/truth/programs/*.c; do
	name=$(basename "$source" .c)
	${CC:-gcc} -O2 -I. -D_GNU_SOURCE -o "$scratch/$name" "$source" -lm 2> /dev/null || continue
	exact "$name" 99 "$scratch/$name" 2
done
tap_done
