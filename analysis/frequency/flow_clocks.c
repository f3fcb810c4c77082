// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/frequency/flow_clocks.h"

#include <math.h>

#include "analysis/frequency/loop_clocks.h"

/*
 * The fit takes the number of a block's samples for random. The variance of a clock contains all of
 * its error, so its samples count as often as makes their own part of the error small.
 */
#define SAMPLES_PART 100.0

static struct flow_block_evidence clock_evidence(const struct loop_clock *clock, double samples,
						 double period_cycles)
{
	double times = fmax(SAMPLES_PART / (clock->variance * samples), 1);

	return (struct flow_block_evidence){
		.samples = times * samples,
		.cycles = times * clock->samples / clock->iterations * period_cycles,
		.evenness = 1 / clock->variance,
	};
}

/* struct taking - @taken: number of clocks */
struct taking {
	struct flow_evidence *evidence;
	double period_cycles;
	int taken;
};

static void clock_take(void *context, const struct loop_clock *clock, int read)
{
	struct taking *taking = context;

	if (read == 0)
		return;
	taking->evidence->blocks[clock->block] =
		clock_evidence(clock, clock->all, taking->period_cycles);
	taking->taken++;
}

int flow_clocks_take(struct flow_evidence *evidence, const struct frequency_input *input)
{
	struct taking taking = {evidence, input->profile->period_cycles, 0};
	int r = loop_clocks_visit(input->cfg, input->profile, clock_take, &taking);

	return r < 0 ? r : taking.taken;
}
