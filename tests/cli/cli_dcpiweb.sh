#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Test dcpiweb as users and attackers meet it: with curl, raw sockets and Chromium.
set -u
. "$(dirname "$0")/../lib/tool_cli.sh"
. tests/lib/pages.sh
. tests/lib/calc_db.sh

servers=()
trap 'kill "${servers[@]}" 2> /dev/null; rm -rf "$scratch"' EXIT
unset http_proxy https_proxy all_proxy

listens()
{
	grep -qs 'listening on' "$scratch/$1.log"
}

# serve_with PROGRAM NAME ARGUMENT...: start a server, and wait until it listens; sets $server, its
# process, and $url. It prints to $scratch/NAME.log
serve_with()
{
	"$1" "${@:3}" 2> "$scratch/$2.log" &
	server=$!
	servers+=("$server")
	eventually listens "$2" || not_ok "a server listens" "$(cat "$scratch/$2.log")"
	url=$(sed -n 's/.*listening on //p' "$scratch/$2.log")
}

# serve NAME ARGUMENT...: the same with the database NAME
serve()
{
	serve_with "$bin/dcpiweb" "$1" --listen 127.0.0.1:0 --db "$scratch/$1.db" "${@:2}"
}

# get PATH [ARGUMENT...]: print the body of an answer
get()
{
	curl -s --max-time "$(patience)" "${@:2}" "$url$1"
}

# status PATH [ARGUMENT...]: print the status of an answer
status()
{
	get "$1" -o /dev/null -w '%{http_code}' "${@:2}"
}

# results COMMAND...: report the tests of a program
results()
{
	local result name why

	while IFS='|' read -r result name why; do
		case $result in
		ok) ok "$name" ;;
		*) not_ok "$name" "$why" ;;
		esac
	done < <("$@" 2>&1)
}

check "databases are made" make_pages
umask 077
echo 'a-token-for-the-test-of-dcpiweb' > "$scratch/token"
umask 022
token=$(cat "$scratch/token")
before=$(stat -c '%n %i %s %y' "$scratch"/both.db "$scratch"/both.db-wal; md5sum "$scratch"/both.db "$scratch"/both.db-wal)

# The resources are the reports of the other programs.
serve both --request-timeout 1 --connections 8
list=$url list_port=${url##*:} list_port=${list_port%/}
db=(--db "$scratch/both.db")
is "procedures are dcpiprof's" "$(get api/procedures)" "$("$bin/dcpiprof" "${db[@]}" -n 100 --json)"
get "api/procedures?limit=2&sort=procedure&epoch=2&event=cpu-clock&image=list" > "$scratch/json"
is "so are their parameters" "$(cat "$scratch/json")" \
	"$("$bin/dcpiprof" "${db[@]}" -n 2 --sort procedure --epoch 2 -e cpu-clock -i list --json)"
check "procedures are as the schema has it" tests/lib/validate_json.py dcpiprof < "$scratch/json"
is "a procedure is dcpicalc's" "$(get 'api/procedure?name=walk')" \
	"$("$bin/dcpicalc" "${db[@]}" --json --evidence walk)"
get 'api/procedure?name=space::spin' > "$scratch/json"
check "a procedure is as its document has it" tests/lib/dcpicalc_schema.py "$scratch/json"

# The answer to "why" is short, its figures are those of other reports, and their intervals contain them.
intervals='[.how_much, .why] | map([.percent_low <= .percent, .percent <= .percent_high]) + [.[0] |
	[.cpi_low <= .cpi, .cpi <= .cpi_high // true]] + [.[1] | [.cycles_low <= .cycles, .cycles <= (.cycles_high // .cycles)]] |
	flatten | all'
for procedure in walk space::spin divide; do
	get "api/why?procedure=$procedure" > "$scratch/why"
	check "why $procedure: as the schema has it" tests/lib/validate_json.py dcpicalc_why < "$scratch/why"
	check "why $procedure: at most 4096 bytes" [ "$(wc -c < "$scratch/why")" -le 4096 ]
	is "why $procedure: the same as dcpicalc's" "$(cat "$scratch/why")" "$("$bin/dcpicalc" "${db[@]}" --why --json "$procedure")"
	is "why $procedure: intervals" "$(jq "$intervals" "$scratch/why")" true
	"$bin/dcpicalc" "${db[@]}" --summary --json "$procedure" > "$scratch/summary"
	is "why $procedure: CPI" "$(jq -c '.how_much | [.cpi, .best_cpi, .samples] | map(. * 100 | round)' "$scratch/why")" \
		"$(jq -c '.summary | [.actual_cpi, .best_cpi, .samples] | map(. * 100 | round)' "$scratch/summary" |
			jq -c --argjson why "$(jq -c '.how_much | [.cpi, .best_cpi, .samples] | map(. * 100 | round)' "$scratch/why")" \
				'[., $why] | transpose | map(if (.[0] - .[1] | fabs) <= .[0] / 1000 + 1 then .[1] else .[0] end)')"
done
is "why walk: its most expensive stall" "$(get 'api/why?procedure=walk' | jq -c '[.why.kind, .why.instruction.address]')" \
	'["dynamic_stall",4198408]'
like "why walk: what to measure next" "$(get 'api/why?procedure=walk' | jq -r '.measure_next[].how')" 'dcpix run'
tool_refused dcpicalc 2 'mutually exclusive' "$bin/dcpicalc" "${db[@]}" --why --all
get api/epochs > "$scratch/json"
check "epochs are as the schema has it" tests/lib/validate_json.py dcpiprof < "$scratch/json"
is "all epochs" "$(jq -c '[.rows[] | [.epoch, .label, .["cpu-clock"]]]' "$scratch/json")" \
	'[[1,"before",10175],[2,"after",12550]]'
get '' > "$scratch/served.html"
check "the page is intact" /usr/bin/python3 tests/cli/page/check_html.py "$scratch/served.html"
get metrics > "$scratch/metrics"
is "metrics have the counts" "$(grep -E '^dcpi_database_(samples|interrupts|epochs|accounts_exact) ' "$scratch/metrics" | sort)" \
	"$(printf 'dcpi_database_%s\n' 'accounts_exact 1' 'epochs 2' 'interrupts 22725' 'samples 22725')"
is "each metric has a type, once" "$(sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$scratch/metrics" | sort)" \
	"$(sed -n 's/^\([a-z_]*\)[ {].*/\1/p' "$scratch/metrics" | sort -u |
		cat - <(printf 'dcpi_database_lost\ndcpi_database_unknown_reasons\n') | sort -u)"
