#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure the cost of counting: compare programs rewritten by dcpix, and the same programs compiled
# with gcc's -fprofile-generate, with the plain ones. Prints lines of tests/eval/bench/bench.h (other modes:
# tests/eval/overhead/bench_modes.sh). Each program is run ROUNDS (3) times, in rotation. One figure is the
# minimum user time of each kind above the minimum of the plain program, in percent. Another is the
# same for the instructions that an emulator counts. The last figures are the speed of rewriting a
# large program, and its growth. The script fails if a program cannot be measured.
set -u
cd "$(dirname "$0")/../../.." || exit 2
. tests/lib/cpu_time.sh
dcpix=build/bin/dcpix
rounds=${ROUNDS:-3}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export DCPIX_OUT=$work/counts GCOV_PREFIX=$work/gcov
failed=0
make --no-print-directory -s count-plugin >&2 || exit 2

# not_measured NAME REASON: record that a program could not be measured
not_measured()
{
	echo "bench_dcpix: $1: $2" >&2
	failed=1
}

# report NAME SUBJECT WORKLOAD VALUE UNIT: print a line of tests/eval/bench/bench.h
report()
{
	printf '{"name": "%s", "subject": "%s", "workload": "%s", "value": %s, "unit": "%s"}\n' "$@"
}

# least FILE: print the minimum of the numbers in the file
least()
{
	sort -n "$1" | head -n 1
}

# overhead METRIC KIND NAME SUBJECT PLAIN: report an overhead in percent
overhead()
{
	[ -f "$work/times.$2.ms" ] || return
	report "$1" "$4" "$3" "$(awk -v a="$(least "$work/times.$2.ms")" -v b="$5" \
		'BEGIN { printf "%.1f", 100 * (a / b - 1) }')" percent
}

# measure NAME ARGUMENT...: run $work/NAME, its rewritten program and, if there is one, .gcov
measure()
{
	local name=$1 kind plain

	shift
	rm -f "$work"/*.ms
	for _ in $(seq "$rounds"); do
		for kind in '' .dcpix .gcov; do
			[ -x "$work/$name$kind" ] && cpu_time user "$work/$name$kind" "$@" >> "$work/times$kind.ms"
			rm -f "$DCPIX_OUT".*
		done
	done
	plain=$(least "$work/times.ms")
	[ "$plain" -ge 100 ] || {
		not_measured "$name" "it takes $plain ms, at least 100 are needed"
		return
	}
	overhead counts_overhead_percent dcpix "$name" dcpix "$plain"
	overhead counts_overhead_percent gcov "$name" gcov "$plain"
}

# instructions NAME ARGUMENT...: report the instructions that counting adds
instructions()
{
	local name=$1 kind plain

	shift
	plain=$(executed "$work/$name" "$@")
	[ "$plain" -gt 0 ] || {
		not_measured "$name" "the emulator counts no instructions"
		return
	}
	for kind in dcpix gcov; do
		[ -x "$work/$name.$kind" ] || continue
		report counts_instructions_percent $kind "$name" "$(executed "$work/$name.$kind" "$@" |
			awk -v b="$plain" '{ printf "%.1f", 100 * ($1 / b - 1) }')" percent
		rm -f "$DCPIX_OUT".*
	done
}

# Compiled kernels. Their argument is the number of repetitions, for at least 200 ms in all.
for source in tests/eval/truth/programs/*.c; do
	name=$(basename "$source" .c)
	if ! { ${CC:-gcc} -O2 -I. -D_GNU_SOURCE -o "$work/$name" "$source" -lm &&
		$dcpix -q -o "$work/$name.dcpix" "$work/$name" &&
		${CC:-gcc} -O2 -I. -D_GNU_SOURCE -fprofile-generate -o "$work/$name.gcov" \
			"$source" -lm; }; then
		not_measured "$name" "it cannot be compiled or rewritten"
		continue
	fi
	instructions "$name" 4
	times=4
	while [ "$(cpu_time user "$work/$name" $times)" -lt 200 ] && [ $times -lt 1000000000 ]; do
		times=$((4 * times))
	done
	measure "$name" $times
done

# Programs of Debian, unchanged.
head -c 6000000 "$(${CC:-gcc} -print-prog-name=cc1)" > "$work/in"
for command in "gzip -6c" "xz -1c" "bzip2 -c" "zstd -q -9c"; do
	# shellcheck disable=SC2086 # words
	set -- $command
	name=$1
	shift
	if ! { cp "$(readlink -f "$(command -v "$name")")" "$work/$name" &&
		$dcpix -q -o "$work/$name.dcpix" "$work/$name"; }; then
		not_measured "$name" "it cannot be rewritten"
		continue
	fi
	measure "$name" "$@" "$work/in"
done

image=$(${CC:-gcc} -print-prog-name=cc1)
cat "$image" > /dev/null
ms=$(cpu_time user $dcpix -q -o "$work/large" "$image")
text=$(($(readelf -lW "$image" | awk '$1 == "LOAD" && / R E / { print $5 }')))
if [ "$text" -eq 0 ] || [ "${ms:-0}" -eq 0 ] || [ ! -s "$work/large" ]; then
	not_measured cc1 "it cannot be rewritten"
	exit 1
fi
report rewriting_rate dcpix "cc1, user time" "$(awk -v t="$text" -v ms="$ms" 'BEGIN { printf "%.2f", t / ms / 1000 }')" MB/s
report growth dcpix cc1 "$(awk -v a="$(stat -c %s "$work/large")" -v b="$(stat -L -c %s "$image")" \
	'BEGIN { printf "%.2f", a / b }')" ratio
exit $failed
