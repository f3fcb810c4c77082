/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * void known_edges(unsigned long n): branches whose edges are known in closed
 * form; n a multiple of four. Names at_* are instructions; what they are and how
 * often each edge is taken is in tests/cli/cli_truth_edges.sh.
 */
#define AT(name) name: .globl name

	.text
	.globl known_edges
	.type known_edges, %function
#if defined(__x86_64__)
known_edges:
	push	%rbx
	mov	%rdi, %rbx
	lea	at_callee(%rip), %r11
AT(at_loop)
	test	$1, %bl
AT(at_parity)
	je	at_even
AT(at_odd)
	nop
AT(at_even)
	mov	$3, %ecx
AT(at_inner)
	sub	$1, %ecx
AT(at_inner_branch)
	jne	at_inner
AT(at_inner_end)
	mov	%ebx, %eax
	and	$3, %eax
	lea	table(%rip), %rdx
AT(at_switch)
	jmp	*(%rdx,%rax,8)
AT(at_case0)
	jmp	at_join
AT(at_case1)
	jmp	at_join
AT(at_case2)
	jmp	at_join
AT(at_case3)
	nop
AT(at_join)
	call	*%r11
AT(at_called)
	mov	$5, %edi
	call	at_recurse
AT(at_recursed)
	sub	$1, %rbx
AT(at_loop_branch)
	jne	at_loop
AT(at_loop_end)
	pop	%rbx
	ret
AT(at_callee)
	ret
AT(at_recurse)
	test	%edi, %edi
AT(at_depth)
	je	at_return
AT(at_deeper)
	sub	$1, %edi
	call	at_recurse
AT(at_return)
	ret
	.section .data.rel.ro, "aw"
	.balign	8
table:	.quad	at_case0, at_case1, at_case2, at_case3
#elif defined(__aarch64__)
known_edges:
	stp	x29, x30, [sp, #-32]!
	str	x19, [sp, #16]
	mov	x19, x0
	adr	x11, at_callee
AT(at_loop)
	nop
AT(at_parity)
	tbz	w19, #0, at_even
AT(at_odd)
	nop
AT(at_even)
	mov	w2, #3
AT(at_inner)
	subs	w2, w2, #1
AT(at_inner_branch)
	b.ne	at_inner
AT(at_inner_end)
	and	x3, x19, #3
	adrp	x4, table
	add	x4, x4, :lo12:table
	ldr	x3, [x4, x3, lsl #3]
AT(at_switch)
	br	x3
AT(at_case0)
	b	at_join
AT(at_case1)
	b	at_join
AT(at_case2)
	b	at_join
AT(at_case3)
	nop
AT(at_join)
	blr	x11
AT(at_called)
	mov	w0, #5
	bl	at_recurse
AT(at_recursed)
	sub	x19, x19, #1
AT(at_loop_branch)
	cbnz	x19, at_loop
AT(at_loop_end)
	ldr	x19, [sp, #16]
	ldp	x29, x30, [sp], #32
	ret
AT(at_callee)
	ret
AT(at_recurse)
	stp	x29, x30, [sp, #-16]!
AT(at_depth)
	cbz	w0, at_return_load
AT(at_deeper)
	sub	w0, w0, #1
	bl	at_recurse
AT(at_return_load)
	ldp	x29, x30, [sp], #16
AT(at_return)
	ret
	.section .data.rel.ro, "aw"
	.balign	8
table:	.quad	at_case0, at_case1, at_case2, at_case3
#endif
	.section .note.GNU-stack, "", %progbits
