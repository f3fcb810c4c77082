#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: parallel
#
# Code that is easily misinterpreted is left unchanged, and files that cannot be rewritten are
# refused: no program changes its behaviour.
set -u
cd "$(dirname "$0")/../.." || exit 2
. tests/lib/tap.sh

top=$PWD
dcpix=$top/build/bin/dcpix
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
export DCPIX_OUT=$scratch/counts
old=$scratch/odd
new=$scratch/odd.new

build()
{
	# The linker warns about the segment, which this program needs.
	${CC:-gcc} "$@" tests/fixtures/programs/odd.c tests/fixtures/programs/odd_code.S -o "$old" -Wl,--no-warn-rwx-segments
}

# same LABEL [ARGUMENT]: test that both print the same
same()
{
	local label=$1 want

	shift
	want=$("$old" "$@" 2>&1; echo $?)
	is "$label" "$(within "$new" "$@" 2>&1; echo $?)" "$want"
	like "$label: it worked before" "$want" '^18 16 .*22280'
}

# in_all_modes LABEL WANT: test the output of $old, rewritten in each mode
in_all_modes()
{
	local mode

	for mode in counts paths "paths --metric cycles --checks 0" context calls bursts \
		"variation --checks 5"; do
		# shellcheck disable=SC2086 # words
		check "$1: it is rewritten: $mode" "$dcpix" -q --mode $mode -o "$new" "$old"
		is "$1: $mode" "$(within "$new" 2>&1; echo $?)" "$2
0"
		is "$1: no profile seems to be larger than 100 MiB: $mode" \
			"$(find "$scratch" -name 'counts.*' -size +100M)" ""
		rm -f "$scratch"/counts.*
	done
}

# Invert the bytes of section "packed".
pack()
{
	perl -e 'open(F, "+<:raw", $ARGV[0]) && seek(F, hex($ARGV[1]), 0) && read(F, $b, hex($ARGV[2]))
		or die; seek(F, hex($ARGV[1]), 0); print F ~$b' "$old" \
		"$(readelf -SW "$old" | awk '/ packed /{ sub(/.*\] /, ""); print $4 }')" \
		"$(readelf -SW "$old" | awk '/ packed /{ sub(/.*\] /, ""); print $5 }')"
}

# Remove section headers, and all data after the segments, as packers do.
hide_sections()
{
	local end last=0 from bytes

	while read -r from bytes; do
		end=$((from + bytes))
		last=$((end > last ? end : last))
	done < <(readelf -lW "$old" | awk '/^  [A-Z]/ && $2 ~ /^0x/ { print $2, $5 }')
	perl -e 'open(F, "+<:raw", $ARGV[0]) && seek(F, 40, 0) && print(F "\0" x 8) && seek(F, 60, 0)
		&& print(F "\0" x 4) && $ARGV[1] > 0 && truncate(F, $ARGV[1]) or die' "$old" $last
}

# Without symbols, assembly code that jumps into other assembly code cannot be distinguished from
# it.
${CC:-gcc} -O2 -static -s -pthread tests/fixtures/programs/ways.c -o "$scratch/ways"
check "a static program without symbols: it is rewritten" \
	"$dcpix" -q -o "$scratch/ways.new" "$scratch/ways"
for way in "threads 7" "fork 3" "switch 500" "signal 10"; do
	# shellcheck disable=SC2086 # words
	is "a static program without symbols: $way" \
		"$(within "$scratch/ways.new" $way 2>&1; echo $?)" "$("$scratch/ways" $way 2>&1; echo $?)"
done

for flags in "-O2" "-O0 -no-pie" "-O2 -static"; do
	# shellcheck disable=SC2086 # words
	build $flags
	report=$("$dcpix" -o "$new" "$old")
	like "odd $flags: code that can be written is left alone" "$report" "code that may be modified"
	# shellcheck disable=SC2016 # the inner shell's
	check "odd $flags: jumps into instructions are not" sh -c '! "$1" -v -o "$2" "$3" 2>&1 |
		grep -E " (middle|locked): "' sh "$dcpix" "$new" "$old"
	like "odd $flags: so is what asks where it is, or jumps into others" "$report" \
		"jumps into it from other procedures|a call of the next instruction"
	same "odd $flags"
	pack
	check "packed $flags: it is rewritten" "$dcpix" -q -o "$new" "$old"
	same "packed $flags" packed
	strip "$old"
	check "stripped $flags: it is rewritten" "$dcpix" -q -o "$new" "$old"
	same "stripped $flags" packed
	hide_sections
	check "no section headers $flags: it worked before" "$old" packed
	refuses "no section headers $flags" "^dcpix: '.*' has no section headers$" \
		"$dcpix" -o "$new" "$old"
