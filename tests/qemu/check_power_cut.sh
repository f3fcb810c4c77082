#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Cut the power of a machine with the module and the daemon repeatedly while its database is
# written. The machine's disk has a write cache, and an arbitrary part of it is lost
# (power_cut_disk.c). After each cut the file system must mount, and the database must open, be
# sound and add up. It must have all samples that the daemon had reported as stored. Then the same
# on a disk that acknowledges flushes without performing them: there the test must detect the
# losses.
#
# The machine boots once and waits before it first reads its disk. Each run resumes from that state,
# since a boot takes ten times as long as the rest.
#
#	POINTS		number of power cuts (50)
#	SEED		for the times of the cuts and for the data that survives (the time)
set -u
cd "$(dirname "$0")/../.." || exit 2
# shellcheck source=tests/lib/tap.sh
. tests/lib/tap.sh
# shellcheck source=tests/qemu/arch/x86_64.sh
. tests/qemu/arch/x86_64.sh
points=${POINTS:-50} seed=${SEED:-$(date +%s)}
RANDOM=$seed
release=$(make -s --no-print-directory qemu-release)
payload=build/qemu/payload
work=build/qemu/power-cut
socket=$work/socket
disk_pid='' machine_pid=''

cleanup()
{
	[ -n "$disk_pid" ] && kill -KILL "$disk_pid" 2> /dev/null
	[ -n "$machine_pid" ] && kill "$machine_pid" 2> /dev/null
}
trap cleanup EXIT
trap 'exit 2' INT TERM

# machine_prepare: make the kernel, an initramfs and an empty disk
machine_prepare()
{
	local root program

	rm -rf "$work"
	mkdir -p "$work/payload/bin" "$work/payload/lib"
	root=$(tests/qemu/image.sh x86_64 "$release") || exit 2
	kernel=$(kernel_file "$root" "$release")
	tests/qemu/disk_modules.sh "$root/lib/modules" "$work/payload/lib/disk"
	for program in dcpid dcpictl dcpiprof sqlite3 split still; do
		cp "$payload/bin/$program" "$work/payload/bin/"
	done
	cp "$payload"/lib/dcpi.ko "$payload"/lib/dcpi_sqlite.so "$payload"/lib/image_? \
		"$work/payload/lib/"
	tests/qemu/initramfs.sh x86_64 "$work/initramfs" "$work/payload" tests/qemu/power_cut_guest.sh ||
		exit 2
	truncate -s 96M "$work/empty.ext4"
	# A file system block is the unit that the disk keeps or loses as a whole.
	mke2fs -q -t ext4 -b 1024 "$work/empty.ext4" || exit 2
}

# machine_start NAME OPTION...: start the machine; its console is $work/NAME.console, and standard
# input is its serial line
machine_start()
{
	local name=$1

	shift
	# shellcheck disable=SC2086 # a command with options
	timeout 600 $QEMU -accel tcg,thread=multi -smp 2 -m 256 -nographic -no-reboot -nic none \
		-serial stdio -kernel "$kernel" -initrd "$work/initramfs" \
		-append "console=$CONSOLE rdinit=/init panic=-1 loglevel=4 no_timer_check" \
		-drive "file=nbd:unix:$socket,format=raw,if=virtio,cache=writeback" "$@" \
		<&0 > "$work/$name.console" 2> "$work/$name.errors" &
	machine_pid=$!
	disown "$machine_pid" # no message of the shell when the machine is killed
}

# disk_start NAME CHANGES [lying]: start the disk; see power_cut_disk.c
disk_start()
{
	local name=$1

	shift
	rm -f "$socket"
	build/tests/power_cut_disk "$socket" "$work/disk.ext4" $((seed * 1000 + RANDOM)) "$@" \
		> "$work/$name.cut" &
	disk_pid=$!
	until [ -S "$socket" ]; do sleep 0.1; done
}

# machine_boot: boot until the machine waits for a line, and save its state in $work/state
machine_boot()
{
	cp "$work/empty.ext4" "$work/disk.ext4"
	disk_start boot 1000000
	mkfifo "$work/monitor.in" "$work/monitor.out"
	cat "$work/monitor.out" > "$work/monitor.log" &
	machine_start boot -chardev "pipe,id=monitor,path=$work/monitor" -mon chardev=monitor < /dev/null
	until has_said boot ready; do
		! ends "$machine_pid" 2 || exit 2
	done
	printf 'migrate "exec:cat > %s"\nquit\n' "$work/state" > "$work/monitor.in"
	ends "$machine_pid" 600 || exit 2
	machine_pid=''
	wait "$disk_pid"
	disk_pid=''
}

said()
{
	tr -d '\r' < "$work/$1.console" | sed -n 's/^@tap power_cut_guest //p'
}

# has_said NAME WORD: return true if the guest has printed a line that begins with WORD
has_said()
{
	grep -qs "^@tap power_cut_guest $2" "$work/$1.console"
}

# ends PID TENTHS: wait up to TENTHS tenths of a second for the process to end
ends()
{
	local i

	for ((i = 0; i < $2; i++)); do
		kill -0 "$1" 2> /dev/null || return 0
		sleep 0.1
	done
	return 1
}

# wake NAME: write lines until the machine has read one, which proves that its state is loaded
wake()
{
	local _

	for _ in $(seq 600); do
		sleep 0.2
		! has_said "$1" awake || return
		echo
	done
}

