#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Names, lines and code are found by build-id where the file is deleted, replaced or moved.
# Needs perf_event_open.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$(dirname "$0")/../lib/machine.sh"
export DCPI_SYMBOL_CACHE=off
db=$work/run.db
debug=$work/debug
src=$work/prog.c

cat > "$src" <<'C'
#include <stdlib.h>
__attribute__((noinline, noclone)) void FUNCTION(long n)
{
	for (volatile long i = 0; i < n; i++)
		;
}
int main(int argc, char **argv)
{
	FUNCTION(atol(argv[argc - 1]) * 1000000);
	return 0;
}
C

# build FUNCTION FILE [CFLAG...]: build the program with FUNCTION as its hot procedure
build()
{
	local function=$1 file=$2

	shift 2
	${CC:-gcc} -O1 -g -Wl,--build-id=sha1 "-DFUNCTION=$function" "$@" -o "$file" "$src" || exit 1
}

id_of()
{
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}

# debug_path FILE SUFFIX: print the path in $debug for the build-id of FILE; makes the folder
debug_path()
{
	local id

	id=$(id_of "$1")
	mkdir -p "$debug/.build-id/${id:0:2}"
	echo "$debug/.build-id/${id:0:2}/${id:2}$2"
}

# names [OPTION...]: print procedures of the program with at least a tenth of its samples, hottest
# first
names()
{
	"$bin/dcpiprof" --db "$db" -i 'prog*' --debug-dir "$debug" --csv "$@" |
		awk -F, 'NR > 1 && $2 > 10 { print $4 }' | paste -sd ' '
}

list()
{
	"$bin/dcpilist" --db "$db" -i 'prog*' --debug-dir "$debug" "$@" 2>&1
}

calc()
{
	"$bin/dcpicalc" --db "$db" -i 'prog*' --debug-dir "$debug" "$@" 2>&1
}

# sampled: profile $work/prog without a copy in an image store
sampled()
{
	rm -f "$db"*
	"$bin/dcpirun" -q --image-store none --db "$db" "$work/prog" 300 || exit 1
}

build other_work "$work/other"
for layout in default lld; do
	flags=()
	[ $layout = default ] || flags=(-fuse-ld=lld)
	build hot_work "$work/full" "${flags[@]}"
	rm -rf "$debug"
	strip -o "$work/prog" "$work/full"
	sampled
	is "$layout: without symbols there is no name" "$(names | grep -c hot_work)" 0
	objcopy --only-keep-debug "$work/full" "$(debug_path "$work/full" .debug)"
	is "$layout: a debug file names the procedure" "$(names)" hot_work
	rm "$work/prog"
	is "$layout: also when the program is deleted" "$(names)" hot_work
	like "$layout: the debug file has lines" "$(list hot_work)" '^ +[0-9]+ .* 4 .*for \(volatile'
	like "$layout: dcpicalc names the reason why it has nothing to analyse" "$(calc hot_work)" \
		"code of '$work/prog' is missing: only its debug file .* exists"
	like "$layout: so does a listing of instructions" "$(list --asm hot_work)" \
		"code of '$work/prog' is missing"
	cp "$work/other" "$work/prog"
	is "$layout: another build in its place gives no names" "$(names)" hot_work
	cp "$work/full" "$(debug_path "$work/full" "")"
	like "$layout: an executable by build-id has the code" "$(calc hot_work)" 'jl|jle|jg|jge'
	is "$layout: and the names" "$(names)" hot_work
done

# A debug link of the other build leads to symbols of the other build.
rm -rf "$debug" "$work/prog"
build hot_work "$work/full"
strip -o "$work/prog" "$work/full"
sampled
objcopy --only-keep-debug "$work/other" "$work/other.debug"
strip -o "$work/prog" "$work/other"
(cd "$work" && objcopy --add-gnu-debuglink=other.debug prog)
is "a debug link of another build gives no names" "$(names)" "<image changed>"
objcopy --only-keep-debug "$work/full" "$work/prog.debug"
is "a debug file next to the program does, by its build-id" "$(names)" hot_work
rm "$work/prog.debug"
mkdir "$work/.debug"
objcopy --only-keep-debug "$work/full" "$work/.debug/prog.debug"
is "so does one in .debug" "$(names)" hot_work
rm -r "$work/.debug"

