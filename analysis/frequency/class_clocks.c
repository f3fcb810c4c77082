// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/class_clocks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/loop_clocks.h"

/* Points of a density, and its range in standard deviations. */
#define POINTS 17
#define RANGE 4.0
/* Bounds of classes are this much greater than the most likely frequency. */
#define BOUND_TIMES 2.0

/* @next: room for the next density */
struct taking {
	struct frequency_evidence *evidence;
	const struct frequency_input *input;
	bool *measured;
	double *next;
	bool contradicted;
};

static void clock_take(void *context, const struct loop_clock *clock, int read)
{
	struct taking *taking = context;
	struct frequency_evidence *evidence = taking->evidence;
	double deviation = sqrt(clock->variance), *log = taking->next + POINTS, value;
	uint32_t class;

	if (read == 0)
		return;
	class = taking->input->classes->of_block[clock->block];
	value = clock->iterations / clock->samples * clock->all /
		taking->input->profile->period_cycles;
	if (taking->measured[class] || !(value > 0))
		return;
	for (uint32_t i = 0; i < POINTS; i++) {
		double t = RANGE * (2.0 * i / (POINTS - 1) - 1);

		taking->next[i] = value * exp(deviation * t);
		log[i] = -t * t / 2;
	}
	taking->contradicted |= value > evidence->bounds[class];
	evidence->bounds[class] = BOUND_TIMES * value;
	evidence->densities[class] = (struct frequency_density){taking->next, log, POINTS};
	taking->measured[class] = true;
	taking->next += 2 * (size_t)POINTS;
}

int class_clocks_take(struct frequency_evidence *evidence, bool *measured,
		      const struct frequency_input *input)
{
	uint32_t class_count = input->classes->count;
	struct taking taking = {evidence, input, measured, NULL, false};
	double most = 0;
	int r;

	if (input->profile->pair_count == 0)
		return 0;
	evidence->clocks = calloc(2 * (size_t)POINTS * class_count + 1, sizeof(double));
	if (evidence->clocks == NULL)
		return -ENOMEM;
	taking.next = evidence->clocks;
	r = loop_clocks_visit(input->cfg, input->profile, clock_take, &taking);
	if (r < 0 || !taking.contradicted)
		return r;
	/* The other bounds are from the same model. */
	for (uint32_t k = 0; k < class_count; k++) {
		if (measured[k])
			most = fmax(most, evidence->bounds[k]);
	}
	for (uint32_t k = 0; k < class_count; k++)
		evidence->bounds[k] = fmax(evidence->bounds[k], most);
	return 0;
}