done

# Procedures with register conventions other than the ABI's. With -pg each calls mcount(), which
# keeps all registers; linked without it, since dcpix refuses programs with gprof's counters.
for flags in "-O2" "-O3 -no-pie -fno-pie" "-O1 -s" "-O2 -static" "-O2 -pg"; do
	# shellcheck disable=SC2086 # words
	${CC:-gcc} $flags -c tests/fixtures/programs/conventions.c -o "$scratch/conventions.o"
	# shellcheck disable=SC2086 # words
	${CC:-gcc} ${flags/-pg/} "$scratch/conventions.o" tests/fixtures/programs/conventions_code.S -o "$old"
	want=$(cd "$scratch" && "$old" 2>&1; echo $?)
	for options in counts paths "paths --metric cycles" "paths --metric cycles --checks 3 --burst 2" "context --metric none" "calls" \
		"calls --metric instructions" "bursts --checks 3 --burst 2" "variation --checks 5"; do
		# shellcheck disable=SC2086 # words
		check "conventions $flags: it is rewritten: $options" "$dcpix" -q --mode $options -o "$new" "$old"
		is "conventions $flags: $options" "$(cd "$scratch" && "$new" 2>&1; echo $?)" "$want"
	done
done
rm -f "$scratch"/counts.*

# Pointers into the middle of procedures.
for flags in "-O2 -no-pie -fno-pie" "-O0 -no-pie -fno-pie" "-O2" "-O2 -static" "-O3 -no-pie -fno-pie -s"; do
	# shellcheck disable=SC2086 # words
	${CC:-gcc} $flags tests/fixtures/programs/computed.c -o "$old"
	check "computed gotos $flags: it is rewritten" "$dcpix" -q -o "$new" "$old"
	is "computed gotos $flags" "$("$new" 2>&1; echo $?)" "516 56 49 56 49 15 316 9
0"
done

# Tables without a length, followed by others: no jump through the first one leads to a place of the
# others.
for flags in "-O2 -fcf-protection=full" "-O3 -march=x86-64-v3" "-O2 --coverage" "-O2 -no-pie -fno-pie"; do
	# shellcheck disable=SC2086 # words
	(cd "$scratch" && ${CC:-gcc} $flags "$top/tests/fixtures/programs/adjacent_tables.c" -o "$old")
	in_all_modes "tables that adjoin $flags" "16777212 27170797781156"
done
rm -f "$scratch"/counts.*

# Zeroed data take no space in the new file.
cat > "$scratch/zeroed.c" <<'C'
#include <stdio.h>
static char zeroed[500000000];
int main(int argc, char **argv)
{
	(void)argv;
	zeroed[argc * 1000] = 1;
	printf("%d\n", zeroed[1000]);
	return 0;
}
C
${CC:-gcc} -O2 "$scratch/zeroed.c" -o "$old"
check "zeroed data: it is rewritten" "$dcpix" -q -o "$new" "$old"
is "zeroed data" "$("$new")" 1
check "zeroed data take no room ($(du -k "$new" | cut -f 1) KiB)" \
	[ "$(du -k "$new" | cut -f 1)" -lt 1024 ]
rm -f "$scratch"/counts.*

refuses "what dcpix has made" "odd.new. cannot be rewritten: dcpix has rewritten it already" \
	"$dcpix" -q -o "$scratch/again" "$new"

# An undefined weak symbol of a runtime that dcpix refuses.
cat > "$scratch/weak.c" <<'C'
extern void __morestack(void) __attribute__((weak));
int main(void)
{
	return __morestack != 0;
}
C
${CC:-gcc} -O2 "$scratch/weak.c" -o "$old"
check "a runtime that is only asked for: it is rewritten" "$dcpix" -q -o "$new" "$old"
check "a runtime that is only asked for" "$new"
rm -f "$scratch"/counts.*

