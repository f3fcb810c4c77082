# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# Compare counts of a rewritten program with an emulator's. Source this file after tests/lib/tap.sh,
# with $dcpix and the work folder $scratch set. Both runs are in the emulator, so that programs find
# the same processor.
exact_plugin=$PWD/build/tests/count_plugin.so

# exact_run NAME LEAST IMAGE OLD NEW NAMES ARGUMENT...: compare the runs of the program OLD, and of
# NEW in its place. $work/new is the rewritten IMAGE, which writes its counts to files named NAMES.
exact_run()
{
	local name=$1 least=$2 image=$3 old=$4 new=$5 names=$6 blocks wrong edges wrong_edges covered

	shift 6
	setarch -R env -i PERL_HASH_SEED=0 PYTHONHASHSEED=0 DCPIX_OUT="$work/counts" \
		LD_LIBRARY_PATH="$work/library" qemu-x86_64 -cpu max -0 "$old" "$new" "$@" \
		> "$work/new.out" 2>&1 < /dev/null
	setarch -R env -i PERL_HASH_SEED=0 PYTHONHASHSEED=0 DCPIX_OUT="$work/counts" \
		LD_LIBRARY_PATH="$work/nothing" qemu-x86_64 -cpu max -0 "$old" \
		-plugin "$exact_plugin,out=$work/truth,edges=$work/edges" "$old" "$@" \
		> "$work/old.out" 2>&1 < /dev/null
	is "$name: prints the same" "$(md5sum < "$work/new.out")" "$(md5sum < "$work/old.out")"
	for rows in block edge; do
		"$dcpix" --by $rows --csv counts "$work/new" "$work/$names".* > "$work/$rows"
	done
	read -r blocks wrong edges wrong_edges covered < <(tests/lib/dcpix_exact.py "$image" \
		"$work/truth" "$work/edges" "$work/block" "$work/edge")
	is "$name: instructions of $blocks blocks whose counts differ" "$wrong" 0
	is "$name: of $edges edges" "$wrong_edges" 0
	check "$name: $covered% of the image's executed instructions were counted" \
		awk "BEGIN { exit !($covered >= $least && $blocks > 5 && $edges > 5) }"
}

# exact NAME LEAST PROGRAM ARGUMENT...: compare a program; at least LEAST percent of the image's
# executed instructions must be counted
exact()
{
	local name=$1 least=$2 old work=$scratch/exact

	old=$(readlink -f "$3")
	shift 3
	rm -rf "$work"
	mkdir "$work"
	if ! "$dcpix" -q -o "$work/new" "$old"; then
		not_ok "$name: it is rewritten"
		return
	fi
	exact_run "$name" "$least" "$old" "$old" "$work/new" counts "$@"
}

# exact_library NAME LEAST LIBRARY PROGRAM ARGUMENT...: the same for a library of a program
exact_library()
{
	local name=$1 least=$2 library=$3 old path work=$scratch/exact

	old=$(readlink -f "$(command -v "$4")")
	path=$(ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }')
	path=$(readlink -f "$path") || { not_ok "$name: $library is here"; return; }
	shift 4
	rm -rf "$work"
	mkdir -p "$work/library"
	if ! "$dcpix" -q -o "$work/new" "$path"; then
		not_ok "$name: it is rewritten"
		return
	fi
	ln -s ../new "$work/library/$library"
	exact_run "$name" "$least" "$path" "$old" "$old" "counts.$library" "$@"
}
