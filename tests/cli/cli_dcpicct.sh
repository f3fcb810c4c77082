#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# dcpix --mode context and dcpicct: exact contexts of calls.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh
. tests/lib/call_cli.sh

bin=$PWD/build/bin
WORK=$(mktemp -d) || exit 2
trap 'rm -rf "$WORK"' EXIT
export WORK
make --no-print-directory -s call-plugin || exit 2

check "callers: builds" "${CC:-gcc}" -O1 -fno-optimize-sibling-calls -o "$WORK/callers" \
	tests/fixtures/programs/callers.c
check "callers: is rewritten" "$bin/dcpix" -q --mode context --metric instructions \
	-o "$WORK/callers.context" "$WORK/callers"
DCPIX_OUT=$WORK/profile "$WORK/callers.context" 3 > /dev/null
report()
{
	"$bin/dcpicct" "$@" "$WORK/callers.context" "$WORK"/profile.*
}
# record PATH: print inclusive, exclusive, calls and recursive calls of a path of the tree
record()
{
	report --csv | tr -d '"\r' | awk -F, -v wanted="$1" '
		NR > 1 {
			path[$1] = path[$2] == "" ? $9 : path[$2] " " $9
			if (path[$1] == wanted)
				print $4, $5, $6, $7
		}'
}
read -r inclusive _ calls _ < <(record "_start main costly_caller shared")
read -r cheap _ cheap_calls _ < <(record "_start main cheap_caller shared")
is "a shared procedure has a record for each caller" "$calls $cheap_calls" "3 3000"
check "with its own metric ($inclusive, $cheap)" [ "$inclusive" -gt $((50 * cheap)) ]
read -r _ _ calls recursive < <(record "_start main circle even")
is "recursion leads back" "$calls $recursive" "3 30"
report > "$WORK/text"
like "text: the heading" "$(head -n 7 "$WORK/text" | tr '\n' ' ')" \
	'metric +[0-9]+ instructions contexts +28, .* tree +28 records of 24 bytes; .* height +4\.[0-9] on average, 6 at most replication 6 at most, of spin'
like "text: the tree" "$(grep -A 1 ' costly_caller$' "$WORK/text" | tail -n 1)" ' +shared$'
like "-n: the text counts the others" "$(report -n 3 | tail -n 1)" '^\.\.\. [0-9]+ more records$'
"$bin/dcpix" run --mode context "$WORK/callers" 3 > /dev/null 2> "$WORK/err"
check "dcpix run prints the first contexts only ($(wc -l < "$WORK/err") lines)" \
	[ "$(wc -l < "$WORK/err")" -lt 40 ]
like "dcpix run counts the other contexts" "$(cat "$WORK/err")" '^\.\.\. [0-9]+ more records$'
is "-n: so many records" "$(report -n 3 --csv | wc -l)" 4
check "--least leaves out" [ "$(report --least 5 --csv | wc -l)" -lt 25 ]
is "--folded: stacks add up to the metric" \
	"$(report --folded | awk '{ sum += $NF } END { print sum }')" \
	"$(awk '$1 == "metric" { print $2 }' "$WORK/text")"
like "--folded: a stack" "$(report --folded | grep costly_caller | tail -n 1)" \
	'^_start;main;costly_caller;shared;spin [0-9]+$'
report --json > "$WORK/json"
check "JSON is as the schema has it" tests/lib/validate_json.py dcpicct < "$WORK/json"

# --- call sites
check "call sites: builds" "${CC:-gcc}" -O1 -fno-optimize-sibling-calls -o "$WORK/sites" \
	tests/fixtures/programs/call_sites.c
"$bin/dcpix" -q --mode context --sites --metric instructions -o "$WORK/sites.context" "$WORK/sites"
DCPIX_OUT=$WORK/site "$WORK/sites.context" > /dev/null
# by_site: print caller, procedure, calls and recursive calls of each record of these procedures
by_site()
{
	"$bin/dcpicct" --csv "$WORK/sites.context" "$WORK"/site.* | tr -d '"\r' | awk -F, '
		NR > 1 {
			name[$2] = $10
			if ($10 ~ /^(leaf|twice|compare|down)$/)
				print name[$3], $10, $7, $8
		}' | sort
}
is "a call site has a record of its own; recursion leads back" "$(by_site)" "compare leaf 1 0
compare leaf 3 0
main compare 1 0
main compare 3 0
main down 1 6
main twice 1 0
twice leaf 1 0
twice leaf 1 0"
# called_at PROCEDURE: print the places in main of the calls of a procedure, from the disassembly
called_at()
{
	objdump -d --no-show-raw-insn "$WORK/sites" | awk -v callee="<$1" '
		/^[0-9a-f]+ </ { inside = $2 == "<main>:" }
		inside && /\tcall / && index($0, callee) { sub(":", "", $1); print "0x" $1 }'
}
is "the call site is that of the call in the program, also of a library's" \
	"$("$bin/dcpicct" --csv "$WORK/sites.context" "$WORK"/site.* | tr -d '"\r' |
		awk -F, '$10 == "compare" || $10 == "down" { print $1 }' | sort)" \
	"$({ called_at qsort; called_at down; } | sort)"
