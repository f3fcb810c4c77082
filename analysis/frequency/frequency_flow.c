// SPDX-License-Identifier: GPL-2.0-only
/*
 * The default estimator on out-of-order machines. flow_fit.h describes the method; this file
 * provides the evidence of blocks and branches. The constants were fitted on the programs of
 * tests/accuracy/x86_programs.txt that are reserved for tuning.
 */
#include "analysis/frequency/frequency_estimators.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/flow_clocks.h"
#include "analysis/frequency/flow_fit.h"
#include "analysis/frequency/flow_gaps.h"
#include "analysis/frequency/flow_shadow.h"
#include "analysis/frequency/flow_spread.h"
#include "analysis/frequency/flow_lower_bounds.h"
#include "analysis/insn/insn_effect.h"
#include "lib/cleanup.h"

/*
 * Average cycles per execution of a block, over sampled code. Most of them are stalls, which depend
 * on the block rather than its instructions: no model of instructions predicts them better.
 * Branches that go in both directions are sometimes mispredicted.
 */
#define BLOCK_CYCLES 1.2
#define INSN_CYCLES 0.36
#define MISPREDICT_CYCLES 3.2
/*
 * Evenness of a block's cycles per execution: the shape of their gamma distribution, and of the
 * distribution of its scale, since some blocks wait for memory. A block of one or two instructions
 * often retires with its neighbours and takes no time of its own. A block of twenty never does, and
 * its time can only be longer than predicted.
 */
#define INSN_EVENNESS 0.18
#define HEAVINESS 0.2
/* Evenness of blocks about which nothing is known. */
#define ANY_EVENNESS 0.5

/*
 * Loops of one block often run at their throughput bound, apart from the model's pessimism. Loops
 * that take far longer are weaker evidence of the frequencies around them.
 */
#define LOOP_SPEED 0.95
#define LOOP_MISPREDICT_CYCLES 8.8
#define LOOP_EVENNESS 8.0
#define LOOP_HEAVINESS 0.1

/*
 * Exception: each iteration loads from another cache line, by following pointers or with a stride
 * of a line or more. Then an iteration takes the latency of a load from the nearest cache or from
 * memory, and samples do not show which. The model uses the geometric mean of both latencies and a
 * uniform distribution of the logarithm between them. Its variance is a twelfth of the range's
 * square; the evenness is at most that of an unknown block.
 */
#define LINE_BYTES 64
#define MEMORY_CYCLES 300.0

/*
 * The bias of sampled directions does not shrink with their number: time is not spread evenly over
 * the code before a branch, and the two directions are not recorded equally often. DIRECTION_BIAS
 * is the variance of the logarithm of the odds. Loops that end once in hundreds of iterations have
 * few ends, and many ends are sampled for other reasons. So at most 1 / DIRECTION_LIMIT directions
 * count.
 *
 * Most of the bias arises because samples accumulate where the program waits: the samples of a load
 * that missed belong to the iterations that miss, which are those of long lists and cold keys.
 * Where a block took more than STALLED times its average, the variance grows by STALL_BIAS times
 * the logarithm of the excess. The average depends on the frequencies, so they are fitted again
 * with corrected variances, up to DOUBTS times. More than one correction is needed because the
 * first fit believes directions that let a stalled loop run often enough to need no stall.
 */
#define DIRECTION_BIAS 0.01
#define DIRECTION_LIMIT 0.001
#define STALLED 3.5
#define STALL_BIAS 2.0
#define DOUBTS 2
/*
 * Probes see all executions of a branch without that bias; their weight follows from the variation
 * between their windows (probe_worth.h). Fewer probes than PROBES_MIN are ignored. With more,
 * sampled directions are less needed and get the additional bias PROBED_BIAS.
 */
#define PROBES_MIN 8.0
#define PROBED_BIAS 0.1

/*
 * Number of observed loop exits that corresponds to an average trip count known from the code. The
 * average is not exact, because the entry to the loop may depend on the same data.
 */
#define TURNS_SEEN 200.0

