#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Run test scripts in a virtual machine with a Debian kernel, and print their results as one TAP
# stream. No privileges, no KVM needed.
#
#   run.sh [--arch x86_64] --release RELEASE --payload DIR [--timeout S]
#          [--silence S] [--memory MB] [--cpus N] [--icount SHIFT] [--log FILE] [--kernel FILE]
#          [--initramfs FILE] [--append WORDS]
#          --script FILE [--script FILE]...
#
#   --release  kernel, as uname -r prints it; Debian's package is fetched
#   --payload  folder copied over the machine's / (programs, modules, data)
#   --script   sh script, run as root in the machine, in the order given; its
#              standard output is TAP (tests/lib/tap.sh is /lib/tap.sh in there)
#   --timeout  seconds for the whole run (default 180)
#   --silence  seconds without a line on its console after which a machine counts as hung
#              (default: the whole run's); a slow machine that makes progress is not stopped
#   --log      keep the raw console here
#   --kernel   the kernel's image, if it is none of Debian's
#   --initramfs  packed before, with the same payload and scripts
#   --append   more words for the kernel's command line
#   --icount   the machine's clock counts instructions, 2^SHIFT ns each: the
#              same run takes the same time, to the instruction, on a busy
#              host, too; CPUs alternate instead of running in parallel
#
# Environment: QEMU_MORE, more words for QEMU's command line.
#
# Interfaces: arch/ARCH.sh describes a machine, initramfs.sh its file system. A machine with a disk
# and a real init needs another script instead of initramfs.sh, whose init prints the same markers
# (see init).
#
# Exit status: 0 all tests passed, 1 some failed, 2 the machine could not run.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
arch=x86_64 release='' payload='' timeout=180 silence='' memory=1024 cpus=2 icount='' log='' kernel=''
initramfs='' append=''
scripts='' names=''

usage() {
	sed -n '3,/^set -eu/{/^set/d;s/^#\( \|$\)//p}' "$0" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	[ $# -ge 2 ] || usage
	case $1 in
	--arch) arch=$2 ;;
	--release) release=$2 ;;
	--payload) payload=$2 ;;
	--timeout) timeout=$2 ;;
	--silence) silence=$2 ;;
	--memory) memory=$2 ;;
	--cpus) cpus=$2 ;;
	--icount) icount=$2 ;;
	--log) log=$2 ;;
	--kernel) kernel=$2 ;;
	--initramfs) initramfs=$2 ;;
	--append) append=$2 ;;
	--script)
		[ -r "$2" ] || { echo "run.sh: cannot read $2" >&2; exit 2; }
		scripts="$scripts $2" names="$names $(basename "$2" .sh)"
		;;
	*) usage ;;
	esac
	shift 2
done
if [ -z "$release" ] || [ -z "$payload" ] || [ -z "$scripts" ]; then
	usage
fi
# shellcheck source=tests/qemu/arch/x86_64.sh
. "$here/arch/$arch.sh"
# shellcheck source=tests/qemu/monitor.sh
. "$here/monitor.sh"
# shellcheck source=tests/lib/tap.sh
. "$here/../lib/tap.sh"

work=$(mktemp -d)
machine=''
trap '[ -z "$machine" ] || kill "$machine" 2> /dev/null; monitor_close; rm -rf "$work"' EXIT
trap 'exit 2' INT TERM
if [ -z "$kernel" ]; then
	root=$("$here/image.sh" "$arch" "$release")
	kernel=$(kernel_file "$root" "$release")
fi
if [ -z "$initramfs" ]; then
	initramfs=$work/initramfs
	# shellcheck disable=SC2086 # a list of files
	"$here/initramfs.sh" "$arch" "$initramfs" "$payload" $scripts
fi

clock='-accel tcg,thread=multi'
if [ -n "$icount" ]; then
	clock="-accel tcg,thread=single -icount shift=$icount,sleep=off $QEMU_EXACT"
fi

# slab_nomerge: every cache has its own line in /proc/slabinfo. loglevel=1: messages of the kernel
# must not land within a line of a script. The kernel's log is read at the end; an oops or a lockup
# is printed at once nevertheless. PATIENCE_S becomes a variable of init's environment.
: > "$work/console"
monitor=$(monitor_options "$work")
begin=$(date +%s)
# shellcheck disable=SC2086 # a command with options
timeout --kill-after=5 $((timeout + 60)) $QEMU $clock -smp "$cpus" -m "$memory" -nographic -no-reboot \
	$monitor -kernel "$kernel" \
	-initrd "$initramfs" \
	-append "console=$CONSOLE rdinit=/init panic=-1 loglevel=1 sysrq_always_enabled slab_nomerge \
PATIENCE_S=$(patience)${append:+ $append}" \
	${QEMU_MORE:-} <>"$work/keys" >"$work/console" 2>"$work/errors" &
machine=$!
monitor_open "$work"

# The kernel's own messages do not count as progress. Some of them indicate a hang: after such a
# message, the state of the CPUs is dumped at once, and the limit for a silent machine is reduced.
complaint='^\[.*(soft lockup|hard LOCKUP|rcu.*(stall|starved)|blocked for more than)'
still=''
watch() {
	seen='' since=0 limit=${silence:-$timeout}
	while kill -0 "$machine" 2> /dev/null; do
		now=$(grep -cv '^\[ *[0-9]*\.[0-9]*\]' "$work/console") || :
		since=$((since + 1))
		[ "$now" = "$seen" ] || since=0
		seen=$now
		if [ ! -e "$work/stuck" ] && grep -qE "$complaint" "$work/console"; then
			monitor_dump "$work/stuck" "$cpus"
			[ "$limit" -le 60 ] || limit=60
		fi
		[ $(($(date +%s) - begin)) -lt "$timeout" ] || still="stopped after $timeout s"
		[ $since -lt "$limit" ] || still="stood still for $since s"
		if [ -n "$still" ]; then
			monitor_dump "$work/stuck" "$cpus"
			kill "$machine"
			return
		fi
		sleep 1
	done
}
watch
status=0
wait "$machine" || status=$?
machine=''
monitor_close
if [ -n "$log" ]; then
	mkdir -p "$(dirname "$log")"
	cp "$work/console" "$log"
	rm -f "${log%.log}.stuck"
	[ ! -e "$work/stuck" ] || cp "$work/stuck" "${log%.log}.stuck"
fi
if [ -n "$still" ]; then
	echo "# machine $still"
elif [ $status != 0 ]; then
	sed 's/^/run.sh: qemu: /' "$work/errors" >&2
	exit 2
fi

status=0
awk -v scripts="$names" -f "$here/report.awk" "$work/console" || status=1
if [ $status != 0 ]; then
	echo "# last lines of the console:"
	grep -v '^@log' "$work/console" | tail -n 15 | tr -d '\r' | sed 's/^/# | /'
	if [ -e "$work/stuck" ]; then
		echo "# where its CPUs stood${log:+ (more in $log, ${log%.log}.stuck)}:"
		awk -f "$here/stuck.awk" "$work/stuck" | sed 's/^/# | /'
	fi
fi
exit $status
