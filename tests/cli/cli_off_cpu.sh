#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Off-CPU time: of a program with waits of known length, by stack and state, in all reports; of
# threads that still sleep; and the message where it cannot be measured.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"
db=$work/waits.db

# Each wait has a procedure of its own. In milliseconds: 20 sleeps of 10, one wait for a lock of
# 300, one for a pipe of 200, and one for a vfork()ed child of 250, which cannot be interrupted. A
# thread sleeps from the beginning to the end.
cat > "$work/waits.c" << 'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define NOINLINE __attribute__((noinline, noclone))
static volatile unsigned long sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2];
static double begun;
static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}
static void report(const char *name, double since) { printf("%s %.3f\n", name, now_ms() - since); }
static void pause_ms(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
	nanosleep(&t, NULL);
}
NOINLINE void wait_sleep(void) { for (int i = 0; i < 20; i++) pause_ms(10); sink++; }
NOINLINE void wait_lock(void) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); sink++; }
NOINLINE void wait_pipe(void) { char c; if (read(pipes[0], &c, 1) != 1) abort(); sink++; }
NOINLINE void wait_vfork(void) { if (vfork() == 0) { pause_ms(250); _exit(0); } sink++; }
NOINLINE void wait_end(void) { begun = now_ms(); pause_ms(1000000); sink++; }
static void *locker(void *a) { double t = now_ms(); wait_lock(); report("wait_lock", t); return a; }
static void *sleeper(void *a)
{
	pthread_setname_np(pthread_self(), "sleeper");
	wait_end();
	return a;
}
static void *writer(void *a) { pause_ms(200); if (write(pipes[1], "x", 1) != 1) abort(); return a; }
int main(void)
{
	pthread_t thread, other;
	double t;

	if (pipe(pipes) != 0 || pthread_create(&other, NULL, sleeper, NULL) != 0)
		abort();
	t = now_ms();
	wait_sleep();
	report("wait_sleep", t);
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, locker, NULL);
	pause_ms(300);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, writer, NULL);
	t = now_ms();
	wait_pipe();
	report("wait_pipe", t);
	pthread_join(thread, NULL);
	t = now_ms();
	wait_vfork();
	report("wait_vfork", t);
	report("wait_end", begun);
	fflush(stdout);
	_exit(0);
}
C
gcc -O1 -pthread -o "$work/waits" "$work/waits.c" || exit 1

# As a user without the right to use BPF. dcpirun needs a readable command, and a writable directory.
chmod 777 "$work"
if [ "$(id -u)" -eq 0 ]; then
	cp "$bin/dcpirun" "$work/dcpirun"
	chmod 755 "$work/dcpirun" "$work/waits"
	refused "without privileges: one line" \
		'^dcpirun: off-CPU time cannot be measured: loading BPF programs is not permitted: run as root, or grant CAP_BPF and CAP_PERFMON$' \
		setpriv --reuid 65534 --regid 65534 --clear-groups "$work/dcpirun" -q --off-cpu \
		--db "$work/nobody.db" "$work/waits"
fi
hidden=$work/no-btf
mkdir "$hidden"
# shellcheck disable=SC2016 # the inner shell expands them
if unshare -m mount --bind "$hidden" /sys/kernel/btf 2> /dev/null; then
	refused "without BTF: one line" \
		'^dcpirun: off-CPU time cannot be measured: this kernel has no BTF \(/sys/kernel/btf/vmlinux\)$' \
		unshare -m sh -c 'mount --bind "$1" /sys/kernel/btf && shift && exec "$@"' sh "$hidden" \
		"$bin/dcpirun" -q --off-cpu --db "$work/nobtf.db" "$work/waits"
fi

within "$bin/dcpirun" -q --off-cpu --db "$db" "$work/waits" > "$work/times" 2> "$work/log"
status=$?
if grep -q 'off-CPU time cannot be measured' "$work/log"; then
	skip "off-CPU time" "$(head -1 "$work/log")"
	tap_done
	exit
fi
is "dcpirun --off-cpu: the status is the command's" "$status" 0
is "every sample is accounted for" "$(identity "$db")" ""

counter()
{
	sql "$db" "SELECT ifnull(sum(count), 0) FROM counter WHERE counter_group = 'stat' AND name $1"
}
is "each stack has an end" \
	"$(counter "GLOB 'off_cpu_stacks_?*'")" "$(counter "= 'off_cpu_stacks'")"
is "each interval is recorded, short or lost" \
	"$(counter "IN ('off_cpu_intervals', 'off_cpu_sleeping')")" \
	"$(counter "IN ('off_cpu_below', 'off_cpu_lost', 'off_cpu_records')")"
is "each record is a stack" "$(counter "= 'off_cpu_records'")" "$(counter "= 'off_cpu_stacks'")"
is "no record is malformed" "$(counter "= 'off_cpu_malformed'")" 0
if [ "$(counter "IN ('off_cpu_lost', 'off_cpu_paused_ms', 'off_cpu_untracked')")" -ne 0 ]; then
	not_measured "times" "the limit of time, or the kernel's memory, did not suffice"
	tap_done
	exit
fi

