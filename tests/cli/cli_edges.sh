#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Test edges of the sources perf and bpf: compare the edges found for a program with the program's
# exact edges (tests/eval/truth/edge_counts.h). Any user may sample their own processes with perf.
#
#	DCPI_BENCH	set: print the figures as lines of tests/eval/bench/bench.h as well
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

build=${DCPI_BUILD:-build}
plugin=build/tests/count_plugin.so
rounds=30000
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
program=$(realpath "$scratch")/branches
db=$scratch/edges.db

query()
{
	sqlite3 -readonly -cmd ".load $build/lib/dcpi_sqlite" "$db" "$1"
}

counter()
{
	query "SELECT sum(count) FROM counter WHERE counter_group = 'stat' AND name = '$1'"
}

figure()
{
	[ -z "${DCPI_BENCH:-}" ] || awk -v name="$1" -v a="$2" -v b="$3" 'BEGIN {
		printf "{\"name\": \"%s\", \"subject\": \"perf\", \"workload\": \"branches\", " \
			"\"value\": %.5f, \"unit\": \"share\"}\n", name, (b > 0 ? a / b : 0) }'
}

# right TRUTH [KIND]: print "RIGHT TOTAL" of the edges within the program
right()
{
	query "SELECT printf('%x', from_offset), printf('%x', to_offset), sum(count) FROM dcpi_edges
		WHERE path = '$program' AND to_path = path AND kind = '${2:-branch}'
		GROUP BY from_offset, to_offset" | tr '|' ' ' |
		awk 'NR == FNR { if ($4 > 0) happened[$2 " " $3] = 1; next }
			{ total += $3 }
			($1 " " $2) in happened { right += $3 }
			END { print right + 0, total + 0 }' "$1" -
}

case $(uname -m) in
x86_64) qemu="qemu-x86_64" ;;
aarch64) qemu="qemu-aarch64" ;;
*) qemu=none ;;
esac
if ! command -v "$qemu" > /dev/null; then
	skip "edges of the perf source" "no $qemu"
	tap_done
	exit
