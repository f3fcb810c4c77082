/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call stack in a sample of a perf.data file. The kernel may have found a call chain
 * (perf record -g), or have copied registers and stack (--call-graph dwarf). Or the processor has
 * branch records of the calls that have not returned (--call-graph lbr).
 */
#ifndef DCPI_PERFDATA_STACK_H
#define DCPI_PERFDATA_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/import/perfdata_event.h"

struct perf_event_header;

/**
 * struct perfdata_words - numbers of eight bytes in a record, which may not be aligned
 * @count: number of @bytes / 8
 */
struct perfdata_words {
	const uint8_t *bytes;
	size_t count;
};

/** perfdata_word() - return a number, by its index */
uint64_t perfdata_word(const struct perfdata_words *words, size_t index);

/* Words of a branch record: source, target, flags */
#define PERFDATA_BRANCH_WORDS 3

/**
 * struct perfdata_stack - pointers are into the record
 * @chain:     addresses, and markers of perf (PERF_CONTEXT_*)
 * @branches:  PERFDATA_BRANCH_WORDS for each, the last branch first
 * @abi:       PERF_SAMPLE_REGS_ABI_*
 * @registers: those of perfdata_event.user_registers
 * @stack:     copy of the memory from the stack pointer on; @stack_bytes of @stack_room are valid
 */
struct perfdata_stack {
	struct perfdata_words chain;
	struct perfdata_words branches;
	uint64_t abi;
	struct perfdata_words registers;
	const uint8_t *stack;
	size_t stack_bytes;
	size_t stack_room;
};

/** perfdata_stack_recorded() - return true if the samples of an event have stacks */
bool perfdata_stack_recorded(const struct perfdata_event *event);

/** perfdata_stack_is_branches() - return true if branch records are the calls of user space */
bool perfdata_stack_is_branches(const struct perfdata_event *event);

/** perfdata_branches_recorded() - return true if samples have branch records that are no stack */
bool perfdata_branches_recorded(const struct perfdata_event *event);

/**
 * perfdata_stack_parse() - find the parts of a sample's stack
 * @event:  of the sample
 * @record: complete, with the size in its header
 * @rest:   perfdata_sample.rest
 *
 * Return: 0; -EBADMSG if a part exceeds the record.
 */
int perfdata_stack_parse(struct perfdata_stack *ret, const struct perfdata_event *event,
			 const struct perf_event_header *record, size_t rest);

#endif
