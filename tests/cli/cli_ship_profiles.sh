#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# dcpiship delivers profiles by OTLP, at least once and with the same bytes, and to servers like
# Pyroscope, at most once, in spite of failures. The destination is tests/lib/profile_peer.py.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$top/tests/lib/ship_cli.sh"
db=$work/dcpi.db
proto=opentelemetry/proto/collector/profiles/v1development/profiles_service.proto

# serve NAME: start a server that stores requests in the folder NAME; sets $url
serve()
{
	[ -z "${peer_pid:-}" ] || kill "$peer_pid"
	rm -f "$work/port"
	python3 "$top/tests/lib/profile_peer.py" "$work/$1" --faults "$work/faults" --pid "$work/pid" \
		--log "$work/requests" > "$work/port" 2> "$work/peer.err" &
	peer_pid=$!
	pids+=("$peer_pid")
	eventually grep -qs . "$work/port" || { cat "$work/peer.err"; exit 1; }
	url=http://127.0.0.1:$(cat "$work/port")/
}

# deliver NAME: run dcpiship until everything is delivered, after any number of failures and kills
deliver()
{
	local runs=0

	until [ "$runs" -eq 100 ]; do
		"$bin/dcpiship" --config "$work/$1.conf" --once 2>> "$work/$1.err" &
		echo $! > "$work/pid"
		wait $! 2> /dev/null && return
		runs=$((runs + 1))
	done
	return 1
}

