#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How many sampled call stacks of unmodified programs are complete. Prints a JSON line for each
# program of tests/eval/accuracy/stack_programs, and one for all of them.
#
#	DCPI_BUILD	where the build is (default: build)
#	ONLY		names of programs, separated by blanks (default: all)
#	STACKS_PERF	empty: no comparison with perf and libdw
#	STACKS_KEEP	directory for the databases (default: none)
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
build=${DCPI_BUILD:-build}
[ "${build#/}" != "$build" ] || build=$top/$build
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

awk -f "$top/tests/eval/accuracy/make_input.awk" | head -c 4000000 > input.txt
tac input.txt > reversed.txt
for i in 1 2 3 4 5 6 7 8; do
	sed "s/@/$i/g" << 'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node@ { struct node@ *left, *right; int key; char text[32]; };
static int compare@(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
struct node@ *insert@(struct node@ *n, int key)
{
	if (!n) { n = calloc(1, sizeof *n); n->key = key; snprintf(n->text, 32, "%d", key); return n; }
	if (key < n->key) n->left = insert@(n->left, key); else n->right = insert@(n->right, key);
	return n;
}
long sum@(const struct node@ *n, const int *w, int c)
{
	long s = 0; if (!n) return 0;
	for (int i = 0; i < c; i++) switch ((n->key + i) % 7) {
		case 0: s += w[i] * n->key; break; case 1: s -= w[i] / (n->key | 1); break;
		case 2: s ^= w[i] << (n->key & 7); break; default: s += strlen(n->text); }
	return s + sum@(n->left, w, c) + sum@(n->right, w, c);
}
void order@(int *v, int c) { qsort(v, c, sizeof *v, compare@); for (int i = 1; i < c; i++) v[i] += v[i - 1] % 3; }
C
done > code.c
cat > code.cc << 'C'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main()
{
	std::map<std::string, std::vector<int>> m;
	for (int i = 0; i < 1000; i++) m[std::to_string(i % 37)].push_back(i);
	std::regex r("([a-z]+)[0-9]*");
	for (auto &e : m) { std::sort(e.second.rbegin(), e.second.rend()); std::cout << std::regex_match(e.first, r); }
}
C
cat > code.rs << 'C'
use std::collections::{BTreeMap, HashMap};
pub fn count(text: &str) -> Vec<(String, usize)> {
    let mut m: HashMap<String, usize> = HashMap::new();
    for w in text.split_whitespace() { *m.entry(w.to_lowercase()).or_insert(0) += 1; }
    let mut v: Vec<_> = m.into_iter().collect(); v.sort_by(|a, b| b.1.cmp(&a.1)); v
}
pub fn tree(n: u64) -> BTreeMap<u64, String> { (0..n).map(|i| (i * 7 % n, format!("{i:x}"))).collect() }
C

# recorded NAME COMMAND OPTION...: record a program with perf, and import it
recorded()
{
	timeout 300 perf record -q -N -o "$work/$1.data" -e cpu-clock:u -c 1000000 "${@:3}" \
		sh -c "$2" > /dev/null 2>&1
	rm -f "$work/$1.db"
	"$build/bin/dcpiimport" -q --db "$work/$1.db" "$work/$1.data" 2> "$work/log"
}

# percent NAME: complete stacks of an imported recording
percent()
{
	sqlite3 "$work/$1.db" "SELECT printf('%.2f', 100.0 * sum(count * (name = 'stacks_complete')) /
		max(1, sum(count * (name = 'stacks')))) FROM counter WHERE counter_group = 'stat'"
}