/* Prior that is shared equally among the edges of a branch. */
#define PRIOR_SEEN 0.1
/* Prior of entries known from samples only, and of edges out of CFG_UNKNOWN. */
#define PRIOR_UNLIKELY 0.05
/* Prior of edges to no-return blocks: mostly failed checks. */
#define PRIOR_DOOMED 0.001
/*
 * Upper bound of the weight of the callers' estimate, because it does not include calls by pointer.
 */
#define CALLS_WEIGHT_MAX 25.0

/*
 * Half the width of a 90% interval, in standard deviations. The interval includes the deviation of
 * a whole program from the average speed (due to its caches and predictability) and that of a whole
 * procedure. The evidence of a block cannot reduce these.
 */
#define INTERVAL_SPREADS 1.645
#define PROGRAM_SPREAD 0.5
#define COMMON_SPREAD hypot(PROGRAM_SPREAD, FREQUENCY_FLOW_PROCEDURE_SPREAD)
/*
 * Measured gaps do not depend on these deviations but on the time that a probe takes. This time is
 * known within a fifth and may be half of a window. More windows and epochs do not reduce this
 * error.
 */
#define GAP_SPREAD 0.15
/* Clocks of loops do not depend on the time of anything. */
#define CLOCK_SPREAD 0.02
#define HIGH_SPREAD 0.1
#define MEDIUM_SPREAD 0.23

/* Expected number of samples with which none are observed one time in ten. */
#define UNSEEN 2.3

static double seen_before(const struct flow_chain *chain, const struct cfg *cfg, const bool *doomed,
			  uint32_t e)
{
	const struct cfg_edge *edge = &cfg->edges[e];
	uint32_t node = chain->from[e];

	if (node < cfg->block_count && !doomed[node] && edge->to < cfg->block_count &&
	    doomed[edge->to])
		return PRIOR_DOOMED;
	if (node == chain->entry && chain->count[node] > 1 && edge->to < cfg->block_count)
		return (cfg->blocks[edge->to].flags & CFG_BLOCK_ENTRY) != 0 ? 1 : PRIOR_UNLIKELY;
	if (edge->kind == CFG_EDGE_UNKNOWN)
		return PRIOR_UNLIKELY;
	return PRIOR_SEEN / chain->count[node];
}

/*
 * Return the factor that reduces sampled directions to their effective number. It is smaller for
 * more even directions: the variance of the logarithm of a branch's odds is 1 / (one direction) + 1
 * / (the other), plus the bias. Loops that rarely end keep more of their ends.
 */
static double shrink_for_bias(const double *samples, uint32_t count, double bias)
{
	double total = 0, even = 0;

	for (uint32_t i = 0; i < count; i++)
		total += samples[i];
	for (uint32_t i = 0; i < count && total > 0; i++)
		even += samples[i] * samples[i] / total * (1 - samples[i] / total);
	return 1 / (1 + bias * even + DIRECTION_LIMIT * total);
}

static double bias_of(const struct flow_block_evidence *block, double frequency)
{
	double expected = STALLED * frequency * block->cycles;

	if (expected <= 0 || block->samples <= expected)
		return DIRECTION_BIAS;
	return DIRECTION_BIAS + STALL_BIAS * log(block->samples / expected);
}

static double sum_of(const double *values, uint32_t count)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

/*
 * Add the directions of a node's edges, from @first on: those of probes and those of samples.
 * @bias: of the sampled directions
 */
static void add_directions(double *seen, const struct procedure_profile *profile, uint32_t first,
			   uint32_t count, double bias)
{
	const double *samples = profile->edge_samples, *probes = profile->edge_probes;
	bool probed = probes != NULL && sum_of(&probes[first], count) >= PROBES_MIN;
	double part = 0;

	if (probed)
		bias += PROBED_BIAS;
	if (samples != NULL)
		part = shrink_for_bias(&samples[first], count, bias);
	for (uint32_t e = first; e < first + count; e++) {
		if (samples != NULL)
			seen[e] += samples[e] * part;
		if (probed)
			seen[e] += probes[e];
	}
}

