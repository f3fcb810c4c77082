// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_finding.h"

#include <math.h>

/* Shorter stalls are not reported. */
#define CYCLES_MIN 0.5
/* Static waits that take a smaller share of the procedure's time are not reported. */
#define SHARE_MIN 0.2
/* If all stalls with the same cause take a smaller share of the time, the procedure does not stall.
 */
#define MINOR_SHARE 0.05
/* A cause whose lower bound is this share of a stall is reported as its main cause. */
#define MOSTLY 0.5
/* Causes with at least this part of the largest upper bound are not distinguished from it. */
#define TIED 0.85

double calc_finding_cost(const struct procedure_analysis *analysis, uint32_t insn)
{
	const struct instruction_cpi *cpi = &analysis->culprits.insns[insn];

	if (isnan(cpi->cpi) || !cpi->significant || cpi->dynamic_cycles < CYCLES_MIN)
		return 0;
	return cpi->dynamic_cycles *
	       analysis->frequency.blocks[analysis->cfg->block_of[insn]].value;
}

static void causes_find(struct calc_finding *finding, const struct procedure_analysis *analysis)
{
	const struct instruction_cpi *cpi = &analysis->culprits.insns[finding->insn];
	const struct culprit *list = analysis->culprits.list;
	uint32_t best = cpi->first;

	if (cpi->count == 0)
		return;
	for (uint32_t i = cpi->first + 1; i < cpi->first + cpi->count; i++) {
		if (list[i].cycles_low > list[best].cycles_low)
			best = i;
	}
	finding->causes[finding->count++] = best;
	finding->certain = list[best].cycles_low >= MOSTLY * cpi->dynamic_cycles;
	for (uint32_t i = cpi->first; !finding->certain && i < cpi->first + cpi->count; i++) {
		if (i != best && list[i].cycles_high >= TIED * list[best].cycles_high)
			finding->causes[finding->count++] = i;
	}
}

uint32_t calc_finding_first(const struct procedure_analysis *analysis, uint32_t insn)
{
	struct calc_finding finding = {.insn = insn};

	causes_find(&finding, analysis);
	return finding.count > 0 ? finding.causes[0] : UINT32_MAX;
}

uint32_t calc_finding_from(const struct procedure_analysis *analysis, uint32_t insn, uint32_t cause)
{
	uint32_t from = analysis->culprits.list[cause].from;

	return from < analysis->cfg->insn_count ? from : insn;
}

/*
 * struct sums - costs of stalls by their likeliest cause
 * @all:  of each cause; CULPRIT_CAUSES: no cause is known
 * @worst, @insn: of these, the largest of an instruction, and the instruction
 */
struct sums {
	double all[CULPRIT_CAUSES + 1];
	double worst[CULPRIT_CAUSES + 1];
	uint32_t insn[CULPRIT_CAUSES + 1];
};

static struct sums sums_find(const struct procedure_analysis *analysis)
{
	struct sums sums = {.all = {0}};

	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		double cost = calc_finding_cost(analysis, i);
		uint32_t first = cost > 0 ? calc_finding_first(analysis, i) : UINT32_MAX;
		unsigned int cause =
			first != UINT32_MAX ? analysis->culprits.list[first].cause : CULPRIT_CAUSES;

		sums.all[cause] += cost;
		if (cost > sums.worst[cause]) {
			sums.worst[cause] = cost;
			sums.insn[cause] = i;
		}
	}
	return sums;
}

/* Several instructions may wait for one: after a misprediction, or when a buffer is full. */
static double cost_of_one(const struct procedure_analysis *analysis,
			  const struct calc_finding *finding)
{
	const struct culprit *list = analysis->culprits.list;
	uint32_t from;
	double total = 0;

	if (finding->count == 0)
		return finding->cost;
	from = calc_finding_from(analysis, finding->insn, finding->causes[0]);
	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		double cost = calc_finding_cost(analysis, i);
		uint32_t first = cost > 0 ? calc_finding_first(analysis, i) : UINT32_MAX;

		if (first != UINT32_MAX && list[first].cause == list[finding->causes[0]].cause &&
		    calc_finding_from(analysis, i, first) == from)
			total += cost;
	}
	return total;
}

static struct calc_finding stall_at(const struct procedure_analysis *analysis, uint32_t insn)
{
	struct calc_finding finding = {
		.kind = CALC_FINDING_DYNAMIC,
		.insn = insn,
		.cycles = analysis->culprits.insns[insn].dynamic_cycles,
		.cost = calc_finding_cost(analysis, insn),
	};

	causes_find(&finding, analysis);
	finding.total = finding.one = cost_of_one(analysis, &finding);
	return finding;
}

struct calc_finding calc_finding_stall(const struct procedure_analysis *analysis)
{
	uint32_t worst = UINT32_MAX;
	double most = 0;

	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		double cost = calc_finding_cost(analysis, i);

		if (cost > most) {
			most = cost;
			worst = i;
		}
	}
	if (worst == UINT32_MAX)
		return (struct calc_finding){.kind = CALC_FINDING_NONE};
	return stall_at(analysis, worst);
}

