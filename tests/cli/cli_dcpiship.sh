#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# dcpiship delivers a database exactly in spite of failures: requests are refused, cut, lost or stored
# twice, and both programs are killed. The destination is tests/lib/clickhouse_peer.py.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$top/tests/lib/ship_cli.sh"
db=$work/dcpi.db
peer=$top/tests/lib/clickhouse_peer.py

# serve STORE ARGUMENT...: start a server, at $port unless that is 0; sets $port, $url, $peer_pid
serve()
{
	rm -f "$work/port"
	python3 "$peer" serve "$work/schema.sql" "$work/$1" --port "$port" --faults "$work/faults" \
		--pid "$work/pid" --log "$work/requests" "${@:2}" > "$work/port" 2> "$work/peer.err" &
	peer_pid=$!
	pids+=("$peer_pid")
	eventually grep -qs . "$work/port" || { cat "$work/peer.err"; exit 1; }
	port=$(cat "$work/port") url=http://127.0.0.1:$port
}

# ask STORE SQL: query the rows that a server has stored
ask()
{
	python3 "$peer" query "$work/$1" "$2"
}

# arrived STORE: print the stored samples, losses and edges, as truth() does
arrived()
{
	ask "$1" "$shipped_query" | sort
}

# rows_in STORE: count the rows that arrived, with those that arrived again
rows_in()
{
	ask "$1" 'SELECT (SELECT count() FROM dcpi_samples) + (SELECT count() FROM dcpi_slices) +
		(SELECT count() FROM dcpi_losses) + (SELECT count() FROM dcpi_edges)'
}

# deliver NAME: run dcpiship until it has delivered everything, after any number of failures and kills
deliver()
{
	"$bin/dcpiship" --config "$work/$1.conf" --once 2>> "$work/$1.err" &
	echo $! > "$work/pid"
	wait $! 2> /dev/null
}

"$bin/dcpiship" --schema single > "$work/schema.sql"
for layout in single cluster:dcpi; do
	check "db/clickhouse has the schema of '$layout'" diff "$top/db/clickhouse/${layout%:*}.sql" \
		<("$bin/dcpiship" --schema "$layout")
done
shipped_db "$db" 4 70
truth "$db" > "$work/truth"
check "the database has samples, losses and edges" [ "$(cut -d'|' -f1 "$work/truth" | sort -u | wc -l)" -eq 3 ]


# Without failures.
port=0
serve plain
ship_config plain
check "everything is delivered" within "$bin/dcpiship" --config "$work/plain.conf" --once
arrived plain > "$work/got"
check "the destination has each sample, loss and edge" diff "$work/truth" "$work/got"
like "large requests are compressed" "$(grep dcpi_samples "$work/requests")" 'encoding gzip'
is "interrupts = samples + lost in each epoch" \
	"$(ask plain 'SELECT count(), sum(interrupts = samples + lost) FROM dcpi_accounts')" '4|4'
is "interrupts are those of the database" "$(ask plain 'SELECT sum(interrupts) FROM dcpi_accounts')" \
	"$(sql "$db" 'SELECT sum(interrupts) FROM epoch')"
is "the metrics have the interrupts" "$(metric plain interrupts_total)" \
	"$(sql "$db" 'SELECT sum(interrupts) FROM epoch')"
is "procedures of the kernel are there" "$(ask plain 'SELECT DISTINCT name FROM dcpi_procedures' |
	paste -sd ' ')" "first second third"
before=$(rows_in plain)
check "a second run has nothing to deliver" within "$bin/dcpiship" --config "$work/plain.conf" --once
is "nothing is delivered twice" "$(rows_in plain)" "$before"
rm "$work"/plain.state*
check "a new state file" within "$bin/dcpiship" --config "$work/plain.conf" --once
arrived plain > "$work/got"
check "does not lead to duplicates" diff "$work/truth" "$work/got"