/* Use trip counts known from the code instead of observed directions. */
static void take_turns(struct flow_evidence *evidence, const struct trip_counts *trips)
{
	for (uint32_t i = 0; i < trips->count; i++) {
		const struct trip_count *trip = &trips->list[i];

		evidence->seen[trip->leave] = TURNS_SEEN;
		if (trip->turns > 1)
			evidence->seen[trip->stay] = TURNS_SEEN * (trip->turns - 1);
		evidence->known[trip->block] = !trip->varies && trip->turns > 1;
	}
}

/* @fit: NULL: the stalls are not known yet */
static void take_directions(struct flow_evidence *evidence, const struct flow_chain *chain,
			    const struct frequency_input *input, const struct flow_fit *fit)
{
	for (uint32_t n = 0; n < chain->node_count; n++) {
		uint32_t first = chain->first[n], count = chain->count[n];
		double bias =
			fit != NULL ? bias_of(&evidence->blocks[n], fit->nodes[n]) : DIRECTION_BIAS;

		for (uint32_t e = first; e < first + count; e++)
			evidence->seen[e] = seen_before(chain, input->cfg, input->facts->doomed, e);
		add_directions(evidence->seen, input->profile, first, count, bias);
	}
	take_turns(evidence, &input->facts->trips);
}

/*
 * Compute for each node the share of its less frequent directions. This is done once per node and
 * not per edge, because thousands of edges may leave CFG_UNKNOWN.
 * @seen: of each edge
 * @ret:  of each node; 0 if no edge leaves it
 */
static void find_rarer(double *ret, const struct flow_chain *chain, const double *seen)
{
	for (uint32_t n = 0; n < chain->node_count; n++) {
		double total = 0, most = 0;

		for (uint32_t e = chain->first[n]; e < chain->first[n] + chain->count[n]; e++) {
			total += seen[e];
			most = fmax(most, seen[e]);
		}
		ret[n] = total > 0 ? 1 - most / total : 0;
	}
}

/*
 * Return the share of a block's arrivals by the rarer direction of the branch before it: an upper
 * bound of the misprediction rate.
 * @rarer: result of find_rarer()
 */
static double surprise(const struct flow_chain *chain, const double *seen, const double *rarer,
		       const struct cfg *cfg, uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];
	double sum = 0, weight = 0;

	for (uint32_t i = 0; i < block->in_count; i++) {
		uint32_t e = cfg->in_edges[block->in + i];

		sum += seen[e] * rarer[chain->from[e]];
		weight += seen[e];
	}
	return weight > 0 ? sum / weight : 0;
}

static bool is_loop(const struct flow_chain *chain, uint32_t b)
{
	for (uint32_t i = 0; i < chain->count[b]; i++) {
		if (chain->to[chain->first[b] + i] == b)
			return true;
	}
	return false;
}

/* Return the increment of a register per execution of a block; 0: not a constant. */
static int64_t block_step(const struct cfg *cfg, const struct cfg_block *block, unsigned int reg)
{
	int64_t sum = 0;

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		struct insn_effect effect;

		if (!insn_regs_has(&cfg->insns[i].writes, reg))
			continue;
		effect = insn_effect_get(cfg->decoder, &cfg->insns[i]);
		if (effect.kind != INSN_EFFECT_SUM || effect.destination != reg ||
		    effect.base != reg || effect.index != INSN_REG_NONE)
			return 0;
		sum += effect.constant;
	}
	return sum;
}

/* Return true if an instruction of a loop loads from another line in each iteration. */
static bool changes_line(const struct cfg *cfg, const struct cfg_block *block,
			 const struct insn *insn)
{
	const struct insn_memory *memory = &insn->memory;
	int64_t step = 0;

	if (!(insn->flags & INSN_READS_MEMORY))
		return false;
	if (memory->base != INSN_REG_NONE) {
		if (insn->class == INSN_LOAD && insn->destination == memory->base)
			return true;
		step = block_step(cfg, block, memory->base);
	}
	if (memory->index != INSN_REG_NONE)
		step += block_step(cfg, block, memory->index) * ((int64_t)1 << memory->scale);
	return step >= LINE_BYTES || step <= -LINE_BYTES;
}

