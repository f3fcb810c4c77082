/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The head of an in-order machine's issue queue: instructions are handed to it one
 * after the other, as control passes through them, and it says in which cycle each
 * would issue if every load hit its cache and every branch were predicted.
 */
#ifndef DCPI_ISSUE_QUEUE_H
#define DCPI_ISSUE_QUEUE_H

#include "analysis/machine/machine_issue.h"
#include "analysis/machine/schedule.h"

#define ISSUE_RESERVATIONS 64 /* a power of two, more than ISSUE_HOLD_MAX */

/** struct issue_write - the last write of a register. */
struct issue_write {
	int32_t cycle; /* issue of the writer */
	uint32_t from;
	uint8_t class;
	uint8_t latency;
	uint8_t late; /* the result comes this much later than it should */
};

/**
 * struct issue_queue - what is under way
 * @cycle:        in which the last instruction issued; @last: its name
 * @issued:       instructions that issued in it
 * @closed:       nothing more can issue in it (a taken branch)
 * @members:      classes of the instructions that have been assigned to pipes together
 * @group:        aligned group of the members, if the machine has such
 * @fetched:      the aligned block of code @block can issue from this cycle on; @left:
 *                cycles in which the last ones before it had all issued (ring, @turn)
 * @unit_free:    cycle in which each unit can be used again, and who uses it
 * @reserved:     pipes that are taken, for cycles from @cycle on (ring)
 * @recent:       masks of classes that issued in the last cycles (ring), and the last one
 */
struct issue_queue {
	const struct machine_issue *issue;
	int32_t cycle;
	uint32_t last;
	uint8_t issued;
	bool closed;
	uint8_t member_count;
	uint8_t members[ISSUE_WIDTH_MAX];
	uint64_t group;
	uint64_t block;
	int32_t fetched;
	int32_t left[ISSUE_FETCH_AHEAD_MAX];
	uint8_t turn;
	struct issue_write writes[INSN_REGS];
	int32_t unit_free[ISSUE_UNITS];
	uint32_t unit_user[ISSUE_UNITS];
	uint8_t reserved[ISSUE_RESERVATIONS];
	uint32_t reserver;
	uint32_t recent[ISSUE_GAP_MAX + 1];
	uint32_t recent_from[ISSUE_GAP_MAX + 1];
};

#define ISSUE_STALLS_MAX 8

/**
 * struct issue_event - an instruction has issued
 * @cycles:      behind the instruction before it (M_i); 0: together with it
 * @stalls:      why not earlier; their cycles are at most @cycles
 * @depends_on:  the instruction whose latency or unit decided; UINT32_MAX: none
 */
struct issue_event {
	uint32_t cycles;
	uint32_t stall_count;
	struct static_stall stalls[ISSUE_STALLS_MAX];
	uint32_t depends_on;
};

/**
 * issue_queue_init() - nothing is under way, and a new cycle begins
 *
 * Nor is anything fetched ahead: what is in the first aligned block of code can issue in
 * that cycle, what is behind it a cycle later.
 */
void issue_queue_init(struct issue_queue *queue, const struct machine_issue *issue);

/** issue_queue_close() - control went elsewhere: nothing more issues in this cycle. */
void issue_queue_close(struct issue_queue *queue);

/**
 * issue_queue_add() - issue the next instruction
 * @class: machine_issue_class() of it
 * @index: its name, which events of later instructions will mention
 * @event: out
 */
void issue_queue_add(struct issue_queue *queue, const struct insn *insn, uint8_t class,
		     uint32_t index, struct issue_event *event);

#endif
