// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/stack_copy_read.h"

#include <string.h>

#include "daemon/source/bpf/stack_copy.h"
#include "daemon/source/source_stack.h"
#include "kmod/uapi/dcpi_uapi.h"

/* The kernel maps the ring twice. */
#define RING_BYTES_CPU (256U << 10)
#define RING_BYTES_MAX (8U << 20)

#if defined(__x86_64__)
/* Words of struct pt_regs by DWARF's number: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 .. r15 */
static const uint8_t word_of[] = {10, 12, 11, 5, 13, 14, 4, STACK_COPY_SP, 9, 8, 7, 6, 3, 2, 1, 0};
#define WORD_PC 16
#define WORD_CS 17
#define CS_USER_64 0x33
#else
#define WORD_PC 32
#endif

static bool registers_take(struct unwind_registers *to, const struct stack_copy_record *copy)
{
#if defined(__x86_64__)
	if (copy->words[WORD_CS] != CS_USER_64)
		return false;
#endif
	to->pc = copy->words[WORD_PC];
	for (uint8_t i = 0; i < unwind_machine_here()->registers; i++) {
#if defined(__x86_64__)
		to->reg[i] = copy->words[word_of[i]];
#else
		to->reg[i] = copy->words[i];
#endif
	}
	to->known = (uint32_t)((UINT64_C(1) << unwind_machine_here()->registers) - 1);
	return true;
}

bool stack_copy_read(struct source_stack *ret, const struct stack_copy_record *copy, size_t bytes)
{
	if (bytes < offsetof(struct stack_copy_record, stack) ||
	    copy->stack_bytes > sizeof(copy->stack) ||
	    bytes < offsetof(struct stack_copy_record, stack) + copy->stack_bytes ||
	    copy->kernel_count > STACK_COPY_KERNEL)
		return false;
	*ret = (struct source_stack){
		.tag = dcpi_tag(copy->pid, copy->generation, 0),
		.tid = copy->tid,
		.kernel = (const uint64_t *)copy->kernel,
		.kernel_count = copy->kernel_count,
		.user_allowed = copy->is_user != 0,
	};
	memcpy(ret->thread, copy->name, sizeof(ret->thread) - 1);
	if (ret->user_allowed && registers_take(&ret->registers, copy)) {
		ret->stack = copy->stack;
		ret->stack_bytes = copy->stack_bytes;
		ret->cut = copy->is_cut != 0;
	}
	return true;
}

uint32_t stack_copy_ring_bytes(uint32_t cpus)
{
	uint32_t bytes = RING_BYTES_CPU;

	while (bytes < (uint64_t)cpus * RING_BYTES_CPU && bytes < RING_BYTES_MAX)
		bytes *= 2;
	return bytes;
}
