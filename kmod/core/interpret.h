/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Find the direction or target of the next branch (DCPI section 7, "interpretation").
 *
 * Starting from the registers saved by a sampling interrupt, interpret the simple instructions from
 * the sampled one up to the first conditional or indirect branch, and return where that branch
 * goes. The paper interprets the sampled instruction only; interpreting up to the next branch makes
 * most samples yield an edge.
 *
 * The same source is built for the kernel module (its own architecture) and for user space (every
 * architecture: perf source, tests). Nothing here writes any memory except the structures passed
 * in. The data of interpreted stores is kept in a few slots of the call, so that later loads see
 * it. An instruction that is not understood makes a register unknown. The attempt ends only at a
 * branch that depends on something unknown; its direction is never guessed.
 *
 * Outside of interrupts, where there is time for it, callers can also request the branches that
 * follow. Samples are rare where little time is spent, but the paths that lead there often start
 * where samples are frequent.
 *
 * Bounds: INTERPRET_STEPS_MAX instructions per branch, four memory reads each; no allocation,
 * recursion or floating point; some 600 bytes of stack. Direct jumps and calls are followed; a
 * branch that faults, traps or leaves the privilege level ends the attempt.
 *
 * Known limitation: the interpreter reads memory now, and the program will read it a moment later.
 * Another thread, a device or a signal handler may write it in between, and so may a store through
 * an alias of the address. Both are rare. No other source of wrong edges is known. (Code that
 * rewrites itself within the interpreted instructions is out of scope.)
 */
#ifndef DCPI_INTERPRET_H
#define DCPI_INTERPRET_H

#include "core_env.h"

#define INTERPRET_STEPS_MAX 32
#define INTERPRET_REGISTERS 32

/**
 * struct interpret_state - the interrupted context
 * @pc:    program counter
 * @reg:   x86-64: in the order of their encoding, rax rcx rdx rbx rsp rbp rsi
 *         rdi r8..r15, then the bases of fs and gs; arm64: x0..x30, sp
 * @flags: x86-64: RFLAGS; arm64: PSTATE
 * @known: bit i: @reg[i] is known
 * @flags_known: a mask of the bits of @flags that are known
 *
 * x86-64: 64-bit mode only, which the caller checks.
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
 * Must neither fault nor sleep if the caller's context forbids it. Data is read in pieces of 1, 2,
 * 4 or 8 bytes, code in pieces of up to 64 bytes, each within one page of 4096 bytes.
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
 * struct interpret_edge - an edge found by interpretation
 * @from:        address of the branch instruction
 * @to:          address of the instruction executed after it
 * @conditional: true: conditional branch; false: indirect jump, call or return
 * @steps:       instructions interpreted since the previous branch, this branch included
 * @has_result:  @result is known: the sum, difference or other result that a conditional branch
 *               tests, sign-extended
 */
struct interpret_edge {
	u64 from;
	u64 to;
	bool conditional;
	bool has_result;
	u32 steps;
	s64 result;
};

/**
 * interpret_x86_64(), interpret_arm64() - run forward to the next branch
 * @state:   in: the context; out: the state at the end of the attempt
 * @read:    reads its memory
 * @context: for @read
 * @edge:    out: set with INTERPRET_EDGE; its @steps is always set
 */
enum interpret_end interpret_x86_64(struct interpret_state *state, interpret_read_fn read,
				    void *context, struct interpret_edge *edge);
enum interpret_end interpret_arm64(struct interpret_state *state, interpret_read_fn read,
				   void *context, struct interpret_edge *edge);

/**
 * interpret_x86_64_path(), interpret_arm64_path() - run forward over up to @max branches
 * @edges: room for @max edges; at the end of an attempt, @steps of the edge after the last is set
 * @max:   number of edges to find, at least one
 * @count: out: edges found
 *
 * Return: INTERPRET_EDGE if @max edges were found; else the reason why the attempt ended.
 */
enum interpret_end interpret_x86_64_path(struct interpret_state *state, interpret_read_fn read,
					 void *context, struct interpret_edge *edges, u32 max,
					 u32 *count);
enum interpret_end interpret_arm64_path(struct interpret_state *state, interpret_read_fn read,
					void *context, struct interpret_edge *edges, u32 max,
					u32 *count);

/**
 * struct interpret_visitor - decides at each edge how to continue
 * @visit:   called after each edge. It may advance the known registers of @state by whole
 *           iterations of a loop, and then sets @skipped. Return: false: stop
 * @context: for @visit
 * @steps:   limit of instructions; the last branch may exceed it by INTERPRET_STEPS_MAX
 */
struct interpret_visitor {
	bool (*visit)(void *context, struct interpret_state *state,
		      const struct interpret_edge *edge, bool *skipped);
	void *context;
	u32 steps;
};

/**
 * interpret_x86_64_walk(), interpret_arm64_walk() - run forward until a visitor stops
 *
 * Stores to unknown addresses are taken not to change the stack above the stack pointer: the
 * variables of callers there are rarely modified through pointers. So results beyond the first few
 * branches are less certain than those of a path.
 *
 * Return: INTERPRET_EDGE if the visitor stopped, or the limit was reached; else the reason why the
 * attempt ended.
 */
enum interpret_end interpret_x86_64_walk(struct interpret_state *state, interpret_read_fn read,
					 void *context, const struct interpret_visitor *visitor);
enum interpret_end interpret_arm64_walk(struct interpret_state *state, interpret_read_fn read,
					void *context, const struct interpret_visitor *visitor);

/**
 * struct interpret_latch - a conditional branch back to the code before it
 * @start:  code from here to @branch has no other branch and no call
 * @branch: its address; @next: that of the instruction after it
 */
struct interpret_latch {
	u64 start;
	u64 branch;
	u64 next;
};

/**
 * interpret_x86_64_latch(), interpret_arm64_latch() - find the next branch that ends a loop
 * @ret:    out
 * @from:   the search begins at this instruction
 * @inside: the branch goes to this address, or to one before
 * @insns:  in and out: number of instructions that may be decoded
 *
 * Return: false if none was found.
 */
bool interpret_x86_64_latch(struct interpret_latch *ret, u64 from, u64 inside, u32 *insns,
			    interpret_read_fn read, void *context);
bool interpret_arm64_latch(struct interpret_latch *ret, u64 from, u64 inside, u32 *insns,
			   interpret_read_fn read, void *context);

#endif
