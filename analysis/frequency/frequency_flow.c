// SPDX-License-Identifier: GPL-2.0-only
/*
 * The default estimator on out-of-order machines. flow_fit.h describes the method; this file
 * provides the evidence of blocks and branches. The constants were fitted on the programs of
 * tests/eval/accuracy/x86_programs.txt that are reserved for tuning.
 */
#include "analysis/frequency/frequency_estimators.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/frequency/delayed_samples.h"
#include "analysis/frequency/flow_clocks.h"
#include "analysis/frequency/flow_fit.h"
#include "analysis/frequency/flow_gaps.h"
#include "analysis/frequency/flow_prior.h"
#include "analysis/frequency/flow_records.h"
#include "analysis/frequency/flow_shadow.h"
#include "analysis/frequency/flow_spread.h"
#include "analysis/frequency/flow_stacks.h"
#include "analysis/frequency/flow_trips.h"
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
 *
 * If samples show how much data the load accesses, and a cache can hold it, the range ends with the
 * latency of that cache, under contention. Other data needs a part of the cache, too. The share of
 * accesses to data that no sample has seen may wait for memory, apart from UNSEEN_PART.
 *
 * A load or store in another page in each iteration may cause a page fault each time. The program's
 * own part of it is some 500 cycles on a virtual machine.
 */
#define LINE_BYTES 64
#define PAGE_BYTES 4096
#define MEMORY_CYCLES 300.0
#define PAGE_FAULT_CYCLES 2000.0
#define SECOND_CACHE_CYCLES 20.0
#define THIRD_CACHE_CYCLES 120.0
#define CACHE_PART 0.75
#define UNSEEN_PART 0.1

/*
 * An instruction that is repeated moves or fills a number of bytes that is mostly unknown: between
 * its start and a few thousand bytes.
 */
#define STRING_START_CYCLES 30.0
#define STRING_CYCLES 1000.0

/*
 * The bias of sampled directions does not shrink with their number: time is not spread evenly over
 * the code before a branch, and the two directions are not recorded equally often. For example, a
 * direction that depends on memory is only known if the snapshot contains it. DIRECTION_BIAS is the
 * variance of the logarithm of the odds. The branches of gzip and sorts with at least 8 samples of
 * each direction have a standard deviation of 0.3 to 0.8 from exact counts.
 *
 * Loops that end once in hundreds of iterations have few ends, and many ends are sampled for other
 * reasons. So at most 1 / DIRECTION_LIMIT directions count.
 *
 * Most of the bias arises because samples accumulate where the program waits: the samples of a load
 * that missed belong to the iterations that miss, which are those of long lists and cold keys.
 * Where a block took more than STALLED times its average, the variance grows by STALL_BIAS times
 * the logarithm of the excess. The average depends on the frequencies, so they are fitted again
 * with corrected variances, up to DOUBTS times. More than one correction is needed because the
 * first fit believes directions that let a stalled loop run often enough to need no stall.
 */
#define DIRECTION_BIAS 0.25
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
#define TRIPS_SEEN 200.0
/* 1 / variance of the logarithm of a trip count that is exact. */
#define RATIO_WEIGHT 1e4

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
 * The deviation is not symmetric. Average code executes an instruction in about half a cycle, with
 * its mispredictions and misses. Short loops without these issue four to six in a cycle, so that
 * the upper end must include four times the average speed. It is wider by this share of the
 * deviation, if nothing is measured.
 */
#define FAST_EXCESS 0.5
/*
 * Measured gaps do not depend on these deviations but on the time that a probe takes. This time is
 * known within a fifth and may be half of a window. More windows and epochs do not reduce this
 * error.
 */
#define GAP_SPREAD 0.15
/* Clocks of loops do not depend on the time of anything. */
#define CLOCK_SPREAD 0.02
/*
 * If the executions of the procedure are counted, but not those of its loops, then these follow
 * from trip counts. Trip counts are measured as if the time of an activation were spread evenly
 * over its iterations. It is not even near the beginning and the end of an activation, within about
 * the length of an out-of-order window. The standard deviation is the share of that time, at most
 * SHORT_SPREAD_MAX. Trip counts were wrong by 45% in activations of 640 cycles, and by 38% in those
 * of 1,070 cycles.
 */
#define SHORT_CYCLES 400.0
#define SHORT_SPREAD_MAX 0.5
#define HIGH_SPREAD 0.1
#define MEDIUM_SPREAD 0.23

