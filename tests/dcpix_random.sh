#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Random C programs (csmith), compiled in turn with the flags below, rewritten, and run:
# they must print what they did. COUNT (1000) of them, from SEED (1) on. Programs that
# run for more than two seconds are passed over, and told.
set -u
cd "$(dirname "$0")/.." || exit 2
. tests/tap.sh

count=${COUNT:-1000}
seed=${SEED:-1}
dcpix=$PWD/build/bin/dcpix
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export DCPIX_OUT=$work/counts
flags=("-O2" "-O0" "-O3 -fno-pie -no-pie" "-Os -static" "-O1 -fno-jump-tables" "-O2 -funroll-loops")
compilers=("${CC:-gcc}" clang)
same=0 long=0 counted=0

for ((i = 0; i < count; i++)); do
	cc=${compilers[i % 2]}
	option=${flags[i / 2 % ${#flags[@]}]}
	csmith --seed $((seed + i)) -o "$work/random.c" || exit 2
	# shellcheck disable=SC2086 # words
	"$cc" $option -w -I/usr/include/csmith -o "$work/random" "$work/random.c" 2> "$work/errors" ||
		{ not_ok "seed $((seed + i)): compiles" "$(head -n 3 "$work/errors")"; continue; }
	want=$(timeout 2 "$work/random" 2>&1; echo "$?")
	case $want in
	*124) long=$((long + 1)) && continue ;;
	esac
	if ! why=$("$dcpix" -q -o "$work/new" "$work/random" 2>&1); then
		not_ok "seed $((seed + i)), $cc $option: it is rewritten" "$why"
		continue
	fi
	got=$(timeout 10 "$work/new" 2>&1; echo "$?")
	if [ "$got" = "$want" ]; then
		same=$((same + 1))
	else
		not_ok "seed $((seed + i)), $cc $option: prints the same" "got $got, want $want"
	fi
	"$dcpix" --csv counts "$work/new" "$work"/counts.* 2> /dev/null | grep -q '"main"' &&
		counted=$((counted + 1))
	rm -f "$work"/counts.*
done
check "$same of $count programs print the same ($long took too long)" [ $((same + long)) -eq "$count" ]
is "main is counted in all of them" $counted $same
tap_done
