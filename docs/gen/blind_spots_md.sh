#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# blind_spots_md.sh HOST.log CONSOLE.log...: print the figures of blind_spots_host.sh and
# blind_spots.sh as the tables of docs/blind-spots.md.
set -eu

[ $# -ge 2 ] || { echo "usage: blind_spots_md.sh HOST.log CONSOLE.log..." >&2; exit 2; }
host=$1
shift

echo "| kernel | event | disabled for | expected | in the disabled section (truth 30%) | at the next instruction | interrupts enabled (truth 70%) | missing |"
echo "|---|---|---:|---:|---:|---:|---:|---:|"
for console in "$@"; do
	name=$(basename "$console" .log | sed 's/blind-//')
	tr -d '\r' <"$console" | awk -v kernel="$name" '
		$1 == "@tap" && $3 == "blind" {
			printf "| %s | %s (%s) | %g us | %d | %.1f%% | %.1f%% | %.1f%% | %.1f%% |\n", kernel,
				$5, $4, $6 / 1000, $7, 100 * $8 / $7, 100 * $9 / $7, 100 * $10 / $7,
				100 * ($7 - $8 - $9 - $10) / $7
		}'
done

echo
echo "| x86-64, this host | samples in the kernel | interrupts disabled | most frequent procedures of these | most frequent procedures |"
echo "|---|---:|---:|---|---|"
for event in cycles cpu-clock; do
	awk -v event=$event '
		function list(old, share, name) { return old (old ? ", " : "") name " " share "%" }
		$2 != event { next }
		$1 == "flags" { samples = $4; share = $6 }
		$1 == "off" && offs++ < 5 { off = list(off, $3, $4) }
		$1 == "at" && ats++ < 5 { at = list(at, $3, $4) }
		END { printf "| %s | %d | %.1f%% | %s | %s |\n", event, samples, share, off ? off : "-", at }
	' "$host"
done

echo
echo "| meta-method | procedure | samples |"
echo "|---|---|---:|"
awk '$1 == "meta" && $2 == "meta" { printf "| cycles (NMI) in the handler of cpu-clock, bpf source | %s | %d |\n", $4, $3 }
	$1 == "insn" { printf "| the same, by instruction of sample_count (of %d) | %s | %d |\n", $4, $5, $2 }' "$host"
cat "$@" | tr -d '\r' | awk '
	$1 == "@tap" && $3 == "meta" { printf "| cycles (%s) in the handler of cpu-clock, kmod | %s | %d |\n", $4, $6, $5 }'