/* Expected number of samples with which none are observed one time in ten. */
#define UNSEEN 2.3

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

		evidence->seen[trip->leave] = TRIPS_SEEN;
		if (trip->trips > 1)
			evidence->seen[trip->stay] = TRIPS_SEEN * (trip->trips - 1);
		evidence->known[trip->block] = !trip->varies && trip->trips > 1;
	}
}

/* @fit: NULL: the stalls are not known yet. Return: 0 or -ENOMEM */
static int take_directions(struct flow_evidence *evidence, const struct flow_chain *chain,
			   const struct frequency_input *input, const struct flow_fit *fit)
{
	int r = flow_prior_find(evidence->seen, chain, input->cfg, input->facts->noreturn);

	if (r < 0)
		return r;
	for (uint32_t n = 0; n < chain->node_count; n++) {
		uint32_t first = chain->first[n], count = chain->count[n];
		double bias =
			fit != NULL ? bias_of(&evidence->blocks[n], fit->nodes[n]) : DIRECTION_BIAS;

		add_directions(evidence->seen, input->profile, first, count, bias);
	}
	r = flow_stacks_take(evidence->seen, input);
	if (r < 0)
		return r;
	take_turns(evidence, &input->facts->trips);
	return flow_trips_take(evidence, input);
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

/* Return the increment of an operand's address per execution of a block; 0: not a constant. */
static int64_t address_step(const struct cfg *cfg, const struct cfg_block *block,
			    const struct insn_memory *memory)
{
	int64_t step = 0;

	if (memory->base != INSN_REG_NONE)
		step = block_step(cfg, block, memory->base);
	if (memory->index != INSN_REG_NONE)
		step = insn_sum(step, insn_product(block_step(cfg, block, memory->index),
						   (int64_t)1 << memory->scale));
	return step;
}

static bool is_step(int64_t step, int64_t bytes)
{
	return step >= bytes || step <= -bytes;
}

/* Return true if an instruction of a loop loads from another line in each iteration. */
static bool changes_line(const struct cfg *cfg, const struct cfg_block *block,
			 const struct insn *insn)
{
	const struct insn_memory *memory = &insn->memory;

	if (!(insn->flags & INSN_READS_MEMORY))
		return false;
	return (insn->class == INSN_LOAD && memory->base != INSN_REG_NONE &&
		insn->destination == memory->base) ||
	       is_step(address_step(cfg, block, memory), LINE_BYTES);
}

/* Return true if an instruction of a loop accesses another page in each iteration. */
static bool changes_page(const struct cfg *cfg, const struct cfg_block *block,
			 const struct insn *insn)
{
	return (insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY)) != 0 &&
	       is_step(address_step(cfg, block, &insn->memory), PAGE_BYTES);
}

/* Return: the latency of the first cache that holds the data of an access, in addition to a hit's
 */
static double cache_wait(const struct procedure_profile *profile, const struct data_footprint *data)
{
	double bytes = data_footprint_bytes(data, &profile->caches) / CACHE_PART;

	if (bytes <= profile->caches.bytes[0])
		return 0;
	if (bytes <= profile->caches.bytes[1])
		return SECOND_CACHE_CYCLES;
	return bytes <= profile->caches.bytes[2] ? THIRD_CACHE_CYCLES : MEMORY_CYCLES;
}

/*
 * Return: the mean wait of an access for its data, if no sample has seen a part of it.
 * @unknown: wait for data that no sample has seen
 */
static double wait_of(const struct procedure_profile *profile, uint32_t insn, double unknown)
{
	const struct data_footprint *data =
		profile->footprints != NULL ? profile->footprints[insn] : NULL;
	double unseen, wait;

	if (data == NULL)
		return unknown;
	unseen = fmax(0, data->lines.unseen - UNSEEN_PART) / (1 - UNSEEN_PART);
	wait = cache_wait(profile, data);
	return wait + unseen * fmax(0, unknown - wait);
}

/* Return the longest wait for loads from another line in each iteration of a loop; 0: none. */
static double line_wait(const struct frequency_input *input, uint32_t b)
{
	const struct cfg_block *block = &input->cfg->blocks[b];
	double wait = 0;

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct insn *insn = &input->cfg->insns[i];

		if (changes_page(input->cfg, block, insn))
			wait = fmax(wait, wait_of(input->profile, i, PAGE_FAULT_CYCLES));
		else if (changes_line(input->cfg, block, insn))
			wait = fmax(wait, wait_of(input->profile, i, MEMORY_CYCLES));
	}
	return wait;
}