# Each kind of failure, at various places.
kill "$peer_pid"
port=0
serve failing
ship_config failing
for kind in 500 '500 stored' 429 '429 1' 503 408 close 'close stored' cut 'cut unnoticed' slow twice \
	kill 'kill stored'; do
	printf '%s\n' "$kind" ok "$kind" ok ok ok "$kind" ok ok
done > "$work/faults"
faults=$(grep -vc '^\(ok\|slow\|twice\)$' "$work/faults")
: > "$work/requests"
runs=0
until deliver failing || [ $runs -eq 200 ]; do
	runs=$((runs + 1))
	# The server, too, is killed, after every tenth run.
	if [ $((runs % 10)) -eq 0 ]; then
		kill -KILL "$peer_pid"
		wait "$peer_pid" 2> /dev/null
		serve failing
	fi
done
arrived failing > "$work/got"
check "after $faults failures in $runs runs, the destination has each sample once" \
	diff "$work/truth" "$work/got"
check "requests have failed" [ "$runs" -ge 10 ]
check "rows have arrived more than once" [ "$(rows_in failing)" -gt "$before" ]
is "interrupts = samples + lost, after failures" \
	"$(ask failing 'SELECT count(), sum(interrupts = samples + lost) FROM dcpi_accounts')" '4|4'

# A service repeats requests, and survives kills at any time.
kill "$peer_pid"
rm "$work/faults"
port=0
serve service
ship_config service
seq 300 | awk '{ print $1 % 7 == 0 ? "500" : $1 % 11 == 0 ? "close stored" : "ok" }' > "$work/faults"
for delay in 0.05 0.11 0.02 0.3 0.07 0.15; do
	"$bin/dcpiship" --config "$work/service.conf" 2>> "$work/service.err" &
	echo $! > "$work/pid"
	sleep "$delay"
	kill -KILL $! 2> /dev/null
	wait $! 2> /dev/null
done
rm "$work/faults"
"$bin/dcpiship" --config "$work/service.conf" 2> "$work/service.err" &
ship_pid=$!
pids+=("$ship_pid")
service_arrived()
{
	arrived service | cmp -s - "$work/truth"
}
check "a service that is killed at any time delivers everything once" eventually service_arrived
refused "there is one process for a state file" "written by another process" \
	"$bin/dcpiship" --config "$work/service.conf" --once
kill $ship_pid
wait $ship_pid
is "SIGTERM ends it" $? 0

# A batch that is refused is quarantined; the others are delivered.
kill "$peer_pid"
port=0
serve refusing
ship_config refusing
printf '%s\n' ok ok ok ok ok 413 > "$work/faults"
refused "a refused batch is an error" "status 413: Code: 2, a failure" \
	"$bin/dcpiship" --config "$work/refusing.conf" --once
check "other batches are delivered" within "$bin/dcpiship" --config "$work/refusing.conf" --once
is "a metric counts the batch" "$(metric refusing quarantined_batches)" 1
like "the status has the reason" "$("$bin/dcpiship" --config "$work/refusing.conf" --status)" \
	'batch [0-9]+, [1-9][0-9]* interrupts: status 413: Code: 2, a failure'
arrived refusing > "$work/got"
check "its slices do not count" [ "$(ask refusing 'SELECT sum(interrupts) FROM dcpi_accounts')" -lt \
	"$(sql "$db" 'SELECT sum(interrupts) FROM epoch')" ]
rm "$work/refusing.metrics"
"$bin/dcpiship" --config "$work/refusing.conf" 2> "$work/refusing.err" &
ship_pid=$!
pids+=("$ship_pid")
eventually test -e "$work/refusing.metrics"
refusing_arrived()
{
	kill -HUP $ship_pid
	arrived refusing | cmp -s - "$work/truth"
}
check "it is delivered after SIGHUP" eventually refusing_arrived
kill $ship_pid
wait $ship_pid

