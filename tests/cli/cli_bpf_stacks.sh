#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Call stacks that a BPF program copies: of a program with known calls, by dcpid.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
# The bounds of the cost would postpone the tables of other programs.
echo 'overhead_percent = 100' > "$work/stacks.conf"
socket=$work/sock
db=$work/stacks.db
daemon=("$bin/dcpid" -q --config "$work/stacks.conf" --socket "$socket" --source bpf)

# Other tests run programs with procedures of other names at the same time.
cat > "$work/calls.c" << 'C'
static volatile unsigned long sink;
#define NOINLINE __attribute__((noinline, noclone))
NOINLINE void bpf_spin(int n) { for (int i = 0; i < n * 1000; i++) sink += i; }
NOINLINE void bpf_often(void) { bpf_spin(30); sink++; }
NOINLINE void bpf_rarely(void) { bpf_spin(10); sink++; }
NOINLINE void bpf_recurse(int n) { if (n > 0) bpf_recurse(n - 1); else { bpf_often(); bpf_rarely(); } sink++; }
int main(void)
{
	for (int i = 0; i < 10000; i++)
		bpf_recurse(60);
}
C
gcc -O1 -fomit-frame-pointer -o "$work/calls" "$work/calls.c" || exit 1

if ! daemon_start -e cpu-clock:900000-1100000 --stack-every 2 --db "$db"; then
	skip "stacks by BPF" "$(head -1 "$work/log")"
	tap_done
	exit
fi
if grep -q 'no call stacks are sampled' "$work/log"; then
	not_ok "the kernel accepts the program" "$(cat "$work/log")"
	tap_done
	exit
fi
"$work/calls"
daemon_end()
{
	! kill -0 "$daemon_pid" 2> /dev/null
}
kill "$daemon_pid"
eventually daemon_end
wait "$daemon_pid"
is "dcpid ends" "$?" 0

counter()
{
	sql "$db" "SELECT ifnull(sum(count), 0) FROM counter WHERE counter_group = 'stat' AND name $1"
}
is "every sample is accounted for" "$(identity "$db")" ""
is "each stack has an end" "$(counter "IN ('stacks_complete', 'stacks_short', 'stacks_unreadable',
	'stacks_other_stack', 'stacks_no_table', 'stacks_no_rule', 'stacks_expression',
	'stacks_register', 'stacks_bad_frame', 'stacks_bad_address', 'stacks_frames',
	'stacks_no_registers', 'stacks_waiting')")" "$(counter "= 'stacks'")"
is "no record is malformed" "$(counter "= 'stacks_malformed'")" 0

# field COLUMN PROCEDURE OPTION...: print a value of a procedure
field()
{
	local column=$1 procedure=$2

	shift 2
	"$bin/dcpiprof" --csv --db "$db" "$@" | awk -F, -v column="$column" \
		-v procedure="$procedure" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["procedure"] == procedure { print $at[column] }'
}

# near NAME VALUE LOW HIGH
near()
{
	check "$1: $2 is in $3..$4" awk -v x="$2" -v low="$3" -v high="$4" \
		'BEGIN { exit !(x != "" && x >= low && x <= high) }'
}

total=$(field total bpf_spin --inclusive)
if [ "${total:-0}" -lt 200 ]; then
	not_measured "stacks of spin" "the kernel took stacks of only ${total:-0} samples"
	tap_done
	exit
fi
# The tables of all programs of this machine may not fit into the daemon's memory at the same time;
# stacks that had to wait for one have that reason.
"$bin/dcpiexport" --stacks -f folded --db "$db" |
	awk '/;bpf_spin/ && !/^.unfinished: call frame information not read in time/ {
		all += $NF; whole += /^_start;.*;main;bpf_recurse;.*;(bpf_often|bpf_rarely);bpf_spin/ ? $NF : 0
		bpf_often += /;bpf_often;bpf_spin/ ? $NF : 0; bpf_rarely += /;bpf_rarely;bpf_spin/ ? $NF : 0 }
		END { print all + 0, whole + 0, bpf_often + 0, bpf_rarely + 0 }' > "$work/spin"
read -r all whole bpf_often bpf_rarely < "$work/spin"
if [ "$all" -lt 200 ]; then
	not_measured "complete stacks of spin" "only $all of $total samples did not wait for tables"
	tap_done
	exit
fi
check "97% of the stacks of spin reach _start ($whole of $all)" [ $((whole * 100)) -ge $((all * 97)) ]
near "bpf_often, percent" "$((100 * bpf_often / all))" 62 88
near "bpf_rarely, percent" "$((100 * bpf_rarely / all))" 12 38
check "kernel and user space are in one stack" grep -qE \
	'^_start;.*(entry_SYSCALL_64|el0t_64_sync|asm_exc_page_fault)' \
	<("$bin/dcpiexport" --stacks -f folded --db "$db")
tap_done
