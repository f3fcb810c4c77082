/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the addresses of data that the instructions near a sample access (DCPI section 7, "capture
 * ... referenced memory addresses").
 *
 * The registers of a sample are those before the sampled instruction. So its own address follows
 * from them, and those of the next instructions follow by interpretation (interpret.h), as far as
 * their registers are known. The instruction that the processor waited for may be an earlier one,
 * since a sample may be late. Going back, an instruction is inverted: it is interpreted from two
 * states. A register that changes by the same difference in both had its value less this difference
 * before; any other register that changes is unknown before.
 *
 * An address is returned only if all its registers are known, so it is the address that the
 * processor uses, with two exceptions. A later access assumes what interpret.h assumes. An earlier
 * access assumes that control arrived from the instruction that the caller names.
 *
 * Built for user space only: the derivation runs in the daemon.
 */
#ifndef DCPI_ACCESS_H
#define DCPI_ACCESS_H

#include "interpret.h"

#define ACCESS_MAX 8
/* Instructions that are followed from the sample, and before it. */
#define ACCESS_STEPS_AFTER 48
#define ACCESS_STEPS_BEFORE 4

/**
 * struct access - a memory operand of an instruction, executed near the sample
 * @pc:         address of the instruction
 * @address:    address of the data
 * @stride:     distance to the address at the next execution, if @has_stride
 * @has_stride: the instruction was executed twice within the steps
 */
struct access {
	u64 pc;
	u64 address;
	u64 stride;
	bool has_stride;
};

/**
 * struct access_list - one access for each instruction: the earliest that was found
 * @stack_pointer: of the sample
 * @nearest:       index of the access of the sampled instruction; if it has none, of the last one
 *                 before it. The sampled time is that of this access, or of a use of its result.
 *                 ACCESS_MAX: not known
 */
struct access_list {
	u64 stack_pointer;
	u32 count;
	u32 nearest;
	struct access item[ACCESS_MAX];
};

/**
 * struct access_input - the interrupted program
 * @read:    as for interpret_x86_64()
 * @before:  return true and set the instruction from which control arrives at @pc, if it is known
 * @follows: called with each step that the interpretation makes, NULL: not wanted
 * @context: argument of all three
 */
struct access_input {
	interpret_read_fn read;
	bool (*before)(void *context, u64 pc, u64 *ret);
	void (*follows)(void *context, u64 from, u64 to);
	void *context;
};

/**
 * access_find_x86_64() - find the accesses near a sample
 * @state: the registers of the sample
 * @ret:   out
 *
 * Implicit operands (push, pop, call, ret, string instructions), gathers and scatters are left out.
 */
void access_find_x86_64(const struct interpret_state *state, const struct access_input *input,
			struct access_list *ret);

#endif