like "text: call sites" "$("$bin/dcpicct" "$WORK/sites.context" "$WORK"/site.* | tr '\n' ' ')" \
	'call sites +[0-9]+ in all records, 12 reached +call site +% .* 0x[0-9a-f]+ .* twice '
"$bin/dcpicct" --json "$WORK/sites.context" "$WORK"/site.* > "$WORK/json"
check "JSON with call sites is as the schema has it" tests/lib/validate_json.py dcpicct < "$WORK/json"
refuses "--sites of calls" "mode 'calls' does not support --sites" "$bin/dcpix" --mode calls --sites \
	-o "$WORK/none" "$WORK/sites"

# --- paths in contexts
"$bin/dcpix" -q --mode context-paths --sites -o "$WORK/sites.paths" "$WORK/sites"
DCPIX_OUT=$WORK/way "$WORK/sites.paths" > /dev/null
paths()
{
	"$bin/dcpicct" --paths "$@" "$WORK/sites.paths" "$WORK"/way.*
}
is "paths: each context has its own; the recursive calls are of one" "$(paths --csv | awk -F, '
	$7 ~ /leaf|twice|compare|down/ { print $1, $7 }' | tr -d '"' | sort)" "1 compare
1 leaf
1 leaf
1 leaf
1 twice
2 down
2 down
3 compare
3 down
3 leaf"
like "paths: text" "$(paths | tr '\n' ' ')" \
	'lost: 1 not finished, .* in _start 0x[0-9a-f]+ > main 0x[0-9a-f]+ > twice 0x[0-9a-f]+ > leaf '
is "paths: -n" "$(paths --csv -n 3 | wc -l)" 4
like "paths: the heading has call sites that one path reaches" \
	"$("$bin/dcpicct" "$WORK/sites.paths" "$WORK"/way.* | tr '\n' ' ')" \
	'call sites +15 in all records, 12 reached, 11 by one path paths +17, in all records'
"$bin/dcpicct" --json "$WORK/sites.paths" "$WORK"/way.* > "$WORK/json"
check "paths: JSON is as the schema has it" tests/lib/validate_json.py dcpicct < "$WORK/json"
refuses "paths as JSON" "supports only text and --csv" paths --json
refuses "paths of a program without" "was not rewritten by dcpix --mode context-paths" \
	"$bin/dcpicct" --paths "$WORK/sites.context" "$WORK"/site.*
refuses "paths of a database" "needs a rewritten program" "$bin/dcpicct" --paths --db "$WORK/none.db"
refuses "dcpipaths of contexts" "records paths in contexts: use dcpicct --paths" \
	"$bin/dcpipaths" "$WORK/sites.paths" "$WORK"/way.*
refuses "a metric of paths in contexts" "does not support --metric" "$bin/dcpix" \
	--mode context-paths --metric cycles -o "$WORK/none" "$WORK/sites"
refuses "a recording of another mode" "of another rewritten file" \
	"$bin/dcpicct" "$WORK/sites.context" "$WORK"/way.*