/* Return the worst stall of the cause that costs most in all instructions together. */
static struct calc_finding dominant_stall(const struct procedure_analysis *analysis)
{
	const struct sums sums = sums_find(analysis);
	struct calc_finding finding;
	unsigned int most = 0;

	for (unsigned int c = 1; c <= CULPRIT_CAUSES; c++)
		if (sums.all[c] > sums.all[most])
			most = c;
	if (!(sums.all[most] > 0))
		return (struct calc_finding){.kind = CALC_FINDING_NONE};
	finding = stall_at(analysis, sums.insn[most]);
	/* Without a single likeliest cause, the other instructions may have another one. */
	if (finding.count == 1)
		finding.total = sums.all[most];
	return finding;
}

/*
 * Out of order, a chain that takes longer than anything else in a block takes the block's whole
 * time. It shows at some of the instructions only.
 */
static double chain_cost(const struct procedure_analysis *analysis, uint32_t insn)
{
	const struct cfg_block *block = &analysis->cfg->blocks[analysis->cfg->block_of[insn]];
	double frequency = analysis->frequency.blocks[analysis->cfg->block_of[insn]].value;
	double samples = 0, cycles = 0;

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		samples += analysis->profile.samples[i];
		cycles += analysis->schedule.insns[i].min_cycles;
	}
	return fmin(samples, cycles * frequency);
}

struct calc_finding calc_finding_static(const struct procedure_analysis *analysis)
{
	struct calc_finding worst = {.kind = CALC_FINDING_NONE};
	double samples = 0;

	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		const struct schedule_insn *schedule = &analysis->schedule.insns[i];
		double frequency = analysis->frequency.blocks[analysis->cfg->block_of[i]].value;

		samples += analysis->profile.samples[i];
		for (unsigned int k = 0; frequency > 0 && k < schedule->stall_count; k++) {
			double cycles =
				fmin(schedule->stalls[k].cycles, analysis->culprits.insns[i].cpi);

			if (cycles * frequency > worst.cost)
				worst = (struct calc_finding){
					.kind = CALC_FINDING_STATIC,
					.insn = i,
					.cycles = cycles,
					.cost = cycles * frequency,
					.total = cycles * frequency,
					.one = cycles * frequency,
					.stall = &schedule->stalls[k],
				};
		}
	}
	if (worst.cost < SHARE_MIN * samples || worst.cycles < CYCLES_MIN)
		return (struct calc_finding){.kind = CALC_FINDING_NONE};
	if (worst.stall->kind == STALL_LATENCY)
		worst.total = worst.one = fmax(worst.cost, chain_cost(analysis, worst.insn));
	return worst;
}

enum culprit_cause calc_finding_static_cause(const struct procedure_analysis *analysis,
					     const struct static_stall *stall)
{
	if (stall->from >= analysis->cfg->insn_count)
		return CULPRIT_LATENCY;
	switch (analysis->cfg->insns[stall->from].class) {
	case INSN_ATOMIC:
	case INSN_BARRIER:
		return CULPRIT_SYNCHRONIZATION;
	case INSN_DIVIDE:
		return CULPRIT_IMUL;
	case INSN_FP_DIVIDE:
	case INSN_FP_SQRT:
		return CULPRIT_FDIV;
	default:
		return CULPRIT_LATENCY;
	}
}

struct calc_finding calc_finding_faults(const struct procedure_analysis *analysis)
{
	const struct image_fault *const *faults = analysis->profile.faults;
	struct calc_finding finding = {.kind = CALC_FINDING_NONE};
	double frequency;

	for (uint32_t i = 0; faults != NULL && i < analysis->cfg->insn_count; i++) {
		if (faults[i] == NULL)
			continue;
		finding.kind = CALC_FINDING_FAULTS;
		finding.kernel += faults[i]->samples;
		finding.stacks += faults[i]->stacks;
		if (faults[i]->samples <= finding.cost)
			continue;
		finding.insn = i;
		finding.cost = finding.one = faults[i]->samples;
	}
	if (finding.kind == CALC_FINDING_NONE)
		return finding;
	finding.total = finding.kernel + sums_find(analysis).all[CULPRIT_PAGE_FAULT];
	frequency = analysis->frequency.blocks[analysis->cfg->block_of[finding.insn]].value;
	finding.cycles = frequency > 0 ? finding.cost / frequency : NAN;
	return finding;
}

double calc_finding_all(const struct calc_finding *finding, double samples)
{
	return samples + finding->kernel;
}

struct calc_finding calc_finding_worst(const struct procedure_analysis *analysis)
{
	struct calc_finding stall = dominant_stall(analysis);
	struct calc_finding wait = calc_finding_static(analysis);
	struct calc_finding faults = calc_finding_faults(analysis);

	if (wait.total > stall.total)
		stall = wait;
	if (faults.kernel > stall.total)
		stall = faults;
	if (stall.total < MINOR_SHARE * calc_finding_all(&stall, analysis->profile.total))
		return (struct calc_finding){.kind = CALC_FINDING_NONE};
	return stall;
}
