/* SPDX-License-Identifier: GPL-2.0-only */
/* Procedures that agree on registers among themselves, as the ABI has it not; conventions.c calls them. */
	.macro	LOCAL name
	.type	\name, @function
\name:
	.endm
	.macro	PROCEDURE name
	.globl	\name
	LOCAL	\name
	.endm
	.macro	END name
	.size	\name, . - \name
	.endm

	.text
/* Changes nothing but %rax; its caller keeps all else. */
	LOCAL	leaf
	lea	(%rdi,%rsi), %rax
	xor	%r9, %rax
	ret
	END	leaf

	PROCEDURE keeps
	mov	%rdi, %r10
	lea	3(%rsi), %r11
	lea	5(%rdi), %r9
	call	leaf
	add	%r10, %rax
	add	%r11, %rax
	add	%r9, %rax
	add	%rdi, %rax
	sub	%rsi, %rax
	ret
	END	keeps

/* Results in %r10 and %r11, of which nobody here makes use. */
	LOCAL	two_results
	lea	(%rdi,%rdi), %r10
	mov	%rsi, %r11
	cmp	$7, %rdi
	jb	1f
	mov	%rdi, %r11
1:	ret
	END	two_results

	PROCEDURE results
	call	two_results
	mov	%r10, %rax
	sub	%r11, %rax
	ret
	END	results

/* What is left behind is of use, too: where it has come to, and how it was counted. */
	LOCAL	advance
	xor	%eax, %eax
1:	movzbl	(%rdi), %r9d
	test	%r9d, %r9d
	jz	2f
	imul	$31, %rax
	add	%r9, %rax
	inc	%rdi
	dec	%r10
	jnz	1b
2:	ret
	END	advance

	PROCEDURE hash_twice
	push	%rbx
	mov	$3, %r10d
	call	advance
	mov	%rax, %rbx
	mov	$1000, %r10d
	call	advance
	lea	(%rax,%rbx,2), %rax
	add	%r10, %rax
	add	%r9, %rax
	pop	%rbx
	ret
	END	hash_twice

/* Calls the world, and has all as it was: pushed, or kept in memory. */
	LOCAL	told
	push	%rdi
	push	%rsi
	push	%r9
	push	%r10
	sub	$24, %rsp
	mov	%r11, 8(%rsp)
	call	world@PLT
	mov	8(%rsp), %r11
	add	$24, %rsp
	pop	%r10
	pop	%r9
	pop	%rsi
	pop	%rdi
	ret
	END	told

	PROCEDURE tells
	sub	$8, %rsp
	lea	1(%rdi), %r9
	lea	2(%rdi), %r10
	lea	3(%rdi), %r11
	lea	4(%rdi), %rsi
	call	told
	add	%r9, %rax
	add	%r10, %rax
	add	%r11, %rax
	add	%rsi, %rax
	add	%rdi, %rax
	add	$8, %rsp
	ret
	END	tells

/* The same, and then the world gets them as they are. */
	PROCEDURE passes_on
	sub	$8, %rsp
	lea	4(%rdi), %rsi
	call	told
	add	$8, %rsp
	jmp	world_of_two@PLT
	END	passes_on

/* Keeps two in others while it calls. */
	PROCEDURE moves
	mov	%rdi, %r10
	mov	%rsi, %r11
	mov	%rsi, %rdi
	lea	6(%rdi), %r9
	call	leaf
	mov	%r10, %rdi
	mov	%r11, %rsi
	add	%rdi, %rax
	add	%rsi, %rax
	ret
	END	moves

/* A third argument in %r10 and %r11, by a pointer. */
	PROCEDURE takes_third
	lea	(%rdi,%r10), %rax
	test	%rdi, %rdi
	jz	1f
	add	%r11, %rax
1:	ret
	END	takes_third

	PROCEDURE gives_third
	mov	%rsi, %r10
	lea	9(%rsi), %r11
	jmp	*%rdx
	END	gives_third

	PROCEDURE hands_third
	sub	$8, %rsp
	mov	%rsi, %r10
	lea	9(%rsi), %r11
	call	*%rdx
	add	$8, %rsp
	ret
	END	hands_third

	PROCEDURE has_third_passed
	mov	%rsi, %r10
	lea	9(%rsi), %r11
	jmp	passes_third
	END	has_third_passed

	LOCAL	passes_third
	test	%rdi, %rdi
	js	1f
	jmp	*%rdx
1:	lea	(%r10,%r11), %rax
	ret
	END	passes_third

/* Changes %r10 on one of its ways alone, and does not look at it. */
	LOCAL	at_least_five
	cmp	$5, %rdi
	jae	1f
	mov	$5, %r10d
1:	ret
	END	at_least_five

	PROCEDURE clamps
	mov	%rdi, %r10
	call	at_least_five
	mov	%r10, %rax
	ret
	END	clamps

/* Code that nobody can follow calls one, and looks at what it left. */
	LOCAL	leaves
	lea	(%rdi,%rdi,2), %r10
	lea	(%r10,%rdi), %rax
	ret
	END	leaves

	PROCEDURE obscure
	and	$1, %esi
	lea	1f(%rip), %rcx
	lea	(%rcx,%rsi,8), %rcx
	jmp	*%rcx
	.p2align 3
1:	xor	%eax, %eax
	ret
	.p2align 3
	call	leaves
	add	%r10, %rax
	ret
	END	obscure

/* Two ways into one. */
	LOCAL	joined
	lea	1(%rdi), %r9
joined_later:
	lea	(%r9,%r11), %rax
	sub	%rsi, %rax
	ret
	END	joined

	PROCEDURE joins
	mov	%rdi, %r11
	test	%rsi, %rsi
	jz	joined
	lea	100(%rdi), %r9
	jmp	joined_later
	END	joins

	PROCEDURE joins_by_call
	mov	%rdi, %r11
	mov	%rsi, %r9
	mov	%rsi, %r10
	call	joined_later
	add	%r10, %rax
	add	%r9, %rax
	ret
	END	joins_by_call

/* Recurses, and keeps one in %r11 that nobody below changes. */
	LOCAL	descends
	test	%rdi, %rdi
	jz	1f
	dec	%rdi
	call	descends
	add	%r11, %rax
	ret
1:	xor	%eax, %eax
	ret
	END	descends

	PROCEDURE sums
	mov	%rsi, %r11
	call	descends
	mov	%r11, %r10
	add	%r10, %rax
	ret
	END	sums

	.section .note.GNU-stack, "", @progbits