/*
 * An execution takes between @cycles, its time without waiting, and @most. The evidence is as weak
 * as if it took between @least and @most: the iterations of several short activations overlap.
 */
static void take_waiting_time(struct flow_block_evidence *block, double least, double cycles,
			      double most)
{
	double range = log(most / least);

	if (!(most > cycles))
		return;
	block->cycles = sqrt(cycles * most);
	block->evenness = fmin(fmin(12 / (range * range), ANY_EVENNESS), block->evenness);
	block->heaviness = 0;
}

/* Return the cycles of an iteration of a loop with the longest wait for its data. */
static double most_cycles(const struct frequency_input *input, uint32_t b)
{
	double wait = line_wait(input, b);

	return fmin(input->schedule->block_cycles[b] + wait, fmax(wait, MEMORY_CYCLES));
}

static void take_loop_time(struct flow_block_evidence *block, double bound, double surprise)
{
	block->heaviness = LOOP_HEAVINESS;
	block->cycles = LOOP_SPEED * bound + LOOP_MISPREDICT_CYCLES * surprise;
	block->evenness = LOOP_EVENNESS;
}

static bool has_string(const struct cfg *cfg, uint32_t b)
{
	const struct cfg_block *block = &cfg->blocks[b];

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		if (cfg->insns[i].class == INSN_STRING)
			return true;
	}
	return false;
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
			   line_wait(input, b) > 0;
	if (flow_shadow_find(shadowed, chain, cfg, waits, evidence->seen) < 0)
		return -ENOMEM;
	find_rarer(rarer, chain, evidence->seen);
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		struct flow_block_evidence *mine = &evidence->blocks[b];
		double rare = surprise(chain, evidence->seen, rarer, cfg, b);

		take_block_time(mine, input, b, rare);
		if (has_string(cfg, b)) {
			take_waiting_time(mine, mine->cycles, mine->cycles + STRING_START_CYCLES,
					  STRING_CYCLES);
		} else if (waits[b]) {
			mine->evenness = ANY_EVENNESS;
			take_waiting_time(mine, input->schedule->block_least[b],
					  input->schedule->block_cycles[b], most_cycles(input, b));
		} else if (is_loop(chain, b) && input->schedule->block_cycles[b] > 0) {
			take_loop_time(mine, input->schedule->block_cycles[b], rare);
		} else if (shadowed[b] || delayed_samples_block(input->profile, cfg, b)) {
			take_waiting_time(mine, mine->cycles, mine->cycles, MEMORY_CYCLES);
		}
		mine->cycles *= slowness;
		if ((cfg->blocks[b].flags & CFG_BLOCK_UNREACHED) != 0)
			mine->evenness = 0;
	}
	if (input->profile->calls_in > 0 && !input->profile->calls_measured) {
		evidence->calls = input->profile->calls_in;
		evidence->calls_weight = fmin(input->profile->calls_in_weight, CALLS_WEIGHT_MAX);
	}
	return 0;
}

/* Use the trip counts of loops that several branches leave. */
static void ratios_take(struct flow_evidence *evidence, const struct trip_counts *trips)
{
	for (uint32_t i = 0; i < trips->ratio_count; i++) {
		const struct trip_ratio *ratio = &trips->ratios[i];

		evidence->links[evidence->link_count++] = (struct flow_link){
			.nodes = {ratio->header, ratio->before},
			.log = log(ratio->trips),
			.weight = ratio->varies ? TRIPS_SEEN : RATIO_WEIGHT,
		};
	}
}

/* Branches end their blocks, so two branches belong to two nodes. */
static int take_links(struct flow_evidence *evidence, const struct frequency_input *input)
{
	const struct procedure_profile *profile = input->profile;

	evidence->links = calloc(profile->reference_count + input->facts->trips.ratio_count + 1,
				 sizeof(*evidence->links));
	if (evidence->links == NULL)
		return -ENOMEM;
	ratios_take(evidence, &input->facts->trips);
	for (size_t i = 0; i < profile->reference_count; i++) {
		const struct profile_reference *reference = &profile->references[i];

		evidence->links[evidence->link_count++] = (struct flow_link){
			.nodes = {input->cfg->block_of[reference->insns[0]],
				  input->cfg->block_of[reference->insns[1]]},
			.log = log(reference->executions[0] / reference->executions[1]),
			.weight = 1 / profile_reference_variance(reference),
		};
	}
	return 0;
}

