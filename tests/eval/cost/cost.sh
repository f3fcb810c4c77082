#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# cost.sh RELEASE PAYLOAD LOGS WORKLOAD...: run cost_guest.sh in the machine that counts
# instructions, with a boot for every workload and subject, and print the output of cost.awk for
# their figures. Consoles are left in the folder LOGS.
#
# Subjects without intervals get COST_UNITS of work. The bare run determines how many units fit into
# an interval of dcpid, and dcpi gets that number, so that a merge has the same weight as for users.
# Their bare time is extrapolated from the measured units.
#
#   COST_INTERVAL  dcpid's merge interval, default: dcpid's default, 30 seconds.
#                  With a shorter one, merges weigh more.
#   COST_UNITS     default 5
#   COST_JOBS      machines at a time, default: the number of CPUs
set -eu

[ $# -ge 4 ] || { echo "usage: cost.sh RELEASE PAYLOAD LOGS WORKLOAD..." >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
release=$1 payload=$2 logs=$3
shift 3
units=${COST_UNITS:-5}
interval=${COST_INTERVAL:-30}

# figures WORKLOAD SUBJECT: print the figures from the console
figures() {
	sed -n 's/\r$//; s/^@tap cost_guest //p' "$logs/$1-$2.log"
}

# machine SUBJECT WORKLOAD UNITS: run a machine; all command lines have the same length
machine() {
	run=$(printf '%-40s' "cost.run=$1,$2,$3,$interval," | tr ' ' .)
	"$here/../../qemu/run.sh" --arch arm64 --release "$release" --payload "$payload" --cpus 1 \
		--memory 1024 --icount 0 --timeout "${COST_TIMEOUT:-3600}" --log "$logs/$2-$1.log" \
		--initramfs "$logs/initramfs" --script "$here/cost_guest.sh" \
		--append "nokaslr norandmaps transparent_hugepage=never $run" \
		>"$logs/$2-$1.tap" && return
	sed -n "s/^not ok/cost.sh: $2 $1: not ok/p" "$logs/$2-$1.tap" >&2
	return 1
}

# Print the subjects of a workload. The cost of the handler alone is measured for the two extremes.
subjects() {
	case $1 in
	loop) echo again floor hold perf ;;
	wide) echo floor hold ;;
	*) echo again floor perf ;;
	esac
}

# Print the number of units that fit. Sampling slows the work down, and dcpid's next flush must not
# come before its end.
fitting() {
	figures "$1" bare | awk -v ms=$((interval * 1000 - 1500)) '
		$1 == "mark" && $4 != "end" { at[n++] = $5 }
		END { if (n > 1) print int(ms * 1e6 * 0.95 / ((at[n - 1] - at[0]) / (n - 1))) }'
}

workload() {
	status=0
	machine bare "$1" "$units" || status=1
	if [ "$1" != wide ]; then
		machine dcpi "$1" "$(fitting "$1")" || status=1
		machine keys "$1" "$(fitting "$1")" || status=1
	fi
	for subject in $(subjects "$1"); do
		machine "$subject" "$1" "$units" || status=1
	done
	return $status
}

# The script calls itself, see below.
if [ "${COST_ONE:-}" = 1 ]; then
	workload "$1"
	exit
fi
rm -rf "$logs"
mkdir -p "$logs"
"$here/../../qemu/image.sh" arm64 "$release" >/dev/null
"$here/../../qemu/initramfs.sh" arm64 "$logs/initramfs.gz" "$payload" "$here/cost_guest.sh"
gunzip "$logs/initramfs.gz" # decompression takes longer in the machine
status=0
printf '%s\n' "$@" | COST_ONE=1 xargs -P "${COST_JOBS:-$(nproc)}" -I WORKLOAD \
	"$0" "$release" "$payload" "$logs" WORKLOAD || status=1
rm "$logs/initramfs"
for log in "$logs"/*.log; do
	name=$(basename "$log" .log)
	figures "${name%-*}" "${name##*-}"
done | awk -v interval="$interval" -f "$here/cost.awk"
exit $status
