#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Rewritten programs behave like the originals, and count exactly.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

dcpix=$PWD/build/bin/dcpix
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
make --no-print-directory -s count-plugin || exit 2
export DCPIX_OUT=$scratch/counts XDG_CACHE_HOME=$scratch/cache
mkdir "$scratch/bin"

# rewrite NAME FILE: rewrite the file as $scratch/bin/NAME
rewrite()
{
	"$dcpix" -q -o "$scratch/bin/$1" "$2"
}

# same LABEL OLD NEW ARGUMENT...: test that output and exit status are the same
same()
{
	local label=$1 old=$2 new=$3 want got

	shift 3
	want=$("$old" "$@" 2>&1 < /dev/null | md5sum; echo "${PIPESTATUS[0]}")
	got=$(cd "$scratch" && exec -a "$old" "$new" "$@" 2>&1 < /dev/null | md5sum; echo "${PIPESTATUS[0]}")
	is "$label" "$got" "$want"
}

# counted PROCEDURE PROGRAM: print the calls of it in all files, and remove these
counted()
{
	"$dcpix" --csv counts "$2" "$scratch"/counts.* 2> /dev/null | c++filt | awk -F, -v name="\"$1\"" \
		'$4 == name { sum += $2 } END { print sum + 0 }'
	rm -f "$scratch"/counts.*
}

build()
{
	${CC:-gcc} -g -pthread "$@" tests/fixtures/programs/ways.c -o "$scratch/ways" &&
		rewrite ways "$scratch/ways"
}

ways()
{
	check "ways $*: it is rewritten" build "$@"
	for way in "threads 7" "fork 5" "jump 1000" "goto 1000" "switch 5000" "signal 100" own; do
		# shellcheck disable=SC2086 # words
		same "ways $*: $way" "$scratch/ways" "$scratch/bin/ways" $way
	done
	rm -f "$scratch"/counts.*
	"$scratch/bin/ways" threads 8 > /dev/null
	is "ways $*: threads lose nothing" "$(counted called "$scratch/bin/ways")" 1000000
	"$scratch/bin/ways" fork 5 > /dev/null
	is "ways $*: a file for each process" "$(find "$scratch" -name 'counts.*' | wc -l)" 6
	is "ways $*: children count" "$(counted called "$scratch/bin/ways")" 5
	"$scratch/bin/ways" jump 1000 > /dev/null
	is "ways $*: calls that never come back" "$(counted deep "$scratch/bin/ways")" 4000
}

ways -O2
ways -O0
ways -O3 -fPIE -pie
ways -O2 -no-pie -fno-pie
ways -O2 -static

# If the program is killed at any time, no counts are lost.
"$scratch/bin/ways" forever & forever=$!
eventually cpu_used $forever 40
kill -9 $forever
wait $forever 2> /dev/null
check "nothing is lost by kill -9" [ "$(counted called "$scratch/bin/ways")" -gt 100000 ]

# Daemons overwrite the memory of DCPIX_OUT, and change their folder: their children still write
# their counts to the same place.
${CC:-gcc} -O2 tests/fixtures/programs/renamed.c -o "$scratch/renamed" && rewrite renamed "$scratch/renamed"
(cd "$scratch" && DCPIX_OUT=counts "$scratch/bin/renamed" 5)
is "renamed: runs" $? 0
is "renamed: a file for each process" "$(find "$scratch" -name 'counts.*' | wc -l)" 6
is "renamed: children count" "$(counted called "$scratch/bin/renamed")" 5

# A program with more rights than its user's counts only if that was allowed explicitly, and the
# user does not choose the place.
if [ "$(id -u)" = 0 ]; then
	"$dcpix" -q -o "$scratch/secure" --profile "$scratch/secure.counts" "$scratch/renamed"
	chmod 711 "$scratch" && chmod 4755 "$scratch/secure"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$scratch/secure" 2
	is "setuid: DCPIX_OUT is not looked at" "$(find "$scratch" -name 'counts.*' | wc -l)" 0
	is "setuid: no counts" "$(find "$scratch" -name 'secure.counts.*' | wc -l)" 0
	"$dcpix" -q -o "$scratch/secure" --allow-setuid --profile "$scratch/secure.counts" \
		"$scratch/renamed"
	chmod 4755 "$scratch/secure"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$scratch/secure" 2
	is "setuid: DCPIX_OUT is never looked at" "$(find "$scratch" -name 'counts.*' | wc -l)" 0
	is "setuid: counts if allowed" "$(find "$scratch" -name 'secure.counts.*' | wc -l)" 3
	chmod 700 "$scratch"
else
	skip "setuid: DCPIX_OUT is not looked at" "not root"
fi