# 600 contexts of a procedure with 512 paths are more than a thread has room for.
awk 'BEGIN {
	print "#include <stdlib.h>\nstatic volatile unsigned sink;"
	print "__attribute__((noinline)) static void many(unsigned bits)\n{"
	for (bit = 0; bit < 9; bit++)
		printf "\tif (bits >> %d & 1)\n\t\tsink++;\n", bit
	print "}"
	for (caller = 0; caller < 600; caller++) {
		printf "__attribute__((noinline)) static void caller%d(void)\n{\n", caller
		print "\tfor (unsigned bits = 0; bits < 512; bits++)\n\t\tmany(bits);"
		printf "\tsink += %d;\n}\n", caller
	}
	print "int main(void)\n{"
	for (caller = 0; caller < 600; caller++)
		printf "\tcaller%d();\n", caller
	print "\treturn 0;\n}"
}' > "$WORK/full.c"
check "a full table: builds" "${CC:-gcc}" -O1 -o "$WORK/full" "$WORK/full.c"
# executions MODE REPORT...: print executions, paths and losses of the program in this mode
executions()
{
	"$bin/dcpix" -q --mode "$1" --whole -o "$WORK/full.$1" "$WORK/full"
	DCPIX_OUT=$WORK/full.profile "$WORK/full.$1"
	"${@:2}" -n 1 "$WORK/full.$1" "$WORK"/full.profile.* | sed -nE \
		's/^([0-9]+) executions of ([0-9]+) .*/\1 \2/p; s/^lost: .* ([0-9]+) without memory$/\1/p'
	rm -f "$WORK"/full.profile.*
}
{ read -r all _; } < <(executions paths "$bin/dcpipaths")
{ read -r counted used; read -r lost; } < <(executions context-paths "$bin/dcpicct" --paths)
is "a full table: each execution is counted or lost ($lost are)" "$((counted + lost))" "$all"
check "a full table: it is used ($used paths)" [ "$used" -gt 200000 -a "$lost" -gt 40000 ]

# --- interruptions: handlers at any instruction, and more frames than there is room for
check "interrupted: builds" "${CC:-gcc}" -O1 -fno-optimize-sibling-calls -o "$WORK/interrupted" \
	tests/fixtures/programs/interrupted.c
for metric in none cycles; do
	"$bin/dcpix" -q --mode context --metric $metric -o "$WORK/interrupted.context" \
		"$WORK/interrupted"
	handled=$(DCPIX_OUT=$WORK/timer "$WORK/interrupted.context" timer 3000000)
	"$bin/dcpicct" --csv "$WORK/interrupted.context" "$WORK"/timer.* > "$WORK/csv"
	# A handler that starts while another one is returning is lost, with its root and its three
	# calls. The loss is reported.
	lost=$("$bin/dcpicct" "$WORK/interrupted.context" "$WORK"/timer.* |
		awk '$3 == "calls_in_nested_signals" { print $2 }')
	check "$metric: few are lost (${lost:-0} calls)" [ "${lost:-0}" -le $((handled / 50)) ]
	handled=$((handled - ${lost:-0} / 4))
	is "$metric: contexts are whose they are ($handled signals)" \
		"$(tr -d '"\r' < "$WORK/csv" | awk -F, '
			{ path[$1] = path[$2] == "" ? $9 : path[$2] " " $9 }
			path[$1] ~ /(work|handler|inner)/ { print path[$1], $6 }' | sort)" \
		"$(printf '%s\n' "<signal> handler $handled" "<signal> handler inner $handled" \
			"<signal> handler inner leaf $handled" "_start main timer work 3000000" \
			"_start main timer work inner 3000000" \
			"_start main timer work inner leaf 3000000" \
			"_start main timer work leaf 3000000" | sort)"
	rm -f "$WORK"/timer.*
	is "$metric: deep calls" "$(ulimit -s unlimited
		DCPIX_OUT=$WORK/deep "$WORK/interrupted.context" deep 600000)" 600000
	"$bin/dcpicct" "$WORK/interrupted.context" "$WORK"/deep.* > "$WORK/deep"
	like "$metric: are told to be too deep" "$(cat "$WORK/deep")" \
		'lost +[0-9]+ calls_too_deep'
	rm -f "$WORK"/deep.*
done

# --- in the database
. tests/lib/recorded_db.sh
DCPIX_OUT=$WORK/again "$WORK/callers.context" 7 > /dev/null
same_in_database dcpicct "$WORK/callers.context" "$WORK"/profile.* "$WORK"/again.*

DCPIX_OUT=$WORK/site-again "$WORK/sites.context" > /dev/null
mv "$WORK/one.db" "$WORK/plain.db"
same_in_database dcpicct "$WORK/sites.context" "$WORK"/site.[0-9]* "$WORK"/site-again.*
mv "$WORK/plain.db" "$WORK/one.db"

# --- export formats
is "--folded: as from the files" "$("$bin/dcpicct" --folded --db "$WORK/one.db" | sort)" \
	"$("$bin/dcpicct" --folded "$WORK/callers.context" "$WORK"/profile.* "$WORK"/again.* | sort)"
