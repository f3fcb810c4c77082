// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runtime/paths_slow.h"

#include "instrument/paths/paths_trace.h"

/* The words that the end of a path changes (append_to_trace() in paths_code.c). @cursor: offset of
 * the next slot from the structure */
struct scratch_trace {
	volatile uint64_t cursor;
	volatile uint64_t count;
	volatile uint64_t charged;
	volatile uint64_t began;
	volatile uint32_t slots[PATHS_TRACE_SLOTS];
};

/* Begin a group as a full one is followed by the next. Return: its time. */
static inline uint64_t begin_group(struct scratch_trace *trace)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	trace->began = (uint64_t)high << 32 | low;
	trace->began += trace->charged;
	return trace->began;
}

/*
 * Record an empty path where two registers and the flags are live. No bit of @starts is set.
 * Members of the trace are at 0 (cursor) and 8 (count).
 */
static inline void record_empty(struct scratch_trace *trace, uint64_t starts)
{
	__asm__ volatile("push %%rax\n\t"
			 "push %%rdx\n\t"
			 "lahf\n\t"
			 "seto %%al\n\t"
			 "push %%rax\n\t"
			 "incq 8(%0)\n\t"
			 "movl (%0), %%eax\n\t"
			 "movl %%edx, (%0,%%rax)\n\t"
			 "lea 4(%%rax), %%rax\n\t"
			 "mov %%rax, (%0)\n\t"
			 "shr $2, %%eax\n\t"
			 "bt %%rax, %1\n\t"
			 "jnc 1f\n\t"
			 "lfence\n"
			 "1:\tpop %%rax\n\t"
			 "add $127, %%al\n\t"
			 "sahf\n\t"
			 "pop %%rdx\n\t"
			 "pop %%rax"
			 :
			 : "r"(trace), "r"(starts)
			 : "rax", "rdx", "cc", "memory");
}

static uint32_t time_between(uint64_t before, uint64_t after)
{
	return after - before < UINT32_MAX ? (uint32_t)(after - before) : UINT32_MAX;
}

/* Measure groups without paths, and groups of empty paths. */
static void calibrate(struct paths_trace_head *head)
{
	struct scratch_trace trace = {0};
	uint64_t starts = 0, before, between, after;

	__asm__ volatile("" : "+r"(starts));
	for (uint32_t i = 0; i < PATHS_TRACE_CLOCKS; i++) {
		before = begin_group(&trace);
		between = begin_group(&trace);
		trace.cursor = __builtin_offsetof(struct scratch_trace, slots);
		for (uint32_t path = 0; path < PATHS_TRACE_EMPTY_PATHS; path++)
			record_empty(&trace, starts);
		after = begin_group(&trace);
		head->clocks[i] = time_between(before, between);
		head->empty[i] = time_between(between, after);
	}
}

void paths_slow_begin(const struct profile_layout_state *state, const struct runtime_memory *memory)
{
	uint64_t at = state->parameters[PATHS_TRACE_PARAMETER];
	struct paths_trace_head *head = (struct paths_trace_head *)((char *)memory->area + at);

	if (at == 0 || head->cursor != 0)
		return;
	calibrate(head);
	/* The first group has no time. */
	head->cursor = state->range + state->head_bytes + at + sizeof(*head) + sizeof(uint64_t);
}