/* Return: the upward deviation that many blocks have in common. Errors of clocks are symmetric. */
static double fast_spread(double common, bool measured)
{
	return measured ? common : (1 + FAST_EXCESS) * common;
}

/* @common: standard deviation that is common to many blocks, in addition to @spread */
static struct frequency_estimate estimate_of(double value, double spread, double common,
					     enum frequency_origin origin)
{
	bool measured = common < COMMON_SPREAD / 2;
	struct frequency_estimate estimate = {
		.measured = measured,
		.value = value,
		.low = value / exp(INTERVAL_SPREADS * hypot(spread, common)),
		.high = value *
			exp(INTERVAL_SPREADS * hypot(spread, fast_spread(common, measured))),
		.confidence = FREQUENCY_LOW,
		.origin = origin,
	};

	if (spread <= HIGH_SPREAD)
		estimate.confidence = FREQUENCY_HIGH;
	else if (spread <= MEDIUM_SPREAD)
		estimate.confidence = FREQUENCY_MEDIUM;
	return estimate;
}

/* Return: the standard deviation of an estimate's logarithm, @common included or not. */
static double spread_of(const struct frequency_estimate *estimate, bool with_common)
{
	double spread, common = with_common ? 0 : fast_spread(COMMON_SPREAD, false);

	/* The lower end may be 0. */
	if (estimate->value <= 0 || estimate->high <= estimate->value)
		return 0;
	spread = log(estimate->high / estimate->value) / INTERVAL_SPREADS;
	return sqrt(fmax(0, spread * spread - common * common));
}

struct frequency_flow_scale frequency_flow_scale(const struct frequency *frequency,
						 const struct cfg *cfg)
{
	struct frequency_flow_scale scale = {.spread = INFINITY};

	for (uint32_t b = 0; b < cfg->block_count; b++)
		scale.measured |= frequency->blocks[b].measured;
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct frequency_estimate *estimate = &frequency->blocks[b];

		/* Measured executions, such as those of calls, may be in blocks without samples. */
		if ((scale.measured ? estimate->measured && estimate->value > 0
				    : estimate->origin == FREQUENCY_JOINT))
			scale.spread = fmin(scale.spread, spread_of(estimate, scale.measured));
	}
	/* Without any samples, executions are known from calls. */
	for (uint32_t b = 0; b < cfg->block_count && isinf(scale.spread); b++) {
		if (frequency->blocks[b].value > 0)
			scale.spread = spread_of(&frequency->blocks[b], false);
	}
	return scale;
}

