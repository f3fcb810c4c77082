/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The branch records of a sample (LBR, BRBE, AMD's LbrExtV2): the last taken branches before it.
 *
 * Between two consecutive records the processor ran straight through, from the target of the older
 * branch to the newer branch. The unit here is this run, with the branch at its end. Only whole
 * runs count:
 * - The oldest record only provides the beginning of a run. Its own run is not known, and LBRs
 *   record some branches too often in this place (Nowak et al., USENIX ATC 2015).
 * - The run after the newest record is omitted: the sample interrupted it.
 *
 * A sample of time catches the records of slow code more often than those of fast code: the number
 * of records in a stack is fixed, and so the time that it covers differs. The weight of a run
 * corrects this. If the event counts time, a stack represents its period, and a run as many
 * executions as fit into its share of the period at the rate of the stack's other runs. The run
 * itself and the run after it are left out of that rate. Otherwise a run that takes longer than
 * usual would lower its own weight, and so would a branch direction that leads to slow code.
 */
#ifndef DCPI_BRANCH_STACK_H
#define DCPI_BRANCH_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/import/perfdata_event.h"
#include "daemon/import/perfdata_stack.h"

/* No processor records more branches; older ones are ignored. */
#define BRANCH_RUNS_MAX 256

/**
 * struct branch_run - code that ran straight through, and the branch at its end
 * @start:  address, the target of the branch before
 * @end:    address of the last instruction, the branch; or at which the run was interrupted
 * @target: address to which the branch led
 * @cycles: from the retirement of the branch before to that of this one
 * @weight: executions that it represents; 0: no cycles were recorded
 */
struct branch_run {
	uint64_t start;
	uint64_t end;
	uint64_t target;
	uint32_t cycles;
	double weight;
};

/**
 * branch_stack_last() - find the target of the last branch that retired
 *
 * Return: the address; 0: not known.
 */
uint64_t branch_stack_last(const struct perfdata_words *branches);

/** struct branch_stack_faults - records that contradict each other (@invalid), or never retired */
struct branch_stack_faults {
	uint64_t invalid;
	uint64_t speculative;
};

/**
 * branch_stack_runs() - find the runs of a stack, the last first
 * @ret:      out
 * @branches: of the sample
 * @event:    of the sample; @period: of the sample
 * @faults:   incremented
 *
 * Return: their number.
 */
size_t branch_stack_runs(struct branch_run ret[BRANCH_RUNS_MAX],
			 const struct perfdata_words *branches, const struct perfdata_event *event,
			 uint64_t period, struct branch_stack_faults *faults);

#endif
