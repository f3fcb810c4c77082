// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/import/branch_stack.h"

#include <string.h>

/* Fields of the third word of a record, struct perf_branch_entry. */
#define FLAG_ABORT (UINT64_C(1) << 3)
#define CYCLES_SHIFT 4
#define CYCLES_MASK 0xffff
/* PERF_BR_SPEC_WRONG_PATH of Linux 6.1 */
#define SPECULATION_SHIFT 24
#define SPECULATION_MASK 3
#define SPECULATION_WRONG_PATH 1
/* No code runs for longer without a taken branch. */
#define RUN_BYTES_MAX (UINT64_C(1) << 20)
/* A run and the run after it are left out; fewer others are no rate. */
#define OTHERS_MIN 2

struct record {
	uint64_t from;
	uint64_t to;
	uint64_t flags;
};

/* Return the number of records of branches that retired. */
static size_t records_take(struct record ret[BRANCH_RUNS_MAX + 1],
			   const struct perfdata_words *branches,
			   struct branch_stack_faults *faults)
{
	size_t count = 0;

	for (size_t i = 0; i + PERFDATA_BRANCH_WORDS <= branches->count && count <= BRANCH_RUNS_MAX;
	     i += PERFDATA_BRANCH_WORDS) {
		const struct record record = {
			.from = perfdata_word(branches, i),
			.to = perfdata_word(branches, i + 1),
			.flags = perfdata_word(branches, i + 2),
		};

		if ((record.flags >> SPECULATION_SHIFT & SPECULATION_MASK) ==
		    SPECULATION_WRONG_PATH)
			faults->speculative++;
		else
			ret[count++] = record;
	}
	return count;
}

/* An address of 0 was withheld by the kernel. After an abort, code before it may have no effect. */
static bool is_run(const struct record *older, const struct record *newer,
		   struct branch_stack_faults *faults)
{
	if (older->to == 0 || newer->from == 0 || newer->to == 0 ||
	    (newer->flags & FLAG_ABORT) != 0)
		return false;
	if (newer->from >= older->to && newer->from - older->to < RUN_BYTES_MAX)
		return true;
	faults->invalid++;
	return false;
}

uint64_t branch_stack_last(const struct perfdata_words *branches)
{
	struct branch_stack_faults faults = {0};
	struct record records[BRANCH_RUNS_MAX + 1];

	return records_take(records, branches, &faults) > 0 ? records[0].to : 0;
}

static double run_weight(const struct branch_run *runs, size_t count, size_t run, uint64_t period)
{
	double cycles = 0, others = 0;

	for (size_t i = 0; i < count; i++) {
		if (i == run || i + 1 == run)
			continue;
		cycles += runs[i].cycles;
		others++;
	}
	if (others < OTHERS_MIN || cycles <= 0)
		return 0;
	return (double)period * others / cycles / (double)count;
}

size_t branch_stack_runs(struct branch_run ret[BRANCH_RUNS_MAX],
			 const struct perfdata_words *branches, const struct perfdata_event *event,
			 uint64_t period, struct branch_stack_faults *faults)
{
	bool by_time = strcmp(event->unit, "cycles") == 0;
	struct record records[BRANCH_RUNS_MAX + 1];
	size_t count = 0, taken = records_take(records, branches, faults);
	uint64_t cycles = 0;

	for (size_t i = 0; i + 1 < taken; i++) {
		if (!is_run(&records[i + 1], &records[i], faults))
			continue;
		ret[count] = (struct branch_run){
			.start = records[i + 1].to,
			.end = records[i].from,
			.target = records[i].to,
			.cycles = (uint32_t)(records[i].flags >> CYCLES_SHIFT & CYCLES_MASK),
		};
		cycles += ret[count++].cycles;
	}
	for (size_t i = 0; i < count && cycles > 0; i++)
		ret[i].weight = by_time ? run_weight(ret, count, i, period)
					: (double)period / (double)count;
	return count;
}
