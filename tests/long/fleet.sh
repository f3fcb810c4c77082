#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Three hosts deliver to a ClickHouse cluster of two shards with two replicas each, while servers,
# connections and dcpiship fail (make check-fleet). Afterwards the cluster has each sample of the
# three databases once. Needs clickhouse-server, zookeeper and perf_event_open for the machine.
#
#	DCPI_BUILD	where the build is (default: build)
#	FAILURES	number of failures (default: 10)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
# shellcheck source=tests/lib/ship_cli.sh
. "$top/tests/lib/ship_cli.sh"
failures=${FAILURES:-10}
servers='1 2 3 4'
hosts='a b c'

# Processes by server or host.
declare -A server_pid ship_pid host_daemon
zookeeper_port=$((20000 + RANDOM % 10000))
port_base=$((zookeeper_port + 1))

# port SERVER KIND: print the port of a server; KIND: 0 HTTP, 1 TCP, 2 between servers
port()
{
	echo $((port_base + $1 * 3 + $2))
}

# launch COMMAND...: start a program in the background; sets $launched
launch()
{
	"$@" > /dev/null 2>> "$work/programs.err" &
	launched=$!
	pids+=("$launched")
}

zookeeper_start()
{
	mkdir -p "$work/zookeeper"
	printf '%s\n' tickTime=2000 "dataDir=$work/zookeeper" "clientPort=$zookeeper_port" \
		clientPortAddress=127.0.0.1 admin.enableServer=false > "$work/zoo.cfg"
	launch java -Xmx128m -cp '/etc/zookeeper/conf:/usr/share/java/*' \
		org.apache.zookeeper.server.quorum.QuorumPeerMain "$work/zoo.cfg"
}

# server_configure SERVER: servers 1 and 2 are the first shard
server_configure()
{
	local folder=$work/server$1 shard=$((($1 + 1) / 2)) s

	mkdir -p "$folder"/{data,tmp,files}
	{
		cat << XML
<yandex>
<logger><level>warning</level><log>$folder/log</log><errorlog>$folder/errors</errorlog></logger>
<http_port>$(port "$1" 0)</http_port><tcp_port>$(port "$1" 1)</tcp_port>
<interserver_http_port>$(port "$1" 2)</interserver_http_port>
<interserver_http_host>127.0.0.1</interserver_http_host><listen_host>127.0.0.1</listen_host>
<path>$folder/data/</path><tmp_path>$folder/tmp/</tmp_path><user_files_path>$folder/files/</user_files_path>
<users_config>$folder/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>67108864</mark_cache_size>
<macros><shard>$shard</shard><replica>$1</replica></macros>
<zookeeper><node><host>127.0.0.1</host><port>$zookeeper_port</port></node></zookeeper>
<remote_servers><fleet>
XML
		for s in 1 3; do
			echo "<shard><internal_replication>true</internal_replication>
<replica><host>127.0.0.1</host><port>$(port $s 1)</port></replica>
<replica><host>127.0.0.1</host><port>$(port $((s + 1)) 1)</port></replica></shard>"
		done
		echo '</fleet></remote_servers></yandex>'
	} > "$folder/config.xml"
	cat > "$folder/users.xml" << XML
<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users><quotas><default/></quotas></yandex>
XML
}

server_start()
{
	launch clickhouse-server --config-file="$work/server$1/config.xml"
	server_pid[$1]=$launched
}

# ask SERVER SQL: query a server
ask()
{
	clickhouse-client --host 127.0.0.1 --port "$(port "$1" 1)" -d "${database:-dcpi}" -n -q "$2"
}

server_answers()
{
	database=default ask "$1" 'SELECT 1' > /dev/null 2>&1
}

# tables_create SERVER: fails while the server has no connection to zookeeper
tables_create()
{
	ask "$1" "$("$bin/dcpiship" --schema cluster:fleet)" 2> /dev/null
}

ship_start()
{
	launch "$bin/dcpiship" --config "$work/$1.conf"
	ship_pid[$1]=$launched
}

# ruin NUMBER: the failure with this number, of one of seven kinds; it lasts at most two seconds
ruin()
{
	local host server

	host=$(cut -d' ' -f$((1 + RANDOM % 3)) <<< "$hosts")
	server=$((1 + RANDOM % 4))
	case $(($1 % 7)) in
	0 | 1) # A server, which may receive requests or not.
		kill -KILL "${server_pid[$server]}"
		wait "${server_pid[$server]}" 2> /dev/null
		sleep 1
		server_start $server
		eventually server_answers $server
		;;
	2 | 3)
		kill -KILL "${ship_pid[$host]}"
		wait "${ship_pid[$host]}" 2> /dev/null
		ship_start "$host"
		;;
	4 | 5)
		[ $(($1 % 7)) -eq 4 ] && echo request > "$work/mode" || echo response > "$work/mode"
		sleep 2
		echo none > "$work/mode"
		;;
	6) # A whole shard.
		for server in 3 4; do
			kill -KILL "${server_pid[$server]}"
			wait "${server_pid[$server]}" 2> /dev/null
		done
		sleep 2
		for server in 3 4; do
			server_start $server
			eventually server_answers $server
		done
		;;
	esac
	# Samples arrive between two failures.
	"$work/split" 200
}

