# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Compare paths of programs with an emulator's, for scripts that have sourced tests/lib/tap.sh and have
# $scratch. Paths are compared as sequences of nodes, without their numbers.
dcpix=$PWD/build/bin/dcpix
dcpipaths=$PWD/build/bin/dcpipaths
dcpicct=$PWD/build/bin/dcpicct
path_plugin=$PWD/build/tests/path_plugin.so
# shellcheck disable=SC2154 # the script's
export DCPIX_OUT=$scratch/recorded

# path_counts PROGRAM: print "COUNT NODE..." for each sequence of nodes that it recorded
path_counts()
{
	"$dcpipaths" --csv "$1" "$DCPIX_OUT".* | awk -F '"' 'FNR > 1 {
		split($1, of, ",")
		n = split($NF, behind, ",")
		count[behind[2]] += of[1]
	} END { for (nodes in count) print count[nodes], nodes }' | sort
}

# path_run OLD NEW ARGUMENT...: run the rewritten program, which records
path_run()
{
	local old=$1

	shift
	rm -f "$DCPIX_OUT".*
	# shellcheck disable=SC2016 # the inner shell's
	(exec -a "$old" env -i DCPIX_OUT="$DCPIX_OUT" bash -c 'exec -a "$0" "$@"' "$old" \
		"$@") > /dev/null < /dev/null 2>&1
}

# context_counts PROGRAM: print "COUNT PROCEDURE... - NODE..." for each sequence of nodes in a context
context_counts()
{
	"$dcpicct" --csv "$1" "$DCPIX_OUT".* > "$scratch/tree"
	"$dcpicct" --paths --csv "$1" "$DCPIX_OUT".* > "$scratch/listed"
	python3 - "$scratch/tree" "$scratch/listed" <<-'EOF' | sort
	import collections, csv, sys
	tree = {row["context"]: row for row in csv.DictReader(open(sys.argv[1]))}
	def context(number):
	    above = context(tree[number]["parent"]) if tree[number]["parent"] in tree else []
	    return above + ([tree[number]["address"][2:]] if tree[number]["address"] else [])
	counts = collections.Counter()
	for row in csv.DictReader(open(sys.argv[2])):
	    counts[" ".join(context(row["context"]) + ["-", row["blocks"]])] += int(row["count"])
	for path, count in counts.items():
	    print(count, path)
	EOF
}

# path_emulate OLD ARGUMENT...: write "COUNT NODE..." of an emulator to $scratch/seen, by the edges
# on standard input
path_emulate()
{
	python3 tests/lib/path_facts.py > "$scratch/facts"
	env -i DCPIX_OUT="$DCPIX_OUT" qemu-x86_64 -cpu max -0 "$1" \
		-plugin "$path_plugin,image=$1,spec=$scratch/facts,out=$scratch/truth$plugin_option" \
		"$@" > /dev/null < /dev/null 2>&1
	sort "$scratch/truth" > "$scratch/seen"
}

# path_exact NAME ARGUMENT...: test that all paths of a program equal an emulator's; $path_mode and
# $path_options are options of dcpix
path_mode=paths
path_options=
plugin_option=
path_exact()
{
	local name=$1 program old new counted wrong

	# A profiler that runs at the same time may set breakpoints in a file that others run, too.
	program=$(readlink -f "$(command -v "$1")")
	old=$scratch/private/$(basename "$program")
	mkdir -p "$scratch/private"
	cp "$program" "$old"
	new=$scratch/$(basename "$old").paths
	shift
	# shellcheck disable=SC2086 # words
	"$dcpix" -q --mode $path_mode $path_options -o "$new" "$old" ||
		{ not_ok "$name: is rewritten"; return; }
	path_run "$old" "$new" "$@"
	plugin_option=
	[ "$path_mode" = paths ] || plugin_option=,contexts=yes
	"$dcpipaths" --by edge "$new" | path_emulate "$old" "$@"
	if [ "$path_mode" = context-paths ]; then
		context_counts "$new" > "$scratch/counted"
	else
		path_counts "$new" > "$scratch/counted"
	fi
	counted=$(wc -l < "$scratch/counted")
	wrong=$(comm -3 "$scratch/counted" "$scratch/seen" | wc -l)
	check "$name: every path's count is exact ($path_mode: $counted paths)" \
		[ "$wrong" -eq 0 -a "$counted" -gt 5 ]
	rm -f "$DCPIX_OUT".*
}
