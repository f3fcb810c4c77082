#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What tests/qemu/report.awk makes of good and bad consoles.
set -u

here=$(cd "$(dirname "$0")" && pwd)
number=0
failed=0

# console NAME STATUS PATTERN FILTER...: a good console, changed by the filter,
# is reported with that exit status, and with a line that matches.
console() {
	name=$1 wanted=$2 pattern=$3
	shift 3
	number=$((number + 1))
	output=$(good | "$@" | awk -v scripts="a b" -f "$here/qemu/report.awk")
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
	printf '[ 1.0] clocksource: switched\r\n@tap a 1..2\r\n@end a 0\r\n'
	printf '@tap b 1..1\r\n@tap b ok 1 - three\r\n@end b 0\r\n@log [ 0.1] Linux version\r\n'
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

echo "1..$number"
[ $failed = 0 ]