# musl compares the program counter of a cancelled thread with its own code.
cat > "$scratch/cancel.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static int ends[2];
static volatile int reads;
static void *reader(void *unused)
{
	char byte;

	reads = 1;
	(void)!read(ends[0], &byte, 1);
	return unused;
}
int main(void)
{
	pthread_t thread;
	void *result = NULL;

	if (pipe(ends) < 0 || pthread_create(&thread, NULL, reader, NULL) != 0)
		return 2;
	while (!reads)
		usleep(1000);
	usleep(100000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	printf("cancelled %d\n", result == PTHREAD_CANCELED);
	return 0;
}
C
for flags in "-static" "-static -s"; do
	# shellcheck disable=SC2086 # words
	musl-gcc -O2 $flags "$scratch/cancel.c" -o "$old"
	in_all_modes "a thread of musl's $flags is cancelled" "cancelled 1"
done
rm -f "$scratch"/counts.*

# A rewritten program may be stripped. llvm-strip refuses static programs, rewritten or not.
# try_strips LABEL COMMAND...: strip $new in all ways, and run the command
try_strips()
{
	local label=$1 want strip option

	shift
	want=$("$@" 2>&1; echo $?)
	cp "$new" "$scratch/unstripped"
	for strip in strip llvm-strip; do
		command -v $strip > "$scratch/null" || continue
		for option in --strip-all --strip-debug --strip-unneeded; do
			$strip $option -o "$new" "$scratch/unstripped" 2> "$scratch/errors" || continue
			is "$label: $strip $option gives no warning" "$(cat "$scratch/errors")" ""
			rm -f "$scratch"/counts.*
			is "$label: $strip $option" "$(within "$@" 2>&1; echo $?)" "$want"
			check "$label: $strip $option: counts are read" \
				"$dcpix" counts "$new" "$scratch"/counts.*
		done
	done
}

${CXX:-g++} -O2 -pthread tests/fixtures/programs/throws.cc -o "$old"
check "stripped: it is rewritten" "$dcpix" -q -o "$new" "$old"
try_strips "stripped" "$new"
${CC:-gcc} -O2 -pthread -static tests/fixtures/programs/ways.c -o "$old"
check "stripped, static: it is rewritten" "$dcpix" -q -o "$new" "$old"
try_strips "stripped, static" "$new" threads 3
rm -f "$scratch"/counts.*

# Programs that drop their rights after their start.
for flags in "-O2" "-O2 -static"; do
	# shellcheck disable=SC2086 # words
	${CC:-gcc} -pthread $flags tests/fixtures/programs/confined.c -o "$old"
	for mode in counts paths calls; do
		check "confined $flags: it is rewritten: $mode" "$dcpix" -q --mode $mode -o "$new" "$old"
		# Threads that share their memory interfere only sometimes, so this is repeated.
		for way in calls memory memory memory memory memory; do
			is "confined $flags: $way, $mode" "$(within "$new" $way 2>&1; echo $?)" \
				"$("$old" $way 2>&1; echo $?)"
		done
	done
done
rm -f "$scratch"/counts.*

# full SIZE: run the new program on a disk of that size, and list the files there
full()
{
	# shellcheck disable=SC2016 # the inner shell's
	unshare -rm sh -c 'mount -t tmpfs -o size=$2 none "$1" && cd "$1" &&
		DCPIX_OUT=$1/counts "$0" threads 3; echo $?; ls' "$new" "$scratch/disk" "$1" 2>&1
}
mkdir "$scratch/disk"
${CC:-gcc} -O2 -pthread tests/fixtures/programs/ways.c -o "$old"
for mode in counts paths calls bursts; do
	if ! unshare -rm mount -t tmpfs none "$scratch/disk" 2> /dev/null; then
		skip "a full disk" "no disk of our own"
		break
	fi
	"$dcpix" -q --mode $mode -o "$new" "$old"
	is "a full disk: $mode" "$(full 4k)" "$("$old" threads 3; echo $?)"
done
"$dcpix" -q -o "$new" "$old"
like "a disk that is full when threads come" "$(full 8k)" "^$("$old" threads 3)
0
counts\\.[0-9]*\$"

# Thread-local data are moved together with the loader's relocations of them.
for flags in "-O2" "-O2 -no-pie -fno-pie" "-O2 -static" "-O2 -static-pie" "-O2 -static-pie -s"; do
	# shellcheck disable=SC2086 # words
	${CC:-gcc} -pthread $flags tests/fixtures/programs/thread_local.c -o "$old"
	check "thread-local data $flags: it is rewritten" "$dcpix" -q -o "$new" "$old"
	is "thread-local data $flags" "$(within "$new" 2>&1; echo $?)" "0 3 7 3 15 3 1
0 3 8 3 15 3 1
0"
done

for flags in "" "-no-pie -fno-pie" "-static"; do
	# shellcheck disable=SC2086 # words
	${CC:-gcc} -O2 $flags tests/fixtures/programs/early.c -o "$old"
	in_all_modes "a function that the loader chooses $flags" 500
done
${CC:-gcc} -O2 tests/fixtures/programs/early.c -o "$old"
"$dcpix" -q -o "$new" "$old"
"$new" > /dev/null
is "what ran before there were threads is counted" \
	"$("$dcpix" counts "$new" "$scratch"/counts.* | awk '$4 == "chosen" || $4 == "one" { print $4, $3 }')" \
	"chosen 1
one 100"
rm -f "$scratch"/counts.*
for compiler in "${CC:-gcc} -O2" "${CC:-gcc} -O0" "clang -O2"; do
	$compiler tests/fixtures/programs/breakpoints.c -o "$old"
	in_all_modes "it goes on behind what stops it, $compiler" "6 4 135 512
21"
done
g++ -O2 tests/fixtures/programs/kept.cc -o "$old"
in_all_modes "registers that exceptions give back" 29038868

# refused LABEL WANT ARGUMENT...: test that dcpix refuses
refused()
{
	refuses "$1" "^dcpix: $2" "$dcpix" "${@:3}"
}

# Code without space nearby: data are farther away than a jump reaches.
echo 'int away __attribute__((section("far"))) = 1; int main(void) { return !away; }' > "$scratch/far.c"
${CC:-gcc} -mcmodel=large -fno-pie -no-pie -Wl,--section-start=far=0x200000000 "$scratch/far.c" \
	-o "$scratch/far"
check "no room near the image: the program itself runs" "$scratch/far"
refused "no room near the image" ".* needs more than 2 GiB" -o "$new" "$scratch/far"
echo 'int main(void) { int n; __asm__("movl %%gs:0, %0" : "=r"(n)); return n; }' |
	${CC:-gcc} -O2 -x c - -o "$old"
refused "a program that uses %gs" ".* it uses %gs" -o "$new" "$old"
echo 'int main(void) { int n; __asm__("xorl %%esi, %%esi; lodsb %%gs:(%%rsi)" : "=a"(n) : : "rsi"); return n; }' |
	${CC:-gcc} -O2 -x c - -o "$old"
refused "a program that uses %gs with an opcode of one byte" ".* it uses %gs" -o "$new" "$old"
cat > "$scratch/sets_gs.c" <<'C'
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
int arch_prctl(int code, unsigned long address);
static unsigned long area[512];
int main(void)
{
	unsigned long address = (unsigned long)area;
#if defined(BY_SYSCALL)
	return (int)syscall(SYS_arch_prctl, 0x1001, address);
#elif defined(BY_LIBRARY)
	return arch_prctl(0x1001, address);
#elif defined(BY_SELECTOR)
	__asm__ volatile("movw %w0, %%gs" : : "r"(0));
	return address == 0;
#else
	_writegsbase_u64(address);
	return 0;
#endif
}
C
for how in BY_SYSCALL BY_LIBRARY BY_SELECTOR BY_INSTRUCTION; do
	${CC:-gcc} -O2 -mfsgsbase -D$how "$scratch/sets_gs.c" -o "$old"
	refused "a program that changes %gs, $how" ".* it uses %gs" -o "$new" "$old"
done
for flags in "" -static; do
	# shellcheck disable=SC2086 # words
	echo 'int main(void) { return 0; }' | ${CC:-gcc} -pg $flags -x c - -o "$old"
	refused "a program with gprof's counters$flags" ".* gprof's profile" -o "$new" "$old"
done
echo 'int main(void) { return 0; } int _ZN2v88internal4NameEv(void) { return 1; }' |
	${CC:-gcc} -x c - -o "$old"
refused "a program with V8" ".* V8 copies its code" -o "$new" "$old"
build -O2
cp "$old" "$scratch/payload"
echo "an archive" >> "$scratch/payload"
refused "a program with an archive behind it" ".* has data after its sections" -o "$new" "$scratch/payload"
check "a limit of the size of files: it is rewritten" "$dcpix" -q -o "$new" "$old"
is "a limit of the size of files" \
	"$( (ulimit -f 1 && exec "$new") 2>&1 | md5sum; echo "${PIPESTATUS[0]}")" \
	"$("$old" 2>&1 | md5sum; echo "${PIPESTATUS[0]}")"
for flags in "-fsplit-stack -fuse-ld=gold" "-fsanitize=thread"; do
	# shellcheck disable=SC2086 # words
	${CC:-gcc} -O2 $flags -x c - -o "$old" <<< 'int main(int argc, char **argv) { return argv[argc] != 0; }'
	refused "a runtime that minds, $flags" ".* cannot be rewritten: " -o "$new" "$old"
done
build -O2
mkfifo "$scratch/pipe"
"$dcpix" -q --profile "$scratch/counts" -o "$new" "$old"
within "$dcpix" -q --profile "$scratch/counts" -o "$scratch/pipe" "$old" &
is "a pipe is written to, and not replaced" "$(within md5sum "$scratch/pipe" | cut -d " " -f 1; stat -c %F "$scratch/pipe")" \
	"$(md5sum "$new" | cut -d " " -f 1; echo fifo)"
wait
refused "an output that is a folder" "cannot write" -o "$scratch" "$old"
refused "an output that cannot be made" "cannot write" -o /proc/odd.new "$old"
is "nothing is left behind" "$(find "$scratch" -name '*.??????')" ""
tap_done
