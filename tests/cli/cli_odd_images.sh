#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# run: alone
#
# Images that lack something: section headers, symbols of Go, a decoder, or the format ELF.
# Reports show the names that exist, and give the reason and the share of all other samples.
# Needs perf_event_open.
#
#	DCPI_BUILD	where the build is (default: build)
set -u
# shellcheck source=tests/lib/daemon_cli.sh
. "$(dirname "$0")/../lib/daemon_cli.sh"
. "$(dirname "$0")/../lib/machine.sh"
export DCPI_SYMBOL_CACHE=off
db=$work/run.db
cc=${CC:-gcc}

cat > "$work/loop.h" <<'C'
#define LOOP(name) __attribute__((noinline, noclone)) void name(long n) \
	{ for (volatile long i = 0; i < n; i++) ; }
C

# run COMMAND...: profile it in a new database
run()
{
	rm -f "$db"*
	"$bin/dcpirun" -q --user --image-store none --db "$db" "$@" || exit 1
}

# share PROCEDURE...: print the percentage of samples in procedures of these names together
share()
{
	"$bin/dcpiprof" --db "$db" --csv | awk -F, -v names="$*" '
		BEGIN { count = split(names, list, "|"); for (i = 1; i <= count; i++) wanted[list[i]] = 1 }
		NR > 1 && $4 in wanted { sum += $2 }
		END { printf "%.0f\n", sum }'
}

# no_sections FILE: clear the fields of the ELF header that locate section headers
no_sections()
{
	printf '\0\0\0\0\0\0\0\0' | dd of="$1" bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of="$1" bs=1 seek=60 conv=notrunc status=none
}

# A program and a library without section headers.
cat > "$work/main.c" <<'C'
#include "loop.h"
LOOP(own_work)
void library_work(long n);
int main(void)
{
	own_work(300000000);
	library_work(300000000);
	return 0;
}
C
printf '#include "loop.h"\nLOOP(library_work)\n' > "$work/library.c"
for hash in gnu sysv; do
	$cc -O1 -shared -fPIC "-Wl,--hash-style=$hash" -o "$work/libwork.so" "$work/library.c" || exit 1
	$cc -O1 -o "$work/main" "$work/main.c" -L"$work" -lwork "-Wl,-rpath,$work" || exit 1
	own=$(nm "$work/main" | awk '$3 == "own_work" { sub("^0*", "", $1); print "proc_0x" $1 }')
	no_sections "$work/main"
	no_sections "$work/libwork.so"
	run "$work/main"
	is "without section headers, $hash hash: exported names" "$(($(share library_work) > 25))" 1
	is "without section headers, $hash hash: ranges of unwinding information" \
		"$(($(share "$own") > 25))" 1
	like "without section headers, $hash hash: the code can be analysed" \
		"$("$bin/dcpicalc" --db "$db" library_work 2>&1)" 'jl|jle|jg|jge'
done

# The table of functions of Go's runtime, in the format of Go 1.20.
cat > "$work/go.c" <<'C'
#include "loop.h"
__asm__(".section .go.buildinfo,\"aw\"\n"
	".quad 0\n"
	".section " TABLE "\n"
	"table: .long 0xfffffff1\n"
	".byte 0, 0, 1, 8\n"
	".quad 2, 0, go_text\n"
	".quad names - table, 0, 0, 0, functions - table\n"
	"names: .asciz \"main.spin\"\n"
	"name_fill: .asciz \"main.(*T[...]).Fill\"\n"
	".balign 8\n"
	"functions: .long spin - go_text, spin_info - functions\n"
	".long fill - go_text, fill_info - functions\n"
	".long fill_end - go_text\n"
	"spin_info: .long spin - go_text, 0\n"
	"fill_info: .long fill - go_text, name_fill - names\n"
	".text\n"
	"go_text:\n"
	"spin: mov $300000000, %eax\n"
	"1: dec %eax\n"
	"jnz 1b\n"
	"ret\n"
	".balign 32, 0xcc\n"
	"fill: mov $300000000, %eax\n"
	"1: dec %eax\n"
	"jnz 1b\n"
	"ret\n"
	"fill_end:\n");
int main(void)
{
	__asm__ volatile("call spin\n call fill" : : : "rax", "cc", "memory");
	return 0;
}
C
if [ "$(uname -m)" = x86_64 ]; then
	for kind in no-pie pie; do
		section='.gopclntab,\"a\"'
		[ $kind = no-pie ] || section='.data.rel.ro.gopclntab,\"aw\"'
		$cc -O1 -f$kind -$kind "-DTABLE=\"$section\"" -o "$work/go" "$work/go.c" || exit 1
		strip "$work/go"
		run "$work/go"
		is "Go's table, $kind: names" "$(($(share main.spin) > 25)) $(($(share 'main.(*T[...]).Fill') > 25))" "1 1"
		like "Go's table, $kind: padding is no part of a procedure" \
			"$("$bin/dcpicalc" --db "$db" main.spin 2>&1)" '4 instructions in 3 blocks'
	done
