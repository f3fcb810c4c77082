#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# x86_collect.sh [NAME...]: sample the programs in x86_programs.txt and count them exactly. For each
# program, build/accuracy/x86-64/NAME/ gets:
#
# - samples.db: dcpirun's database, with cpu-clock samples and edges, one epoch per run
# - sampled: description of the sampled run
# - counts: output of tests/eval/truth/count_plugin.c for one run
# - counted: description of the counted run (the command and its program's digest)
#
# Existing results with the same description are kept. The ground truth of the samples is counts
# times the number of epochs.
#
# QEMU has other features than the processor, so libc and libcrypto would select other variants of
# their functions. Both are therefore restricted to the variants for the fewest features, with the
# same thresholds. Hash seeds are fixed, and addresses are not randomized.
set -eu
cd "$(dirname "$0")/../../.."
top=$PWD
out=$top/build/accuracy/x86-64
event=${EVENT:-cpu-clock:180000-200000}

tunables=glibc.cpu.hwcaps=-AVX,-AVX2,-AVX512F,-AVX512VL,-AVX512BW,-FMA,-FMA4,-ERMS,-FSRM,-BMI2,-SSSE3,-SSE4_1,-SSE4_2
# Preferences of libc that depend on the processor's family.
tunables+=,-AVX_Fast_Unaligned_Load,-Fast_Unaligned_Load,-Fast_Unaligned_Copy
tunables+=,-Fast_Copy_Backward,-Fast_Rep_String,-Slow_BSF,-Slow_SSE4_2
tunables+=,-Prefer_PMINUB_for_stringop
tunables+=:glibc.cpu.x86_rep_movsb_threshold=0x7fffffff
tunables+=:glibc.cpu.x86_rep_stosb_threshold=0x7fffffff
tunables+=:glibc.cpu.x86_non_temporal_threshold=0x7fffffff
tunables+=:glibc.cpu.x86_data_cache_size=0x8000
tunables+=:glibc.cpu.x86_shared_cache_size=0x100000
environment=(
	PATH=/usr/local/bin:/usr/bin:/bin LC_ALL=C HOME=/nonexistent PERL_HASH_SEED=0
	PYTHONHASHSEED=0 PYTHONDONTWRITEBYTECODE=1 OPENSSL_CONF=/dev/null OPENSSL_ia32cap=0:0
	"GLIBC_TUNABLES=$tunables"
)

# program [truth/]NAME/COMPILER-OPTION: build a program and print its path
program()
{
	local name=${1%/*} how=${1##*/} file
	local binary=$out/programs/${name/\//-}-$how

	case $name in
	truth/*) file=tests/eval/truth/programs/${name#*/}.c ;;
	*) file=$(echo tests/eval/accuracy/programs/"$name".c*) ;;
	esac
	if [ "$file" -nt "$binary" ]; then
		mkdir -p "$out/programs"
		"${how%-*}" "-${how##*-}" -w -I. -o "$binary" "$file" -lm
	fi
	echo "$binary"
}

# The functions below run the command in the array "words".

sample()
{
	local dir=$1 repeats=$2 made="$event ${environment[*]} $2 $3" i

	[ "$(cat "$dir/sampled" 2> /dev/null)" != "$made" ] || return 0
	rm -rf "$dir"/samples.db* "$dir/sampled"
	for ((i = 0; i < repeats; i++)); do
		env -i "${environment[@]}" setarch -R "$top/build/bin/dcpirun" -q --user \
			-e "$event" --branch-every 1 --probes 100 --db "$dir/samples.db" -- \
			"${words[@]}" > "$dir/output" < /dev/null
	done
	echo "$made" > "$dir/sampled"
}

count_with()
{
	env -i "${environment[@]}" setarch -R qemu-x86_64 -cpu max -plugin \
		"$top/build/tests/count_plugin.so,out=$1/counts$2" \
		"${words[@]}" > "$1/output.qemu" < /dev/null
}

count()
{
	local dir=$1 made="${environment[*]} $2"

	[ "$(cat "$dir/counted" 2> /dev/null)" != "$made" ] || return 0
	rm -f "$dir/counted"
	[ -e "$dir/output" ] || "${words[@]}" > "$dir/output" < /dev/null
	count_with "$dir" ""
	# The program has threads: count with atomic operations, which takes longer.
	[[ $(head -n 1 "$dir/counts") == *exact ]] || count_with "$dir" ,threads=on
	if ! cmp -s "$dir/output" "$dir/output.qemu"; then
		echo "x86_collect: $dir: output differs under QEMU" >&2
		exit 1
	fi
	echo "$made" > "$dir/counted"
}

# collect NAME REPEATS COMMAND: sample and count one program
collect()
{
	local dir=$out/$1 command=$3 made words

	if [[ $command == @* ]]; then
		command=${command#@}
		command="$(program "${command%% *}") ${command#* }"
	fi
	eval "words=($command)"
	words[0]=$(command -v "${words[0]}")
	made="$command $(sha256sum < "${words[0]}")"
	echo "x86_collect: $1" >&2
	mkdir -p "$dir"
	cd "$out/inputs"
	sample "$dir" "$2" "$made"
	count "$dir" "$made"
	rm -f "$dir/output" "$dir/output.qemu"
	cd "$top"
}

tests/eval/accuracy/x86_inputs.sh "$out/inputs"
while IFS=$'\t' read -r name split repeats command; do
	case $name in '#'* | '') continue ;; esac
	: "$split"
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	collect "$name" "$repeats" "$command"
done < tests/eval/accuracy/x86_programs.txt
