#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# debuginfod servers that work, and servers that fail in every way. Needs perf_event_open.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
export DCPI_SYMBOL_CACHE=off DEBUGINFOD_CACHE_PATH=$work/cache
unset DEBUGINFOD_TIMEOUT DCPI_DEBUGINFOD_SECONDS
db=$work/run.db
cc=${CC:-gcc}
files=$work/files

# A program with stripped libraries; the folder of the servers has everything that was stripped.
cat > "$work/library.c" <<'C'
static __attribute__((noinline, noclone)) void WORK(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}
void CALL(void) { WORK(40000000); }
C
libraries='1 2 3 4 5 6'
all=6
calls=
for i in $libraries; do
	$cc -O1 -g -shared -fPIC -Wl,--build-id=sha1 "-DWORK=hidden_$i" "-DCALL=call_$i" \
		-o "$work/libwork$i.so" "$work/library.c" || exit 1
	id=$(readelf -n "$work/libwork$i.so" | sed -n 's/.*Build ID: //p')
	mkdir -p "$files/$id"
	cp "$work/libwork$i.so" "$files/$id/executable"
	objcopy --only-keep-debug "$work/libwork$i.so" "$files/$id/debuginfo"
	strip "$work/libwork$i.so"
	calls="$calls call_$i();"
done
# shellcheck disable=SC2086,SC2046 # words
{
	printf 'void call_%s(void);\n' $libraries
	echo "int main(void) {$calls return 0; }"
} > "$work/main.c"
# shellcheck disable=SC2086,SC2046 # words
$cc -o "$work/main" "$work/main.c" -L"$work" $(printf -- '-lwork%s ' $libraries) "-Wl,-rpath,$work" || exit 1
for _ in 1 2; do
	"$bin/dcpirun" -q --user --image-store none --db "$db" "$work/main" || exit 1
done
cp "$db" "$work/copy.db"

# serve MODE: start a server and set $url, $log
serve()
{
	log=$work/log.$1
	: > "$log"
	python3 "$top/tests/lib/debuginfod_server.py" "$1" "$files" "$log" 2> "$work/server.err" &
	pids+=($!)
	until [ -s "$log" ]; do
		kill -0 $! || { cat "$work/server.err"; exit 1; }
		sleep 0.05
	done
	url=http://127.0.0.1:$(head -n 1 "$log")
}

# ask URLS: print how many hidden procedures have names; messages are in $work/err
ask()
{
	DEBUGINFOD_URLS=$1 timeout 120 "$bin/dcpiprof" --debuginfod --db "$db" -i 'libwork*' --csv \
		2> "$work/err" | grep -c hidden_
}

incomplete()
{
	find "$work/cache" -type f 2> /dev/null | grep -vE '/(executable|debuginfo)$'
	find "$work/cache" -type f 2> /dev/null | while read -r file; do
		cmp -s "$file" "$files/$(basename "$(dirname "$file")")/${file##*/}" || echo "$file"
	done
}

serve works
good=$url
is "a server that works: all names" "$(ask "$good")" $all
is "a server that works: no message" "$(cat "$work/err")" ""
is "a server that works: whole files in the cache" "$(incomplete)" ""
requests=$(wc -l < "$log")
is "the cache answers the next report" "$(ask "$good") $(wc -l < "$log")" "$all $requests"
rm -rf "$work/cache"
for i in $libraries; do
	mv "$work/libwork$i.so" "$work/gone$i.so"
done
is "images that are gone: all names" "$(ask "$good")" $all
like "images that are gone: the code is from the server" "$(DEBUGINFOD_URLS=$good "$bin/dcpicalc" \
	--debuginfod --db "$db" -i 'libwork*' 2>&1)" 'jl|jle|jg|jge'
for i in $libraries; do
	mv "$work/gone$i.so" "$work/libwork$i.so"
done

# With each kind of failure there are no names and one message, the server is not asked again, and
# no incomplete file is kept. With a server that works, its files are kept.
for mode in silent stalls drips closes truncated garbage other error; do
	rm -rf "$work/cache"
	serve $mode
	seconds=60
	case $mode in silent | stalls | drips) seconds=2 ;; esac
	is "$mode: no names" "$(DCPI_DEBUGINFOD_SECONDS=$seconds ask "$url")" 0
	is "$mode: one message" "$(wc -l < "$work/err")" 1
	like "$mode: the message names the server, or the time" "$(cat "$work/err")" \
		"^dcpiprof: debuginfod server '$url' failed: .*not used again$|servers after 2 s"
	# On a busy machine the server notes the attempt later.
	for _ in {1..100}; do
		[ "$(wc -l < "$log")" -lt 2 ] || break
		sleep 0.1
	done
	is "$mode: one attempt" "$(($(wc -l < "$log") - 1))" 1
	is "$mode: nothing incomplete is kept" "$(incomplete)" ""
	is "$mode: a server after it is asked" "$(DCPI_DEBUGINFOD_SECONDS=60 ask "$url $good")" $all
	rm -rf "$work/cache"
	is "$mode: a server before it is asked" "$(ask "$good $url")" $all