is "every line is a metric" "$(grep -vE '^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="([^"\\]|\\.)*"\})? [0-9.]+)$' "$scratch/metrics")" ""

# Faults have a status and a reason.
for fault in '404 api/nothing' '400 api/procedure' '400 api/procedures?name=walk' '422 api/procedure?name=nothing' \
	'422 api/epochs?epoch=9' '400 ?refresh=1' '404 favicon' '204 favicon.ico'; do
	is "status ${fault%% *}: ${fault#* }" "$(status "${fault#* }")" "${fault%% *}"
done
get 'api/procedure?name=wlak' > "$scratch/json"
like "an error suggests near names" "$(cat "$scratch/json")" '^\{"status":422,"error":"no procedure .wlak.*walk'
check "an error is as the schema has it" tests/lib/validate_json.py dcpiweb_error < "$scratch/json"
tag=$(get '' -D - -o /dev/null | sed -n 's/^ETag: \(.*\)\r$/\1/p')
like "a page has a tag" "$tag" '^"[0-9a-f]{32}"$'
is "a page that has not changed is not sent again" "$(status '' -H "If-None-Match: $tag")" 304
# A browser applies the headers of that answer to its copy of the page.
is "and keeps its policy" "$(get '' -D - -o /dev/null -H "If-None-Match: $tag" | grep -c "script-src 'sha256-")" 1
is "the policy of the page is that of the file" \
	"$(get '' -D - -o /dev/null | sed -n "s/^Content-Security-Policy: \(.*\); frame-ancestors 'none'\r$/\1/p")" \
	"$(sed -n 's/.*http-equiv="Content-Security-Policy" content="\([^"]*\)".*/\1/p' web/dist/page.html)"

results /usr/bin/python3 tests/cli/page/web_attacks.py "$list_port" "$(patience)" 8
is "the database was not changed" \
	"$(stat -c '%n %i %s %y' "$scratch"/both.db "$scratch"/both.db-wal; md5sum "$scratch"/both.db "$scratch"/both.db-wal)" "$before"

# long_db: print a database of a procedure whose name has 60,000 characters that JSON escapes
long_db()
{
	local offset

	head -c 60000 /dev/zero | tr '\0' '"' > "$scratch/name"
	gcc -O1 -g -fno-inline -Wl,--build-id=0x${hostile_id//3/4} -no-pie -o "$scratch/long" "$scratch/hostile.c" 2> /dev/null || return
	offset=$((0x$(nm "$scratch/long" | awk '$3 == "hot" { print $1 }') - 0x400000))
	objcopy --redefine-sym hot="$(cat "$scratch/name")" "$scratch/long"
	echo "event cpu-clock ns 195000 205000"
	echo "epoch Some CPU"
	echo "image file ${hostile_id//3/4} $scratch/long"
	printf 'sample 0 %d %d\n' $((offset + 9)) 500 $((offset + 12)) 900
	echo end
}
check "a database of a long name" make_db long < <(long_db)
"$bin/dcpicalc" --db "$scratch/long.db" --why --json > "$scratch/why"
check "why a long name: as the schema has it" tests/lib/validate_json.py dcpicalc_why < "$scratch/why"
check "why a long name: at most 4096 bytes" [ "$(wc -c < "$scratch/why")" -le 4096 ]

# Hostile names are text everywhere.
serve hostile
hostile=$url
get api/procedures > "$scratch/json"
check "hostile names are valid JSON" tests/lib/validate_json.py dcpiprof < "$scratch/json"
is "the type of data is that of data" "$(get api/procedures -o /dev/null -D - | grep -aciE \
	"^(content-type: application/json|x-content-type-options: nosniff|content-security-policy: default-src 'none'; frame-ancestors 'none'; sandbox)")" 3
like "an error with markup is JSON" "$(get "api/procedure?name=%3Cscript%3E%22%5C" -D - | tr -d '\r')" '^Content-Type: application/json$'
check "and valid" jq -e .error <(get "api/procedure?name=%3Cscript%3E%22%5C")
is "metrics of hostile names have one line each" "$(get metrics | grep -cvE '^(# |[a-z_]+(\{|  ?[0-9]))')" 0

# Tokens.
serve timed --token-file "$scratch/token" --host profiles.example
timed=$url
is "no token" "$(status api/epochs)" 401
like "the answer names both schemes" "$(get api/epochs -o /dev/null -D - | grep -i ^www- | paste -sd ' ')" 'Bearer .*Basic '
is "a wrong token" "$(status api/epochs -H "Authorization: Bearer ${token}x")" 401
is "the beginning of a token" "$(status api/epochs -H "Authorization: Bearer ${token%?}")" 401
is "an empty token" "$(status api/epochs -H 'Authorization: Bearer ')" 401
is "a token in the address" "$(status "api/epochs?token=$token")" 401
is "the token" "$(status api/epochs -H "Authorization: Bearer $token")" 200
is "the token as a password" "$(status api/epochs -u "any:$token")" 200
is "a wrong password" "$(status api/epochs -u "$token:any")" 401
is "a name of --host" "$(status api/epochs -u ":$token" -H 'Host: profiles.example')" 200
is "a range is that of dcpiprof" "$(get 'api/procedures?since=@1700001400&until=@1700002600' -u ":$token")" \
	"$("$bin/dcpiprof" --db "$scratch/timed.db" --since @1700001400 --until @1700002600 -n 100 --json)"
is "the token is in no command line, environment or message" "$(cat "/proc/$server/cmdline" "/proc/$server/environ" \
	"$scratch/timed.log" | grep -cF "$token")" 0
cp "$scratch/token" "$scratch/open"
chmod 644 "$scratch/open"
echo short > "$scratch/short"
chmod 600 "$scratch/short"
refused()
{
	tool_refused dcpiweb 2 "$1" "$bin/dcpiweb" --db "$scratch/both.db" "${@:2}"
}
refused 'open to other users' --token-file "$scratch/open"
refused 'no token of 16' --token-file "$scratch/short"
refused 'cannot open' --token-file "$scratch/nothing"
refused 'use --token-file' --listen 0.0.0.0:0
refused 'not a valid address' --listen example.org:80
refused 'mutually exclusive' --listen 127.0.0.1:0 --socket "$scratch/s"
refused 'needs --socket' --group root
refused 'is not a socket' --socket "$scratch/token"
refused 'cannot listen' --listen "127.0.0.1:$list_port"

# A user whose token is missing: other users' processes can connect, too.
if [ "$(id -u)" -eq 0 ]; then
	url=$list
	is "another user gets nothing" "$(setpriv --reuid=65534 --clear-groups curl -s -o /dev/null -w '%{http_code}' \
		"${list}api/epochs")" 403
else
	skip "another user gets nothing" "needs root"
fi

if grep -q ' lo$' /proc/net/if_inet6 2> /dev/null; then
	serve_with "$bin/dcpiweb" six --listen '[::1]:0' "${db[@]}"
	is "IPv6" "$(status api/epochs -g)" 200
else
	skip "IPv6" "the loopback interface has no address of IPv6"
fi

# Unix sockets.
serve_with "$bin/dcpiweb" socket --socket "$scratch/web.sock" "${db[@]}"
url=http://localhost/
is "a Unix socket" "$(status api/epochs --unix-socket "$scratch/web.sock")" 200
is "only for its user" "$(stat -c %a "$scratch/web.sock")" 600
is "names are checked there, too" "$(status api/epochs --unix-socket "$scratch/web.sock" -H 'Host: evil.example')" 403
refused 'another daemon listens' --socket "$scratch/web.sock"
kill "$server"
wait "$server"
is "it ends with success" $? 0
check "its name is gone" [ ! -e "$scratch/web.sock" ]

# A database that does not exist yet, and grows while it is served.
serve live
is "no database: the status" "$(status api/epochs)" 500
like "the reason" "$(get api/epochs)" 'cannot open .*live.db.: No such file'
like "metrics without a database" "$(get metrics)" '^dcpi_web_database_read 0$'
for i in 1 2 3 4; do
	{ echo "host growing$i" && list_db | sed -n '1,/^end/p'; } | make_db "part$i"
done
while [ ! -e "$scratch/grown" ]; do
	get api/epochs | jq -c 'select(.rows) | [.exact, (.rows | length)]'
done > "$scratch/seen" &
reader=$!
seen()
{
	[ "$(get api/epochs | jq '.rows | length')" = "$1" ]
}
# page_has N: succeed if the page has N epochs
page_has()
{
	[ "$(get "" | /usr/bin/python3 -c 'import base64, json, re, sys, zlib
data = re.search(r"id=\"data-main\">([^<]*)", sys.stdin.read())[1]
print(len(json.loads(zlib.decompress(base64.b64decode(data)))["procedures"]["epochs"]))')" = "$1" ]
}
for i in 1 2 3 4; do
	"$bin/dcpictl" --db "$scratch/live.db" merge "$scratch/part$i.db" > "$scratch/merge.log" 2>&1
	check "epoch $i is served" eventually seen "$i"
	check "the page has it" eventually page_has "$i"
done
touch "$scratch/grown"
wait "$reader"
is "a growing database is exact at any time" "$(grep -vcE '^\[true,[1-4]\]$' "$scratch/seen")" 0
check "and never shrinks" sort -c "$scratch/seen"

# Reports that are late, large or crash: programs that only look like reports.
mkdir "$scratch/bin"
cp "$bin/dcpiweb" "$scratch/bin"
cat > "$scratch/bin/dcpiprof" << END
#!/bin/bash
echo "\$*" >> "$scratch/started"
case "\$*" in
*=late*) sleep 100000 & sleep 100000 ;;
*=large*) head -c 40000000 /dev/zero ;;
*=crash*) kill -SEGV \$\$ ;;
*=words*) printf 'dcpiprof: warning: a\ndcpiprof: <b>\033\377\n' >&2; exit 2 ;;
*=none*) echo 'dcpiprof: nothing' >&2; exit 1 ;;
esac
until [ -e "$scratch/go" ]; do sleep 0.05; done
echo '{"made":1}'
END
printf '#!/bin/sh\necho other\n' > "$scratch/bin/dcpicalc"
chmod +x "$scratch/bin/"*
serve_with "$scratch/bin/dcpiweb" fake --listen 127.0.0.1:0 --timeout 1 "${db[@]}"
is "a late report: the status" "$(status 'api/procedures?host=late')" 504
is "nothing of it is left" "$(pgrep -f -- "$scratch/bin/dcpiprof" | wc -l)" 0
is "a large report" "$(status 'api/procedures?host=large')" 500
is "a report that crashes" "$(status 'api/procedures?host=crash')" 500
is "a report that finds nothing" "$(get 'api/procedures?host=none')" '{"status":404,"error":"nothing"}'
is "the last message, cleaned" "$(get 'api/procedures?host=words')" '{"status":422,"error":"<b>??"}'
kill "$server"
wait "$server"
serve_with "$scratch/bin/dcpiweb" fake --listen 127.0.0.1:0 --workers 2 "${db[@]}"
: > "$scratch/started"
started()
{
	[ "$(wc -l < "$scratch/started")" -eq "$1" ]
}
requests=()
for i in 1 1 1 2 3 4 5; do
	get "api/procedures?limit=$i" > "$scratch/answer.$i.${#requests[@]}" &
	requests+=($!)
