#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Make the programs that tests/cli_dcpicalc.sh examines: calc_fixtures.sh DIRECTORY. They are
# written in assembly, so that no compiler changes them; their build-ids are fixed.
set -eu
cd "$1"

# The copy loop of the DCPI paper's Figure 2, at the paper's address.
cat > copy.s << 'END'
	.set noat
	.set noreorder
	.text
	.globl copy
	.type copy, @function
copy:
	lda $1, 1($31)
loop:
	ldq $5, 0($2)
	addq $1, 4, $1
	ldq $6, 8($2)
	ldq $7, 16($2)
	ldq $16, 24($2)
	lda $2, 32($2)
	stq $5, 0($3)
	cmpult $1, $0, $5
	stq $6, 8($3)
	stq $7, 16($3)
	stq $16, 24($3)
	lda $3, 32($3)
	bne $5, loop
	ret
	.size copy, . - copy
END
alpha-linux-gnu-as -o copy.o copy.s
alpha-linux-gnu-ld --build-id=0x00112233445566778899aabbccddeeff00112233 -Ttext=0x980c -e copy \
	-o copy copy.o

# A list that is traversed, two procedures of one name, one with a part far away, one that is never
# sampled, one of C++; the source lines are those of the assembly.
cat > list.s << 'END'
	.text
	.globl walk
	.type walk, @function
walk:
	.cfi_startproc
	xorl %eax, %eax
.Lnext:
	movq (%rdi), %rdi
	addl $1, %eax
	testq %rdi, %rdi
	jne .Lnext
	call helper
	ret
	.cfi_endproc
	.size walk, . - walk

	.type helper, @function
helper:
	.cfi_startproc
	cmpl $7, %eax
	je helper.cold
	ret
	.cfi_endproc
	.size helper, . - helper

	.globl unused
	.type unused, @function
unused:
	.cfi_startproc
	ret
	.cfi_endproc
	.size unused, . - unused

	.globl _ZN5space4spinEi
	.type _ZN5space4spinEi, @function
_ZN5space4spinEi:
	.cfi_startproc
.Lspin:
	subl $1, %edi
	jne .Lspin
	ret
	.cfi_endproc
	.size _ZN5space4spinEi, . - _ZN5space4spinEi

	.section .text.unlikely, "ax", @progbits
	.type helper.cold, @function
helper.cold:
	.cfi_startproc
	xorl %eax, %eax
	ret
	.cfi_endproc
	.size helper.cold, . - helper.cold
	.section .note.GNU-stack, "", @progbits
END
cat > twin.s << 'END'
	.text
	.type helper, @function
helper:
	imull %eax, %eax
	ret
	.size helper, . - helper
	.section .note.GNU-stack, "", @progbits
END
as -g -o list.o list.s
as -o twin.o twin.s
ld --build-id=0x0102030405060708090a0b0c0d0e0f1011121314 -Ttext=0x401000 -e walk --eh-frame-hdr \
	-o list list.o twin.o
strip -o list.stripped list

# A loop that takes as long as its chain of dependent results: a division, a multiplication, a sum.
cat > chain.s << 'END'
	.text
	.globl divide
	.type divide, @function
divide:
	xorl %edx, %edx
	divq %rcx
	imulq %rsi, %rax
	addq %rcx, %rax
	subq $1, %rcx
	jne divide
	ret
	.size divide, . - divide

	.type spin.constprop.0, @function
spin.constprop.0:
	subl $1, %edi
	jne spin.constprop.0
	ret
	.size spin.constprop.0, . - spin.constprop.0
	.section .note.GNU-stack, "", @progbits
END
as -o chain.o chain.s
ld --build-id=0x0a0b0c0d0e0f101112131415161718191a1b1c1d -Ttext=0x401000 -e divide -o chain chain.o
