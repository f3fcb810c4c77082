/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What runs inside a rewritten program: no libc, no writable data of its own, no vector
 * registers, no pointers that would have to be relocated; system calls only. errno is
 * libc's and stays.
 *
 * Slow paths of modes are C here, in files of their own, and are called by
 * runtime_mode_begin() and runtime_mode_slow() (runtime_mode.c). They may run in any state
 * of the program, also in a signal's handler that interrupts one of them in its thread.
 */
#ifndef DCPI_INSTRUMENT_RUNTIME_H
#define DCPI_INSTRUMENT_RUNTIME_H

#include "instrument/profile/profile_layout.h"
#include "lib/system_call.h"

#define CALL1(n, a) system_call6(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) system_call6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) system_call6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)

#define PROT_READ_WRITE 3
#define PROT_READ_EXECUTE 5

static inline int runtime_is_error(long result)
{
	return result < 0 && result > -4096;
}

/** runtime_fail() - say why the program cannot go on, and end it. */
_Noreturn void runtime_fail(const char *why, uint32_t bytes);
#define RUNTIME_FAIL(why) runtime_fail("dcpix: " why "\n", sizeof("dcpix: " why "\n") - 1)

/** struct runtime_memory - a thread's, as a mode with a runtime of its own sees it. */
struct runtime_memory {
	void *private_data;
	void *area;
	uint64_t *words;
};

/** runtime_memory_at() - by what %gs' base is. */
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

/** runtime_set_checks() - how many follow until it is the other copy's turn (copier_turn.c). */
static inline void runtime_set_checks(const struct profile_layout_state *state, int32_t checks)
{
	__asm__ volatile("movl %0, %%fs:(%1)"
			 :
			 : "r"(checks), "r"(state->slot + PROFILE_LAYOUT_SLOT_CHECKS)
			 : "memory");
}

/** enum runtime_begin - why a thread's memory begins. */
enum runtime_begin {
	RUNTIME_THREAD, /* a new thread: @private_data is zero, the area what an ended one left */
	RUNTIME_FORK,	/* the child of a fork: @private_data is as it was, the area zero */
};

/**
 * struct runtime_frame - registers at a point where a slow path is called
 * @what:     operation << 16, and the bytes between this frame and the program's stack
 * @argument: sign-extended from 32 bits
 *
 * What is changed in here is changed in the program; but not @rflags.
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

/** runtime_stack() - the program's stack pointer at the point. */
static inline uint64_t runtime_stack(const struct runtime_frame *frame)
{
	return (uint64_t)(frame + 1) + (frame->what & 0xffff);
}

/** runtime_mode_begin() - a thread begins, or goes on in the child of a fork. */
void runtime_mode_begin(const struct profile_layout_state *state,
			const struct runtime_memory *memory, enum runtime_begin why);

/** runtime_mode_slow() - a slow path. */
void runtime_mode_slow(const struct profile_layout_state *state,
		       const struct runtime_memory *memory, struct runtime_frame *frame);

/**
 * process_file_map() - a file for this process, with as many blocks as the machine lets it
 * have; @state->region and @state->region_blocks say where
 *
 * Modes with private memory get a region without a file if there can be none.
 */
void process_file_map(struct profile_layout_state *state);

/**
 * process_file_hold() - have the disk keep room for a block; it does for the first one
 *
 * Whoever writes where there is none would be ended by a signal. Return: whether there is.
 */
int process_file_hold(const struct profile_layout_state *state, uint32_t block);

/** process_file_unmap() - it is another process', of which this one is a copy. */
void process_file_unmap(struct profile_layout_state *state);

#endif