# resume NAME WORD CHANGES TENTHS [lying]: resume the machine. After the guest has printed WORD, cut
# the power after CHANGES changes of the disk or after TENTHS tenths of a second. Return 1 if the
# machine ended before the cut.
resume()
{
	local name=$1 word=$2 changes=$3 tenths=$4 status

	shift 4
	disk_start "$name" "$changes" "$@"
	machine_start "$name" -monitor none -incoming "exec:cat $work/state" < <(wake "$name")
	# Emulated CPUs can hang (see still.c); then the power is cut as well.
	SECONDS=0
	until has_said "$name" "$word" || ends "$machine_pid" 2; do
		[ $SECONDS -lt 120 ] || {
			echo "$name" >> "$work/hung"
			break
		}
	done
	kill -USR1 "$disk_pid" 2> /dev/null
	ends "$disk_pid" "$tenths" || kill -TERM "$disk_pid"
	wait "$disk_pid"
	status=$?
	ends "$machine_pid" 100
	machine_pid='' disk_pid=''
	return $status
}

# lost BEFORE AFTER: compare two runs of the machine. Print the epochs that the run BEFORE reported
# as stored, or had found in the database, and that the run AFTER did not find completely.
lost()
{
	{
		said "$1" | grep -E '^epoch'
		said "$1" | grep -E '^stored [0-9]+ [0-9]+ [0-9]+$' | tail -n 1
		echo after
		said "$2" | grep -E '^epoch'
	} | awk '$1 == "after" { after = 1 }
		!after { want[$2] = $3; exact[$2] = $1 == "epoch" }
		after { got[$2] = $3; has[$2] = 1 }
		END {
			for (e in want)
				if (!has[e] || got[e] < want[e] || (exact[e] && got[e] != want[e]))
					print "epoch " e ": " want[e] " samples, then " got[e] + 0
		}'
}

# behind() BEFORE AFTER: print the ms from the last merge to the last "stored" line, and the number
# of samples that had been drained and are lost
behind()
{
	{
		said "$1" | grep -E '^stored [0-9]+ [0-9]+ [0-9]+$' | tail -n 1
		said "$2" | grep -E '^epoch' | tail -n 1
	} | awk '$1 == "stored" { now = $4 } $1 == "epoch" && now {
		print (now > $4 ? now - $4 : 0), $5 }'
}

# judge BEFORE AFTER: print everything that is wrong
judge()
{
	said "$2" | sed -n 's/^wrong/wrong/p'
	has_said "$2" armed || echo "the machine does not come up: $(tail -n 1 "$work/$2.console")"
	lost "$1" "$2"
}

# when: choose the time of the next cut, and set $word, $changes and $tenths. Some cuts come while
# the daemon starts, more while it merges; half of them are counted in changes of the disk, half in
# time.
when()
{
	word='stored [0-9]* [1-9]'
	[ $((RANDOM % 4)) -ne 0 ] || word=armed
	if [ $((RANDOM % 2)) -eq 0 ]; then
		changes=$((RANDOM % (1 << (1 + RANDOM % 9)) + 1)) tenths=300
	else
		changes=1000000 tenths=$((RANDOM % 100 + 1))
	fi
}

survives()
{
	local i last=cut-0 name

	cp "$work/empty.ext4" "$work/disk.ext4"
	: > "$work/cut-0.console"
	for ((i = 1; i <= points + 1; i++)); do
		name=cut-$i
		when
		[ "$i" -le "$points" ] || word=armed tenths=0
		resume "$name" "$word" "$changes" "$tenths" || echo "$name: the machine ended by itself" >> "$work/wrong"
		judge "$last" "$name" | sed "s/^/$last: /" >> "$work/wrong"
		behind "$last" "$name" >> "$work/behind"
		[ "$i" -gt "$points" ] || cat "$work/$name.cut" >> "$work/cuts"
		last=$name
	done
}

# Test that losses are detected on a disk that acknowledges writes before they are durable.
sees_loss()
{
	local i

	for ((i = 1; i <= 3; i++)); do
		cp "$work/empty.ext4" "$work/disk.ext4"
		resume "lying-$i" "stored [0-9]* [1-9]" 100 300 lying
		resume "lying-$i-after" armed 1000000 0
		judge "lying-$i" "lying-$i-after" >> "$work/lied"
	done
}

# percentiles FILE COLUMN: print percentiles of the column
percentiles()
{
	awk -v c="$2" '{ print $c }' "$1" | sort -n | awk '{ v[NR] = $1 }
		END { print "median " v[int((NR + 1) / 2)] ", most " v[NR] ", of " NR }'
}

machine_prepare
machine_boot
survives
is "after $points power failures the database is sound and has what was stored" \
	"$(cat "$work/wrong")" ""
is "the power was cut as often" "$(grep -c '^cut' "$work/cuts")" "$points"
awk '{ lost += $4 - $5; cached += $4; torn += $5 > 0 && $5 < $4 }
	END { print "# " NR " cuts: " cached " sectors in the cache, " lost " of them lost; " \
		torn " times a part of it was kept"; exit !(torn && lost) }' "$work/cuts"
is "the cache had what could be lost, and some of it was" $? 0
check "samples were stored" sh -c "[ $(said "cut-$((points + 1))" | awk '$1 == "epoch" { n += $3 }
	END { print n + 0 }') -gt $((points * 10)) ]"
echo "# $(said "cut-$((points + 1))" | awk '$1 == "epoch" { n++; s += $3; p += $5 }
	END { print n " epochs, " s " samples, " p " known to be lost (pending)" }'), seed $seed"
echo "# from the last merge to the last sign of life, ms: $(percentiles "$work/behind" 1)"
echo "# samples drained and not stored: $(percentiles "$work/behind" 2)"
touch "$work/hung"
echo "# times that the machine did not get on for two minutes: $(wc -l < "$work/hung")"
sees_loss
check "on a disk that lies about flushes this test sees losses" test -s "$work/lied"
echo "# there: $(head -n 1 "$work/lied")"
tap_done
