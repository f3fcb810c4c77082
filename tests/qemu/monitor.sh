# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# Use QEMU's monitor to find where the CPUs of a hung machine are; for run.sh.
#
# - monitor_options DIR: print QEMU's options for the monitor; make their files in DIR
# - monitor_open DIR: connect to the machine that was started with them
# - monitor_close: disconnect
# - monitor_dump FILE CPUS: append the state of its CPUs to FILE, several times within seconds (see
#   stuck.awk), and make the kernel print backtraces of all CPUs on the console, if it still can
#
# Memory is read through the CPU's page tables; the emulator's translated code may differ from it.
# The machine is stopped meanwhile, because only then the emulator knows all registers.

monitor_options()
{
	mkfifo "$1/keys" "$1/monitor.in" "$1/monitor.out"
	echo "-monitor none -chardev stdio,id=console,signal=off -serial chardev:console" \
		"-qmp pipe:$1/monitor"
}

# The FIFO for commands is open for reading at this end, too, so that writing to it does not block
# if the machine has ended.
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

# monitor_ask CPU COMMAND: write the answer to $monitor/answer; fail if there is none for ten
# seconds
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

# monitor_note CPU NAME COMMAND: append the answer under a heading
monitor_note()
{
	monitor_ask "$1" "$3" || return 1
	echo "@ $1 $2"
	cat "$monitor/answer"
}

# monitor_register NAMES: print a register from the last answer, which must be the list of registers
monitor_register()
{
	sed -n "s/.*\($1\)= *\([0-9a-f]*\).*/\2/p" "$monitor/answer"
}

# Dump a CPU: registers, code, stack, and the code at the origin of the traps on its stack.
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

# On x86-64, dump the table of trap handlers.
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

# A BREAK and a key is a magic SysRq: 9 sets the highest log level, l prints backtraces of all CPUs.
monitor_dump()
{
	monitor_samples "$2" >>"$1" || echo "@@ the monitor does not answer" >>"$1"
	for key in 9 l; do
		monitor_ask 0 "chardev-send-break console" || return 0
		printf %s $key >&6
		sleep 2
	done
}
