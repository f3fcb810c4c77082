#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of Debian (debian_programs.txt), rewritten in all modes: their output, exit status, and the
# files that they change are the same, or dcpix refuses them with a reason. Programs that are not
# installed, scripts, and programs whose original has another output the second time are skipped, and
# counted. JOBS (2) run at a time.
#
#	tests/long/dcpix_debian.sh [PROGRAM...]	only these
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

jobs=${JOBS:-2}
dcpix=$PWD/build/bin/dcpix
list=$PWD/tests/long/debian_programs.txt
chosen=" $* "
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
modes=(counts paths "paths --metric cycles --checks 5 --burst 3" calls context "context-paths --sites"
	"bursts --checks 5 --burst 3" "variation --checks 7")

# Files for the programs.
# shellcheck disable=SC2016 # of other languages
{
	mkdir -p "$work/files/tree/one/two"
	cp docs/overview.md "$work/files/text"
	head -c 20000 /bin/bash > "$work/files/bytes"
	seq 1 3 300 | awk '{ print $1, $1 * 7 % 31 }' > "$work/files/table"
	cp tests/fixtures/programs/switches.c "$work/files/program.c"
	cp "$work/files/table" "$work/files/tree/one/two/first"
	cp "$work/files/text" "$work/files/tree/file"
	echo text > "$work/files/list"
	echo 'puts [lsort {c b a}]; puts [expr 3 ** 9]; foreach x {1 2 3} { puts [string repeat $x 3] }' \
		> "$work/files/script.tcl"
	echo 'scale = 20; for (i = 0; i < 9; i++) { i / 7 ^ 2 }; a(1) * 4; quit' > "$work/files/script.bc"
	printf 'define(`f'"'"', `ifelse($1, 0, 1, `eval($1 * f(decr($1)))'"''"')f(7) X\n' > "$work/files/script.m4"
	printf 'all: a b\n\t@echo $@ $(sort z y x)\na b:\n\t@echo $@\n' > "$work/files/script.mk"
	echo '{"a": [1, 2.5, 3]}' > "$work/files/data.json"
	echo '<a><b c="d">e</b><f/></a>' > "$work/files/data.xml"
	printf 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "a"\nmsgstr "b"\n' \
		> "$work/files/data.po"
	printf '$set 1\n1 hello\n2 world\n' > "$work/files/script.msg"
	printf '1,3p\ng/the/s//THE/p\nq\n' > "$work/files/commands"
	printf '.Dd today\n.Dt PAGE 1\n.Os\n.Sh NAME\n.Nm page\n.Nd a page\n' > "$work/files/page.1"
	printf '%%%%\ns: s '"'"'a'"'"' | ;\n%%%%\n' > "$work/files/grammar.y"
	printf '%%%%\n[a-z]+ ECHO;\n. ;\n%%%%\n' > "$work/files/lexer.l"
	printf '%%%%\nfirst\nsecond\nthird\n' > "$work/files/words.gperf"
	printf 'echo $a\n' > "$work/files/script.sh"
	printf '(declare-const x Int)(assert (= (* x 7) 91))(check-sat)(get-value (x))\n' \
		> "$work/files/script.smt2"
}
infocmp xterm > "$work/files/xterm.ti"
${CC:-gcc} -O2 -w -c -o "$work/files/object.o" "$work/files/program.c"
${CC:-gcc} -O2 -w -S -o "$work/files/program.s" "$work/files/program.c"

# output FOLDER PROGRAM FILE ARGUMENTS: print a digest of all that a run does
output()
{
	rm -rf "$1/run"
	cp -a "$work/files" "$1/run"
	(
		cd "$1/run" || exit
		ulimit -c 0
		export DCPIX_OUT=$1/counts LC_ALL=C.UTF-8 TMPDIR=$1/run HOME=$1/run
		eval "exec timeout 100 bash -c 'exec -a \"\$0\" \"\$@\"' '$2' '$3' $4" < text \
			> ../printed 2> ../errors
	) 2> /dev/null
	echo "$?" >> "$1/printed"
	(cd "$1/run" && find . -type f -print0 | sort -z | xargs -0 md5sum) >> "$1/printed"
	cat "$1/printed" "$1/errors" | md5sum
	rm -f "$1"/counts.*
}

# try FOLDER LINE: print "same", "skipped: WHY", "refused: WHY" or the faults
try()
{
	local name=${2%% *} arguments="" old want again why mode

	[ "$name" = "$2" ] || arguments=${2#* }
	old=$(PATH=/usr/bin:/bin:/usr/sbin:/sbin type -P "$name") ||
		{ echo "skipped: not installed" && return; }
	old=$(readlink -f "$old")
	[ "$(head -c 4 "$old" | tail -c 3)" = ELF ] || { echo "skipped: a script" && return; }
	want=$(output "$1" "$old" "$old" "$arguments")
	again=$(output "$1" "$old" "$old" "$arguments")
	[ "$want" = "$again" ] || { echo "skipped: its output changes" && return; }
	for mode in "${modes[@]}"; do
		# shellcheck disable=SC2086 # words
		why=$("$dcpix" -q --mode $mode -o "$1/new" "$old" 2>&1) ||
			{ echo "refused: ${why##*: }" && return; }
		again=$(output "$1" "$old" "$1/new" "$arguments")
		[ "$again" = "$want" ] || echo "$mode: $(head -n 3 "$1/errors" | tr '\n' ' ')"
	done
	echo same
}

grep -v '^#' "$list" > "$work/list"
for ((job = 0; job < jobs; job++)); do
	mkdir "$work/$job"
	awk -v job=$job -v jobs="$jobs" 'NR % jobs == job' "$work/list" | while IFS= read -r line; do
		[ "$chosen" = "  " ] || [[ "$chosen" == *" ${line%% *} "* ]] || continue
		try "$work/$job" "$line" > "$work/$job.tried" < /dev/null
		if grep -q '^skipped\|^refused' "$work/$job.tried" ||
			[ "$(cat "$work/$job.tried")" = same ]; then
			printf '%s\t%s\n' "$line" "$(cat "$work/$job.tried")"
		else
			printf '%s\twrong: %s\n' "$line" "$(grep -v '^same$' "$work/$job.tried" |
				tr '\n' ';')"
		fi
	done > "$work/$job.results" &
done
wait
cat "$work"/*.results > "$work/results"
while IFS=$'\t' read -r line result; do
	case $result in
	wrong:*) not_ok "$line" "${result#wrong: }" ;;
	*) echo "# ${line%% *}: $result" ;;
	esac
done < "$work/results"
awk -F '\t' '{ sub(/:.*/, "", $2); count[$2]++; split($1, words, " ")
	if ($2 == "same") programs[words[1]] } END {
	for (p in programs) n++
	printf "# %d runs are the same (%d programs), %d refused, %d wrong, %d skipped\n",
		count["same"], n, count["refused"], count["wrong"], count["skipped"] }' "$work/results"
is "all programs do the same or are refused" "$(grep -c "	wrong: " "$work/results")" 0
tap_done
