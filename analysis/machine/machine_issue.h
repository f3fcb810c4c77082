/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How an in-order machine issues instructions, as tables. issue_queue.c is the one
 * that reads them.
 *
 * Instructions fall into issue classes, up to 32. Each needs pipes in the cycle in
 * which it issues, and its result can be used some cycles later.
 */
#ifndef DCPI_MACHINE_ISSUE_H
#define DCPI_MACHINE_ISSUE_H

#include "analysis/insn/insn.h"

#define ISSUE_CLASSES_MAX 32
#define ISSUE_WIDTH_MAX 4
#define ISSUE_GAP_MAX 7
#define ISSUE_HOLD_MAX 40
#define ISSUE_FETCH_AHEAD_MAX 4

/** enum issue_unit - what works on one instruction at a time. */
enum issue_unit {
	ISSUE_UNIT_NONE,
	ISSUE_UNIT_MULTIPLY,
	ISSUE_UNIT_DIVIDE,
	ISSUE_UNIT_FP_DIVIDE,
	ISSUE_UNITS,
};

/* issue_class.flags */
#define ISSUE_ALONE 1U	   /* nothing else issues in its cycle */
#define ISSUE_DRAINS 2U	   /* waits until everything before it is done */
#define ISSUE_FORGETS 4U   /* takes so long that nothing is still under way behind it */
#define ISSUE_ALL_PIPES 8U /* takes all of its pipes */

/**
 * struct issue_class - instructions that issue alike
 * @pipes:       mask: it takes one of them, or all; 0: none
 * @hold_cycles: 0, or its pipes are taken for this many cycles (then it takes all)
 * @latency:     an instruction can use the result this many cycles later
 * @unit:        enum issue_unit
 * @unit_cycles: until the next instruction can use that unit
 * @late_pipes:  pipes that are taken once more, @late_cycle cycles behind issue
 */
struct issue_class {
	const char *name;
	uint8_t pipes;
	uint8_t hold_cycles;
	uint8_t latency;
	uint8_t unit;
	uint8_t unit_cycles;
	uint8_t late_pipes;
	uint8_t late_cycle;
	uint8_t flags;
};

/** issue_class_needs() - how many of its pipes it takes. */
static inline unsigned int issue_class_needs(const struct issue_class *class)
{
	if ((class->flags & ISSUE_ALL_PIPES) != 0)
		return (unsigned int)__builtin_popcount(class->pipes);
	return class->pipes != 0;
}

/**
 * struct issue_match - which class an instruction is in; the first that matches counts
 * @insn_class:    enum insn_class
 * @mask, @value:  opcode & mask == value
 * @flags:         insn.flags that it must have
 * @bytes_min, @bytes_max: of the memory operand, or else the operation; 0, 0: any
 */
struct issue_match {
	uint8_t insn_class;
	uint8_t flags;
	uint8_t bytes_min;
	uint8_t bytes_max;
	uint32_t mask;
	uint32_t value;
	uint8_t issue_class;
};

/* Operands, as masks: those of insn.sources, the address, flags, and the rest. */
#define ISSUE_OPERAND(source) (1U << (source))
#define ISSUE_OPERAND_ADDRESS 0x10U
#define ISSUE_OPERAND_FLAGS 0x20U
#define ISSUE_OPERAND_OTHER 0x40U
#define ISSUE_OPERANDS_DATA 0x0fU
#define ISSUE_OPERANDS_ALL 0x7fU

/**
 * struct issue_bypass - results that are there earlier, by way of a bypass
 * @producers, @consumers: masks of classes
 * @operands: of the consumer
 * @cycles:   earlier than the producer's latency; the first entry that fits counts
 */
struct issue_bypass {
	uint32_t producers;
	uint32_t consumers;
	uint8_t operands;
	uint8_t cycles;
};

/**
 * struct issue_late - operands that a unit gets late: the consumer issues all the same,
 * and its result comes later by what is missing
 */
struct issue_late {
	uint32_t producers;
	uint32_t consumers;
	uint8_t cycles; /* beyond the producer's latency */
};

/**
 * struct issue_gap - @second must not issue exactly @cycles after @first, which is at
 * most ISSUE_GAP_MAX. 0: not in the same cycle, in either order.
 */
struct issue_gap {
	uint32_t first;
	uint32_t second;
	uint8_t cycles;
};

/**
 * struct machine_issue - an in-order machine
 * @slots:       issue slots that a cycle counts for when slots are lost: 2 where most
 *               code issues in pairs. A lost slot is a stall of 1 / @slots cycles
 * @group_bytes: not 0: instructions are assigned to pipes in aligned groups of this
 *               size, before it is known when they can issue; what finds no pipe beside
 *               those before it waits until they have all issued
 * @fetch_bytes: aligned code that is fetched in a cycle; 0: fetch never limits issue
 * @fetch_ahead: so many of those are fetched before the first of them is needed, at
 *               most ISSUE_FETCH_AHEAD_MAX
 * @taken_bubble: cycles in which nothing is fetched behind a branch that is taken. Seen
 *               only when issue has caught up with fetch
 * @writeback_class: of the address register that pre- and post-indexing write
 * Tables end where their count says.
 */
struct machine_issue {
	const struct issue_class *classes;
	const struct issue_match *matches;
	const struct issue_bypass *bypasses;
	const struct issue_late *lates;
	const struct issue_gap *gaps;
	uint8_t class_count;
	uint8_t match_count;
	uint8_t bypass_count;
	uint8_t late_count;
	uint8_t gap_count;
	uint8_t width;
	uint8_t slots;
	uint8_t group_bytes;
	uint8_t fetch_bytes;
	uint8_t fetch_ahead;
	uint8_t taken_bubble;
	uint8_t writeback_class;
};

/** machine_issue_class() - the class of an instruction; the last one if no entry matches. */
uint8_t machine_issue_class(const struct machine_issue *issue, const struct insn *insn);

/** machine_issue_bypass() - cycles by which a result is there earlier for an operand. */
unsigned int machine_issue_bypass(const struct machine_issue *issue, uint8_t producer,
				  uint8_t consumer, unsigned int operand);

/** machine_issue_late() - cycles by which a unit gets an operand late. */
unsigned int machine_issue_late(const struct machine_issue *issue, uint8_t producer,
				uint8_t consumer);

#endif
