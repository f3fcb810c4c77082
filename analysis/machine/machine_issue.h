/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables that describe how an in-order machine issues instructions. They are read by issue_queue.c.
 *
 * Instructions are divided into up to 32 issue classes. Each class needs pipes in the cycle in
 * which it issues, and has a latency until its result can be used.
 */
#ifndef DCPI_MACHINE_ISSUE_H
#define DCPI_MACHINE_ISSUE_H

#include "analysis/insn/insn.h"

#define ISSUE_CLASSES_MAX 32
#define ISSUE_WIDTH_MAX 4
#define ISSUE_GAP_MAX 7
#define ISSUE_HOLD_MAX 40
#define ISSUE_FETCH_AHEAD_MAX 4

/** enum issue_unit - units that process one instruction at a time. */
enum issue_unit {
	ISSUE_UNIT_NONE,
	ISSUE_UNIT_MULTIPLY,
	ISSUE_UNIT_DIVIDE,
	ISSUE_UNIT_FP_DIVIDE,
	ISSUE_UNITS,
};

/* issue_class.flags */
#define ISSUE_ALONE 1U	   /* no other instruction issues in its cycle */
#define ISSUE_DRAINS 2U	   /* waits until all earlier instructions are done */
#define ISSUE_FORGETS 4U   /* takes so long that no earlier instruction is in progress after it */
#define ISSUE_ALL_PIPES 8U /* takes all of its pipes */

/**
 * struct issue_class - instructions with the same issue constraints
 * @pipes:       mask: it takes one of them, or all; 0: none
 * @hold_cycles: 0, or its pipes are taken for this many cycles (then it takes all)
 * @latency:     cycles until an instruction can use the result
 * @unit:        enum issue_unit
 * @unit_cycles: cycles until the next instruction can use that unit
 * @late_pipes:  pipes that are taken again @late_cycle cycles after issue
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

/** issue_class_needs() - return the number of pipes that a class takes. */
static inline unsigned int issue_class_needs(const struct issue_class *class)
{
	if ((class->flags & ISSUE_ALL_PIPES) != 0)
		return (unsigned int)__builtin_popcount(class->pipes);
	return class->pipes != 0;
}

/**
 * struct issue_match - maps instructions to a class; the first match counts
 * @insn_class:   enum insn_class
 * @mask, @value: opcode & mask == value
 * @flags:        insn.flags that must be set
 * @bytes_min, @bytes_max: size of the memory operand, or else of the operation; 0, 0: any
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

/* Masks of operands: those of insn.sources, the address, flags, and the rest. */
#define ISSUE_OPERAND(source) (1U << (source))
#define ISSUE_OPERAND_ADDRESS 0x10U
#define ISSUE_OPERAND_FLAGS 0x20U
#define ISSUE_OPERAND_OTHER 0x40U
#define ISSUE_OPERANDS_DATA 0x0fU
#define ISSUE_OPERANDS_ALL 0x7fU

/**
 * struct issue_bypass - results that a bypass makes available earlier
 * @producers, @consumers: masks of classes
 * @operands: of the consumer
 * @cycles:   reduction of the producer's latency; the first match counts
 */
struct issue_bypass {
	uint32_t producers;
	uint32_t consumers;
	uint8_t operands;
	uint8_t cycles;
};

/**
 * struct issue_late - operands that reach a unit late: the consumer issues anyway, and its result
 * is delayed by the missing cycles
 */
struct issue_late {
	uint32_t producers;
	uint32_t consumers;
	uint8_t cycles; /* beyond the producer's latency */
};

/**
 * struct issue_gap - @second must not issue exactly @cycles after @first; @cycles is at most
 * ISSUE_GAP_MAX. 0: not in the same cycle, in either order.
 */
struct issue_gap {
	uint32_t first;
	uint32_t second;
	uint8_t cycles;
};

/**
 * struct machine_issue - an in-order machine
 * @slots:        issue slots per cycle for counting lost slots: 2 where most code issues in pairs.
 *                A lost slot is a stall of 1 / @slots cycles
 * @group_bytes:  not 0: instructions are assigned to pipes in aligned groups of this size, before
 *                it is known when they can issue. An instruction without a free pipe waits until
 *                all before it have issued
 * @fetch_bytes:  aligned code that is fetched per cycle; 0: fetch never limits issue
 * @fetch_ahead:  number of these blocks that are fetched before the first of them is needed, at
 *                most ISSUE_FETCH_AHEAD_MAX
 * @taken_bubble: cycles without a fetch after a taken branch. Relevant only when issue has caught
 *                up with fetch
 * @writeback_class: class of the address register's update in pre- and post-indexing
 *
 * The count of each table is its length.
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

/** machine_issue_class() - return the class of an instruction; the last one if no entry matches. */
uint8_t machine_issue_class(const struct machine_issue *issue, const struct insn *insn);

/**
 * machine_issue_bypass() - return the cycles by which a bypass makes a result available earlier.
 */
unsigned int machine_issue_bypass(const struct machine_issue *issue, uint8_t producer,
				  uint8_t consumer, unsigned int operand);

/** machine_issue_late() - return the cycles by which an operand reaches a unit late. */
unsigned int machine_issue_late(const struct machine_issue *issue, uint8_t producer,
				uint8_t consumer);

#endif
