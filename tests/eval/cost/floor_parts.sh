#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# floor_parts.sh RELEASE PAYLOAD PLUGIN: break down the floor of a sample's cost. Boots the arm64
# machine that counts instructions twice, with the same work (PAYLOAD's split), without and with
# floor.ko. Prints the additional instructions per overflow interrupt, by kernel procedure, as a
# Markdown table.
set -eu

[ $# = 3 ] || { echo "usage: floor_parts.sh RELEASE PAYLOAD PLUGIN" >&2; exit 2; }
release=$1 payload=$2 plugin=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# script NAME < its commands; the last test proves that the end was reached
script()
{
	{
		cat
		echo 'echo "ok 1 - the work is done"; echo 1..1'
	} >"$work/$1.sh"
}

# machine NAME [OPTION...]: run a machine with the script NAME
machine()
{
	name=$1
	shift
	"$here/../../qemu/run.sh" --arch arm64 --release "$release" \
		--payload "$payload" --cpus 1 --icount 0 --append nokaslr \
		--log "$work/$name.console" \
		--script "$work/$name.sh" "$@" >"$work/$name.tap" || {
		cat "$work/$name.tap" >&2
		exit 1
	}
}

script symbols <<-'END'
	grep -i ' t ' /proc/kallsyms | gzip -9 | base64 | sed 's/^/symbols /'
END
script bare <<-'END'
	split 3000 >/dev/null
END
script floor <<-'END'
	echo 0 >/proc/sys/kernel/perf_cpu_time_max_percent
	insmod /lib/floor.ko
	split 3000 >/dev/null
	rmmod floor
END
machine symbols
tr -d '\r' <"$work/symbols.console" | sed -n 's/^@tap symbols symbols //p' | base64 -d | gunzip \
	>"$work/symbols"
for name in bare floor; do
	QEMU_MORE="-plugin $plugin,out=$work/$name.counts" machine $name
done

# Addresses of equal length are ordered correctly as text.
{
	awk '{ print $1, "symbol", $3 }' "$work/symbols"
	awk '{ print $1, "bare", $2 }' "$work/bare.counts"
	awk '{ print $1, "floor", $2 }' "$work/floor.counts"
} | LC_ALL=C sort -k1,1 -k2,2r | awk '
	$2 == "symbol" { name = $3; start = $1; next }
	{
		more[name] += $2 == "floor" ? $3 : -$3
		if (name == "armv8pmu_handle_irq" && $1 == start)
			interrupts += $2 == "floor" ? $3 : -$3
	}
	END {
		if (interrupts < 1000) {
			print "floor_parts.sh: only " interrupts + 0 " interrupts" > "/dev/stderr"
			exit 1
		}
		print "| procedure | instructions |\n|---|---:|"
		for (name in more) {
			each = more[name] / interrupts
			total += each
			if (each >= 15)
				printf "| `%s` | %.0f |\n", name, each | "sort -t\\| -k3,3nr"
			else
				rest += each
		}
		close("sort -t\\| -k3,3nr")
		printf "| all others | %.0f |\n| **together** | **%.0f** |\n", rest, total
	}'
