#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
# Test tests/qemu/report.awk with good and bad consoles, and stuck.awk with CPUs that are stuck.
set -u

here=$(cd "$(dirname "$0")" && pwd)
number=0
failed=0

# console NAME STATUS PATTERN FILTER...: a good console, changed by the filter, is reported with
# that exit status, and with a line that matches.
console() {
	name=$1 wanted=$2 pattern=$3
	shift 3
	number=$((number + 1))
	output=$(good | "$@" | awk -v scripts="a b" -f "$here/../qemu/report.awk")
	status=$?
	if [ $status = "$wanted" ] && printf '%s\n' "$output" | grep -q -- "$pattern"; then
		echo "ok $number - $name"
	else
		printf '%s\n' "$output" | sed 's/^/# /'
		echo "not ok $number - $name"
		failed=$((failed + 1))
	fi
}

good() {
	printf 'SeaBIOS\033[2J\r\n@tap a ok 1 - one\r\n@tap a # talk\r\n@tap a ok 2 - two\r\n'
	printf '[ 1.0] clocksource: switched\r\n@tap a 1..2\r\n@end a 0 3\r\n'
	printf '@tap b 1..1\r\n@tap b ok 1 - three\r\n@end b 0 5\r\n@log [ 0.1] Linux version\r\n'
	printf '@done\r\n[ 9.0] reboot: Power down\r\n'
}

console "all is well" 0 '^1\.\.7$' cat
console "tests are renumbered" 0 '^ok 3 - b: three$' cat
console "other lines are kept" 0 '^# a: # talk$' cat
console "a failed test" 1 '^not ok 2 - a: two$' sed 's/ok 2 - two/not ok 2 - two/'
console "a lost line" 1 '^not ok .* a: ran its plan' grep -v 'ok 2'
console "wrong order" 1 '^not ok .* a: ran its plan' sed 's/ok 1 - one/ok 3 - one/'
console "no plan" 1 '^not ok .* a: ran its plan' grep -v '1\.\.2'
console "a script's status" 1 '^not ok .* a: ran its plan' sed 's/@end a 0/@end a 1/'
console "a script without end" 1 '^not ok .* b: ran its plan' grep -v '@end b'
console "a script that never ran" 1 '^not ok .* b: ran its plan' grep -v '[@ ]b '
console "a machine that stopped" 1 '^not ok .* came to its end' grep -v '@done'
console "an empty console" 1 '^not ok .* came to its end' sed d
for trouble in 'WARNING: CPU: 0 PID: 1 at kernel/x.c:1' 'BUG: unable to handle page fault' \
	'Kernel panic - not syncing' 'INFO: task x:1 blocked for more than 120 seconds' \
	'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:' \
	'watchdog: BUG: soft lockup - CPU#0 stuck' 'general protection fault' \
	'percpu: BUG: leak of 8 bytes'; do
	console "log: $trouble" 1 '^not ok .* no warnings' sed "\$a @log [ 5.0] $trouble"
done

# code ADDRESS BYTE: print 32 bytes of code; the 17th, at the address, is BYTE
code() {
	echo "@ 1 code $1"
	for first in 90 90 "$2" 90; do
		printf '0x%s: 0x%s 0x0b 0x4e 0x21 0x1f 0x90 0x90 0x90\r\n' "$1" "$first"
	done
}

# stands PC: print a CPU at PC that has entered a breakpoint's handler from ...cc1f1, with its IDT
stands() {
	printf '@ 1 registers\r\nRAX=0 RIP=%s\r\n' "$1"
	code "$1" 0f
	printf '@ 1 stack\r\nfffffe0000000f58: 0xffffffffa10cc1f1 0x0000000000000010\r\n'
	printf 'fffffe0000000f68: 0x0000000000000046 0xffffc90000013d00\r\n'
	printf 'fffffe0000000f78: 0x0000000000000018 0x0000000000000000\r\n'
	code ffffffffa10cc1f1 e8
}

dump() {
	echo "@ 0 idt"
	for handler in 0990 0cd0 1650 0ba0 09b0 09d0 0b80 0be0; do
		printf 'fffffe0000000000: 0xa1a08e000010%s 0x00000000ffffffff\r\n' $handler
	done
	for pc in a1a00ba0 a1a01219 a1a00ba0 a1a01219 a1a00ba0 a1a01219; do
		echo "@@ sample"
		stands ffffffff$pc
	done
	echo "@@ end"
}

# stuck NAME COUNT FILTER...: test that in a dump, changed by the filter, COUNT CPUs are stuck
# because of the emulator
stuck() {
	name=$1 wanted=$2
	shift 2
	number=$((number + 1))
	output=$(dump | "$@" | awk -f "$here/../qemu/stuck.awk")
	if [ "$(printf '%s\n' "$output" | grep -c "^emulator's fault: CPU 1 .* ffffffffa10cc1f1")" = "$wanted" ] &&
		printf '%s\n' "$output" | grep -q '^[36] x CPU 1 at ffffffffa1'; then
		echo "ok $number - $name"
	else
		printf '%s\n' "$output" | sed 's/^/# /'
		echo "not ok $number - $name"
		failed=$((failed + 1))
	fi
}

stuck "a breakpoint that memory does not hold" 1 cat
stuck "one that it holds" 0 sed '/code ffffffffa10cc1f1/,/^@/ s/0xe8/0xcc/'
stuck "a handler that is not left" 0 sed 's/ffffffffa1a01219/ffffffffa1a00ba4/; s/ffffffffa1a00ba0/ffffffffa1a00ba4/'
stuck "a CPU that only was there" 0 sed 's/a1a00ba0/a1a01219/'

echo "1..$number"
[ $failed = 0 ]
