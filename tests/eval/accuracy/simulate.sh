#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# simulate.sh ARM PROGRAM: run a program on an in-order machine (tests/eval/accuracy/arms), and write the
# ground truth to build/truth/ARM/PROGRAM.sim and .edges (formats: tests/eval/truth/sim_report.h,
# edge_counts.h).
set -eu
cd "$(dirname "$0")/../../.."
out=build/truth/$1/$2
read -r suffix qemu settings << END
$(awk -v arm="$1" '$1 == arm { print $3, $4, $5 }' tests/eval/accuracy/arms)
END
options=out=$out.sim.new,edges=$out.edges
[ "$settings" = - ] || options=$options,$settings
for seed in 1 2 3 4 5 6 7 8 9 10; do
	options=$options,budget=10000:$seed,budget=100000:$seed
	[ "$seed" -gt 3 ] || options=$options,budget=1000000:$seed
done
mkdir -p "build/truth/$1"
sysroot=/usr/alpha-linux-gnu
command=build/truth/bin/$2.$suffix
debian=$(awk -v name="$2" '$1 == name { $1 = $2 = $3 = ""; print }' tests/eval/accuracy/debian)
if [ -n "$debian" ]; then
	sysroot=build/cache/truth-arm64
	command=$sysroot/$(echo "$debian" | sed 's|^ *||; s|INPUT|build/truth/input.txt|')
fi
# shellcheck disable=SC2086 # words
"$qemu" -L "$sysroot" -plugin "build/tests/sim_plugin.so,$options" $command \
	< /dev/null > "$out.out"
mv "$out.sim.new" "$out.sim"