# decode NAME: read the different requests that arrived by OTLP
decode()
{
	local body seen=' '

	rm -f "$work/$1"/*.txt
	for body in "$work/$1"/*.body; do
		case $seen in
		*" $(sha256sum < "$body")"*) continue ;;
		esac
		seen="$seen$(sha256sum < "$body") "
		protoc -I "$top/tests/fixtures/data/otlp" --decode \
			opentelemetry.proto.collector.profiles.v1development.ExportProfilesServiceRequest \
			"$proto" < "$body" > "${body%.body}.txt" || return
	done
	"$top/tests/lib/otlp_read.py" "$work/$1"/*.txt > "$work/$1.got"
}

# expected DB: print the samples and losses of all epochs as tests/lib/otlp_read.py does
expected()
{
	sql "$1" "SELECT 'samples', event, lower(hex(identity)), i.path, ifnull((SELECT name
				FROM dcpi_symbols y WHERE y.image = s.image AND y.offset <= s.offset
					AND s.offset < y.offset + 4096),
				replace(i.path, '/usr/bin/', '') || '!' || printf('0x%x', offset)),
			offset, pid, sum(count) FROM dcpi_samples s JOIN image i ON i.id = s.image
			GROUP BY 1, 2, 3, 4, 5, 6, 7
		UNION ALL SELECT 'lost', name, sum(count), '', '', '', '', '' FROM counter
			WHERE counter_group = 'loss' GROUP BY name" | sed 's/|*$//' | sort
}

# arrived NAME: count the requests that arrived
arrived()
{
	find "$work/$1" -name '*.body' | wc -l
}

samples_of()
{
	grep -E '^(samples|lost)\|' "$work/$1.got" | sort
}

# value NAME KEY: print a line of otlp_read.py
value()
{
	sed -n "s/^$2|//p" "$work/$1.got" | paste -sd ' '
}

shipped_db "$db" 4 70
expected "$db" > "$work/truth"
totals=$(sql "$db" 'SELECT interrupts FROM epoch' | sort | paste -sd ' ')

# OTLP without failures.
serve plain
ship_config plain 'protocol = otlp' 'service = the-service'
check "everything is delivered by OTLP" within "$bin/dcpiship" --config "$work/plain.conf" --once
check "protoc decodes the requests by the published definition" decode plain
check "names, build-ids and numbers of all samples and losses are those of the database" \
	diff "$work/truth" <(samples_of plain)
is "the sum of each epoch is its interrupts" "$(sed -n 's/^epoch|.*|//p' "$work/plain.got" | sort |
	paste -sd ' ')" "$totals"
is "periods have their means" "$(value plain period)" "cycles|cycles|62000 imiss|events|1500"
like "the host has its name" "$(value plain resource)" 'host.name\|host1 service.name\|the-service'
is "each profile has its own id" "$(value plain ids)" "$(value plain profiles)"
is "addresses are those of the protocol" "$(sort -u "$work/plain"/*.path)" /v1development/profiles
is "large requests are compressed" "$(awk '{ print $3, $4 }' "$work/requests" | sort -u)" \
	"application/x-protobuf gzip"
is "the metrics have the interrupts" "$(metric plain interrupts_total)" \
	"$(sql "$db" 'SELECT sum(interrupts) FROM epoch')"
check "nothing is left" within "$bin/dcpiship" --config "$work/plain.conf" --once
is "nothing is sent twice" "$(arrived plain)" "$(value plain requests)"

# Large slices are divided.
awk 'BEGIN {
	print "event cpu-clock ns 1000000 1000000\nepoch Test CPU\nslice 0 10"
	print "image file " sprintf("%040x", 1) " /usr/bin/p1"
	for (i = 0; i < 40000; i++)
		print "sample", 0, 4 * i, 1 + i % 7
	print "image jit - jit\nsymbols f\nsample 0 0 3\nend"
}' | "$build/tests/make_profile_db" "$work/large.db"
serve large
ship_config large 'protocol = otlp' "db = $work/large.db"
check "a large slice" within "$bin/dcpiship" --config "$work/large.conf" --once
decode large
is "has 16000 samples in a request at most" "$(value large requests),$(value large most)" "3,16000"
check "and arrives completely" diff <(expected "$work/large.db" | sed 's/cpu-clock/cpu/') \
	<(samples_of large)
is "an event in nanoseconds is CPU time" "$(value large period)" "cpu|nanoseconds|1000000"
serve small
ship_config small 'protocol = otlp' "db = $work/large.db" 'request_kb = 64' 'paths = 0' 'unnamed = 0'
check "requests of 64 KiB" within "$bin/dcpiship" --config "$work/small.conf" --once
is "are not larger" "$(find "$work/small" -name '*.body' -size +64k)" ""
decode small
is "without paths, images have their kinds, and unknown code has no name" \
	"$(grep '^samples' "$work/small.got" | cut -d'|' -f4,5 | sort -u | paste -sd ' ')" "file| jit|f"

# Failures: each request is repeated with the same bytes.
serve failing
ship_config failing 'protocol = otlp' 'request_kb = 64'
for kind in 500 '500 stored' 429 503 408 close 'close stored' garbage kill 'kill stored'; do
	printf '%s\n' "$kind" ok "$kind" ok
done > "$work/faults"
check "after failures and kills, everything is delivered" deliver failing
decode failing
check "the different requests have each sample and loss once" diff "$work/truth" <(samples_of failing)
is "their sums are those of the epochs" "$(sed -n 's/^epoch|.*|//p' "$work/failing.got" | sort |
	paste -sd ' ')" "$totals"
is "requests that were stored, and failed, are there twice, with the same bytes" \
	"$(($(arrived failing) - $(value failing requests)))" 6
serve waiting
ship_config waiting 'protocol = otlp'
echo '429 60' > "$work/faults"
"$bin/dcpiship" --config "$work/waiting.conf" 2> "$work/waiting.err" &
ship_pid=$!
pids+=("$ship_pid")
check "Retry-After is obeyed" eventually grep -q 'status 429: a failure; next try in 6[01] s' \
	"$work/waiting.err"
kill $ship_pid
wait $ship_pid

# Profiles that are not accepted are counted, and not repeated. A refused batch is quarantined.
serve partial
ship_config partial 'protocol = otlp'
printf '%s\n' ok 400 ok 'partial 3' > "$work/faults"
refused "a refused batch is an error" "status 400: a failure" \
	"$bin/dcpiship" --config "$work/partial.conf" --once
"$bin/dcpiship" --config "$work/partial.conf" --once 2>> "$work/partial.err"
is "the other batches are delivered" $? 0
is "a metric counts the quarantined batch" "$(metric partial quarantined_batches)" 1
decode partial
is "requests with rejected profiles are not repeated" "$(arrived partial)" \
	"$(value partial requests)"
rm "$work/partial.metrics"
"$bin/dcpiship" --config "$work/partial.conf" 2> "$work/partial.err" &
ship_pid=$!
pids+=("$ship_pid")
eventually test -e "$work/partial.metrics"
partial_arrived()
{
	kill -HUP "$ship_pid"
	decode partial && samples_of partial | cmp -s - "$work/truth"
}
check "the quarantined batch is delivered after SIGHUP" eventually partial_arrived
is "and nothing else again" "$(arrived partial)" "$(value partial requests)"
kill $ship_pid
wait $ship_pid
serve rejected
ship_config rejected 'protocol = otlp'
echo 'partial 3' > "$work/faults"
"$bin/dcpiship" --config "$work/rejected.conf" --once 2> "$work/rejected.err"
like "a message has the number and reason" "$(cat "$work/rejected.err")" \
	'has not accepted 3 profiles: the destination reports: full'
is "a metric has the number" "$(metric rejected rejected_profiles_total)" 3

# pprof_samples NAME: print the samples of the profiles that arrived like Pyroscope, as expected()
pprof_samples()
{
	"$top/tests/lib/pprof_read.py" samples "$work/$1"/*.body | awk -F'|' '
		$1 == "" { lost[$5] += $8; next }
		{ n[$1 "|" $3 "|" $4 "|" $5 "|" $6 "|" $7] += $8 }
		END {
			for (i in n) print "samples|" i "|" n[i]
			for (i in lost) print "lost|" i "|" lost[i]
		}' | sort
}

# pprof without failures: a request for each slice and event.
db=$work/short.db
shipped_db "$db" 3 9
expected "$db" > "$work/truth"
serve push
ship_config push 'protocol = pprof'
check "everything is delivered as pprof" within "$bin/dcpiship" --config "$work/push.conf" --once
check "names, build-ids and numbers are those of the database" diff "$work/truth" <(pprof_samples push)
like "the address has format, time and name" "$(cat "$work/push/000000.path")" \
	'^/ingest\?format=pprof&from=17[0-9]{8}&until=17[0-9]{8}&name=dcpi%7Bhost%3Dhost1%2Chost_id%3D[-0-9a-f]{36}%2Cevent%3Dcycles%7D$'

# Failures: no request arrives twice, and one that may have arrived is not repeated.
serve once
ship_config once 'protocol = pprof'
for kind in '500 stored' 429 503 408 'close stored' 'kill stored'; do
	printf '%s\n' "$kind" ok "$kind" ok ok
done > "$work/faults"
check "after failures, everything is delivered" deliver once
check "requests that were stored are not repeated, and the others are" \
	diff "$work/truth" <(pprof_samples once)
serve never
ship_config never 'protocol = pprof'
printf '%s\n' ok close ok 500 ok > "$work/faults"
"$bin/dcpiship" --config "$work/never.conf" 2> "$work/never.err" &
ship_pid=$!
pids+=("$ship_pid")
never_complete()
{
	[ "$(metric never interrupts_total)" = "$(sql "$db" 'SELECT sum(interrupts) FROM epoch')" ]
}
check "a service goes on after them" eventually never_complete
kill $ship_pid
wait $ship_pid
is "requests with an unknown result are counted" "$(metric never abandoned_requests_total)" 2
is "and not repeated" "$(arrived never)" "$(($(arrived push) - 2))"

# Configurations.
ship_config x 'protocol = other'
refused "a protocol" "'other' is not a valid protocol" "$bin/dcpiship" -c "$work/x.conf" --once
ship_config x 'protocol = otlp' 'service = a{b}'
refused "a service" "'a{b}' is not a valid name of a service" "$bin/dcpiship" -c "$work/x.conf" --once
ship_config plain 'protocol = pprof'
refused "another protocol" "belongs to the protocol" "$bin/dcpiship" -c "$work/plain.conf" --once

tap_done