for flags in "-O2" "-O2 -static"; do
	# shellcheck disable=SC2086 # words
	check "throws $flags: it is rewritten" sh -c "g++ -pthread $flags tests/fixtures/programs/throws.cc \
		-o '$scratch/throws' && '$dcpix' -q -o '$scratch/bin/throws' '$scratch/throws'"
	same "throws $flags: exceptions" "$scratch/throws" "$scratch/bin/throws"
	rm -f "$scratch"/counts.*
	"$scratch/bin/throws" > /dev/null
	is "throws $flags: procedures that catch them count" \
		"$(counted "middle(int)" "$scratch/bin/throws")" 5
done

# Programs of Debian, stripped.
head -c 1000000 "$(command -v perl)" > "$scratch/in"
cat docs/*.md > "$scratch/text"
real()
{
	local name=$1 old

	old=$(readlink -f "$(command -v "$1")") || { not_ok "$1" "not here"; return; }
	shift
	check "$name: it is rewritten" rewrite "$name" "$old"
	same "$name: $*" "$old" "$scratch/bin/$name" "$@"
}
real gzip -9c "$scratch/in"
real xz -3c "$scratch/in"
real zstd -q -c "$scratch/in"
real bzip2 -c "$scratch/in"
real sort "$scratch/text"
real sed -E 's/([a-z]+) ([a-z]+)/\2 \1/g' "$scratch/text"
real grep -cE '(in|on|at)[a-z]+ing' "$scratch/text"
# shellcheck disable=SC2016 # awk's
real mawk '{ n += NF; for (i = 1; i <= NF; i++) c[$i]++ } END { print n, c["the"] }' "$scratch/text"
# shellcheck disable=SC2016 # perl's
real perl -ne 'while (/(\w+)/g) { $c{$1}++ } END { print "$_ $c{$_}\n" for sort keys %c;
	eval { die "x" }; print $@; }' "$scratch/text"
real sqlite3 :memory: "with recursive c(x) as (select 1 union all select x + 1 from c
	where x < 30000) select sum(x * x % 97), count(distinct x % 13) from c"

# Blocks and edges equal an emulator's; more programs: make check-dcpix-counts.
. tests/lib/dcpix_exact.sh
exact gzip 99 "$(command -v gzip)" -9c "$scratch/text"
exact sort 99.9 "$(command -v sort)" --parallel=1 "$scratch/text"
exact mawk 99 "$(command -v mawk)" '{ n += NF } END { print n }' "$scratch/text"
# Assembly code, with overlapping instructions.
${CC:-gcc} -O2 tests/fixtures/programs/odd.c tests/fixtures/programs/odd_code.S -o "$scratch/odd" \
	-Wl,--no-warn-rwx-segments
exact "odd code" 50 "$scratch/odd"
# A small program, so that PLT stubs matter; the loader's work in a stub with IBT is not counted.
for how in "99.9 -Wl,-z,lazy" "99.9 -Wl,-z,now" "99.5 -fcf-protection=full -Wl,-z,ibtplt,-z,lazy"; do
	# shellcheck disable=SC2086 # words
	${CC:-gcc} -O2 -pthread ${how#* } tests/fixtures/programs/ways.c -o "$scratch/stubs"
	exact "stubs ${how#* }" "${how%% *}" "$scratch/stubs" switch 300
done

# The database has the same counts as the listings, under the original's build-id.
rm -f "$scratch"/counts.*
for _ in 1 2 3; do
	"$scratch/bin/sort" "$scratch/text" > /dev/null
done
stored()
{
	sqlite3 "$scratch/counts.db" "SELECT sum(total) FROM execution WHERE kind = $1"
}
got=$("$dcpix" --db "$scratch/counts.db" counts "$scratch/bin/sort" "$scratch"/counts.[0-9]*)
like "counts --db: says where they are" "$got" \
	"^counts of 3 processes of .*/sort: epoch 1 of $scratch/counts.db$"
number=0
for kind in block edge; do
	want=$("$dcpix" --by $kind --csv counts "$scratch/bin/sort" "$scratch"/counts.[0-9]* |
		awk -F, 'NR > 1 { sum += $NF } END { printf "%d\n", sum }')
	is "counts --db: all that was counted, by $kind" "$(stored $number)" "$want"
	number=1
done
is "counts --db: the image is the original" \
	"$(sqlite3 "$scratch/counts.db" "SELECT lower(hex(identity)) FROM image")" \
	"$(readelf -n "$(command -v sort)" | awk '/Build ID/ { print $3 }')"
is "counts --db: what was watched, in three processes" \
	"$(sqlite3 "$scratch/counts.db" "SELECT total = 3 * ranges FROM execution WHERE kind = 2")" 1
got=$("$dcpix" run --db "$scratch/counts.db" sort "$scratch/text" 2>&1 > /dev/null)
like "run --db: adds an epoch" "$got" "counts of 1 process of .*: epoch 2 of"
is "dcpiprof: counts are no samples" \
	"$(build/bin/dcpiprof --db "$scratch/counts.db" 2>&1)" "dcpiprof: no samples"
rm -f "$scratch"/counts.*