/* Return true if a loop loads from another line in each iteration. */
static bool changes_lines(const struct cfg *cfg, uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		if (changes_line(cfg, block, &cfg->insns[i]))
			return true;
	}
	return false;
}

/* An execution takes between @cycles, its time without waiting, and a load from memory. */
static void take_waiting_time(struct flow_block_evidence *block, double cycles)
{
	double range = log(MEMORY_CYCLES / cycles);

	if (!(range > 0))
		return;
	block->cycles = sqrt(cycles * MEMORY_CYCLES);
	block->evenness = fmin(fmin(12 / (range * range), ANY_EVENNESS), block->evenness);
	block->heaviness = 0;
}

static void take_loop_time(struct flow_block_evidence *block, double bound, double surprise)
{
	block->heaviness = LOOP_HEAVINESS;
	block->cycles = LOOP_SPEED * bound + LOOP_MISPREDICT_CYCLES * surprise;
	block->evenness = LOOP_EVENNESS;
}

static void take_block_time(struct flow_block_evidence *mine, const struct frequency_input *input,
			    uint32_t b, double rare)
{
	const struct cfg_block *block = &input->cfg->blocks[b];

	for (uint32_t i = block->first; i < block->first + block->count; i++)
		mine->samples += input->profile->samples[i];
	mine->cycles = BLOCK_CYCLES + INSN_CYCLES * block->count + MISPREDICT_CYCLES * rare;
	mine->evenness = INSN_EVENNESS * block->count;
	mine->heaviness = HEAVINESS;
}

/* @rarer: memory for a number of each node. Return: 0 or -ENOMEM */
static int take_time(struct flow_evidence *evidence, double *rarer, const struct flow_chain *chain,
		     const struct frequency_input *input)
{
	const struct cfg *cfg = input->cfg;
	double slowness = input->profile->slowness > 0 ? input->profile->slowness : 1;
	_cleanup_free_ bool *waits = calloc((size_t)cfg->block_count + 1, sizeof(*waits));
	_cleanup_free_ bool *shadowed = calloc((size_t)cfg->block_count + 1, sizeof(*shadowed));

	if (waits == NULL || shadowed == NULL)
		return -ENOMEM;
	for (uint32_t b = 0; b < cfg->block_count; b++)
		waits[b] = is_loop(chain, b) && input->schedule->block_cycles[b] > 0 &&
			   input->schedule->block_cycles[b] < MEMORY_CYCLES &&
			   changes_lines(cfg, b);
	if (flow_shadow_find(shadowed, chain, cfg, waits, evidence->seen) < 0)
		return -ENOMEM;
	find_rarer(rarer, chain, evidence->seen);
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		struct flow_block_evidence *mine = &evidence->blocks[b];
		double rare = surprise(chain, evidence->seen, rarer, cfg, b);

		take_block_time(mine, input, b, rare);
		if (waits[b]) {
			mine->evenness = ANY_EVENNESS;
			take_waiting_time(mine, input->schedule->block_cycles[b]);
		} else if (is_loop(chain, b) && input->schedule->block_cycles[b] > 0) {
			take_loop_time(mine, input->schedule->block_cycles[b], rare);
		} else if (shadowed[b]) {
			take_waiting_time(mine, mine->cycles);
		}
		mine->cycles *= slowness;
		if ((cfg->blocks[b].flags & CFG_BLOCK_UNREACHED) != 0)
			mine->evenness = 0;
	}
	if (input->profile->calls_in > 0) {
		evidence->calls = input->profile->calls_in;
		evidence->calls_weight = fmin(input->profile->calls_in_weight, CALLS_WEIGHT_MAX);
	}
	return 0;
}

/* Branches end their blocks, so two branches belong to two nodes. */
static int take_rounds(struct flow_evidence *evidence, const struct frequency_input *input)
{
	const struct procedure_profile *profile = input->profile;

	evidence->links = calloc(profile->round_count + 1, sizeof(*evidence->links));
	if (evidence->links == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < profile->round_count; i++) {
		const struct profile_round *round = &profile->rounds[i];

		evidence->links[evidence->link_count++] = (struct flow_link){
			.nodes = {input->cfg->block_of[round->insns[0]],
				  input->cfg->block_of[round->insns[1]]},
			.log = log(round->executions[0] / round->executions[1]),
			.weight = 1 / profile_round_variance(round),
		};
	}
	return 0;
}