double frequency_flow_spread(const struct frequency_estimate *estimate,
			     const struct frequency_flow_scale *scale)
{
	double spread = spread_of(estimate, scale->measured);

	return sqrt(fmax(0, spread * spread - scale->spread * scale->spread));
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

/* Take the executions that the clock of a caller's loop counted. Return: true if there are any. */
static bool take_calls(struct flow_evidence *evidence, const struct procedure_profile *profile)
{
	if (!profile->calls_measured)
		return false;
	evidence->calls = profile->calls_in;
	evidence->calls_weight = profile->calls_in_weight;
	return true;
}

/*
 * Return: the standard deviation of a node's executions relative to the procedure's @calls, in
 * addition to that of the fit.
 */
static double trips_spread(const struct procedure_profile *profile, double node)
{
	double calls = profile->calls_in;
	double cycles = profile->total / calls;
	double spread = fmin(SHORT_CYCLES / cycles, SHORT_SPREAD_MAX);

	return node > 0 ? spread * fmin(fabs(log(node / calls)), 1) : spread;
}

/*
 * struct speed_up - by how much the procedure is faster than predicted
 * @log:      logarithm of measured / predicted executions at the best measurement
 * @variance: of @log, apart from the common deviation; INFINITY: nothing is measured
 */
struct speed_up {
	double log;
	double variance;
};

static void speed_up_take(struct speed_up *speed_up, double measured, double predicted,
			  double variance)
{
	if (measured > 0 && predicted > 0 && variance < speed_up->variance)
		*speed_up = (struct speed_up){log(measured / predicted), variance};
}

/*
 * Return the factor by which all blocks of the procedure are faster than predicted: the mean of the
 * common deviation, which is normal around 0 at first. Slower procedures have blocks that wait,
 * which their own evidence allows for.
 */
static double speed_up_factor(const struct speed_up *speed_up)
{
	double prior = COMMON_SPREAD * COMMON_SPREAD;

	return exp(fmax(0, speed_up->log) * prior / (prior + speed_up->variance));
}

/* @before, @after: evidence of a block without and with measurements */
static bool is_measured(const struct flow_block_evidence *before,
			const struct flow_block_evidence *after)
{
	return before->samples != after->samples || before->cycles != after->cycles ||
	       before->evenness != after->evenness;
}

/*
 * Correct the predicted cycles of blocks without measurements: a measurement shows the deviation
 * that all blocks have in common. Otherwise time contradicts the measurement, and the fit reduces
 * the trip counts of loops.
 * @before: the blocks without measurements; @fit: by these
 */
static void cycles_correct(struct flow_evidence *evidence, const struct flow_block_evidence *before,
			   const struct flow_fit *fit, const double *spread,
			   const struct flow_chain *chain, bool by_calls)
{
	struct speed_up speed_up = {.variance = INFINITY};
	double factor;

	for (uint32_t n = 0; n < chain->node_count; n++) {
		const struct flow_block_evidence *block = &evidence->blocks[n];

		if (is_measured(&before[n], block))
			speed_up_take(&speed_up, block->samples / block->cycles, fit->nodes[n],
				      1 / block->evenness + spread[n] * spread[n]);
	}
	if (by_calls)
		speed_up_take(&speed_up, evidence->calls, fit->nodes[chain->entry],
			      1 / evidence->calls_weight +
				      spread[chain->entry] * spread[chain->entry]);
	factor = speed_up_factor(&speed_up);
	for (uint32_t n = 0; n < chain->node_count; n++) {
		if (!is_measured(&before[n], &evidence->blocks[n]))
			evidence->blocks[n].cycles /= factor;
	}
}

static struct flow_block_evidence *blocks_copy(const struct flow_block_evidence *blocks,
					       uint32_t count)
{
	struct flow_block_evidence *copy = calloc((size_t)count + 1, sizeof(*copy));

	if (copy != NULL)
		memcpy(copy, blocks, count * sizeof(*copy));
	return copy;
}

/* @fit: in: without gaps and clocks; out: with them, including its spread. @common: out */
static int add_measurements(struct flow_fit *fit, double *common, struct flow_chain *chain,
			    struct flow_evidence *evidence, const struct frequency_input *input)
{
	_cleanup_free_ double *without = fit->spread;
	_cleanup_free_ struct flow_block_evidence *before =
		blocks_copy(evidence->blocks, chain->node_count);
	int recorded = before != NULL ? flow_records_take(evidence, input) : 0;
	int gaps = before != NULL ? flow_gaps_take(evidence, fit, chain, input) : -ENOMEM;
	int taken = gaps >= 0 ? flow_clocks_take(evidence, input) : 0;
	int clocks = taken < 0 ? taken : taken + take_calls(evidence, input->profile);
	bool by_calls = recorded == 0 && gaps == 0 && taken == 0 && clocks > 0;
	double own = recorded + clocks > 0 ? CLOCK_SPREAD : GAP_SPREAD;
	int r = gaps < 0 ? gaps : clocks < 0 ? clocks : recorded + gaps + clocks;

	fit->spread = NULL;
	if (r <= 0) {
		fit->spread = take_ptr(without);
		return r;
	}
	cycles_correct(evidence, before, fit, without, chain, input->profile->calls_measured);
	flow_fit_deinit(fit);
	r = flow_fit_create(fit, chain, evidence);
	if (r == 0)
		r = flow_spread_find(fit, chain, evidence);
	for (uint32_t n = 0; r == 0 && n < chain->node_count; n++)
		common[n] = common_spread(fit->spread[n], without[n], own);
	for (uint32_t n = 0; r == 0 && by_calls && n < chain->node_count; n++)
		fit->spread[n] = hypot(fit->spread[n], trips_spread(input->profile, fit->nodes[n]));
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
		r = take_directions(evidence, chain, input, ret);
		flow_fit_deinit(ret);
		if (r == 0)
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
	r = take_directions(&evidence, chain, input, NULL);
	if (r == 0)
		r = take_time(&evidence, rarer, chain, input);
	if (r == 0)
		r = take_links(&evidence, input);
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