fi
make --no-print-directory -s count-plugin || exit 2
"${CC:-gcc}" -O2 -g -o "$program" tests/fixtures/programs/branches.c || exit 2
"$qemu" -plugin "$plugin,out=/dev/null,edges=$scratch/all" "$program" $rounds || exit 2
tests/eval/truth/image_edges.sh "$program" "$scratch/all" > "$scratch/truth" || exit 2
# Two x86-64 programs with different code at the same address; the first execs the second.
for name in branches: constants:-DCONSTANTS; do
	[ "$qemu" = qemu-x86_64 ] || continue
	# shellcheck disable=SC2086 # none or one
	"${CC:-gcc}" -O1 -static -no-pie -Wl,--section-start=.place=0x700000 ${name#*:} \
		-o "$scratch/at_${name%:*}" tests/fixtures/programs/replaced.c || exit 2
done
if [ "$qemu" = qemu-x86_64 ]; then
	"${CC:-gcc}" -O1 -static -no-pie -o "$scratch/reloaded" tests/fixtures/programs/reloaded.c || exit 2
fi

# More probes than by default: on a busy machine few windows have enough data to judge.
if ! "$build/bin/dcpirun" -q --user --db "$db" -e cpu-clock:190000-210000 --branch-every 1 \
	--probes 100 "$program" $rounds 2> "$scratch/errors"; then
	skip "edges of the perf source" "$(cat "$scratch/errors")"
	tap_done
	exit
fi
tried=$(counter branches_tried)
yielded=$(counter branches_found)
found=$(counter edges)
probed=$(counter edges_probed)
handed=$((found + ${probed:-0} - $(counter edges_gone)))
read -r good all < <(right "$scratch/truth")
check "there are edges ($found, of $yielded of $tried samples)" [ "$found" -gt 100 ]
check "at least 70 per cent of the samples yield one" [ $((yielded * 10)) -ge $((tried * 7)) ]
check "999 of 1000 are edges that the program takes ($good of $all)" \
	[ $((good * 1000)) -ge $((all * 999)) ]
is "all are handed over, and in the database or accounted for" \
	"$(counter edges_handed) $(query "SELECT sum(count) FROM dcpi_edges
		WHERE kind IN ('branch', 'probe')")" \
	"$handed $((handed - $(counter edges_unknown) - $(counter edges_memory)))"
# shares TRUTH: for conditional branches that probes saw in both directions, print the largest
# difference between their share and the true one, and their number
shares()
{
	query "SELECT printf('%x', from_offset), printf('%x', to_offset), sum(count) FROM dcpi_edges
		WHERE path = '$program' AND to_path = path AND kind = 'probe'
		GROUP BY from_offset, to_offset" | tr '|' ' ' |
		awk 'NR == FNR && $1 == "conditional" { truth[$2 " " $3] = $4; all[$2] += $4; next }
			NR == FNR { next }
			($1 in all) { probed[$1 " " $2] = $3; sum[$1] += $3 }
			END {
				for (edge in probed) {
					split(edge, ends, " ")
					if (sum[ends[1]] < 100) continue
					off = probed[edge] / sum[ends[1]] - truth[edge] / all[ends[1]]
					if (off < 0) off = -off
					if (off > most) most = off
					n++
				}
				printf "%.3f %d\n", most, n
			}' "$1" -
}

# probes_right SOURCE: test the edges that probes recorded
probes_right()
{
	local taken seen off branches

	read -r taken seen < <(right "$scratch/truth" probe)
	check "the source $1: probes see edges that the program takes ($taken of $seen)" \
		[ $((seen > 300 && taken * 1000 >= seen * 999)) = 1 ]
	read -r off branches < <(shares "$scratch/truth")
	check "in their true shares (of $branches branches, off by $off at most)" \
		awk -v off="$off" -v branches="$branches" 'BEGIN { exit !(off < 0.2 && branches > 1) }'
}

# On a busy machine a run has few probes, or those of one branch.
perf_probed()
{
	local seen branches

	read -r _ seen < <(right "$scratch/truth" probe)
	read -r _ branches < <(shares "$scratch/truth")
	[ "$seen" -le 300 ] || [ "$branches" -le 1 ] || return 0
	"$build/bin/dcpirun" -q --user --db "$db" -e cpu-clock:190000-210000 --branch-every 1 \
		--probes 100 "$program" $rounds 2> "$scratch/errors"
	return 1
}

if [ -n "$probed" ] && [ "$(counter probes)" -gt 0 ]; then
	eventually perf_probed
	probes_right perf
	is "and --probes 0 asks for none" \
		"$("$build/bin/dcpirun" -q --user --db "$db" -e cpu-clock:190000-210000 \
			--branch-every 1 --probes 0 "$program" 10 > "$scratch/none" 2>&1
			query "SELECT count(*) FROM edge WHERE kind BETWEEN 2 AND 8 AND
				epoch = (SELECT max(id) FROM epoch)")" 0
fi
# A program reads the file that it executes, through a mapping: in that file there is no probe, because
# the program would read the breakpoints. If it maps a copy of the file, there are probes.
cat > "$scratch/reads.c" << 'END'
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
__attribute__((noinline)) int step(unsigned *x)
{
	*x = *x * 1103515245u + 12345u;
	return *x & 0x10000 ? 3 : *x & 0x20000 ? 5 : 1;
}
/* reads FILE ROUNDS: compare a mapping of the file with its contents */
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY);
	struct stat status;
	unsigned x = 1;
	long sum = 0, bad = 0;
	char *map, *copy;

	fstat(fd, &status);
	map = mmap(NULL, status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	copy = malloc(status.st_size);
	if (read(fd, copy, status.st_size) != status.st_size)
		return 2;
	for (long i = 0; i < atol(argv[2]); i++) {
		for (int j = 0; j < 20000; j++)
			sum += step(&x);
		bad += memcmp(map, copy, status.st_size) != 0;
	}
	printf("%ld\n", bad);
	return sum == argc;
}
END
check "a program that reads its file is made" gcc -O1 -o "$scratch/reads" "$scratch/reads.c"
cp "$scratch/reads" "$scratch/reads_copy"
# reads FILE: run it, and print how often the mapping differed from the file
reads()
{
	rm -rf "$scratch/db"
	"$build/bin/dcpirun" -q --db "$scratch/db" -e cpu-clock:200000-220000 --overhead 100 --probes 100 \
		"$scratch/reads" "$1" 30000
}
reads_probed()
{
	sqlite3 -readonly -cmd ".load $build/lib/dcpi_sqlite" "$scratch/db" "SELECT count(*)
		FROM dcpi_edges WHERE path = '$scratch/reads' AND kind = 'probe'"
}
copy_probed()
{
	differs=$(reads "$scratch/reads_copy") || return
	[ "$(reads_probed)" -gt 0 ]
}
# Without a bound of the cost, so that a busy machine has probes, too.
reads "$scratch/reads_copy" > "$scratch/none"
available=$(sqlite3 "$scratch/db" "SELECT sum(name = 'probes') AND NOT sum(count * (name =
	'probes_unavailable')) FROM counter WHERE counter_group = 'stat'")
