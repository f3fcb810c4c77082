/* SPDX-License-Identifier: GPL-2.0-only */
/* Code by hand that a rewriter may take for what it is not; odd.c calls it. */
	.macro	PROCEDURE name
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.macro	END name
	.size	\name, . - \name
	.endm

	.text
/* Symbols that overlap: all that the second one has is the first one's too. */
	PROCEDURE outer
	lea	1(%rdi), %rdi
	PROCEDURE inner
	lea	(%rdi,%rdi), %rax
	ret
	END	inner
	END	outer

/* Data in text, jumped over: they look like a call, and are read. */
	PROCEDURE constant
	mov	1f(%rip), %rax
	add	%rdi, %rax
	jmp	2f
1:	.quad	0x0f05e8ff74000001
2:	ret
	END	constant

/* Data behind code that look like branches to its middle. */
	PROCEDURE behind
	lea	1f(%rip), %rcx
	and	$7, %edi
	movzbl	(%rcx,%rdi), %eax
	ret
1:	.byte	0xe9, 0xf0, 0xff, 0xff, 0xff, 0x74, 0xee, 0x0f
	END	behind

/* Where am I? */
	PROCEDURE place
	call	1f
1:	pop	%rax
	lea	1b(%rip), %rcx
	sub	%rcx, %rax
	add	%rdi, %rax
	ret
	END	place

/* A jump to a place that is computed: pieces of code of eight bytes. */
	PROCEDURE pieces
	and	$3, %edi
	lea	1f(%rip), %rax
	lea	(%rax,%rdi,8), %rax
	jmp	*%rax
	.p2align 3
1:	mov	$10, %eax
	ret
	.p2align 3
	mov	$21, %eax
	ret
	.p2align 3
	mov	$32, %eax
	ret
	.p2align 3
	mov	$43, %eax
	ret
	END	pieces

/* Into an instruction: its constant is a ret. */
	PROCEDURE middle
	mov	$7, %eax
	test	%rdi, %rdi
	je	1f + 1
1:	mov	$0x010101c3, %eax
	ret
	END	middle

/* Past a prefix, as the C library does where there is one thread only. */
	PROCEDURE locked
	mov	%rdi, -8(%rsp)
	mov	$3, %eax
	test	$1, %dil
	je	1f
	.byte	0xf0
1:	xaddq	%rax, -8(%rsp)
	add	-8(%rsp), %rax
	ret
	END	locked

/* Too short for a jump, right before the next one; branches that have no long form. */
	PROCEDURE tiny
	ret
	END	tiny
	PROCEDURE counted
	mov	%rdi, %rcx
	xor	%eax, %eax
	jrcxz	2f
1:	add	%ecx, %eax
	loop	1b
2:	ret
	END	counted

/* Packed: its bytes are inverted in the file by who made it, and again as it begins. */
	.section packed, "awx", @progbits
	PROCEDURE unpacked
	xor	%eax, %eax
	test	%rdi, %rdi
	jle	2f
1:	lea	(%rax,%rax,2), %rax
	xor	%rdi, %rax
	sub	$1, %rdi
	jne	1b
2:	ret
	END	unpacked

	.section .note.GNU-stack, "", @progbits
