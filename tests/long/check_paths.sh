#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The paths of real programs, recorded by dcpix, equal an emulator's: the same sequences of blocks,
# with the same counts. The programs must behave the same in an emulator: they have one thread, and
# do not depend on their addresses.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
. tests/lib/path_truth.sh
make --no-print-directory -s path-plugin || exit 2

${CC:-gcc} -O2 -g tests/fixtures/programs/paths.c -o "$scratch/program" || exit 2
for way in recursion callbacks jumps many; do
	path_exact "$scratch/program" $way
done
path_options="--room 1"
path_exact "$scratch/program" many
path_options=--whole
path_exact "$scratch/program" recursion
path_options=
# in_contexts NAME ARGUMENT...: test without contexts, and in contexts
in_contexts()
{
	path_exact "$@"
	path_mode=context-paths
	path_exact "$@"
	path_mode=paths
}
# sometimes NAME ARGUMENT...: test without a metric, measured in bursts, and in contexts
sometimes()
{
	in_contexts "$@"
	path_options="--metric cycles --checks 100 --burst 20"
	path_exact "$@"
	path_options=
}
${CXX:-g++} -O2 tests/fixtures/programs/unwinds.cc -o "$scratch/unwinds" || exit 2
in_contexts "$scratch/unwinds"
head -c 100000 "$(command -v perl)" > "$scratch/in"
cat docs/*.md > "$scratch/text"
sometimes gzip -9c "$scratch/in"
sometimes bzip2 -9c "$scratch/in"
sometimes xz -3c "$scratch/in"
in_contexts sort "$scratch/text"
path_options=--whole
path_exact sort "$scratch/text"
path_options=
sometimes sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' "$scratch/text"
# shellcheck disable=SC2016 # awk's
sometimes mawk 'function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) }
	{ n += NF; for (i = 1; i <= NF; i++) c[$i]++ } END { print n, c["the"], f(12) }' \
	"$scratch/text"
sometimes sqlite3 :memory: "with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 300) select sum(x * x % 97), count(distinct x % 13) from c"
in_contexts od -c docs/results/policy.md
in_contexts cksum "$scratch/in"
sometimes factor 1234567890123 99999999977
in_contexts expr 12345678901234567890 '*' 98765432109876543210
sometimes openssl dgst -md5 "$scratch/in"
tap_done