if [ "$available" = 1 ]; then
	eventually copy_probed
	is "a program that maps a copy of its file is probed" "$?" 0
	is "and reads no breakpoint" "$differs" 0
	is "a program that maps its file reads no breakpoint" "$(reads "$scratch/reads")" 0
	is "no probe is in a file that is mapped twice" "$(reads_probed)" 0
else
	not_measured "no probe is in a file that is mapped twice" "no branch can be probed here"
fi

# Branches wait in the probe queue; the code of another program may be there by then.
if [ -n "$probed" ] && [ "$(counter probes)" -gt 0 ]; then
	"$build/bin/dcpirun" -q --user --db "$scratch/replaced.db" -e cpu-clock:190000-210000 \
		--branch-every 1 --probes 2 "$scratch/at_branches" 2.5 "$scratch/at_constants" 8
	is "no probe is in the code of a program that took another one's place" $? 0
fi
# The test above can fail: remove the edges of one branch from the program's edges.
sort -k 4nr "$scratch/truth" | awk '$1 == "conditional" && !from { from = $2 } $2 != from' \
	> "$scratch/less"
read -r less all < <(right "$scratch/less")
check "a branch that never happened is noticed" [ $((less * 1000)) -lt $((all * 999)) ]
like "dcpiprof lists them" "$("$build/bin/dcpiprof" --db "$db" --by edge -n 3)" \
	'^ *[0-9]+ +(branch|probe) +hot_'
# The kernel's process ids are not those of another namespace: no other process is accessed.
if unshare --pid --fork --mount-proc true 2> /dev/null; then
	rm -rf "$db"*
	unshare --pid --fork --mount-proc "$build/bin/dcpirun" -q --user --db "$db" \
		-e cpu-clock:190000-210000 --branch-every 1 "$program" $rounds 2> "$scratch/errors"
	read -r there all_there < <(right "$scratch/truth")
	check "in another PID namespace samples yield edges, too ($(counter branches_found))" \
		[ $(($(counter branches_found) * 2)) -ge "$(counter branches_tried)" ]
	check "and the right ones ($there of $all_there)" \
		[ $((there * 1000)) -ge $((all_there * 999)) ]
else
	skip "another PID namespace" "unshare is not permitted"
fi
figure edge_right "$good" "$all"
figure edge_yield "$yielded" "$tried"

# daemon_decided: the daemon answers, or has ended.
daemon_decided()
{
	"$build/bin/dcpictl" --socket "$scratch/sock" status > /dev/null 2>&1 ||
		! kill -0 $daemon 2> /dev/null
}

# under_daemon COMMAND...: run it under dcpid with the source bpf and $daemon_options, into $db
daemon_options=()
under_daemon()
{
	rm -rf "$db"*
	: > "$scratch/conf"
	"$build/bin/dcpid" -q --config "$scratch/conf" --socket "$scratch/sock" --source bpf \
		-e cpu-clock:190000-210000 --branch-every 1 --db "$db" \
		"${daemon_options[@]}" 2> "$scratch/errors" &
	daemon=$!
	eventually daemon_decided
	"$@"
	status=$?
	kill $daemon
	wait $daemon || status=$?
	return $status
}

