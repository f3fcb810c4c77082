# shellcheck shell=bash disable=SC2154 # variables that daemon_cli.sh sets
# SPDX-License-Identifier: GPL-2.0-only
#
# Helpers of tests that profile programs with dcpirun and check their images. The tests source this
# file after daemon_cli.sh.

# profile NAME COMMAND...: profile the command in $db. Without edges: instructions that the kernel
# steps over for a probe are in no image, and the BPF program that takes snapshots would be one more
# image. With a fixed period: on a busy machine dcpirun would choose a lower rate, and a short run
# would have too few samples to compare shares.
profile()
{
	local name=$1

	db=$work/$name.db
	shift
	# shellcheck disable=SC2016 # for that shell, which becomes the program
	"$bin/dcpirun" -q --db "$db" -e cpu-clock:950000-1050000 --branch-every 0 \
		sh -c 'echo $$ > "$0"; exec "$@"' "$work/pid" "$@" > "$work/out" 2>&1 ||
		not_ok "$name runs" "$(cat "$work/out")"
	rm -rf "/tmp/perf-$(cat "$work/pid").map"
}

# procedure_samples PROCEDURE IMAGE: print its samples in $db, in images that match the pattern
procedure_samples()
{
	"$bin/dcpiprof" --db "$db" --csv -i "$2" 2> /dev/null | python3 -c '
import csv, sys
print(sum(int(r["cpu-clock"]) for r in csv.DictReader(sys.stdin) if r["procedure"] == sys.argv[1]))' "$1"
}

# unknown REASON: print the samples in $db that are unknown for this reason
unknown()
{
	sql "$db" "SELECT ifnull(sum(count), 0) FROM counter
		WHERE counter_group = 'unknown' AND name = '$1'"
}
