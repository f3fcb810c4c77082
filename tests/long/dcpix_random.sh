#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Random C programs (csmith, and random_gotos.py for two of five), compiled alternately with the
# flags below, rewritten, and run. Their output must be unchanged, and their main must be counted.
# Each is also run in two of the other modes, in rotation. COUNT (1000) programs are tested, from
# SEED (1) on, JOBS (2) at a time. Programs that take more than a second of CPU time are skipped, and
# reported.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

count=${COUNT:-1000}
seed=${SEED:-1}
jobs=${JOBS:-2}
dcpix=$PWD/build/bin/dcpix
random_gotos=$PWD/tests/lib/random_gotos.py
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
flags=("-O2" "-O0" "-O3 -fno-pie -no-pie" "-Os -static" "-O1 -fno-jump-tables" "-O2 -funroll-loops"
	"-O2 -fcf-protection=full" "-O3 -march=x86-64-v3" "-O2 --coverage")
compilers=("${CC:-gcc}" clang)
modes=("context --metric none" "paths --metric cycles --checks 5 --burst 3" "calls" "bursts --checks 5 --burst 3" "paths --room 1"
	"variation --checks 7" "context")

# output SECONDS PROGRAM: print its output and exit status; 137 or 152 (SIGKILL, SIGXCPU) if it
# takes more CPU time. Comparing the times of two processes would depend on the host's load.
output()
{
	(
		ulimit -t "$1" -c 0
		exec "$2" 2>&1
	) 2> /dev/null
	echo "$?"
}

# generate NUMBER FOLDER: write random.c
generate()
{
	if [ $(($1 % 5)) -lt 2 ]; then
		"$random_gotos" $((seed + $1)) > "$2/random.c"
	else
		# csmith writes platform.info to the current folder.
		(cd "$2" && csmith --max-funcs 5 --seed $((seed + $1)) -o "$2/random.c")
	fi
}

# try NUMBER FOLDER: print "same", "long", or the fault
try()
{
	local cc=${compilers[$1 % 2]} option=${flags[$1 / 2 % ${#flags[@]}]} want got why mode

	generate "$1" "$2" || { echo "the generator fails" && return; }
	# Data for coverage are written to the current folder.
	# shellcheck disable=SC2086 # words
	(cd "$2" && "$cc" $option -w -I/usr/include/csmith -o random random.c) 2> "$2/errors" ||
		{ echo "$cc $option: $(head -n 1 "$2/errors")" && return; }
	rm -f "$2"/*.gcda
	want=$(output 1 "$2/random")
	case $want in
	*137 | *152) echo long && return ;;
	esac
	rm -f "$2"/counts.* "$2"/*.gcda
	why=$("$dcpix" -q -o "$2/new" "$2/random" 2>&1) ||
		{ echo "$cc $option: it is not rewritten: $why" && return; }
	got=$(DCPIX_OUT=$2/counts output 20 "$2/new")
	[ "$got" = "$want" ] || { echo "$cc $option: got ${got//$'\n'/ }, want ${want//$'\n'/ }" && return; }
	for mode in "${modes[$1 % ${#modes[@]}]}" "${modes[($1 + 3) % ${#modes[@]}]}"; do
		# shellcheck disable=SC2086 # words
		"$dcpix" -q --mode $mode -o "$2/new.mode" "$2/random" 2> "$2/errors" ||
			{ echo "$cc $option: $mode: $(head -n 1 "$2/errors")" && return; }
		got=$(DCPIX_OUT=$2/recorded output 60 "$2/new.mode")
		rm -f "$2"/recorded.*
		[ "$got" = "$want" ] ||
			{ echo "$cc $option, $mode: got ${got//$'\n'/ }, want ${want//$'\n'/ }" && return; }
	done
	# clang generates no code for endless loops without effects: main is then the next function.
	nm -S --defined-only "$2/random" | grep -q '^[0-9a-f]* 0*[1-9a-f][0-9a-f]* T main$' ||
		{ echo same && return; }
	"$dcpix" --csv counts "$2/new" "$2"/counts.* 2> /dev/null | grep -q '"main"' ||
		{ echo "$cc $option: main is not counted" && return; }
	echo same
}

for ((job = 0; job < jobs; job++)); do
	mkdir "$work/$job"
	for ((i = job; i < count; i += jobs)); do
		echo "seed $((seed + i)): $(try $i "$work/$job")"
	done > "$work/$job.results" &
done
wait
cat "$work"/*.results > "$work/results"
same=$(grep -c ': same$' "$work/results")
long=$(grep -c ': long$' "$work/results")
while read -r line; do
	not_ok "${line%%: *}" "${line#*: }"
done < <(grep -v ': \(same\|long\)$' "$work/results")
check "$same of $count programs print the same ($long took too long)" \
	[ $((same + long)) -eq "$count" -a "$same" -gt 0 ]
tap_done
