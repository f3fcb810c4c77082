# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# QEMU's monitor, for run.sh: where the CPUs of a machine stand that gets no further.
#
#   monitor_options DIR     QEMU's options for it; makes what they name in DIR
#   monitor_open DIR        talk to the machine begun with them
#   monitor_close           no more of it
#   monitor_dump FILE CPUS  append where its CPUs stand, several times within seconds, to
#                           FILE (see stuck.awk), and have the kernel's own words for it on
#                           the console: backtraces of all CPUs, where it still can
#
# Memory is read as it is, by the CPU's own page tables: not what was translated from it.
# The machine is held meanwhile: only then the emulator knows all registers.

monitor_options()
{
	mkfifo "$1/keys" "$1/monitor.in" "$1/monitor.out"
	echo "-monitor none -chardev stdio,id=console,signal=off -serial chardev:console" \
		"-qmp pipe:$1/monitor"
}

# What we write to is open at our end, too: nobody waits for a machine that has ended.
monitor_open()
{
	monitor=$1 asked=0
	exec 5<>"$monitor/monitor.in" 6<>"$monitor/keys"
	cat "$monitor/monitor.out" >"$monitor/replies" &
	monitor_reader=$!
	echo '{"execute": "qmp_capabilities"}' >&5
}

monitor_close()
{
	[ -z "${monitor_reader:-}" ] || kill "$monitor_reader" 2>/dev/null || :
	monitor_reader=
}

# monitor_ask CPU COMMAND: the answer to $monitor/answer; false after ten seconds without
monitor_ask()
{
	asked=$((asked + 1)) tries=0
	printf '{"execute": "human-monitor-command", "id": %d, "arguments": {"cpu-index": %d, "command-line": "%s"}}\n' \
		"$asked" "$1" "$2" >&5
	until grep "\"id\": $asked}" "$monitor/replies" >"$monitor/reply"; do
		tries=$((tries + 1))
		[ $tries -lt 100 ] || return 1
		sleep 0.1
	done
	sed 's/^{"return": "//; s/", "id": [0-9]*}.*$//; s/\\r\\n/\n/g' "$monitor/reply" >"$monitor/answer"
}

# monitor_note CPU NAME COMMAND: the answer under a heading
monitor_note()
{
	monitor_ask "$1" "$3" || return 1
	echo "@ $1 $2"
	cat "$monitor/answer"
}

# monitor_register NAMES: from the last answer, which is all registers
monitor_register()
{
	sed -n "s/.*\($1\)= *\([0-9a-f]*\).*/\2/p" "$monitor/answer"
}

# A CPU: registers, code, stack, and the code that traps on its stack came from.
monitor_cpu()
{
	monitor_note "$1" registers "info registers" || return 1
	pc=$(monitor_register 'RIP\|PC')
	sp=$(monitor_register SP)
	monitor_note "$1" "code $pc" "x /32xb 0x$pc-16"
	monitor_note "$1" stack "x /96xg 0x$sp"
	awk -v frames=1 -f "${here:?}/stuck.awk" "$monitor/answer" >"$monitor/frames"
	while read -r from; do
		monitor_note "$1" "code $from" "x /32xb 0x$from-16"
	done <"$monitor/frames"
}

# An x86-64 has a table of what handles its traps.
monitor_traps()
{
	monitor_ask 0 "info registers" || return 1
	idt=$(monitor_register IDT)
	[ -z "$idt" ] || monitor_note 0 idt "x /512xg 0x$idt"
}

monitor_samples()
{
	monitor_traps || return 1
	for sample in 1 2 3 4 5 6 7 8 9 10 11 12; do
		echo "@@ sample $sample"
		monitor_ask 0 stop || return 1
		cpu=0
		while [ $cpu -lt "$1" ]; do
			monitor_cpu $cpu || return 1
			cpu=$((cpu + 1))
		done
		monitor_ask 0 cont || return 1
		sleep 0.3
	done
	echo "@@ end"
}

# A BREAK and a key is a magic SysRq: 9 lets all be printed, l has backtraces of all CPUs.
monitor_dump()
{
	monitor_samples "$2" >>"$1" || echo "@@ the monitor does not answer" >>"$1"
	for key in 9 l; do
		monitor_ask 0 "chardev-send-break console" || return 0
		printf %s $key >&6
		sleep 2
	done
}
