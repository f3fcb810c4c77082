#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Paths of real programs, by dcpix, are those that an emulator sees: the same sequences of
# blocks, as often.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/tap.sh

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
. tests/path_truth.sh
make --no-print-directory -s path-plugin || exit 2

${CC:-gcc} -O2 -g tests/programs/paths.c -o "$scratch/program" || exit 2
for way in recursion callbacks jumps many; do
	path_exact "$scratch/program" $way
done
head -c 100000 "$(command -v perl)" > "$scratch/in"
cat docs/*.md > "$scratch/text"
path_exact gzip -9c "$scratch/in"
path_exact bzip2 -9c "$scratch/in"
path_exact xz -3c "$scratch/in"
path_exact zstd -q -c "$scratch/in"
path_exact sort "$scratch/text"
path_exact sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' "$scratch/text"
path_exact grep -cE '(in|on|at)[a-z]+ing' "$scratch/text"
path_exact mawk '{ n += NF; for (i = 1; i <= NF; i++) c[$i]++ } END { print n, c["the"] }' \
	"$scratch/text"
# shellcheck disable=SC2016 # perl's
path_exact perl -e 'my %c; for my $i (1 .. 300) { $c{$i % 7} .= chr(65 + $i % 26) }
	sub f { my $n = shift; return $n < 2 ? $n : f($n - 1) + f($n - 2) }
	print f(9), join(",", map { "$_$c{$_}" } sort { $a <=> $b } keys %c), "\n";
	eval { die "x" }; print $@;'
path_exact sqlite3 :memory: "with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 300) select sum(x * x % 97), count(distinct x % 13) from c"
path_exact diff docs/architecture.md docs/operations.md
path_exact od -c docs/policy.md
path_exact cksum "$scratch/in"
tap_done