# The time that a wait took, by its own clock, is the longest possible; the rest is time on a CPU.
prof()
{
	"$bin/dcpiprof" --csv --event offcpu --db "$db" "$@" | tr -d '\r'
}
# ms PROCEDURE OPTION...
ms()
{
	local procedure=$1

	shift
	prof "$@" | awk -F, -v procedure="$procedure" '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["procedure"] == procedure { printf "%.3f\n", $at["total_ns"] / 1e6; exit }'
}
threshold=$("$bin/dcpiprof" --json --event offcpu --db "$db" |
	sed -n 's/.*"sampled up to ns": *\([0-9]*\).*/\1/p')
# near NAME VALUE LEAST MOST: short intervals may be sampled, once or twice
near()
{
	check "$1: $2 ms is in $3 .. $4" awk -v x="$2" -v low="$3" -v high="$4" \
		-v error="$threshold" \
		'BEGIN { error = 2e-6 * error; exit !(x != "" && x >= low - error && x <= high + error) }'
}
for wait in wait_sleep wait_lock wait_pipe; do
	took=$(sed -n "s/^$wait //p" "$work/times")
	near "$wait" "$(ms "$wait" --inclusive)" "$(awk -v ms="$took" 'BEGIN { print ms * 0.9 - 5 }')" \
		"$took"
done
# The thread is ended after the program has read its clock for the last time.
took=$(sed -n 's/^wait_end //p' "$work/times")
near "a thread that sleeps at the end" "$(ms wait_end --inclusive)" \
	"$(awk -v ms="$took" 'BEGIN { print ms * 0.98 - 20 }')" \
	"$(awk -v ms="$took" 'BEGIN { print ms * 1.02 + 100 }')"

# states NAME: print the states of a procedure that have at least a tenth of its time
"$bin/dcpiexport" --stacks --event offcpu -f folded --db "$db" > "$work/folded"
states()
{
	awk -v name="$1" 'index($0, ";" name ";") || index($0, name ";") == 1 {
		state = $0; sub(/ [0-9]+$/, "", state); sub(/.*;/, "", state)
		all += $NF; sum[state] += $NF }
		END { for (s in sum) if (sum[s] * 10 >= all) print s }' "$work/folded" | sort | tr '\n' ' '
}
like "a sleep" "$(states wait_sleep)" '\[sleep\]'
like "a lock" "$(states wait_lock)" '\[lock\]'
like "a pipe" "$(states wait_pipe)" '\[sleep\]'
# vfork() leaves the stack to the child, which changes it: the parent's stack is not complete.
near "an uninterruptible wait" \
	"$(awk '/kernel_clone;\[uninterruptible\] / { ns += $NF } END { print ns / 1e6 }' "$work/folded")" \
	250 "$(sed -n 's/^wait_vfork //p' "$work/times")"
like "a stack reaches from the program to the kernel" "$(cat "$work/folded")" \
	';wait_pipe;.*read;.*;\[sleep\] [0-9]+'
is "folded stacks add up to the total" "$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$work/folded")" \
	"$("$bin/dcpiprof" --json --event offcpu --db "$db" | sed -n 's/.*"ns": *\([0-9]*\).*/\1/p')"
is "without a view: the same as --inclusive" "$(prof)" "$(prof --inclusive)"
like "--callers" "$(prof --callers wait_lock)" ',locker,'
like "--tree" "$(prof --tree)" ',wait_vfork,'
# Threads.
"$bin/dcpiprof" --csv --event offcpu --by thread --db "$db" | tr -d '\r' > "$work/threads"
# shellcheck disable=SC2016 # columns of awk
check "a thread has its name and its time" awk -F, -v ms="$took" '
	$6 == "sleeper" && $5 == "waits" { ns = $1 } END { exit !(ns > ms * 0.98e6 - 2e7 && ns < ms * 1.02e6 + 1e8) }' \
	"$work/threads"
is "threads add up to the total" "$(awk -F, 'NR > 1 { sum += $1 } END { printf "%.0f\n", sum }' "$work/threads")" \
	"$(awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$work/folded")"
is "so do commands" \
	"$(prof --by command | awk -F, '$3 == "waits" { print $1 }')" \
	"$(awk -F, 'NR > 1 { sum += $1 } END { printf "%.0f\n", sum }' "$work/threads")"
like "processes have numbers" "$(prof --by process)" ',[0-9]+,waits$'
refused "threads of an image" 'threads cannot be listed with' \
	"$bin/dcpiprof" --by thread -i waits --db "$db"
like "a flame graph has a unit" "$("$bin/dcpiexport" --stacks --event offcpu -f flamegraph --db "$db")" \
	'nanoseconds'
like "speedscope, too" "$("$bin/dcpiexport" --stacks --event offcpu -f speedscope --db "$db")" \
	'"unit": *"nanoseconds"'
refused "no other event beside it" 'offcpu' "$bin/dcpiprof" --event offcpu,cpu-clock --db "$db"
"$bin/dcpirun" -q --db "$work/without.db" true
output=$("$bin/dcpiprof" --event offcpu --db "$work/without.db" 2>&1)
is "a database without it: status" "$?" 1
like "a database without it" "$output" 'has no off-CPU time'
tap_done
