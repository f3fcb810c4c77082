/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinds stacks of samples and of off-CPU time, and collects each kind in a stack store.
 *
 * A call chain that the kernel or the processor has found has no mark at its end. It is complete if
 * the call frame information of its last address is that of an outermost frame.
 *
 * Every stack ends with a reason (enum unwind_end): the counts of all reasons add up to the number
 * of stacks. The outermost frames of a stack that is not complete are not known; it is stored below
 * a frame whose offset is the reason. Code in no image is a frame whose offset is zero. Stacks of
 * the profiler's processes are below a frame at PROFILE_STACK_OF_PROFILER. The innermost frame of
 * off-CPU time has the state as offset (enum profile_off_cpu_state). The image of all these frames
 * is IMAGE_UNKNOWN.
 *
 * Unwind tables are built in other processes (unwind_builder.h). Meanwhile up to 1024 stacks wait
 * for them, in limited memory. They are in no counter until they have ended. If the tables of the
 * running programs do not fit into memory, they would be built again and again; so CPU time is
 * limited. A stack that needs a table beyond the limit ends as UNWIND_END_WAITING at once.
 */
#ifndef DCPI_STACK_UNWINDER_H
#define DCPI_STACK_UNWINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/image/image_map.h"

struct source_stack;
struct stack_store;
struct stack_unwinder;
struct counter_set;

/** Limit of the memory of all unwind tables: a quarter of the memory limit of the daemon. */
#define STACK_UNWINDER_TABLE_BYTES ((size_t)8 << 20)
/** The same for one program or recording: all tables of a compiler of 100 MB of code. */
#define STACK_UNWINDER_TABLE_BYTES_ONE ((size_t)64 << 20)
/** Limits of the memory of stacks that wait for tables, in the same way. */
#define STACK_UNWINDER_HELD_BYTES ((size_t)4 << 20)
#define STACK_UNWINDER_HELD_BYTES_ONE ((size_t)32 << 20)

/**
 * struct stack_unwinder_code - where the code of processes is
 * @place:     find the place of a PC in the process and generation of a tag
 * @uid:       user that is charged for work for a process
 * @is_profiler: the process of a tag is the profiler's; NULL: none is
 * @images:    of the places; remains the caller's
 * @vdso_here: the vDSO is that of this machine's kernel
 * @table_bytes: limit of the memory of all unwind tables
 * @held_bytes:  limit of the memory of stacks that wait for tables
 * @off_cpu:     off-CPU time is measured, so it has counters
 * @build_permille: maximum CPU time for tables, in 1/1000 of a CPU; 0: no limit
 * @build_start_ns: CPU time that may be used in addition, for the tables at the start
 */
struct stack_unwinder_code {
	struct image_place (*place)(void *context, uint64_t tag, uint64_t pc);
	uint32_t (*uid)(void *context, uint32_t pid);
	bool (*is_profiler)(void *context, uint64_t tag);
	void *context;
	struct image_table *images;
	bool vdso_here;
	size_t table_bytes;
	size_t held_bytes;
	bool off_cpu;
	uint32_t build_permille;
	uint64_t build_start_ns;
};

/** stack_unwinder_create() - Return: NULL if out of memory. @code: copied */
struct stack_unwinder *stack_unwinder_create(const struct stack_unwinder_code *code,
					     uint32_t nodes_max);
void stack_unwinder_destroy(struct stack_unwinder *unwinder);

/** stack_unwinder_add() - unwind a stack and add it to the store, or let it wait for a table */
void stack_unwinder_add(struct stack_unwinder *unwinder, const struct source_stack *stack);

/**
 * stack_unwinder_settle() - take unwind tables that have been built, and unwind the stacks that
 * wait for them
 */
void stack_unwinder_settle(struct stack_unwinder *unwinder);

/**
 * stack_unwinder_waits() - return true if the processes of stacks that wait should not be forgotten
 *
 * Each stack may wait two seconds.
 */
bool stack_unwinder_waits(const struct stack_unwinder *unwinder, uint64_t now_ns);

/**
 * stack_unwinder_finish() - unwind all stacks that wait: their processes will be forgotten
 * @ends: sampling has ended: wait up to two seconds for tables
 *
 * Stacks without a table end as UNWIND_END_WAITING.
 */
void stack_unwinder_finish(struct stack_unwinder *unwinder, bool ends);

/** stack_unwinder_holds() - return true if a stack waits for a table */
bool stack_unwinder_holds(const struct stack_unwinder *unwinder);

/** stack_unwinder_store() - return the stacks of samples; owned by the unwinder */
struct stack_store *stack_unwinder_store(struct stack_unwinder *unwinder);

/** stack_unwinder_off_cpu() - return the stacks of off-CPU time, with nanoseconds as weights */
struct stack_store *stack_unwinder_off_cpu(struct stack_unwinder *unwinder);

/** stack_unwinder_clear() - forget the stacks of both: an epoch begins */
void stack_unwinder_clear(struct stack_unwinder *unwinder);

/** stack_unwinder_counters() - set "stat" counters since the start */
void stack_unwinder_counters(const struct stack_unwinder *unwinder, struct counter_set *tally);

/** stack_unwinder_bytes() - memory in use */
size_t stack_unwinder_bytes(const struct stack_unwinder *unwinder);

#endif
