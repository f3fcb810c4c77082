#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# The memory of dcpid on a machine with 500 live processes, with 50 images and a dozen libraries.
# Each process runs for a short time each second. Measures the memory while nothing else happens,
# and the maximum, which is reached during the start.
#
#	DCPI_BUILD	where the build is (default: build)
#	MEMORY_BENCH	if set, print figures (tests/eval/bench/bench.h), not results of tests
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
processes=500
images=50
libraries="-lz -llzma -lbz2 -lelf -ldw -lsqlite3 -lxxhash -lzstd -lstdc++ -lm -lresolv"
limit_kb=$((32 << 10))

# program_build N: make a program with a unique build ID and procedure
program_build()
{
	local library present=

	for library in $libraries; do
		${CC:-gcc} -x c -o /dev/null - "$library" <<< 'int main(void) { return 0; }' 2> /dev/null &&
			present="$present $library"
	done
	cat > "$work/live.c" << 'END'
#include <time.h>

static volatile unsigned int spun;

int main(void)
{
	const struct timespec second = {.tv_sec = 1};

	for (;;) {
		for (unsigned int i = 0; i < 20000; i++)
			spun += i * (IMAGE + 1);
		nanosleep(&second, 0);
	}
}
END
	for ((image = 0; image < images; image++)); do
		# shellcheck disable=SC2086 # a list
		${CC:-gcc} -O2 -DIMAGE=$image -Wl,--build-id="0x$(printf '%040x' $((image + 1)))" \
			-Wl,--no-as-needed -o "$work/live_$image" "$work/live.c" $present || exit 1
	done
}

programs_start()
{
	local i

	for ((i = 0; i < processes; i++)); do
		"$work/live_$((i % images))" &
		pids+=($!)
	done
}

# kilobytes FIELD: print a field of the daemon's memory
kilobytes()
{
	awk -v field="$1:" '$1 == field { print $2 }' "/proc/$daemon_pid/status"
}

figure()
{
	printf '{"name": "%s", "subject": "dcpid", "workload": "%s", "value": %s, "unit": "MB"}\n' \
		"$1" "$processes live processes, $2" "$(awk -v kb="$3" 'BEGIN { printf "%.2f", kb / 1024 }')"
}

# Print the maximum during three seconds, some merges after the start, when all initial work is
# done.
steady()
{
	local i now most=0

	sleep 12
	for ((i = 0; i < 12; i++)); do
		sleep 0.25
		now=$(kilobytes VmRSS)
		[ "$now" -le "$most" ] || most=$now
	done
	echo "$most"
}

# explain: print the daemon's mappings and counters, for a limit that was exceeded
explain()
{
	awk '/^[0-9a-f]+-/ { name = $6 }
		/^Rss:/ { rss[name] += $2 }
		END { for (name in rss) if (rss[name] > 500) print "# " rss[name] " kB " name }' \
		"/proc/$daemon_pid/smaps"
	ctl stats | grep -E 'stack|unwind|entries|image|jit|memory' | sed 's/^/# /'
}

processes_known()
{
	[ "$(ctl_status | sed -n 's/^processes //p')" -ge $processes ]
}

judge()
{
	local kb peak_kb btf_kb cpus known

	eventually processes_known
	kb=$(steady)
	peak_kb=$(kilobytes VmHWM)
	known=$(ctl_status | sed -n 's/^processes //p')
	# Counting in the daemon needs memory for each CPU.
	cpus=$(nproc --all)
	[ "$cpus" -le 4 ] || limit_kb=$(((32 << 10) + (cpus - 4) * 640))
	# libbpf reads the kernel's type information; it is in memory twice for a short time.
	btf_kb=$(($(stat -c %s /sys/kernel/btf/vmlinux 2> /dev/null || echo 0) / 1024))
	if [ -n "${MEMORY_BENCH:-}" ]; then
		figure daemon_memory "$1" "$kb"
		figure daemon_memory_peak "$1" "$peak_kb"
		return
	fi
	check "$1: all processes are known ($known)" test "$known" -ge $processes
	[ "$kb" -le "$limit_kb" ] || explain
	check "$1: $kb kB with $processes live processes, at most $limit_kb" test "$kb" -le "$limit_kb"
	check "$1: $peak_kb kB at most, of which twice $btf_kb may be the kernel's types" \
		test "$peak_kb" -le $((limit_kb + 2 * btf_kb))
}

program_build
programs_start
socket=$work/sock
for source in bpf perf; do
	daemon=("$bin/dcpid" -q --config /dev/null --socket "$socket" --source "$source"
		--merge-interval 4 --db "$work/$source.db")
	if daemon_start; then
		judge "$source"
		daemon_stop TERM
		[ -n "${MEMORY_BENCH:-}" ] || is "$source: the daemon ends in good order" $daemon_status 0
	elif [ -n "${MEMORY_BENCH:-}" ]; then
		echo "bench_memory: $source: $(tail -n 1 "$work/log")" >&2
		exit 1
	else
		skip "$source" "$(tail -n 1 "$work/log")"
	fi
done
[ -n "${MEMORY_BENCH:-}" ] || tap_done