/* @common: standard deviation that is common to many blocks, in addition to @spread */
static struct frequency_estimate estimate_of(double value, double spread, double common,
					     enum frequency_origin origin)
{
	double width = exp(INTERVAL_SPREADS * hypot(spread, common));
	struct frequency_estimate estimate = {
		.measured = common < COMMON_SPREAD / 2,
		.value = value,
		.low = value / width,
		.high = value * width,
		.confidence = FREQUENCY_LOW,
		.origin = origin,
	};

	if (spread <= HIGH_SPREAD)
		estimate.confidence = FREQUENCY_HIGH;
	else if (spread <= MEDIUM_SPREAD)
		estimate.confidence = FREQUENCY_MEDIUM;
	return estimate;
}

double frequency_flow_spread(const struct frequency_estimate *estimate)
{
	double spread;

	/*
	 * Intervals are symmetric around the value on a logarithmic scale, unless they begin at 0.
	 */
	if (estimate->value <= 0 || estimate->high <= estimate->value)
		return 0;
	spread = log(estimate->high / estimate->value) / INTERVAL_SPREADS;
	return sqrt(fmax(0, spread * spread - COMMON_SPREAD * COMMON_SPREAD));
}

/* @common: of each node, see estimate_of() */
static void frequency_flow_fill(struct frequency *ret, const struct flow_chain *chain,
				const struct flow_evidence *evidence, const struct flow_fit *fit,
				const double *common, const struct cfg *cfg)
{
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct flow_block_evidence *block = &evidence->blocks[b];

		/* No known edge leads to the block, but it may still run. */
		if ((cfg->blocks[b].flags & CFG_BLOCK_UNREACHED) != 0)
			ret->blocks[b] =
				estimate_of(block->samples / block->cycles, 1 / sqrt(ANY_EVENNESS),
					    COMMON_SPREAD, FREQUENCY_RATIO);
		else
			ret->blocks[b] = estimate_of(fit->nodes[b], fit->spread[b], common[b],
						     block->samples > 0 ? FREQUENCY_JOINT
									: FREQUENCY_PROPAGATED);
	}
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		uint32_t from = chain->from[e];
		double p = fit->edges[e], seen = evidence->seen[e];
		bool known = chain->count[from] == 1 || flow_evidence_knows(evidence, from);
		double own = known ? 0 : sqrt((1 - p) / seen);

		ret->edges[e] = estimate_of(fit->nodes[from] * p, hypot(fit->spread[from], own),
					    common[from], FREQUENCY_JOINT);
	}
}

/* No samples at all: set upper ends to the frequency that may go unobserved. */
static void fill_unsampled(struct frequency *ret, const struct cfg *cfg)
{
	for (uint32_t b = 0; b < cfg->block_count; b++)
		ret->blocks[b].high = UNSEEN / BLOCK_CYCLES;
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		ret->edges[e].high = UNSEEN / BLOCK_CYCLES;
}

/* Return true if the directions of any branch have more bias than assumed so far. */
static bool any_stalled(const struct flow_chain *chain, const struct flow_evidence *evidence,
			const struct flow_fit *fit)
{
	for (uint32_t n = 0; n < chain->node_count; n++) {
		if (chain->count[n] > 1 &&
		    bias_of(&evidence->blocks[n], fit->nodes[n]) > DIRECTION_BIAS)
			return true;
	}
	return false;
}

/*
 * Return the standard deviation of a node in addition to @spread: the common one, reduced by the
 * evidence of measurements. @without: the node's spread without them; @own: their common spread
 */
static double common_spread(double spread, double without, double own)
{
	double known = 1 / (spread * spread) - 1 / (without * without), variance;

	if (!(known > 0))
		return COMMON_SPREAD;
	variance = 1 / (1 / (without * without + COMMON_SPREAD * COMMON_SPREAD) +
			1 / (1 / known + own * own));
	return sqrt(fmax(0, variance - spread * spread));
}

