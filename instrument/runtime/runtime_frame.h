/* SPDX-License-Identifier: GPL-2.0-only */
/* State of a thread that a slow path can access. */
#ifndef DCPI_INSTRUMENT_RUNTIME_FRAME_H
#define DCPI_INSTRUMENT_RUNTIME_FRAME_H

#include "instrument/profile/profile_layout.h"

/** struct runtime_memory - a thread's memory, for a mode with a slow path. */
struct runtime_memory {
	void *private_data;
	void *area;
	uint64_t *words;
};

/** runtime_memory_at() - return the memory for a %gs base. */
static inline struct runtime_memory runtime_memory_at(const struct profile_layout_state *state,
						      uint64_t base)
{
	uint64_t head = base + state->range, area = head + state->head_bytes;

	return (struct runtime_memory){
		.private_data = (void *)head,
		.area = (void *)area,
		.words = (uint64_t *)(area + state->area_bytes),
	};
}

static inline int64_t runtime_checks_at(const struct profile_layout_state *state,
					unsigned int counter)
{
	return state->slot + PROFILE_LAYOUT_SLOT_CHECKS + counter * sizeof(int32_t);
}

/**
 * runtime_checks() - return the number of checks before the other clone is to run (clone_switch.c)
 * @counter: index of the check counter, below PROFILE_LAYOUT_COUNTERS
 */
static inline int32_t runtime_checks(const struct profile_layout_state *state, unsigned int counter)
{
	int32_t checks;

	__asm__ volatile("movl %%fs:(%1), %0"
			 : "=r"(checks)
			 : "r"(runtime_checks_at(state, counter))
			 : "memory");
	return checks;
}

static inline void runtime_set_checks(const struct profile_layout_state *state,
				      unsigned int counter, int32_t checks)
{
	__asm__ volatile("movl %0, %%fs:(%1)"
			 :
			 : "r"(checks), "r"(runtime_checks_at(state, counter))
			 : "memory");
}

/**
 * struct runtime_frame - registers at a point where a slow path is called
 * @what:     operation << 16, plus the bytes between this frame and the program's stack
 * @argument: sign-extended from 32 bits
 *
 * The program gets the changed values of all members except @rflags.
 */
struct runtime_frame {
	uint64_t kept_flags;
	uint64_t rflags;
	uint64_t rax, rcx, rdx, rbx, rbp, rsi;
	uint64_t r8, r9, r10, r11, r12, r13, r14, r15;
	uint64_t rdi;
	uint64_t back;
	uint64_t what;
	int64_t argument;
};

static inline uint32_t runtime_operation(const struct runtime_frame *frame)
{
	return (uint32_t)frame->what >> 16;
}

/** runtime_stack() - return the program's stack pointer at the point. */
static inline uint64_t runtime_stack(const struct runtime_frame *frame)
{
	return (uint64_t)(frame + 1) + (frame->what & 0xffff);
}

#endif
