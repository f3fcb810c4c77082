/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which way does the next branch go? (DCPI section 7, "interpretation")
 *
 * From the registers saved by a sampling interrupt, run forward: interpret the
 * simple instructions from the sampled one up to the first conditional or
 * indirect branch, and say where that branch goes. The paper looks at the
 * sampled instruction only; running forward makes most samples yield an edge.
 *
 * One source for the kernel module (its own architecture) and for user space
 * (every architecture: perf source, tests). Nothing here writes any memory but
 * the structures given. What an instruction would store is kept in a few slots
 * of this call, so that later loads see it; what is not understood makes a
 * register unknown, and only a branch that depends on something unknown ends
 * the attempt: never a guess.
 *
 * Where there is time for it (not in an interrupt), the branches that follow
 * can be asked for, too: where little time is spent, samples are rare, but on
 * the way from where they are frequent.
 *
 * Bounds: INTERPRET_STEPS_MAX instructions a branch, four memory reads each; no
 * allocation, recursion or floating point; some 600 bytes of stack. Direct
 * jumps and calls are followed; a branch that faults, traps or leaves the
 * privilege level ends the attempt.
 *
 * What can't be avoided: memory is read now, and the program will read it a
 * moment later. Another thread, a device or a signal handler may write it in
 * between; so may an alias of an address that an interpreted store wrote to.
 * Both are rare, and nothing else is knowingly left to chance. (Code that
 * rewrites itself within the steps interpreted is out of scope.)
 */
#ifndef DCPI_INTERPRET_H
#define DCPI_INTERPRET_H

#include "core_env.h"

#define INTERPRET_STEPS_MAX 32
#define INTERPRET_REGISTERS 32

/**
 * struct interpret_state - the interrupted context
 * @pc:    where
 * @reg:   x86-64: in the order of their encoding, rax rcx rdx rbx rsp rbp rsi
 *         rdi r8..r15, then the bases of fs and gs; arm64: x0..x30, sp
 * @flags: x86-64: RFLAGS; arm64: PSTATE
 * @known: bit i: @reg[i] is known
 * @flags_known: a mask of the bits of @flags that are known
 *
 * x86-64: 64-bit mode only. The caller sees to it.
 */
struct interpret_state {
	u64 pc;
	u64 reg[INTERPRET_REGISTERS];
	u64 flags;
	u64 flags_known;
	u32 known;
};

/**
 * interpret_read_fn() - read memory of the interrupted context
 *
 * Must neither fault nor sleep, as far as its context asks for that. Data is
 * asked for in 1, 2, 4 or 8 bytes, code in up to 64, all in one page of 4096.
 *
 * Return: true if all @bytes were read.
 */
typedef bool (*interpret_read_fn)(void *context, u64 address, void *to, size_t bytes);

/** enum interpret_end - how an attempt ended. */
enum interpret_end {
	INTERPRET_EDGE,	       /* an edge was found */
	INTERPRET_UNREADABLE,  /* instruction or operand not in memory */
	INTERPRET_UNKNOWN,     /* the branch depends on something unknown */
	INTERPRET_UNSUPPORTED, /* system call, trap, undefined instruction */
	INTERPRET_TOO_LONG,    /* no branch within the bound */
	INTERPRET_NR,
};

/**
 * struct interpret_edge - the edge
 * @from:        address of the branch instruction
 * @to:          address of the instruction executed after it
 * @conditional: else indirect (jump, call or return)
 * @steps:       instructions interpreted since the branch before, this one included
 */
struct interpret_edge {
	u64 from;
	u64 to;
	bool conditional;
	u32 steps;
};

/**
 * interpret_x86_64(), interpret_arm64() - run forward to the next branch
 * @state:   in: the context; out: as of the end
 * @read:    reads its memory
 * @context: for @read
 * @edge:    out, with INTERPRET_EDGE; @steps always
 */
enum interpret_end interpret_x86_64(struct interpret_state *state, interpret_read_fn read,
				    void *context, struct interpret_edge *edge);
enum interpret_end interpret_arm64(struct interpret_state *state, interpret_read_fn read,
				   void *context, struct interpret_edge *edge);

/**
 * interpret_x86_64_path(), interpret_arm64_path() - and over it to the next, and so on
 * @edges: room for @max; at the end of the attempt, @steps of the one after the last
 * @max:   how many, at least one
 * @count: out
 *
 * Return: INTERPRET_EDGE if there are as many as asked for; else why there are no more.
 */
enum interpret_end interpret_x86_64_path(struct interpret_state *state, interpret_read_fn read,
					 void *context, struct interpret_edge *edges, u32 max,
					 u32 *count);
enum interpret_end interpret_arm64_path(struct interpret_state *state, interpret_read_fn read,
					void *context, struct interpret_edge *edges, u32 max,
					u32 *count);

#endif