# compared NAME COMMAND: print members with the results of perf. perf_fp_percent: complete chains by
# frame pointers. copies_of_8k_percent: perf's copies of its default size, unwound by dcpiimport.
# libdw_percent: copies of 32 KB, unwound by perf script. Complete stacks of dcpiimport of the same
# copies are wrong if no stack of libdw agrees with them.
compared()
{
	local numbers=(0 0 0 0)

	recorded "$1" "$2" --call-graph fp &&
		printf ', "perf_fp_percent": %s' "$(percent "$1")"
	recorded "$1" "$2" --call-graph dwarf,8192 &&
		printf ', "copies_of_8k_percent": %s' "$(percent "$1")"
	recorded "$1" "$2" --call-graph dwarf,32768 || return
	printf ', "copies_of_32k_percent": %s' "$(percent "$1")"
	"$build/bin/dcpiprof" --tree --json --no-demangle --db "$work/$1.db" > "$work/$1.tree"
	timeout 300 perf script -i "$work/$1.data" --no-inline --no-demangle -F ip,sym,dso \
		> "$work/$1.script" 2> "$work/log" || return
	read -r -a numbers < <("$top/tests/eval/accuracy/stack_compare.py" "$work/$1.tree" \
		"$work/$1.script")
	awk -v all="${numbers[0]}" -v complete="${numbers[1]}" -v ours="${numbers[2]}" \
		-v wrong="${numbers[3]}" 'BEGIN {
		printf ", \"libdw_percent\": %.2f", all ? 100 * complete / all : 0
		printf ", \"compared\": %d, \"wrong\": %d, \"wrong_percent\": %.2f", ours, wrong,
			ours ? 100 * wrong / ours : 0 }'
}

# sample NAME COMMAND
sample()
{
	printf '%s%s}\n' "$(sampled "$@")" "$([ -n "${STACKS_PERF:-1}" ] && compared "$@")"
}

# sampled NAME COMMAND: print a JSON object without its end
sampled()
{
	local db=$work/$1.db

	timeout 300 "$build/bin/dcpirun" -q --db "$db" --overhead 100 --probes 0 --branch-every 0 \
		--image-store none -e cpu-clock:1900000-2100000 --stack-every 1 sh -c "$2" \
		> /dev/null 2>&1
	sqlite3 -separator ' ' "$db" "SELECT name, sum(count) FROM counter WHERE
		counter_group = 'stat' AND name LIKE 'stacks%' GROUP BY name" |
		awk -v program="$1" '
		{ n[$1] = $2 }
		END {
			printf "{\"name\": \"stacks\", \"program\": \"%s\", \"stacks\": %d, ", program,
				n["stacks"]
			printf "\"complete_percent\": %.2f, \"by_record\": %d, \"lost\": %d",
				(n["stacks"] ? 100 * n["stacks_complete"] / n["stacks"] : 0),
				n["stacks_by_record"], n["stacks_lost"]
			for (name in n) {
				if (name ~ /short|unreadable|other|no_|expression|register|bad|frames|waiting/ &&
				    n[name] > 0)
					printf ", \"%s\": %d", substr(name, 8), n[name]
			}
		}'
	if [ -n "${STACKS_KEEP:-}" ]; then
		mv "$db" "$STACKS_KEEP"
	fi
}

while read -r name command; do
	if [ "${name#\#}" != "$name" ] || [ -z "$name" ] || ! command -v "$name" > /dev/null; then
		continue
	fi
	if [ -z "${ONLY:-}" ] || [[ " $ONLY " == *" $name "* ]]; then
		sample "$name" "$command" < /dev/null
	fi
done < "$top/tests/eval/accuracy/stack_programs" | tee "$work/rows"
awk '
function member(name,    text)
{
	if (!match($0, "\"" name "\": [0-9.]+"))
		return 0
	text = substr($0, RSTART, RLENGTH)
	sub(/.*: /, "", text)
	return text + 0
}
{
	percent = member("complete_percent")
	sum += percent
	if (NR == 1 || percent < least)
		least = percent
	fp += member("perf_fp_percent")
	libdw += member("libdw_percent")
	compared += member("compared")
	wrong += member("wrong")
} END {
	printf "{\"name\": \"stacks\", \"programs\": %d, \"complete_percent\": %.2f, ", NR, sum / NR
	printf "\"least_complete_percent\": %.2f, \"perf_fp_percent\": %.2f, ", least, fp / NR
	printf "\"libdw_percent\": %.2f, \"compared\": %d, \"wrong_percent\": %.3f}\n", libdw / NR,
		compared, compared ? 100 * wrong / compared : 0
}' "$work/rows"
