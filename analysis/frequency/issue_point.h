/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Issue points: instructions that spend time at the head of the issue queue even when
 * nothing goes wrong (M > 0, DCPI section 6.1.3). Each tells something about the frequency
 * of its class: samples / cycles.
 */
#ifndef DCPI_ISSUE_POINT_H
#define DCPI_ISSUE_POINT_H

#include "analysis/frequency/frequency.h"

/* An average over ways into the block below this says next to nothing. */
#define ISSUE_POINT_LEAST 0.1

/**
 * struct issue_point - an issue point
 * @samples, @cycles: S and M; if M is the latency of an earlier instruction of the block
 *        and others stand between them, then sums from behind that one on: stalls in
 *        between hide latency (section 6.1.3's fourth challenge)
 * @shared: samples of the instructions right before it that should take no cycle, in blocks
 *        that may be entered in the middle of a pair: if pairs fall otherwise than the
 *        schedule has it, these are the point's
 * @torn: samples of the instructions that should issue with it, if they are more than a few: if
 *        it went with the one before, these are the point's; 0: they are few
 * @late: M if control always came by mispredicted branches (schedule_insn.late_change);
 *        of a block's first instruction: @cycles
 * @head_samples, @head_cycles: S and M of the block's first instruction, where the time
 *        goes that mispredicts take
 * @insn: instruction
 * @first: where the sums begin; @insn if they are its own
 */
struct issue_point {
	double samples;
	double cycles;
	double shared;
	double torn;
	double late;
	double head_samples;
	double head_cycles;
	uint32_t insn;
	uint32_t first;
};

/**
 * struct issue_points - those of class k are @points[@first[k] .. @first[k + 1] - 1]
 * @samples, @cycles: sums of S and M over all instructions of each class
 * @least: the least that @cycles can be (schedule.block_least)
 */
struct issue_points {
	struct issue_point *points;
	uint32_t *first;
	double *samples;
	double *cycles;
	double *least;
};

static inline bool issue_point_unsure(const struct frequency_input *input, uint32_t insn)
{
	return input->profile->unsure != NULL && input->profile->unsure[insn];
}

/** issue_point_samples() - S of an instruction; of one that is no evidence 0, as is M. */
static inline double issue_point_samples(const struct frequency_input *input, uint32_t insn)
{
	return issue_point_unsure(input, insn) ? 0 : input->profile->samples[insn];
}

/** issue_point_cycles() - M of an instruction, likewise. */
static inline double issue_point_cycles(const struct frequency_input *input, uint32_t insn)
{
	return issue_point_unsure(input, insn) ? 0 : input->schedule->insns[insn].min_cycles;
}

/** issue_point_late_change() - its late_change, likewise. */
static inline double issue_point_late_change(const struct frequency_input *input, uint32_t insn)
{
	return issue_point_unsure(input, insn) ? 0 : input->schedule->insns[insn].late_change;
}

/**
 * issue_points_find() - O(instructions + classes)
 * @ret: out; freed by issue_points_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int issue_points_find(struct issue_points *ret, const struct frequency_input *input);

void issue_points_deinit(struct issue_points *points);

#endif