done

rm -rf "$work/cache"
serve huge
is "a file that is too large: no names" "$(ask "$url")" 0
like "a file that is too large: a message has the build-id and the server" "$(cat "$work/err")" \
	"^dcpiprof: the file of build-id [0-9a-f]{40} from debuginfod server '$url' is not used: it is larger"
is "a file that is too large: one message" "$(wc -l < "$work/err")" 1
is "a file that is too large: nothing is kept" "$(incomplete)" ""
is "a file that is too large: the next server is asked" "$(ask "$url $good")" $all

attempts()
{
	[ "$(wc -l < "$silent_log")" -eq "$1" ]
}

# Every tool that looks up several images asks for all of them at once.
#
# names TOOL ARGUMENT...: print how many hidden procedures have names; messages are in $work/err
names()
{
	local tool=$1

	shift
	rm -rf "$work/cache"
	DEBUGINFOD_URLS=$url timeout 120 "$bin/$tool" --debuginfod -i 'libwork*' "$@" \
		2> "$work/err" | grep -o 'hidden_[0-9]' | sort -u | grep -c .
}

serve silent
silent=$url silent_log=$log
while IFS=: read -r tool arguments; do
	arguments=${arguments//DB/$db}
	arguments=${arguments//COPY/$work/copy.db}
	serve "together:$((all - 1))"
	# shellcheck disable=SC2086 # words
	is "$tool $arguments: files are asked for at once" \
		"$(DCPI_DEBUGINFOD_SECONDS=60 DEBUGINFOD_TIMEOUT=60 names "$tool" $arguments)" "$all"
	is "$tool: each file is asked for once" "$(tail -n +2 "$log" | sort | uniq -d)" ""
	url=$silent
	before=$(wc -l < "$silent_log")
	# shellcheck disable=SC2086 # words
	is "$tool, a silent server: no names" "$(DCPI_DEBUGINFOD_SECONDS=2 names "$tool" $arguments)" 0
	is "$tool, a silent server: one message" "$(grep -c debuginfod "$work/err")" 1
	like "$tool, a silent server: the message counts the files" "$(cat "$work/err")" \
		'servers after 2 s, without ([6-9]|[1-9][0-9]+) of \1 files'
	check "$tool, a silent server: one attempt" eventually attempts "$((before + 1))"
done << TOOLS
dcpiprof:--db DB
dcpidiff:--db DB --level 1 --min 0 1 2
dcpidiff:--level 1 --min 0 DB@1 COPY@2
dcpistats:--db DB
dcpistats:DB@1 COPY@2
dcpisumm:--db DB --by procedure --min-samples 1
dcpitop:--db DB --batch --no-flush --by procedure -n 1 --rows 100
TOOLS

rm -rf "$work/cache"
serve missing
is "files that a server does not have: no message" "$(ask "$url")$(cat "$work/err")" 0
is "files that a server does not have: each is asked for once" \
	"$(tail -n +2 "$log" | sort | uniq -d)" ""
is "files that a server does not have: the next one is asked" "$(ask "$url $good")" $all
rm -rf "$work/cache"
is "a port without server: the next one is asked" "$(ask "http://127.0.0.1:1 $good")" $all
like "a port without server: a message" "$(cat "$work/err")" "127.0.0.1:1' failed"
rm -rf "$work/cache"
is "a name that does not resolve: the next one is asked" "$(ask "http://no.such.host.invalid $good")" $all
rm -rf "$work/cache"
is "no server is named: a message" "$(ask '') $(cat "$work/err")" \
	"0 dcpiprof: debuginfod servers are not used: DEBUGINFOD_URLS is not set"
is "without the option no server is asked" "$(: > "$log"; DEBUGINFOD_URLS=$url "$bin/dcpiprof" --db "$db" \
	> /dev/null 2>&1; cat "$log")" ""
tap_done
