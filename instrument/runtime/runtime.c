// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a rewritten program comes in: when a thread's word or the process' is not in
 * order, and at points where a mode has a slow path.
 */
#include <linux/mman.h>

#include "instrument/runtime/runtime.h"

#define ARCH_SET_GS 0x1001
#define ARCH_GET_GS 0x1004

static uint32_t *guard_of(struct profile_layout_state *state)
{
	return (uint32_t *)((char *)state + state->guard);
}

/*
 * A process begins, or goes on as a copy of another one, whose file is not its own.
 * Return: the memory that this thread had in that one, or 0.
 */
static uint64_t begin_process(struct profile_layout_state *state)
{
	uint64_t was = 0;

	if (state->region != 0) {
		CALL2(SYS_arch_prctl, ARCH_GET_GS, &was);
		process_file_unmap(state);
		thread_block_forget(state, was);
	}
	process_file_map(state);
	CALL3(SYS_madvise, guard_of(state), PROFILE_LAYOUT_PAGE, MADV_WIPEONFORK);
	*guard_of(state) = PROFILE_LAYOUT_READY;
	return was;
}

/* Called by runtime_entry() below. */
void runtime_enter(struct profile_layout_state *state);

__attribute__((used)) void runtime_enter(struct profile_layout_state *state)
{
	uint64_t was = *guard_of(state) != PROFILE_LAYOUT_READY ? begin_process(state) : 0;

	CALL2(SYS_arch_prctl, ARCH_SET_GS, thread_block_find(state, was));
	__asm__ volatile("movl %0, %%fs:(%1)"
			 :
			 : "r"(PROFILE_LAYOUT_READY), "r"(state->slot)
			 : "memory");
}

/* Called by runtime_slow_entry() below. */
void runtime_slow(struct profile_layout_state *state, struct runtime_frame *frame);

__attribute__((used)) void runtime_slow(struct profile_layout_state *state,
					struct runtime_frame *frame)
{
	struct runtime_memory memory;
	uint64_t self;

	__asm__ volatile("movq %%gs:0, %0" : "=r"(self));
	memory = runtime_memory_at(state, self);
	runtime_mode_slow(state, &memory, frame);
}

/* PROFILE_LAYOUT_ENTER, PROFILE_LAYOUT_SLOW */
__asm__(".section .text.first, \"ax\"\n"
	"	.globl runtime_first\n"
	"runtime_first:\n"
	"	jmp runtime_entry\n"
	"	.balign 16, 0xcc\n"
	"	jmp runtime_slow_entry\n"
	"	.balign 16, 0xcc\n"
	"	.text\n");

/*
 * Gets the state's address on the stack, where its caller has
 * pushed it; gives all registers back but the flags. The stack may be anywhere.
 */
__asm__("	.text\n"
	"runtime_entry:\n"
	"	push %rax\n"
	"	push %rcx\n"
	"	push %rdx\n"
	"	push %rsi\n"
	"	push %rdi\n"
	"	push %r8\n"
	"	push %r9\n"
	"	push %r10\n"
	"	push %r11\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	mov 88(%rsp), %rdi\n"
	"	and $-16, %rsp\n"
	"	cld\n"
	"	call runtime_enter\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	pop %r11\n"
	"	pop %r10\n"
	"	pop %r9\n"
	"	pop %r8\n"
	"	pop %rdi\n"
	"	pop %rsi\n"
	"	pop %rdx\n"
	"	pop %rcx\n"
	"	pop %rax\n"
	"	ret\n");

/*
 * Finds the program's %rdi on the stack and the state's address in that register; above it
 * the return address and what a struct runtime_frame ends with. Gives all back, with the
 * flags of arithmetic and the direction.
 */
__asm__("	.text\n"
	"runtime_slow_entry:\n"
	"	push %r15\n"
	"	push %r14\n"
	"	push %r13\n"
	"	push %r12\n"
	"	push %r11\n"
	"	push %r10\n"
	"	push %r9\n"
	"	push %r8\n"
	"	push %rsi\n"
	"	push %rbp\n"
	"	push %rbx\n"
	"	push %rdx\n"
	"	push %rcx\n"
	"	push %rax\n"
	"	pushfq\n"
	"	lahf\n"
	"	seto %al\n"
	"	push %rax\n"
	"	mov %rsp, %rsi\n"
	"	mov %rsp, %rbp\n"
	"	and $-16, %rsp\n"
	"	cld\n"
	"	call runtime_slow\n"
	"	mov %rbp, %rsp\n"
	"	testl $0x400, 8(%rsp)\n"
	"	jz 1f\n"
	"	std\n"
	"1:	pop %rax\n"
	"	add $127, %al\n"
	"	sahf\n"
	"	lea 8(%rsp), %rsp\n"
	"	pop %rax\n"
	"	pop %rcx\n"
	"	pop %rdx\n"
	"	pop %rbx\n"
	"	pop %rbp\n"
	"	pop %rsi\n"
	"	pop %r8\n"
	"	pop %r9\n"
	"	pop %r10\n"
	"	pop %r11\n"
	"	pop %r12\n"
	"	pop %r13\n"
	"	pop %r14\n"
	"	pop %r15\n"
	"	pop %rdi\n"
	"	ret\n");
