/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code whose time on the simulated machines is known in closed form; what it is, is in
 * tests/cli/cli_truth_sim.sh. Needs no libc. Instructions have names: at_*.
 */
#define AT(name) name: .globl name
#define ROUNDS 1000

	.text
	.globl _start
	.balign 64
#if defined(__alpha__)
	.set noat
	.set noreorder
	.set nomacro
#define LOOP(label) ldah $20, 0($31); lda $20, ROUNDS($20); .balign 64; label:
#define AGAIN(label) .balign 16; subq $20, 1, $20; bne $20, label; .balign 16
_start:
	br	$27, 1f
1:	ldah	$29, 0($27)	!gpdisp!1
	lda	$29, 0($29)	!gpdisp!1
	ldah	$10, memory($29)	!gprelhigh
	lda	$10, memory($10)	!gprellow

	LOOP(dependent)
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8
AT(at_dependent\n)
	addq	$1, 1, $1
	.endr
	AGAIN(dependent)

	LOOP(pairs)
	.irp	n, 1, 2, 3, 4
AT(at_first\n)
	addq	$1, 1, $1
AT(at_second\n)
	addq	$2, 1, $2
	.endr
	AGAIN(pairs)

	LOOP(load_use)
	ldq	$3, 0($10)
AT(at_load_use)
	addq	$3, 1, $4
	AGAIN(load_use)

	LOOP(multiply_use)
	mulq	$1, $2, $3
AT(at_multiply_use)
	addq	$3, 1, $4
	AGAIN(multiply_use)

	LOOP(multiplies)
	mulq	$1, $2, $3
AT(at_multiply_again)
	mulq	$1, $2, $4
	.balign 16
	addq	$3, $4, $5
	AGAIN(multiplies)

	LOOP(two_stores)
	stq	$1, 0($10)
AT(at_second_store)
	stq	$1, 8($10)
	.balign 16
	addq	$1, 1, $1
	.balign 16
	addq	$1, 1, $1
	AGAIN(two_stores)

	LOOP(compare)
	cmpeq	$1, $31, $2
AT(at_test)
	bne	$2, 2f
2:	.balign 16
	AGAIN(compare)

	LOOP(alternate)
AT(at_alternate)
	blbs	$20, 3f
	.balign 16
AT(at_not_taken)
	addq	$1, 1, $1
	br	$31, 4f
	.balign 16
3:
AT(at_taken)
	addq	$1, 1, $1
	.balign 16
4:	AGAIN(alternate)

	/* 100 times through 64 KiB, then through 4 KiB, a load for each 32 bytes */
	lda	$21, 100($31)
5:	lda	$20, 2048($31)
	mov	$10, $11
	.balign 16
AT(at_walk_far)
6:	ldq	$3, 0($11)
	lda	$11, 32($11)
	subq	$20, 1, $20
	bne	$20, 6b
	subq	$21, 1, $21
	bne	$21, 5b
	lda	$21, 100($31)
	.balign 64
7:	lda	$20, 128($31)
	mov	$10, $11
	.balign 16
AT(at_walk_near)
8:	ldq	$3, 0($11)
	lda	$11, 32($11)
	subq	$20, 1, $20
	bne	$20, 8b
	subq	$21, 1, $21
	bne	$21, 7b

	/* 20 times through 100 pages */
	lda	$21, 20($31)
9:	lda	$20, 100($31)
	mov	$10, $11
	lda	$12, 8192($31)
	.balign 16
AT(at_walk_pages)
10:	ldq	$3, 0($11)
	addq	$11, $12, $11
	subq	$20, 1, $20
	bne	$20, 10b
	subq	$21, 1, $21
	bne	$21, 9b

	/* 40 times through 16 KiB, a store for each 32 bytes */
	lda	$21, 40($31)
11:	lda	$20, 512($31)
	mov	$10, $11
	.balign 16
AT(at_store)
12:	stq	$3, 0($11)
	lda	$11, 32($11)
	subq	$20, 1, $20
	bne	$20, 12b
	subq	$21, 1, $21
	bne	$21, 11b

	/* 10 times through 16 KiB of code */
	lda	$21, 10($31)
	.balign 8192
AT(at_code)
13:	.rept	4095
	addq	$1, 1, $1
	.endr
AT(at_code_end)
	nop
	subq	$21, 1, $21
	beq	$21, 14f
	br	$31, 13b
14:	mov	0, $16
	mov	1, $0
	call_pal 0x83
#elif defined(__aarch64__)
#define LOOP(label) mov x20, ROUNDS; .balign 64; label:
#define AGAIN(label) .balign 16; subs x20, x20, 1; b.ne label; .balign 16
_start:
	adrp	x10, memory
	add	x10, x10, :lo12:memory

	LOOP(dependent)
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8
AT(at_dependent\n)
	add	x1, x1, 1
	.endr
	AGAIN(dependent)

	LOOP(pairs)
	.irp	n, 1, 2, 3, 4
AT(at_first\n)
	add	x1, x1, 1
AT(at_second\n)
	add	x2, x2, 1
	.endr
	AGAIN(pairs)

	LOOP(load_use)
	ldr	x3, [x10]
AT(at_load_use)
	add	x4, x3, 1
	AGAIN(load_use)

	LOOP(multiply_use)
	mul	x3, x1, x2
AT(at_multiply_use)
	add	x4, x3, 1
	AGAIN(multiply_use)

	LOOP(two_stores)
	str	x1, [x10]
AT(at_second_store)
	str	x1, [x10, 8]
	AGAIN(two_stores)

	LOOP(alternate)
AT(at_alternate)
	tbnz	x20, 0, 3f
	.balign 16
AT(at_not_taken)
	add	x1, x1, 1
	b	4f
	.balign 16
3:
AT(at_taken)
	add	x1, x1, 1
	.balign 16
4:	AGAIN(alternate)

	/* 100 times through 64 KiB, then through 4 KiB, a load for each 32 bytes */
	mov	x21, 100
5:	mov	x20, 2048
	mov	x11, x10
AT(at_walk_far)
6:	ldr	x3, [x11], 32
	subs	x20, x20, 1
	b.ne	6b
	subs	x21, x21, 1
	b.ne	5b
	mov	x21, 100
7:	mov	x20, 128
	mov	x11, x10
AT(at_walk_near)
8:	ldr	x3, [x11], 32
	subs	x20, x20, 1
	b.ne	8b
	subs	x21, x21, 1
	b.ne	7b

	/* 40 times through 16 KiB, a store for each 32 bytes */
	mov	x21, 40
11:	mov	x20, 512
	mov	x11, x10
AT(at_store)
12:	str	x3, [x11], 32
	subs	x20, x20, 1
	b.ne	12b
	subs	x21, x21, 1
	b.ne	11b
	mov	x0, 0
	mov	x8, 93
	svc	0
#endif
	.bss
	.balign 65536
memory:	.space 1 << 20
	.section .note.GNU-stack, "", %progbits