# Sections that are compressed.
for format in zlib zlib-gnu zstd; do
	objcopy --only-keep-debug --compress-debug-sections=$format "$work/full" \
		"$(debug_path "$work/full" .debug)" 2> "$work/objcopy.err" || {
		skip "$format: lines of compressed sections" "objcopy: $(cat "$work/objcopy.err")"
		continue
	}
	like "$format: lines of compressed sections" "$(list hot_work)" '^ +[0-9]+ .* 4 .*for \(volatile'
done

# dcpirun keeps copies by default.
rm -rf "$debug" "$db"*
cp "$work/full" "$work/prog"
"$bin/dcpirun" -q --db "$db" "$work/prog" 300
build hot_work "$work/prog" -DREBUILT -O0
"$bin/dcpirun" -q --db "$db" "$work/prog" 300
is "a program that is built again: both builds have names" "$(names --epoch 1) $(names --epoch 2)" \
	"hot_work hot_work"
is "dcpidiff compares the procedure across both builds" "$("$bin/dcpidiff" --db "$db" -i 'prog*' \
	--csv 1 2 | awk -F, '/hot_work/ { print ($1 > 0) ($2 > 0) }')" 11
is "files of the distribution are not copied" "$(find "$db-images" -name '*.elf' | wc -l)" 2
if [ "$(uname -m)" = x86_64 ] && ! machine_runs_32bit; then
	not_measured "dcpidiff compares builds without a decoder by name" \
		"this kernel does not execute 32-bit programs"
elif [ "$(uname -m)" = x86_64 ]; then
	# Without a decoder, only names can be compared.
	rm -f "$db".narrow*
	cat > "$work/narrow.c" <<-C
		__attribute__((noipa)) void first(void) { for (volatile long i = 0; i < N; i++) ; }
		void _start(void)
		{
			first();
			__asm__ volatile("int \$0x80" : : "a"(1), "b"(0));
			for (;;) ;
		}
	C
	for n in 200000000 300000000; do
		${CC:-gcc} -m32 -O1 -nostdlib -static -fno-pie -no-pie -mno-sse -Wl,--build-id=sha1 -DN=$n \
			-o "$work/narrow" "$work/narrow.c" || exit 1
		"$bin/dcpirun" -q --db "$db.narrow" "$work/narrow"
	done
	is "dcpidiff compares builds without a decoder by name" "$("$bin/dcpidiff" --db "$db.narrow" \
		-i narrow --csv 1 2 | awk -F, '/first/ { print ($1 > 0) ($2 > 0) }')" 11
fi
rm -f "$work/prog"
like "deleted, the code is still known" "$(calc --epoch 1 hot_work)" 'jl|jle|jg|jge'

# Files that are deleted while they run.
cp "$work/full" "$work/prog"
cat > "$work/vanish.sh" <<-SH
	"$work/prog" 600 &
	sleep 0.2
	rm "$work/prog"
	wait
SH
rm -rf "$db"*
is "a program that is deleted while it runs is kept: no warning" \
	"$("$bin/dcpirun" -q --db "$db" sh "$work/vanish.sh" 2>&1) $(names)" " hot_work"
cp "$work/full" "$work/prog"
# Fewer samples than are needed for a copy while the program runs.
rm -rf "$db"*
"$bin/dcpirun" -q --event cpu-clock:10000000-11000000 --db "$db" "$work/prog" 300
rm "$work/prog"
is "a short run also keeps its program" "$(names)" hot_work
cp "$work/full" "$work/prog"
rm -rf "$db"*
like "if it is not kept, dcpirun says how many samples that concerns" "$("$bin/dcpirun" -q --db "$db" \
	--image-store "$work/nothing" sh "$work/vanish.sh" 2>&1)" \
	'^dcpirun: [0-9.]+% of the samples are in files that no longer exist'
tap_done