export_()
{
	"$bin/dcpiexport" --db "$WORK/one.db" --contexts "$@"
}
folded=$("$bin/dcpicct" --folded --db "$WORK/one.db" | sort)
is "dcpiexport: folded" "$(export_ -f folded | sort)" "$folded"
is "dcpiexport: speedscope" "$(export_ -f speedscope | jq -r '.shared.frames as $f |
	.profiles[0] | [.samples, .weights] | transpose[] |
	"\(.[0] | map($f[.].name) | join(";")) \(.[1])"' | sort)" "$folded"
export_ -f callgrind -o "$WORK/callgrind"
inclusive()
{
	callgrind_annotate --threshold=100 --inclusive=yes "$WORK/callgrind" |
		awk -v name=":$1" 'index($0, name " ") || substr($0, length($0) - length(name) + 1) == name {
			gsub(",", "", $1); print $1; exit }'
}
is "dcpiexport: callgrind_annotate: a shared procedure's costs, with those below" \
	"$(inclusive shared)" \
	"$(awk '/;shared[; ]/ { sum += $NF } END { print sum }' <<< "$folded")"
is "dcpiexport: callgrind_annotate: the whole" \
	"$(callgrind_annotate "$WORK/callgrind" | awk '/PROGRAM TOTALS/ { gsub(",", "", $1); print $1 }')" \
	"$(awk '{ sum += $NF } END { print sum }' <<< "$folded")"
export_ -f pprof -o "$WORK/pprof"
is "dcpiexport: pprof: stacks, their calls and metric" "$(tests/lib/pprof_read.py stacks < "$WORK/pprof" |
	awk '$1 != "types" && $1 != "image" && $3 > 0 { print $1, $3 }' | sort)" "$folded"
is "dcpiexport: pprof: calls" "$(tests/lib/pprof_read.py stacks < "$WORK/pprof" |
	awk '$1 != "types" && $1 != "image" { sum += $2 } END { print sum }')" \
	"$("$bin/dcpicct" --csv --db "$WORK/one.db" | awk -F, 'NR > 1 { sum += $6 + $7 } END { print sum }')"
# boxes: print the title of each box, and its share of the total width, read by an XML parser
boxes()
{
	python3 -c '
import re, sys, xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
for box in tree.parse(sys.stdin).getroot().iter(svg + "g"):
    title = box.find(svg + "title").text
    name, value, share = re.fullmatch(r"(.*) \((\d+) instructions, ([\d.]+)%\)", title).groups()
    width = float(box.find(svg + "rect").get("width")) / 11.8
    print(name, value, abs(width - float(share)) < 0.02)'
}
"$bin/dcpicct" --svg --db "$WORK/one.db" > "$WORK/svg"
like "--svg: browsers keep the spaces" "$(cat "$WORK/svg")" '<svg [^>]*xml:space="preserve"'
is "--svg: boxes are as wide as what they are of" "$(boxes < "$WORK/svg" | grep -c False)" 0
is "--svg: the whole" "$(boxes < "$WORK/svg" | head -n 1)" \
	"all $(awk '{ sum += $NF } END { print sum }' <<< "$folded") True"
is "--svg: a box for each context that can be seen" "$(boxes < "$WORK/svg" | grep -c '^shared ')" 2
is "dcpiexport: the same" "$(export_ -f flamegraph | boxes | sort)" "$(boxes < "$WORK/svg" | sort)"
refused_export()
{
	local got

	got=$("$bin/dcpiexport" --db "$WORK/one.db" --contexts -f "$1" 2>&1)
	is "dcpiexport: $1 has none: exit status" "$?" 2
	is "dcpiexport: $1 has none: says so" "$got" "dcpiexport: format '$1' does not support contexts"
}
refused_export csv
refused_export bolt

# --- same results as in an emulator
truth context callers "$WORK/callers" 2
truth sites call_sites "$WORK/sites"
# shellcheck disable=SC2016 # awk's
truth sites mawk mawk '{ for (i = 1; i <= NF; i++) c[$i]++ } END { print NF, c["the"] }' README.md
# shellcheck disable=SC2016 # awk's
truth context mawk mawk '{ for (i = 1; i <= NF; i++) c[$i]++ } END { print NF, c["the"] }' README.md

# --- errors, in one line
refuses "no files" "a rewritten program and the files that it recorded are required" "$bin/dcpicct" "$WORK/callers.context"
refuses "no percentage" "is not a valid percentage" "$bin/dcpicct" --least much "$WORK/callers.context" x
refuses "of dcpicalls" "records contexts: use dcpicct" "$bin/dcpicalls" "$WORK/callers.context" \
	"$WORK"/profile.*
tap_done
