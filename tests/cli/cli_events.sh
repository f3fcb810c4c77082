#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Names of events are resolved like perf does, and dcpid lists them. The machine need not have the
# events: perf prints the attributes before it opens an event.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
. "$(dirname "$0")/../lib/tap.sh"
build=${DCPI_BUILD:-build}

# perf_attr NAME: print the event's attributes in the format of event_attr
perf_attr()
{
	perf stat -vv -e "$1" true 2>&1 | awk '
		/^perf_event_attr/ { inside = !done; found = 1; next }
		/^------/ && inside && seen { done = 1; inside = 0 }
		inside { seen = 1 }
		inside && $1 == "type" { type = $2 }
		inside && $1 == "config" { config = $2 }
		inside && /config1/ { config1 = $NF }
		inside && /config2/ { config2 = $NF }
		inside && $1 == "exclude_user" { user = $2 }
		inside && $1 == "exclude_kernel" { kernel = $2 }
		function hex(v) { sub(/^0x/, "", v); return v == "" ? 0 : v }
		END { if (found)
			print hex(type), hex(config), hex(config1), hex(config2), user + 0, kernel + 0 }'
}

names='cycles cpu-cycles instructions cache-references cache-misses branches branch-instructions
	branch-misses bus-cycles stalled-cycles-frontend idle-cycles-backend ref-cycles
	cpu-clock task-clock page-faults faults minor-faults major-faults context-switches cs
	cpu-migrations migrations alignment-faults emulation-faults cgroup-switches
	L1-dcache L1-dcache-misses L1-dcache-loads L1-dcache-load-misses L1-dcache-stores
	L1-dcache-store-misses L1-dcache-prefetches L1-dcache-prefetch-misses l1d-read-miss
	L1-icache-loads L1-icache-load-misses L1-icache-prefetches l1i-loads
	LLC-loads LLC-load-misses LLC-stores LLC-store-misses L2-prefetch
	dTLB-loads dTLB-load-misses dTLB-stores dTLB-store-misses d-tlb-load-miss
	iTLB-loads iTLB-load-misses branch-loads branch-load-misses bpu-loads
	node-loads node-load-misses node-stores node-prefetches
	rc0 r1a2b3c cycles:u cycles:k cycles:uk L1-icache-load-misses:u rc0:k page-faults:u'
if [ -r /sys/bus/event_source/devices/cpu/format/event ]; then
	names="$names cpu/event=0x3c,umask=0x1/ cpu/config=0x76,config1=3,config2=4/ cpu/event=0x76/u
		cpu/event=0x76,edge,inv,cmask=2/k cpu/r76/"
	for event in /sys/bus/event_source/devices/cpu/events/*; do
		case $event in *.*) continue ;; esac
		names="$names cpu/$(basename "$event")/"
	done
fi

if ! command -v perf > /dev/null || [ -z "$(perf_attr cycles)" ]; then
	skip "names are perf's" "perf does not run"
else
	for name in $names; do
		is "$name is perf's" "$("$build/tests/event_attr" "$name" 2>&1)" "$(perf_attr "$name")"
	done
fi

list=$("$build/bin/dcpid" --list-events)
is "the list is of three columns" "$(head -n 1 <<< "$list" | awk '{ print $1, $2, $3 }')" \
	"event sampled description"
for name in imiss cycles cpu-clock L1-icache-load-misses; do
	is "the list has $name" "$(awk -v n=$name '$1 == n && $2 ~ /^(yes|no)$/' <<< "$list" | wc -l)" 1
done
is "a clock can be sampled" "$(awk '$1 == "cpu-clock" { print $2 }' <<< "$list")" yes
is "a name nearly right is corrected" \
	"$("$build/bin/dcpid" --config /dev/null -e cycels 2>&1)" \
	"dcpid: unknown event 'cycels' (did you mean 'cycles'?) (see 'dcpid --list-events')"
tap_done