/* @fit: in: without gaps and clocks; out: with them, including its spread. @common: out */
static int add_measurements(struct flow_fit *fit, double *common, struct flow_chain *chain,
			    struct flow_evidence *evidence, const struct frequency_input *input)
{
	_cleanup_free_ double *without = fit->spread;
	int gaps = flow_gaps_take(evidence, fit, chain, input);
	int clocks = gaps >= 0 ? flow_clocks_take(evidence, input) : 0;
	double own = clocks > 0 ? CLOCK_SPREAD : GAP_SPREAD;
	int r = gaps < 0 ? gaps : clocks < 0 ? clocks : gaps + clocks;

	fit->spread = NULL;
	if (r <= 0) {
		fit->spread = take_ptr(without);
		return r;
	}
	flow_fit_deinit(fit);
	r = flow_fit_create(fit, chain, evidence);
	if (r == 0)
		r = flow_spread_find(fit, chain, evidence);
	for (uint32_t n = 0; r == 0 && n < chain->node_count; n++)
		common[n] = common_spread(fit->spread[n], without[n], own);
	return r;
}

/* @common: out: of each node, the standard deviation in addition to the fit's spread */
static int find_fit(struct flow_fit *ret, double *common, struct flow_chain *chain,
		    struct flow_evidence *evidence, const struct frequency_input *input)
{
	int r = flow_fit_create(ret, chain, evidence);

	for (int i = 0; i < DOUBTS && r == 0 && input->profile->edge_samples != NULL; i++) {
		if (!any_stalled(chain, evidence, ret))
			break;
		take_directions(evidence, chain, input, ret);
		flow_fit_deinit(ret);
		r = flow_fit_create(ret, chain, evidence);
	}
	for (uint32_t n = 0; n < chain->node_count; n++)
		common[n] = COMMON_SPREAD;
	if (r == 0)
		r = flow_spread_find(ret, chain, evidence);
	return r == 0 ? add_measurements(ret, common, chain, evidence, input) : r;
}

int frequency_flow(struct frequency *ret, const struct frequency_input *input)
{
	const struct cfg *cfg = input->cfg;
	_cleanup_(flow_fit_deinit) struct flow_fit fit = {0};
	_cleanup_free_ struct flow_block_evidence *blocks =
		calloc((size_t)cfg->block_count + 2, sizeof(*blocks));
	_cleanup_free_ double *seen = calloc((size_t)cfg->edge_count + 1, sizeof(*seen));
	_cleanup_free_ bool *known = calloc((size_t)cfg->block_count + 2, sizeof(*known));
	_cleanup_free_ double *rarer = calloc((size_t)cfg->block_count + 2, sizeof(*rarer));
	_cleanup_free_ double *common = calloc((size_t)cfg->block_count + 2, sizeof(*common));
	struct flow_evidence evidence = {.blocks = blocks, .seen = seen, .known = known};
	struct flow_chain *chain = NULL;
	int r = -ENOMEM;

	if (!procedure_profile_tells(input->profile)) {
		fill_unsampled(ret, cfg);
		return 0;
	}
	if (blocks == NULL || seen == NULL || known == NULL || rarer == NULL || common == NULL)
		return -ENOMEM;
	r = flow_chain_create(&chain, cfg);
	if (r < 0)
		return r;
	take_directions(&evidence, chain, input, NULL);
	r = take_time(&evidence, rarer, chain, input);
	if (r == 0)
		r = take_rounds(&evidence, input);
	if (r == 0)
		r = find_fit(&fit, common, chain, &evidence, input);
	if (r == 0) {
		frequency_flow_fill(ret, chain, &evidence, &fit, common, cfg);
		r = flow_lower_bounds_apply(ret, cfg, input->profile);
	}
	free(evidence.links);
	flow_chain_destroy(chain);
	/* Rounding made the system unsolvable: return no estimates. */
	return r == -EDOM ? 0 : r;
}