fi

# 32-bit x86: lines without a decoder, and the other program is analysed.
cat > "$work/narrow.c" <<'C'
__attribute__((noipa)) unsigned narrow_work(unsigned n)
{
	unsigned x = 1;
	for (unsigned i = 0; i < n; i++)
		x = x * 31 + i;
	return x;
}
void _start(void)
{
	narrow_work(1000000000);
	__asm__ volatile("int $0x80" : : "a"(1), "b"(0));
	for (;;)
		;
}
C
printf '#include "loop.h"\nLOOP(wide_work)\nint main(void) { wide_work(200000000); return 0; }\n' > "$work/wide.c"
$cc -O1 -g -o "$work/wide" "$work/wide.c" || exit 1
if [ "$(uname -m)" = x86_64 ] && ! machine_runs_32bit; then
	not_measured "32-bit x86" "this kernel does not execute 32-bit programs"
elif [ "$(uname -m)" = x86_64 ]; then
	$cc -m32 -O1 -g -nostdlib -static -fno-pie -no-pie -mno-sse -o "$work/narrow" "$work/narrow.c" || exit 1
	run sh -c "$work/narrow & $work/wide; wait"
	is "32-bit x86: it has names" "$(($(share narrow_work) > 25))" 1
	like "32-bit x86: lines are listed" "$("$bin/dcpilist" --db "$db" narrow_work 2>&1)" \
		'^ +[0-9]+ .*x = x \* 31 \+ i'
	for words in dcpicalc "dcpilist --asm" "dcpicfg -f dot"; do
		read -ra command <<< "$words"
		is "32-bit x86: $words names the reason and the share" "$("$bin/${command[0]}" --db "$db" \
			"${command[@]:1}" narrow_work 2>&1 | sed -E 's/\([0-9.]+% of the samples\)$/(SHARE)/')" \
			"${command[0]}: 'narrow_work' cannot be analysed: no instruction decoder for the code of '$work/narrow' (32-bit x86) (SHARE)"
		like "32-bit x86: $words suggests its names" "$("$bin/${command[0]}" --db "$db" \
			"${command[@]:1}" narrow_wor 2>&1)" "did you mean .*'narrow_work'"
	done
	like "32-bit x86: no instructions" "$("$bin/dcpilist" --db "$db" --asm narrow:narrow_work 2>&1)" \
		"no instruction decoder for the code of '$work/narrow' \(32-bit x86\)"
	for tool in dcpisumm dcpitopstalls "dcpicalc --all"; do
		name=${tool%% *}
		# shellcheck disable=SC2086 # a tool with an option
		"$bin/"$tool --db "$db" > "$work/out" 2> "$work/err"
		like "32-bit x86: $name does not fail" $? '^[01]$'
		is "32-bit x86: $name gives the reason and the share once" "$(grep -cE \
			"^$name: skipped: no instruction decoder .*narrow.*\([0-9.]+% of the samples\)$" \
			"$work/err")" 1
		# A loop without a stall is in no row of dcpitopstalls.
		[ "$name" = dcpitopstalls ] || like "32-bit x86: $name analyses the other program" \
			"$(cat "$work/out")" 'wide_work|/wide|^analysed +[1-9]'
	done
fi

# A mapped file that is not ELF: it contains only code.
cat > "$work/map.c" <<'C'
#include <fcntl.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDONLY);
	void (*code)(void) = (void (*)(void))mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	if ((void *)code == MAP_FAILED)
		return 1;
	code();
	return 0;
}
C
$cc -O1 -o "$work/map" "$work/map.c" || exit 1
if [ "$(uname -m)" = x86_64 ]; then
	# mov $500000000, %eax; 1: dec %eax; jnz 1b; ret
	printf '\xb8\x00\x65\xcd\x1d\xff\xc8\x75\xfc\xc3' > "$work/code.bin"
	run "$work/map" "$work/code.bin"
	is "a file that is not ELF is named so" "$(($(share '<image is not ELF>') > 80))" 1
	like "a file that is not ELF: its share" "$("$bin/dcpicalc" --db "$db" 2>&1)" \
		"skipped(: | a hotter procedure: )'$work/code.bin' is not an ELF file \([0-9.]+% of the samples\)"
fi
tap_done