# refused: errors are reported in one line.
refused()
{
	refuses "$1" "^dcpix: $2" "$dcpix" "${@:3}"
}
refused "no program" "no program"
refused "a shell script" ".*is not an ELF file" tests/lib/tap.sh
refused "not there" "cannot open '/nonexistent'" /nonexistent
refused "nowhere to write" "cannot write '/nonexistent/x'" -o /nonexistent/x "$(command -v gzip)"
refused "not rewritten" ".*was not rewritten" counts "$(command -v gzip)" /dev/null
refused "no profile" ".*is not a profile" counts "$scratch/bin/gzip" "$scratch/text"
"$scratch/bin/sort" /dev/null
for file in "$scratch"/counts.*; do
	refused "another program's" ".*is of another program" counts "$scratch/bin/gzip" "$file"
	break
done
rm -f "$scratch"/counts.*
for bytes in 0 10 64 300 5000 20000; do
	head -c $bytes "$(command -v gzip)" > "$scratch/cut"
	refused "a program cut at $bytes" "" -o "$scratch/cut.new" "$scratch/cut"
done

got=$("$dcpix" run -n 3 -- gzip -c "$scratch/text" 2>&1 > /dev/null)
is "run: ends as the program does" $? 0
like "run: tells what was rewritten" "$got" "of [0-9.]+ KiB of code"
like "run: and what was executed" "$got" "instructions +% +calls  procedure"
kept()
{
	(cd "$scratch/cache/dcpi/programs" && stat -c '%n %i' -- * 2> /dev/null | grep -v text)
}
cp "$(readlink -f "$(command -v gzip)")" "$scratch/mine"
"$dcpix" -q run "$scratch/mine" -c "$scratch/text" > /dev/null 2>&1
before=$(kept)
again=$("$dcpix" -n 3 run "$scratch/mine" -c "$scratch/text" 2>&1 > /dev/null)
is "run: rewritten once" "$(kept)" "$before"
is "run: tells the same the second time" "$(head -n 1 <<< "$again")" "$(head -n 1 <<< "$got")"
touch "$scratch/mine"
"$dcpix" -q run "$scratch/mine" -c "$scratch/text" > /dev/null 2>&1
is "run: another program is rewritten" "$(kept | wc -l)" $(($(wc -l <<< "$before") + 1))
before=$(kept)
chmod go+w "$scratch"/cache/dcpi/programs/*
"$dcpix" -q run "$scratch/mine" -c "$scratch/text" > /dev/null 2>&1
check "run: what others could write is not run" [ "$(kept)" != "$before" ]
before=$(kept)
DCPIX_CACHE=off "$dcpix" -q run sort "$scratch/text" > /dev/null 2>&1
is "run: nothing is kept if nobody wants it" "$(kept)" "$before"
DCPIX_OUT='' "$dcpix" -q --db /nonexistent/db run sort "$scratch/text" > /dev/null 2> "$scratch/err"
is "run: without a database" $? 2
like "run: counts are left where they are" "$(tail -n 1 "$scratch/err")" "the recording of .* is in '/tmp/dcpix\."
rm -rf "$(sed -n 's/.* is in '\(.*\)'$/\1/p' "$scratch/err")"
got=$("$dcpix" run -q sh -c 'exit 7' 2> /dev/null)
is "run: the program's exit status" $? 7
for mode in paths context bursts; do
	got=$("$dcpix" run --mode $mode -- "$scratch/mine" -c "$scratch/text" 2>&1 > "$scratch/new")
	is "run --mode $mode: ends as the program does" $? 0
	like "run --mode $mode: its report" "$got" "gzip|proc_0x"
	is "run --mode $mode: the program does the same" \
		"$(gzip -c "$scratch/text" | cmp - "$scratch/new" 2>&1)" ""
done
(ulimit -f 300 && "$dcpix" -q run --mode paths -- "$scratch/mine" -c "$scratch/text" \
	> /dev/null 2> "$scratch/err")
is "run: without room for a file" $? 1
like "run: and that is told" "$(cat "$scratch/err")" \
	"^dcpix: the program recorded nothing: it could not create a file in '/tmp/dcpix\.[^/]*'$"
mkdir "$scratch/apart" && cp "$dcpix" "$scratch/apart" && echo '#!/nonexistent' > "$scratch/apart/dcpipaths"
chmod +x "$scratch/apart/dcpipaths"
"$scratch/apart/dcpix" -q run --mode paths -- "$scratch/mine" -c "$scratch/text" \
	> /dev/null 2> "$scratch/err"
is "run: without a program that reports" $? 2
like "run: what was recorded is left where it is" "$(tail -n 1 "$scratch/err")" \
	"the recording of .* is in '/tmp/dcpix\."
rm -rf "$(sed -n 's/.* is in '\(.*\)'$/\1/p' "$scratch/err")"
refused "run without a program" "run needs a program" run -q --
refused "run what is not there" "cannot find" run /nonexistent
tap_done
