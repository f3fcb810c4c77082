#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measure which code the PMU of an x86-64 machine, whose interrupts are NMIs, can sample and a timer
# cannot. Both sample the same work. The flags of the interrupted code show if interrupts were
# disabled. Then the paper's meta-method: the PMU samples the bpf source's handler, which a
# timer calls.
#
# Prints its figures; needs root, a PMU, perf and the built programs.
set -u
cd "$(dirname "$0")/../../.." || exit 2

if ! perf stat -x, -e cycles true 2>&1 | grep -q '^[0-9]'; then
	echo "blind_spots_host: this machine has no PMU" >&2
	exit 2
fi
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP

# Random numbers, pipes, processes
cat > "$work/load" << 'END'
end=$(($(date +%s) + 10))
while [ "$(date +%s)" -lt $end ]; do
	dd if=/dev/urandom of=/dev/null bs=64k count=100 2> /dev/null
	dd if=/dev/zero bs=512 count=20000 2> /dev/null | cat > /dev/null
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		sh -c 'true; echo a | cat' > /dev/null
	done
done
END

# flags EVENT: print the share of samples with interrupts disabled (flag 0x200 clear), and their
# code
flags()
{
	perf script -i "$work/data" -F event,ip,sym,iregs 2> /dev/null |
		awk -v event="$1" '
		index($1, event) {
			n++
			at[$3]++
			flags = $NF
			sub(/.*0x/, "", flags)
			third = substr(flags, length(flags) - 2, 1)
			if (length(flags) < 3 || third !~ /[2367abef]/) {
				off++
				blind[$3]++
			}
		}
		END {
			printf "flags %s samples %d interrupts_off %.1f\n", event, n, 100 * off / n
			for (p in blind)
				printf "off %s %.2f %s\n", event, 100 * blind[p] / n, p
			for (p in at)
				printf "at %s %.2f %s\n", event, 100 * at[p] / n, p
		}' | sort -k1,1r -k3,3nr | awk '{ if (++seen[$1] <= 12) print }'
}

perf record -q -B -N -e 'cycles/period=400000/k,cpu-clock/period=200000/k' --intr-regs=flags \
	-o "$work/data" sh "$work/load" || exit 2
flags cycles
flags cpu-clock

# The meta-method
build/bin/dcpid -q --source bpf -e cpu-clock:200000-220000 --config /dev/null \
	--socket "$work/bpf.sock" --db "$work/bpf.db" &
bpf=$!
sleep 2
build/bin/dcpid -q --source perf -e cycles:250000-270000 --config /dev/null \
	--socket "$work/meta.sock" --db "$work/meta.db" &
meta=$!
perf record -q -B -N -a -e cycles/period=100003/k -o "$work/handler" sh "$work/load" 2> /dev/null
kill $meta
wait $meta
kill $bpf
wait $bpf
handler='^(bpf_prog_.*sample_count|__perf_event_overflow|perf_swevent_hrtimer|bpf_overflow_handler|bpf_ksym_find|bpf_get_current_task_btf|bpf_get_attach_cookie_pe|hrtimer_forward)$'
for db in bpf meta; do
	build/bin/dcpiprof --db "$work/$db.db" --csv > "$work/csv"
	build/bin/dcpiprof --db "$work/$db.db" -n 1 | sed -n "s/^accounting */accounting $db /p"
	awk -F, -v db=$db -v handler="$handler" '$4 ~ handler { print "meta", db, $1, $4 }' "$work/csv"
done
# (-B: perf 6.1 crashes with so large a number of build-ids.)
perf script -i "$work/handler" -F ip,sym,symoff 2> /dev/null | awk '
	$2 ~ /^bpf_prog_.*sample_count\+/ { n++; sub(/.*\+/, "", $2); at[$2]++ }
	END { for (o in at) printf "insn %d of %d %s\n", at[o], n, o }' | sort -k2,2nr | head -n 12
