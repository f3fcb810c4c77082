#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Make small programs in every state of strippedness, for tests/unit_procedure_table.c:
# procedure_fixtures.sh DIRECTORY
set -eu
cd "$1"

cat > main.c << 'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int bare(int), after(int);
static __attribute__((noinline)) int hidden(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += i * n ^ sum;
	return sum;
}
__attribute__((noinline)) int visible(int n)
{
	return hidden(n) + 1;
}
int alias_of_visible(int n) __attribute__((alias("visible")));
int __visible(int n) __attribute__((weak, alias("visible")));
__attribute__((noinline)) int unlikely(int n)
{
	if (n > 1000000) {
		printf("%d is too many\n", n);
		abort();
	}
	return n * 3;
}
int main(int argc, char **argv)
{
	int length = argc > 1 ? (int)strlen(argv[1]) : 0;

	return unlikely(visible(argc)) + bare(length) + after(length) == 0;
}
END

# Symbols without sizes: "bare" has no unwinding information, "after" has. Also the part of a
# procedure that a compiler has split off.
cat > bare.s << 'END'
	.text
	.globl bare
	.p2align 4
bare:
	leal 1(%rdi), %eax
	ret
	.p2align 4
	.type outer, @function
outer:
	nop
	nop
inner:
	nop
	ret
	.size outer, . - outer
	.p2align 4
	.globl after
after:
	.cfi_startproc
	leal 2(%rdi), %eax
	ret
	.cfi_endproc
	.p2align 4
	.section .text.unlikely,"ax",@progbits
	.type unlikely.cold, @function
unlikely.cold:
	.cfi_startproc
	call abort@PLT
	.cfi_endproc
	.size unlikely.cold, . - unlikely.cold
	.section .note.GNU-stack,"",@progbits
END

cc=${CC:-gcc}
flags="-O2 -g -fno-lto -Wl,--build-id=sha1"
# shellcheck disable=SC2086
{
	$cc $flags -pie -fPIE -o pie main.c bare.s
	$cc $flags -no-pie -fno-pie -o exec main.c bare.s
	$cc $flags -static -o static main.c bare.s
	$cc $flags -pie -fPIE -fcf-protection=full -Wl,-z,ibtplt,-z,now -o ibt main.c bare.s
	$cc -O2 -g -Wl,--build-id=none -pie -fPIE -o anonymous main.c bare.s
}
# Without section headers: fields of the ELF header are zero.
for file in pie exec; do
	cp $file $file.sectionless
	printf '\0\0\0\0\0\0\0\0' | dd of=$file.sectionless bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of=$file.sectionless bs=1 seek=60 conv=notrunc status=none
done
for file in pie exec static ibt anonymous; do
	strip -o $file.stripped $file
done

# Separate debug files: by build-id, by link, and a link to the wrong file.
id=$(readelf -n pie | sed -n 's/.*Build ID: //p')
rest=${id#??}
mkdir -p "debug/.build-id/${id%"$rest"}" wrong linked
objcopy --only-keep-debug pie "debug/.build-id/${id%"$rest"}/$rest.debug"
objcopy --only-keep-debug anonymous linked/anonymous.debug
cp anonymous.stripped linked/anonymous
(cd linked && objcopy --add-gnu-debuglink=anonymous.debug anonymous)
cp linked/anonymous wrong/anonymous
objcopy --only-keep-debug exec wrong/anonymous.debug

# Mini-debuginfo: the symbols that dynsym lacks, compressed.
objcopy --only-keep-debug exec mini.debug
objcopy -S --remove-section .comment --keep-symbol=hidden --keep-symbol=visible \
	--keep-symbol=unlikely mini.debug mini.symbols
rm -f mini.symbols.xz
xz -k mini.symbols
objcopy --add-section .gnu_debugdata=mini.symbols.xz exec.stripped mini
