#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Other profilers work while dcpid runs, with each source and each producer of image events:
# recordings of perf name the same files as without dcpid, and perf can read them.
set -u
. "$(dirname "$0")/../lib/daemon_cli.sh"

[ "$(id -u)" -eq 0 ] || {
	skip "other profilers beside dcpid" "needs root"
	tap_done
	exit
}

# A debugger's breakpoints stay where they are: no probe is set in a process that has a debugger.
if [ "$(uname -m)" = x86_64 ]; then
	${CC:-gcc} -O2 -o "$work/debugger" "$top/tests/fixtures/programs/debugger.c" || exit 1
	is "dcpirun --probes 100: a debugger reaches each of its breakpoints" \
		"$("$bin/dcpirun" -q --probes 100 --db "$work/debugger.db" -- "$work/debugger")" \
		"20000 of 20000"
fi

split_build

# daemon_run NAME ARGUMENT...: start a daemon; sets $daemon_pid and $socket
daemon_run()
{
	local name=$1

	shift
	socket=$work/$name.sock
	daemon=("$bin/dcpid" -q --config /dev/null --socket "$socket" --audit-socket
		"$work/$name.audit" --image-store none -e cpu-clock:900000-1000000 --db "$work/$name.db")
	rm -f "$work/$name".*
	daemon_start "$@"
}

# Two daemons at once: each has the program's samples and accounts for all samples that it takes.
if daemon_run first --source perf --image-events perf; then
	first=$daemon_pid
	daemon_run second --source perf --image-events perf
	"$work/split" 1000
	daemon_stop TERM
	is "a second dcpid ends well" "$daemon_status" 0
	daemon_pid=$first
	daemon_stop TERM
	is "and so does the first" "$daemon_status" 0
	for name in first second; do
		is "two daemons, $name: all is accounted for" "$(identity "$work/$name.db")" ""
		check "two daemons, $name: the program has samples with its build-id" [ "$(sql \
			"$work/$name.db" "SELECT ifnull(sum(count), 0) FROM dcpi_samples s JOIN image i
			ON i.id = s.image WHERE i.path = '$work/split' AND i.identity_kind = 1")" -gt 20 ]
	done
fi

# Messages of a perf that fails, sometimes with exit status 0.
failure='assertion failed|stack smashing|buffer overflow|failed to process|Segmentation|Aborted|corrupt'

# program: a script that writes its process id to $work/pid
cat > "$work/program" << END
#!/bin/sh
echo \$\$ > "$work/pid"
exec "$work/split" 200
END
chmod 755 "$work/program"

# mappings FILE: print those of the program: offset, device and inode or build-id, flags, path
mappings()
{
	perf script -i "$1" --show-mmap-events 2> /dev/null |
		sed -n "s,^ *split .*PERF_RECORD_MMAP2 $(cat "$work/pid")/[0-9]*: [^@]*@ \(.*\)\$,\1,p" |
		sort
}

# attempt FILE PERF_OPTION...: print the faults of a recording, one per line; sets $mapped
attempt()
{
	local file=$1

	shift
	perf record -q -e cpu-clock "$@" -o "$file" -- "$work/program" > "$work/perf.out" 2>&1 ||
		echo "perf record: exit status $?"
	perf script -i "$file" > /dev/null 2>> "$work/perf.out" || echo "perf script: exit status $?"
	perf report --stdio -i "$file" > "$work/report" 2>> "$work/perf.out" ||
		echo "perf report: exit status $?"
	grep -q split_seventy "$work/report" || echo "perf report: no procedure"
	grep -E "$failure" "$work/perf.out" | sort -u
	perf buildid-list -i "$file" 2> /dev/null | grep -q "$work/split\$" || echo "no build-id"
	mappings "$file" > "$work/mapped"
	grep -q "r-xp $work/split" "$work/mapped" || echo "no mapping of the program"
	[ ! -e "$work/alone" ] || diff "$work/alone" "$work/mapped"
}

# A profiler that requests build-ids damages the recordings of all others, and so does a profiler
# that requests names of kernel code. Another profiler of this kind may run on this machine. One
# good recording of five shows that dcpid is not the cause.
wrong_of_five()
{
	local wrong

	for _ in 1 2 3 4 5; do
		wrong=$(attempt "$@" 2>&1)
		[ -n "$wrong" ] || return
	done
	printf '%s' "$wrong"
}

# recorded LABEL FILE PERF_OPTION...: test a recording
recorded()
{
	local label=$1

	shift
	is "$label" "$(wrong_of_five "$@")" ""
}

if [ -n "$(wrong_of_five "$work/alone.data")" ]; then
	not_measured "other profilers beside dcpid" "another profiler damages recordings: $(tail -n 1 "$work/perf.out")"
	tap_done
	exit
fi
cp "$work/mapped" "$work/alone"
recorded "alone: a recording of the whole machine has the same mappings" "$work/alone.data" -a

# kernel_code: print the faults of a recording that began before dcpid, when a BPF program is loaded
kernel_code()
{
	local recorder

	perf record -q -a -e cpu-clock -o "$work/kernel.data" -- sleep 600 > "$work/perf.out" 2>&1 &
	recorder=$!
	pids+=("$recorder")
	eventually [ -s "$work/kernel.data" ]
	daemon_run beside --source perf --image-events perf || echo "dcpid does not start"
	"$work/bpf_spin" 10
	daemon_stop TERM
	kill -INT "$recorder"
	wait "$recorder"
	perf script -i "$work/kernel.data" --show-bpf-events > "$work/script" 2>> "$work/perf.out" ||
		echo "perf script: exit status $?"
	grep -q 'PERF_RECORD_KSYMBOL .*dcpi_spin' "$work/script" || echo "no record of the program"
	grep -E "$failure" "$work/perf.out" | sort -u
}

${CC:-gcc} -O2 -o "$work/bpf_spin" "$top/tests/fixtures/programs/bpf_spin.c" || exit 1
if "$work/bpf_spin" 10 2> "$work/out"; then
	for _ in 1 2 3 4 5; do
		wrong=$(kernel_code 2>&1)
		[ -n "$wrong" ] || break
	done
	is "a recording with names of kernel code is read" "$wrong" ""
else
	not_measured "a recording with names of kernel code is read" "$(cat "$work/out")"
fi

for source in perf bpf; do
	for feed in bpf perf audit; do
		label="$source source, $feed events"
		if ! daemon_run beside --source "$source" --image-events "$feed"; then
			not_measured "$label" "$(tail -n 1 "$work/log")"
			continue
		fi
		recorded "$label: a recording of one command is the same" "$work/one.data"
		recorded "$label: a recording of the whole machine is the same" "$work/all.data" -a
		daemon_stop TERM
		is "$label: dcpid ends well" "$daemon_status" 0
	done
done
tap_done
