#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# x86_collect.sh [NAME...]: sample the programs in x86_programs.txt and count them
# exactly. Of each, build/accuracy/x86-64/NAME/ gets
#
#	samples.db	dcpirun's database: cpu-clock samples and edges, an epoch a run
#	counts, edges	what tests/truth/count_plugin.c wrote, of one run
#	ready		what was run: the command, repeats, and its digest
#
# What is there and was made by the same command is kept. Counts times repeats are
# the truth of the samples.
#
# QEMU has other features than the processor, so libc and libcrypto would choose
# other variants of their functions: both are told to take those that need least,
# with the same thresholds. Hash seeds are fixed, addresses not randomized.
set -eu
cd "$(dirname "$0")/../.."
top=$PWD
out=$top/build/accuracy/x86-64
event=${EVENT:-cpu-clock:180000-200000}

environment=(
	PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C HOME=/nonexistent PERL_HASH_SEED=0
	PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 OPENSSL_CONF=/dev/null OPENSSL_ia32cap=0:0
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-ERMS,-FSRM,-BMI2,-SSSE3,-SSE4_1,-SSE4_2:glibc.cpu.x86_rep_movsb_threshold=0x7fffffff:glibc.cpu.x86_rep_stosb_threshold=0x7fffffff:glibc.cpu.x86_non_temporal_threshold=0x7fffffff:glibc.cpu.x86_data_cache_size=0x8000:glibc.cpu.x86_shared_cache_size=0x100000
)

# program NAME/COMPILER-OPTION: builds it, prints its path
program()
{
	local name=${1%/*} how=${1#*/} file
	local binary=$out/programs/$name-$how

	file=$(echo tests/accuracy/programs/"$name".c*)
	if [ "$file" -nt "$binary" ]; then
		mkdir -p "$out/programs"
		"${how%-*}" "-${how##*-}" -w -o "$binary" "$file" -lm
	fi
	echo "$binary"
}

# collect NAME REPEATS COMMAND
collect()
{
	local dir=$out/$1 command=$3 i made words

	if [[ $command == @* ]]; then
		command=${command#@}
		command="$(program "${command%% *}") ${command#* }"
	fi
	eval "words=($command)"
	words[0]=$(command -v "${words[0]}")
	made="$event $2 $command $(sha256sum < "${words[0]}")"
	[ "$(cat "$dir/ready" 2> /dev/null)" != "$made" ] || return 0
	echo "collect: $1" >&2
	rm -rf "$dir"
	mkdir -p "$dir"
	cd "$out/inputs"
	for ((i = 0; i < $2; i++)); do
		env -i "${environment[@]}" setarch -R "$top/build/bin/dcpirun" -q --user \
			-e "$event" --branch-every 1 --db "$dir/samples.db" -- \
			"${words[@]}" > "$dir/output" < /dev/null
	done
	env -i "${environment[@]}" setarch -R qemu-x86_64 -cpu max -plugin \
		"$top/build/tests/count_plugin.so,out=$dir/counts,edges=$dir/edges" \
		"${words[@]}" > "$dir/output.qemu" < /dev/null
	cd "$top"
	cmp -s "$dir/output" "$dir/output.qemu" || { echo "$1: output differs under QEMU" >&2; exit 1; }
	rm -f "$dir/output" "$dir/output.qemu"
	echo "$made" > "$dir/ready"
}

tests/accuracy/x86_inputs.sh "$out/inputs"
while IFS=$'\t' read -r name split repeats command; do
	case $name in '#'* | '') continue ;; esac
	: "$split"
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	collect "$name" "$repeats" "$command"
done < tests/accuracy/x86_programs.txt
