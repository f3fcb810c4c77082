# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# exact(): counts of a rewritten program against an emulator's. Sourced, after tests/tap.sh,
# with $dcpix, and $scratch, where things are made. Both runs are in the emulator, so that
# programs find the same processor.
exact_plugin=$PWD/build/tests/count_plugin.so

# exact NAME LEAST PROGRAM ARGUMENT...: and at least so many percent of what the image
# executes are counted
exact()
{
	local name=$1 least=$2 old blocks wrong edges wrong_edges covered work=$scratch/exact

	old=$(readlink -f "$3")
	shift 3
	rm -rf "$work"
	mkdir "$work"
	if ! "$dcpix" -q -o "$work/new" "$old"; then
		not_ok "$name: it is rewritten"
		return
	fi
	setarch -R env -i PERL_HASH_SEED=0 DCPIX_OUT="$work/counts" qemu-x86_64 -cpu max -0 "$old" "$work/new" "$@" \
		> "$work/new.out" 2>&1 < /dev/null
	setarch -R env -i PERL_HASH_SEED=0 DCPIX_OUT="$work/counts" qemu-x86_64 -cpu max -0 "$old" \
		-plugin "$exact_plugin,out=$work/truth,edges=$work/edges" "$old" "$@" \
		> "$work/old.out" 2>&1 < /dev/null
	is "$name: prints the same" "$(md5sum < "$work/new.out")" "$(md5sum < "$work/old.out")"
	for rows in block edge; do
		"$dcpix" --by $rows --csv counts "$work/new" "$work"/counts.* > "$work/$rows"
	done
	read -r blocks wrong edges wrong_edges covered < <(tests/dcpix_exact.py "$old" "$work/truth" \
		"$work/edges" "$work/block" "$work/edge")
	is "$name: instructions of $blocks blocks whose counts differ" "$wrong" 0
	is "$name: of $edges edges" "$wrong_edges" 0
	check "$name: $covered% of the image's executed instructions were counted" \
		awk "BEGIN { exit !($covered >= $least && $blocks > 5 && $edges > 5) }"
}
