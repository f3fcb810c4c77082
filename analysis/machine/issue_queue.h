/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The head of an in-order machine's issue queue. Instructions are added one by one, in the order of
 * execution; the queue computes the cycle in which each would issue if every load hit its cache and
 * every branch were predicted.
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
	uint8_t late; /* delay of the result beyond its latency */
};

/**
 * struct issue_queue - state of the pipeline
 * @cycle:     issue of the last instruction; @last: its index
 * @issued:    instructions that issued in @cycle
 * @closed:    no further instruction can issue in @cycle (a taken branch)
 * @members:   classes of the instructions that have been assigned to pipes together
 * @group:     aligned group of the members, if the machine has groups
 * @fetched:   first cycle in which the aligned block of code @block can issue; @left: cycles in
 *             which the previous blocks had issued completely (ring buffer)
 * @unit_free: first cycle in which each unit is free; @unit_user: its last user
 * @reserved:  pipes that are taken in cycles from @cycle on (ring buffer)
 * @recent:    masks of classes that issued in the last cycles (ring buffer); @recent_from: the last
 *             instruction in each
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
	uint8_t oldest_left;
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
 * struct issue_event - issue of an instruction
 * @cycles:     after the instruction before it (M_i); 0: together with it
 * @stalls:     reasons for the delay; their cycles add up to at most @cycles
 * @depends_on: the instruction whose latency or unit determined the delay; UINT32_MAX: none
 */
struct issue_event {
	uint32_t cycles;
	uint32_t stall_count;
	struct static_stall stalls[ISSUE_STALLS_MAX];
	uint32_t depends_on;
};

/**
 * issue_queue_init() - start a new cycle with an empty pipeline
 *
 * Nothing is fetched ahead: instructions in the first aligned block of code can issue in that
 * cycle, later ones a cycle later.
 */
void issue_queue_init(struct issue_queue *queue, const struct machine_issue *issue);

/** issue_queue_close() - handle a taken branch: no further instruction issues in this cycle. */
void issue_queue_close(struct issue_queue *queue);

/**
 * issue_queue_add() - issue the next instruction
 * @class: its machine_issue_class()
 * @index: its index, which events of later instructions refer to
 * @event: out
 */
void issue_queue_add(struct issue_queue *queue, const struct insn *insn, uint8_t class,
		     uint32_t index, struct issue_event *event);

#endif