if ! why=$("$top/packaging/deps.sh" fleet 2>&1); then
	not_measured "a fleet" "$why"
	tap_done
	exit
fi
split_build
zookeeper_start
for server in $servers; do
	server_configure "$server"
	server_start "$server"
done
for server in $servers; do
	eventually server_answers "$server" || { cat "$work/server$server/errors"; exit 1; }
	database=default ask "$server" 'CREATE DATABASE dcpi'
	check "server $server has the tables" eventually tables_create "$server"
done

# Each host has its own name and connection to a server.
echo none > "$work/mode"
for host in $hosts; do
	python3 "$top/tests/lib/cutting_proxy.py" "$(port $((1 + $(printf %d "'$host") % 4)) 0)" "$work/mode" \
		> "$work/$host.port" 2> /dev/null &
	pids+=($!)
	eventually grep -qs . "$work/$host.port"
	printf '%s\n' 'slice_s = 1' > "$work/$host.dcpid"
	launch unshare --uts bash -c "hostname fleet-$host && exec \"\$@\"" bash "$bin/dcpid" \
		--source perf --socket "$work/$host.sock" --config "$work/$host.dcpid" --db "$work/$host.db" \
		--merge-interval 1 --drain-interval 100 --image-store none -e cpu-clock:5000000
	host_daemon[$host]=$launched
done
for host in $hosts; do
	socket=$work/$host.sock
	if ! eventually daemon_answers; then
		skip "a fleet" "$(tail -n 1 "$work/programs.err")"
		tap_done
		exit
	fi
	db=$work/$host.db url=http://127.0.0.1:$(cat "$work/$host.port")/
	ship_config "$host" 'timeout_s = 10'
	ship_start "$host"
done

for ((i = 0; i < failures; i++)); do
	ruin "$i"
done
for host in $hosts; do
	kill "${host_daemon[$host]}"
	wait "${host_daemon[$host]}"
	is "dcpid of host $host ends" $? 0
done

# all_delivered HOST: the state file has no batch, and all epochs
all_delivered()
{
	"$bin/dcpiship" --config "$work/$1.conf" --status > "$work/$1.status" &&
		awk '/^interrupts/ { i = $2 } /^in batches/ { b = $3 } /^epochs/ { e = $2 + 0; c = $4 }
			/^waiting/ { w = $4 } /^quarantined/ { q = $2 + 0 }
			END { exit !(i == b && e == c && w == 0 && q == 0 && i > 0) }' "$work/$1.status"
}

for host in $hosts; do
	check "host $host delivers everything" eventually all_delivered "$host"
	kill "${ship_pid[$host]}"
	wait "${ship_pid[$host]}" 2> /dev/null
done

# dump TABLE SERVER: copy a table or view of the cluster into the SQLite file "cluster"
dump()
{
	ask "$2" "SELECT * FROM $1 FORMAT CSVWithNames" > "$work/table.csv"
	sqlite3 "$work/cluster" '.mode csv' ".import '$work/table.csv' $1"
}

# same_lines FILE FILE: compare two files, and print the first differences
same_lines()
{
	diff "$1" "$2" > "$work/diff" || { head -n 20 "$work/diff"; return 1; }
}

for table in dcpi_live_samples dcpi_live_losses dcpi_epochs dcpi_images dcpi_edges; do
	dump $table 1
done
sqlite3 "$work/cluster" "$shipped_query" | sort > "$work/got"
for host in $hosts; do
	truth "$work/$host.db"
done | sort > "$work/truth"
check "there are samples of three hosts" [ "$(awk -F'|' '$1 == "samples" { print $2 }' "$work/truth" |
	sort -u | wc -l)" -eq 3 ]
check "after $failures failures, the cluster has each sample, loss and edge once" \
	same_lines "$work/truth" "$work/got"
is "interrupts = samples + lost in each epoch" \
	"$(ask 1 'SELECT count(), sum(interrupts = samples + lost) FROM dcpi_accounts')" $'3\t3'
is "the cluster has all hosts" "$(ask 1 \
	'SELECT count(DISTINCT host) FROM dcpi_live_samples')" 3

# instructions OPTION...: print samples by instruction, without sums of the rows before. Only the host's
# database has the code of [vdso].
instructions()
{
	"$bin/dcpiprof" "$@" --csv --by instruction | sed 's/^\([0-9]*,[^,]*\),[^,]*/\1/' |
		grep -v ',\[vdso\],' | sort
}

# The reports have the same samples from the cluster as from the databases.
from=clickhouse://127.0.0.1:$(port 1 0)/dcpi
for host in $hosts; do
	instructions --db "$work/$host.db" > "$work/want"
	instructions --from "$from" --host "fleet-$host" > "$work/got"
	check "dcpiprof --from lists the instructions of host $host" same_lines "$work/want" "$work/got"
done
is "dcpiprof --from adds up all hosts" "$("$bin/dcpiprof" --from "$from" --json | jq "[.epochs[].interrupts] | add")" \
	"$(ask 1 'SELECT sum(interrupts) FROM dcpi_accounts')"
for metric in retries_total recounts_total; do
	echo "# dcpiship_$metric: $(for host in $hosts; do metric "$host" $metric; done | paste -sd ' ')"
done
tap_done