# edges_in_place: print the number of edges from the section .place of at_branches, and of these the
# number that do not come from a jump.
edges_in_place()
{
	local file=$scratch/at_branches address offset

	read -r address offset < <(readelf -SW "$file" |
		awk '{ sub(/^ *\[[ 0-9]*\]/, "") } $1 == ".place" { print $3, $4 }')
	query "SELECT printf('%x', from_offset - $((16#$offset)) + $((16#$address))), sum(count)
		FROM dcpi_edges WHERE kind = 'branch' AND path LIKE '%/at_branches'
		GROUP BY from_offset" | tr '|' ' ' |
		awk 'NR == FNR { jump[$1]; next }
			/^7[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f] / {
				all += $2
				if (!($1 in jump))
					wrong += $2
			}
			END { print all + 0, wrong + 0 }' \
			<(objdump -d -j .place "$file" | awk -F'[ :\t]+' '/\t(j|ret)/ { print $2 }') -
}

# edges_of_callers: print the number of edges from call_one and call_two of reloaded, and of these
# the number that go to code that is never executed.
edges_of_callers()
{
	nm "$scratch/reloaded" | awk '/ never_(one|two)$/ { print substr($1, length($1) - 5) }' |
		awk 'NR == FNR { never[$1]; next } { all += $2; if ($1 in never) wrong += $2 }
			END { print all + 0, wrong + 0 }' - <(query "
			SELECT printf('%06x', to_offset + 0x400000), sum(count) FROM dcpi_edges
				WHERE kind = 'branch' AND path LIKE '%/reloaded' AND to_path = path AND
					to_offset BETWEEN $(offset_of call_one) AND $(offset_of never_two)
				GROUP BY to_offset" | tr '|' ' ')
}

# offset_of SYMBOL: print its offset in the file of reloaded
offset_of()
{
	nm "$scratch/reloaded" | awk -v name="$1" '$3 == name { print "0x" $1 " - 0x400000" }'
}

if under_daemon "$program" $rounds; then
	found=$(counter edges)
	read -r good all < <(right "$scratch/truth")
	# Other programs run, too: only the samples of this one are known to lead to branches.
	sampled=$(query "SELECT sum(count) FROM dcpi_samples WHERE path = '$program'")
	check "the source bpf: there are at least as many edges ($all) as samples ($sampled)" \
		[ "$all" -ge "$sampled" ]
	check "they are the program's ($good of $all of $found)" \
		[ $((good > 100 && good * 1000 >= all * 999)) = 1 ]
	is "all are handed over, but of a program that has ended" "$(counter edges_handed)" \
		$((found - $(counter edges_gone)))
	check "which are not most ($(counter edges_gone))" [ $(($(counter edges_gone) * 2)) -lt "$found" ]
	daemon_options=(--probes 100 --drain-interval 50)
	if [ -n "$probed" ] && under_daemon "$program" $rounds && [ "$(counter probes)" -gt 0 ]; then
		probes_right bpf
		is "all are handed over, with those behind samples" "$(counter edges_handed)" \
			$(($(counter edges) + $(counter edges_probed) - $(counter edges_gone)))
	fi
	daemon_options=()
	# A process was sampled in one program, and runs another one when its code is read.
	if [ -e "$scratch/at_constants" ]; then
		# shellcheck disable=SC2016 # for that shell
		under_daemon sh -c 'for i in 1 2 3; do "$0" 1.3 "$1" 0.7 || exit; done' \
			"$scratch/at_branches" "$scratch/at_constants"
		is "programs that take another one's place end well" $? 0
		read -r all wrong < <(edges_in_place)
		check "their branches are found ($all)" [ "$all" -gt 1000 ]
		is "none is where only another program has one" "$wrong" 0
		# The code at a sampled place has been unmapped since. If the kernel permits only
		# few samples, the program runs longer.
		for seconds in 4 8 16; do
			under_daemon "$scratch/reloaded" $seconds
			is "a program whose code is loaded and unloaded ends well" $? 0
			read -r all wrong < <(edges_of_callers)
			[ "$all" -le 20 ] || break
		done
		check "branches on what that returns are found ($all)" [ "$all" -gt 20 ]
		is "none goes where only other code's value leads" "$wrong" 0
	fi
else
	skip "the source bpf" "$(cat "$scratch/errors")"
fi
tap_done