done
eventually started 2
is "other requests are answered meanwhile" "$(status nothing)" 404
is "not more than two reports run" "$(wc -l < "$scratch/started")" 2
for ((i = 0; i < 40; i++)); do
	get "api/procedures?limit=1$i" -o /dev/null -w '%{http_code}\n' > "$scratch/full.$i" &
	requests+=($!)
done
refusals()
{
	[ "$(cat "$scratch"/full.* | grep -c 503)" -ge 11 ]
}
check "too many are refused" eventually refusals
touch "$scratch/go"
wait "${requests[@]}"
is "all requests get the report" "$(cat "$scratch"/answer.* | sort | uniq -c | tr -s ' ')" ' 7 {"made":1}'
is "equal requests share one" "$(grep -c -- '--limit=1$' "$scratch/started")" 1
is "the others got theirs" "$(cat "$scratch"/full.* | sort | uniq -c | awk '{ print $2 }' | paste -sd ' ')" '200 503'
# A database that changes while a report is made: the report is shared if it takes more than a second.
rm "$scratch/go"
runs()
{
	grep -q -- "--limit=$1\$" "$scratch/started"
}
older()
{
	[ "$(ps -o etimes= -p "$(pgrep -f -- "$scratch/bin/dcpiprof.*--limit=$1\$" | head -n 1)")" -ge 3 ]
}
cp "$scratch/both.db" "$scratch/changing.db"
kill "$server"
wait "$server"
serve_with "$scratch/bin/dcpiweb" fake --listen 127.0.0.1:0 --db "$scratch/changing.db"
requests=()
get 'api/procedures?limit=55' > "$scratch/answer" &
requests+=($!)
eventually runs 55
check "a report takes seconds" eventually older 55
touch "$scratch/changing.db"
get 'api/procedures?limit=55' > "$scratch/answer" &
requests+=($!)
both_wait()
{
	get metrics | grep -q '^dcpi_web_connections 3$'
}
check "another request waits" eventually both_wait
touch "$scratch/go"
wait "${requests[@]}"
is "a report that takes seconds is shared although the database has changed" \
	"$(grep -c -- '--limit=55$' "$scratch/started")" 1
