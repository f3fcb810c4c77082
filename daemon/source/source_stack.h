/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call stack of a sample or of off-CPU time, as a source passes it on: registers and a copy of
 * the stack, or the call chain that the kernel or the processor has found.
 */
#ifndef DCPI_SOURCE_STACK_H
#define DCPI_SOURCE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/source/bpf/off_cpu.h"
#include "daemon/unwind/unwind_step.h"

/**
 * struct source_stack - valid during the call that passes it on
 * @tag:          process and generation, as dcpi_tag() composes them
 * @tid:          thread; @thread: its name, "": not known
 * @kernel:       addresses in the kernel, innermost first
 * @user_allowed: the thread has a user-space stack; otherwise it belongs to the kernel
 * @registers:    of user space; @known 0: not available
 * @stack:        copy of the memory from the stack pointer on, @stack_bytes long
 * @cut:          the copy has the largest possible size; otherwise no more could be read
 * @has_chain:    @chain is used instead of registers and stack
 * @chain:        addresses in user space, innermost first: the sampled PC and return addresses
 * @chain_calls:  the others are addresses of calls, not return addresses
 * @chain_full:   the chain has the largest possible length
 * @damaged:      the record is malformed: the rest of the chain is not known
 * @is_off_cpu:   the stack is not that of a sample: the thread waited there
 * @off_cpu_ns:   for how long, by enum off_cpu_state
 */
struct source_stack {
	uint64_t tag;
	uint32_t tid;
	char thread[STACK_COPY_NAME_BYTES];
	const uint64_t *kernel;
	size_t kernel_count;
	bool user_allowed;
	struct unwind_registers registers;
	const uint8_t *stack;
	size_t stack_bytes;
	bool cut;
	bool has_chain;
	const uint64_t *chain;
	size_t chain_count;
	bool chain_calls;
	bool chain_full;
	bool damaged;
	bool is_off_cpu;
	uint64_t off_cpu_ns[OFF_CPU_STATES];
};

#endif