# Samples that were deleted before they were delivered are a loss.
kill "$peer_pid"
port=0
serve expiring
ship_config expiring
printf '%s\n' ok ok ok ok ok ok ok 500 > "$work/faults"
"$bin/dcpiship" --config "$work/expiring.conf" --once 2> /dev/null
cp "$db" "$work/whole.db"
interrupts=$(sql "$db" 'SELECT sum(interrupts) FROM epoch')
first=$(sql "$db" 'SELECT min(id) FROM epoch')
sqlite3 "$db" "PRAGMA foreign_keys = ON; DELETE FROM profile WHERE epoch = $first;
	DELETE FROM epoch WHERE id = $first" || exit 1
check "the rest is delivered" within "$bin/dcpiship" --config "$work/expiring.conf" --once
mv "$work/whole.db" "$db"
is "interrupts = samples + lost, after an epoch was deleted" "$(ask expiring \
	'SELECT sum(interrupts), sum(interrupts = samples + lost), count() FROM dcpi_accounts')" \
	"$interrupts|4|4"
check "the loss has a name" [ "$(ask expiring \
	"SELECT count() FROM dcpi_live_losses WHERE name = 'expired' AND count > 0")" -eq 1 ]

# Names stay on the host if the configuration says so.
kill "$peer_pid"
port=0
rm -f "$work/faults"
serve private
ship_config private 'paths = 0' 'procedures = 0' 'commands = 0' 'units = 0'
check "without names, everything is delivered" within "$bin/dcpiship" --config "$work/private.conf" --once
is "no paths and procedures are sent" "$(ask private "SELECT count() FROM dcpi_images WHERE path <> ''
	UNION ALL SELECT count() FROM dcpi_procedures" | paste -sd ' ')" "0 0"

# Secrets come from files that others cannot read; certificates are verified.
kill "$peer_pid"
echo the-token > "$work/token"
chmod 644 "$work/token"
ship_config open "token_file = $work/token"
refused "a token that all users can read" "chmod o=" "$bin/dcpiship" --config "$work/open.conf" --once
chmod 640 "$work/token"
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
	-addext 'subjectAltName = DNS:localhost,IP:127.0.0.1' -keyout "$work/key.pem" \
	-out "$work/cert.pem" 2> /dev/null
port=0
: > "$work/requests"
serve secret --tls "$work/cert.pem" "$work/key.pem" --client-ca "$work/cert.pem"
url=https://localhost:$port
ship_config secret "token_file = $work/token"
refused "an unknown certificate" "certificate" "$bin/dcpiship" --config "$work/secret.conf" --once
ship_config secret "token_file = $work/token" "ca_file = $work/cert.pem"
"$bin/dcpiship" --config "$work/secret.conf" --once 2> "$work/secret.err"
is "no certificate of the client, no delivery" "$?,$(ask secret 'SELECT count() FROM dcpi_samples')" 2,0
is "the token is not sent over a connection that is not trusted" "$(cat "$work/requests")" ""
ship_config secret "token_file = $work/token" "ca_file = $work/cert.pem" "cert_file = $work/cert.pem" \
	"key_file = $work/key.pem"
check "certificates of both sides" within "$bin/dcpiship" --config "$work/secret.conf" --once
like "the token is sent" "$(sort -u "$work/requests")" 'authorization Bearer the-token,'
is "messages, status and metrics do not have it" "$(cat "$work"/*.err "$work/secret.metrics" \
	<("$bin/dcpiship" --config "$work/secret.conf" --status) | grep -c the-token)" 0

# Configurations.
printf '%s\n' "db = $db" "state = $work/x.state" > "$work/x.conf"
refused "no url" "no destination: the configuration has no 'url'" "$bin/dcpiship" -c "$work/x.conf"
echo 'url = ftp://x/' >> "$work/x.conf"
refused "another protocol" "x.conf:3: url must begin with" "$bin/dcpiship" -c "$work/x.conf"
refused "no configuration" "no configuration: use --config" "$bin/dcpiship"
refused "another destination" "belongs to the url" "$bin/dcpiship" -c <(sed 's,^url.*,url = http://x/,' \
	"$work/plain.conf")
refused "a layout" "'double' is not a valid layout" "$bin/dcpiship" --schema double

tap_done