# The time of the last change is in the past.
sleep 0.2
get 'api/procedures?limit=56' > "$scratch/answer"
get 'api/procedures?limit=56' > "$scratch/answer"
is "a report is used again" "$(grep -c -- '--limit=56$' "$scratch/started")" 1
touch "$scratch/changing.db"
made_again()
{
	get 'api/procedures?limit=56' > "$scratch/answer"
	[ "$(grep -c -- '--limit=56$' "$scratch/started")" = 2 ]
}
check "but not after the database has changed" eventually made_again

rm "$scratch/go"
get 'api/procedures?limit=77' > "$scratch/answer" &
request=$!
last()
{
	grep -q -- --limit=77 "$scratch/started"
}
eventually last
kill "$server"
wait "$server"
is "it ends while a report runs" $? 0
wait "$request"
is "and the report with it" "$(pgrep -f -- "$scratch/bin/dcpiprof" | wc -l)" 0

if command -v chromium > /dev/null && command -v chromedriver > /dev/null; then
	serve live --live 1
	grow="n=\$((\$(cat '$scratch/grown') + 1)); echo \$n > '$scratch/grown'
		'$bin/dcpictl' --db '$scratch/live.db' merge '$scratch/part'\$n.db"
	echo 4 > "$scratch/grown"
	for i in 5 6 7; do
		{ echo "host growing$i" && list_db | sed -n '1,/^end/p'; } | make_db "part$i"
	done
	results /usr/bin/python3 tests/cli/page/web_browser.py "$list" "$hostile" "$timed" "$token" "$url" "$grow" \
		"$server" "$(patience)"
else
	skip "the page in a browser" "no chromium, or no chromedriver"
fi
[ "$tap_count" -gt 190 ] || not_ok "the test ran to its end" "$tap_count tests"
tap_done
