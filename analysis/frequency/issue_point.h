/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Issue points: instructions that spend time at the head of the issue queue even without dynamic
 * stalls (M > 0, DCPI section 6.1.3). Each provides an estimate of the frequency of its class:
 * samples / cycles.
 */
#ifndef DCPI_ISSUE_POINT_H
#define DCPI_ISSUE_POINT_H

#include "analysis/frequency/frequency.h"

/* An M below this is an average over edges into the block and is negligible evidence. */
#define ISSUE_POINT_LEAST 0.1

/**
 * struct issue_point - an issue point
 * @samples, @cycles: S and M. If M is the latency of an earlier instruction of the block with other
 *          instructions in between, they are sums from the instruction after that earlier one:
 *          stalls in between hide latency (section 6.1.3's fourth challenge)
 * @shared: samples of the instructions directly before it that should take no cycle, in blocks that
 *          may be entered in the middle of a pair. If instructions pair differently than scheduled,
 *          these samples belong to the point
 * @torn:   samples of the instructions that should issue with it, or 0 if they are few. If the
 *          point issued with the previous instruction, these samples belong to the point
 * @late:   M if control always came from mispredicted branches (schedule_insn.late_change); for a
 *          block's first instruction: @cycles
 * @head_samples, @head_cycles: S and M of the block's first instruction, which the time of
 *          mispredictions is charged to
 * @insn:   instruction
 * @first:  first instruction of the sums; @insn if they cover that instruction only
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
 * @least: lower bound of @cycles (schedule.block_least)
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

/** issue_point_samples() - return S of an instruction, or 0 if its samples are no evidence. */
static inline double issue_point_samples(const struct frequency_input *input, uint32_t insn)
{
	return issue_point_unsure(input, insn) ? 0 : input->profile->samples[insn];
}

/** issue_point_cycles() - return M of an instruction, or 0 if its samples are no evidence. */
static inline double issue_point_cycles(const struct frequency_input *input, uint32_t insn)
{
	return issue_point_unsure(input, insn) ? 0 : input->schedule->insns[insn].min_cycles;
}

/** issue_point_late_change() - return late_change, or 0 if the samples are no evidence. */
static inline double issue_point_late_change(const struct frequency_input *input, uint32_t insn)
{
	return issue_point_unsure(input, insn) ? 0 : input->schedule->insns[insn].late_change;
}

/**
 * issue_points_find() - find the issue points of all classes, O(instructions + classes)
 * @ret: out; freed by issue_points_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int issue_points_find(struct issue_points *ret, const struct frequency_input *input);

void issue_points_deinit(struct issue_points *points);

#endif
