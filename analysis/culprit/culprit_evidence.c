// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/culprit/culprit_evidence.h"

#include <math.h>

/* Evidence comes from code whose frequency differs by at most this many powers of two. */
#define SCALES_NEAR 2

/* A cause may be this many times as expensive at one instruction as at others. */
#define WORSE 4

/* Added to @rank by contradicting evidence; this exceeds any value that the rules set. */
#define CONTRADICTED_RANK 2

/* Length of a stall that does not limit the bounds of causes. */
#define ANY_CYCLES 1e6

/* Greatest cost of one occurrence of a cause for which evidence is collected. 0: other causes. */
static double longest(const struct machine_model *model, unsigned int cause)
{
	switch (cause) {
	case CULPRIT_ICACHE:
		return model->icache.miss_cycles_max;
	case CULPRIT_DTB:
		return model->dtb.miss_cycles_max;
	case CULPRIT_WRITE_BUFFER:
		return model->write_retire_cycles;
	default:
		return 0;
	}
}

static unsigned int scale_of(double frequency)
{
	int exponent;

	frexp(frequency, &exponent);
	exponent += CULPRIT_EVIDENCE_SCALES / 2;
	return (unsigned int)fmin(fmax(exponent, 0), CULPRIT_EVIDENCE_SCALES - 1);
}

/*
 * Return true if one of these causes is to be expected: at beginnings of lines and memory accesses.
 */
static bool is_observable(const struct culprit_input *input, uint32_t index)
{
	const struct cfg *cfg = input->cfg;
	const struct insn *insn = &cfg->insns[index];
	uint32_t line = input->model->icache.line_bytes;

	if (index == cfg->blocks[cfg->block_of[index]].first)
		return false;
	return (insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY)) != 0 ||
	       (line != 0 && insn->address / line != insn[-1].address / line);
}

/*
 * Find the only cause with a rank of at most 1. Return: CULPRIT_CAUSES if there are several or
 * none.
 */
static unsigned int only_cause(const struct culprit_suspects *suspects)
{
	unsigned int only = CULPRIT_CAUSES;

	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++) {
		if (!suspects->listed[c] || suspects->bounds[c].rank > 1)
			continue;
		if (only != CULPRIT_CAUSES)
			return CULPRIT_CAUSES;
		only = c;
	}
	return only;
}

static void add_observation(struct culprit_evidence *evidence, const struct culprit_stall *stall)
{
	struct culprit_observation *observation;
	struct culprit_suspects suspects;
	double samples = stall->input->profile->samples[stall->insn];
	unsigned int cause;
	double cycles;

	culprit_suspects_find(&suspects, stall);
	cause = only_cause(&suspects);
	cycles = longest(stall->input->model, cause);
	if (cycles == 0)
		return;
	observation = &evidence->by_scale[cause][scale_of(stall->frequency)];
	observation->chances += stall->frequency * suspects.bounds[cause].high / cycles;
	observation->samples += samples;
	observation->stalls +=
		samples - stall->frequency * stall->input->schedule->insns[stall->insn].min_cycles;
}

static void collect(struct culprit_evidence *evidence, const struct culprit_stall *stall)
{
	const struct culprit_input *input = stall->input;

	evidence->collected = true;
	for (uint32_t i = 0; i < input->cfg->insn_count; i++) {
		struct culprit_stall other = *stall;

		other.insn = i;
		other.block = input->cfg->block_of[i];
		other.cycles = ANY_CYCLES;
		other.frequency = input->frequency->blocks[other.block].value;
		if (other.frequency > 0 && is_observable(input, i))
			add_observation(evidence, &other);
	}
}

static struct culprit_observation near_scale(const struct culprit_evidence *evidence,
					     unsigned int cause, unsigned int scale)
{
	struct culprit_observation sum = {0};

	for (unsigned int s = 0; s < CULPRIT_EVIDENCE_SCALES; s++) {
		const struct culprit_observation *observation = &evidence->by_scale[cause][s];

		if (s + SCALES_NEAR < scale || s > scale + SCALES_NEAR)
			continue;
		sum.chances += observation->chances;
		sum.samples += observation->samples;
		sum.stalls += observation->stalls;
	}
	return sum;
}

/*
 * Return true if an instruction's address was just loaded by a load that may have missed. Its page
 * is then likely to be far from others, regardless of the evidence.
 */
static bool follows_pointer(const struct culprit_suspects *suspects,
			    const struct culprit_stall *stall)
{
	const struct insn *insns = stall->input->cfg->insns;
	const struct insn_memory *memory = &insns[stall->insn].memory;
	uint32_t load = suspects->bounds[CULPRIT_DCACHE].from;

	return suspects->listed[CULPRIT_DCACHE] && load != UINT32_MAX &&
	       (insn_regs_has(&insns[load].writes, memory->base) ||
		insn_regs_has(&insns[load].writes, memory->index));
}

/* Return the part of a stall that remains for a cause and for causes of the same @rank. */
static double remaining_cycles(const struct culprit_suspects *suspects, unsigned int cause,
			       double stall)
{
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++)
		if (suspects->listed[c] && suspects->bounds[c].rank < suspects->bounds[cause].rank)
			stall -= suspects->bounds[c].high;
	return fmax(stall, 0);
}

void culprit_evidence_weigh(struct culprit_evidence *evidence, struct culprit_suspects *suspects,
			    const struct culprit_stall *stall)
{
	double left[CULPRIT_CAUSES];

	if (!evidence->collected)
		collect(evidence, stall);
	if (follows_pointer(suspects, stall))
		suspects->bounds[CULPRIT_DTB].rank = suspects->bounds[CULPRIT_DCACHE].rank;
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++)
		left[c] = remaining_cycles(suspects, c, stall->cycles);
	for (unsigned int c = 0; c < CULPRIT_CAUSES; c++) {
		struct culprit_observation sum =
			near_scale(evidence, c, scale_of(stall->frequency));
		double most = fmax(sum.stalls, 0) + CULPRIT_NOISE_SIGMAS * sqrt(sum.samples + 1);

		/* Upper bound of the cycles per possible occurrence of the cause. */
		if (suspects->listed[c] && suspects->bounds[c].rank > 0 && sum.chances > 0 &&
		    WORSE * most / sum.chances < left[c])
			suspects->bounds[c].rank += CONTRADICTED_RANK;
	}
}
