// SPDX-License-Identifier: GPL-2.0-only
#include "tests/profile_generator.h"

#include <math.h>
#include <stdlib.h>

#include "tests/cfg_fixture.h"

#define BLOCKS_MAX 400
#define EDGES_MAX 1600

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static double uniform(uint64_t *seed)
{
	return ((double)(next_random(seed) >> 11) + 0.5) / 0x1p53;
}

/* Draw from @low to @high, with equal probability for each order of magnitude. */
static double log_uniform(uint64_t *seed, double low, double high)
{
	return low * pow(high / low, uniform(seed));
}

static double normal(uint64_t *seed)
{
	return sqrt(-2 * log(uniform(seed))) * cos(2 * M_PI * uniform(seed));
}

static double poisson(uint64_t *seed, double mean)
{
	double product = uniform(seed), limit = exp(-mean);
	unsigned int n = 0;

	if (mean > 60)
		return fmax(0, round(mean + sqrt(mean) * normal(seed)));
	for (; product > limit; n++)
		product *= uniform(seed);
	return n;
}

/* A graph under construction. */
struct plan {
	struct cfg_fixture_edge edges[EDGES_MAX];
	double probability[EDGES_MAX];
	uint32_t edge_count;
	uint32_t block_count;
	uint64_t *seed;
};

struct region {
	uint32_t entry;
	uint32_t exit;
};

static uint32_t add_block(struct plan *plan)
{
	if (plan->block_count == BLOCKS_MAX)
		abort();
	return plan->block_count++;
}

static void add_edge(struct plan *plan, uint32_t from, uint32_t to, double probability)
{
	if (plan->edge_count == EDGES_MAX)
		abort();
	plan->edges[plan->edge_count] = (struct cfg_fixture_edge){from, to};
	plan->probability[plan->edge_count++] = probability;
}

/* Draw the probability of a branch; some branches almost always have the same direction. */
static double branch_probability(uint64_t *seed)
{
	double p = uniform(seed);

	if (uniform(seed) < 0.3)
		p = log_uniform(seed, 1e-4, 0.2);
	return uniform(seed) < 0.5 ? p : 1 - p;
}

static struct region make_region(struct plan *plan, unsigned int depth);

static struct region make_if(struct plan *plan, unsigned int depth)
{
	struct region region = {.entry = add_block(plan)};
	struct region first = make_region(plan, depth - 1);
	double p = branch_probability(plan->seed);
	bool has_else = uniform(plan->seed) < 0.5;

	add_edge(plan, region.entry, first.entry, p);
	if (has_else) {
		struct region second = make_region(plan, depth - 1);

		region.exit = add_block(plan);
		add_edge(plan, region.entry, second.entry, 1 - p);
		add_edge(plan, second.exit, region.exit, 1);
	} else {
		region.exit = add_block(plan);
		add_edge(plan, region.entry, region.exit, 1 - p);
	}
	add_edge(plan, first.exit, region.exit, 1);
	return region;
}

static struct region make_switch(struct plan *plan, unsigned int depth)
{
	struct region region = {.entry = add_block(plan), .exit = add_block(plan)};
	uint32_t ways = 3 + (uint32_t)(uniform(plan->seed) * 5);
	double left = 1;

	for (uint32_t k = 0; k < ways; k++) {
		struct region way = make_region(plan, depth > 2 ? depth - 2 : 0);
		double p = k + 1 < ways ? left * uniform(plan->seed) : left;

		add_edge(plan, region.entry, way.entry, p);
		add_edge(plan, way.exit, region.exit, 1);
		left -= p;
	}
	return region;
}

/* Make a loop with its test at the end or at the start; a break may leave from its body. */
static struct region make_loop(struct plan *plan, unsigned int depth)
{
	double stay = 1 - 1 / log_uniform(plan->seed, 1.5, 300);
	bool test_first = uniform(plan->seed) < 0.3;
	struct region region = {.entry = add_block(plan)};
	struct region body = make_region(plan, depth - 1);

	region.exit = add_block(plan);
	if (test_first) {
		add_edge(plan, region.entry, body.entry, stay);
		add_edge(plan, region.entry, region.exit, 1 - stay);
		add_edge(plan, body.exit, region.entry, 1);
	} else {
		uint32_t latch = add_block(plan);
		double out = uniform(plan->seed) < 0.3 ? log_uniform(plan->seed, 1e-3, 0.3) : 0;

		add_edge(plan, region.entry, body.entry, 1);
		add_edge(plan, body.exit, latch, 1 - out);
		if (out > 0)
			add_edge(plan, body.exit, region.exit, out);
		add_edge(plan, latch, region.entry, stay);
		add_edge(plan, latch, region.exit, 1 - stay);
	}
	return region;
}

static struct region make_region(struct plan *plan, unsigned int depth)
{
	double kind = uniform(plan->seed);
	struct region first, second;

	if (depth == 0 || kind < 0.1) {
		first.entry = first.exit = add_block(plan);
		return first;
	}
	if (kind < 0.45)
		return make_if(plan, depth);
	if (kind < 0.5)
		return make_switch(plan, depth);
	if (kind < 0.7)
		return make_loop(plan, depth);
	first = make_region(plan, depth - 1);
	second = make_region(plan, depth - 1);
	add_edge(plan, first.exit, second.entry, 1);
	return (struct region){first.entry, second.exit};
}

/*
 * Compute executions of each block per entry of the procedure: solve (I - P') x = entry by
 * elimination.
 */
static void solve_flow(const struct plan *plan, const struct region *all, double *x)
{
	uint32_t n = plan->block_count;
	double *a = calloc((size_t)n * (n + 1), sizeof(*a));

	if (a == NULL)
		abort();
	for (uint32_t b = 0; b < n; b++)
		a[b * (n + 1) + b] = 1;
	for (uint32_t e = 0; e < plan->edge_count; e++) {
		if (plan->edges[e].from < n && plan->edges[e].to < n)
			a[plan->edges[e].to * (n + 1) + plan->edges[e].from] -=
				plan->probability[e];
	}
	a[all->entry * (n + 1) + n] = 1;
	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t i = 0; i < n; i++) {
			double scale = a[i * (n + 1) + k] / a[k * (n + 1) + k];

			if (i == k || scale == 0)
				continue;
			for (uint32_t j = k; j <= n; j++)
				a[i * (n + 1) + j] -= scale * a[k * (n + 1) + j];
		}
	}
	for (uint32_t b = 0; b < n; b++)
		x[b] = fmax(0, a[b * (n + 1) + n] / a[b * (n + 1) + b]);
	free(a);
}

static double *allocate(size_t count)
{
	double *memory = calloc(count + 1, sizeof(*memory));

	if (memory == NULL)
		abort();
	return memory;
}

/* Draw M of each instruction, and the instruction it depends on; sum M up by block. */
static void make_schedule(struct generated_profile *g, uint64_t *seed)
{
	g->schedule.insns = calloc(g->cfg->insn_count, sizeof(*g->schedule.insns));
	g->schedule.block_cycles = allocate(g->cfg->block_count);
	g->schedule.block_least = allocate(g->cfg->block_count);
	if (g->schedule.insns == NULL)
		abort();
	for (uint32_t i = 0; i < g->cfg->insn_count; i++) {
		uint32_t b = g->cfg->block_of[i];
		uint32_t first = g->cfg->blocks[b].first;
		struct schedule_insn *insn = &g->schedule.insns[i];
		double kind = uniform(seed);

		insn->depends_on = UINT32_MAX;
		insn->min_cycles = i == first || kind > 0.42 ? 1 : 0;
		if (i > first && kind > 0.85) {
			insn->min_cycles = 2 + floor(3 * uniform(seed) * uniform(seed));
			insn->depends_on = i - 1;
		}
		g->schedule.block_cycles[b] += insn->min_cycles;
		g->schedule.block_least[b] += insn->min_cycles;
	}
}

/* Return the mean cycles that an instruction takes in truth. */
static double true_cycles(const struct generated_profile *g, uint32_t i,
			  const struct profile_recipe *recipe, uint64_t *seed)
{
	double cycles = g->schedule.insns[i].min_cycles;
	bool first = g->cfg->blocks[g->cfg->block_of[i]].first == i;

	if (uniform(seed) < recipe->wrong_share)
		cycles = fmax(0, cycles + (uniform(seed) < 0.5 ? 1 : -1));
	if (cycles > 0 && first && uniform(seed) < 9 * recipe->stall_share)
		cycles += log_uniform(seed, 0.1, 10);
	else if (cycles > 0 && !first && uniform(seed) < recipe->stall_share)
		cycles += log_uniform(seed, 0.01, uniform(seed) < 0.1 ? 100 : 10);
	return cycles;
}

static void draw_samples(struct generated_profile *g, const struct profile_recipe *recipe,
			 uint64_t *seed)
{
	double *cycles = allocate(g->cfg->insn_count);
	double total = 0;

	for (uint32_t i = 0; i < g->cfg->insn_count; i++) {
		cycles[i] = true_cycles(g, i, recipe, seed);
		total += cycles[i] * g->block_truth[g->cfg->block_of[i]];
	}
	if (total == 0)
		total = 1; /* a single instruction of one cycle was made to take none */
	for (uint32_t b = 0; b < g->cfg->block_count; b++)
		g->block_truth[b] *= recipe->samples / total;
	for (uint32_t e = 0; e < g->cfg->edge_count; e++)
		g->edge_truth[e] *= recipe->samples / total;
	for (uint32_t i = 0; i < g->cfg->insn_count; i++) {
		g->profile.samples[i] =
			poisson(seed, cycles[i] * g->block_truth[g->cfg->block_of[i]]);
		g->profile.total += g->profile.samples[i];
	}
	free(cycles);
}

/* Draw the directions of branches, as many as samples of their block. */
static void draw_edges(struct generated_profile *g, uint64_t *seed)
{
	g->profile.edge_samples = allocate(g->cfg->edge_count);
	g->profile.branch_total = allocate(g->cfg->insn_count);
	for (uint32_t b = 0; b < g->cfg->block_count; b++) {
		const struct cfg_block *block = &g->cfg->blocks[b];
		double sampled = 0;

		for (uint32_t i = block->first; i < block->first + block->count; i++)
			sampled += g->profile.samples[i];
		for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
			if (g->block_truth[b] <= 0)
				continue;
			g->profile.edge_samples[e] =
				poisson(seed, sampled * g->edge_truth[e] / g->block_truth[b]);
			g->profile.branch_total[block->first + block->count - 1] +=
				g->profile.edge_samples[e];
		}
	}
}

/*
 * The fixture sorts edges by source block and keeps their order otherwise; the same order is used
 * here.
 */
static void lay_out_truth(struct generated_profile *g, const struct plan *plan)
{
	for (uint32_t e = 0, from = 0; from < plan->block_count; from++) {
		for (uint32_t k = 0; k < plan->edge_count; k++) {
			if (plan->edges[k].from == from)
				g->edge_truth[e++] = plan->probability[k] * g->block_truth[from];
		}
	}
	/* The only entry edge comes last. */
	g->edge_truth[g->cfg->edge_count - 1] = 1;
}

void profile_generate(struct generated_profile *ret, const struct profile_recipe *recipe,
		      uint64_t *seed)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	uint32_t insns[BLOCKS_MAX];
	struct region all;

	if (plan == NULL)
		abort();
	plan->seed = seed;
	all = make_region(plan, recipe->depth);
	add_edge(plan, CFG_ENTRY, all.entry, 1);
	add_edge(plan, all.exit, CFG_EXIT, 1);
	for (uint32_t b = 0; b < plan->block_count; b++)
		insns[b] = 1 + (uint32_t)(-4 * log(uniform(seed)));
	*ret = (struct generated_profile){
		.cfg = cfg_fixture_create(insns, plan->block_count, plan->edges, plan->edge_count),
		.block_truth = allocate(plan->block_count),
		.edge_truth = allocate(plan->edge_count),
	};
	if (cfg_facts_find(&ret->facts, ret->cfg) < 0 ||
	    frequency_classes_find(&ret->classes, ret->cfg) < 0)
		abort();
	solve_flow(plan, &all, ret->block_truth);
	lay_out_truth(ret, plan);
	make_schedule(ret, seed);
	ret->profile.samples = allocate(ret->cfg->insn_count);
	ret->profile.period_cycles = 1;
	ret->profile.calls_in = -1;
	draw_samples(ret, recipe, seed);
	if (recipe->edge_samples)
		draw_edges(ret, seed);
	ret->input = (struct frequency_input){
		.cfg = ret->cfg,
		.facts = &ret->facts,
		.classes = &ret->classes,
		.schedule = &ret->schedule,
		.profile = &ret->profile,
	};
	free(plan);
}

void generated_profile_deinit(struct generated_profile *g)
{
	cfg_facts_deinit(&g->facts);
	frequency_classes_deinit(&g->classes);
	free(g->schedule.insns);
	free(g->schedule.block_cycles);
	free(g->schedule.block_least);
	free(g->profile.samples);
	free(g->profile.edge_samples);
	free(g->profile.branch_total);
	free(g->block_truth);
	free(g->edge_truth);
	cfg_fixture_destroy(g->cfg);
}

static const double limits[] = {0.05, 0.10, 0.15, 0.45};

static double relative_error(double estimate, double truth)
{
	return truth > 0 ? fabs(estimate / truth - 1) : estimate > 0 ? INFINITY : 0;
}

void profile_score_add(struct profile_score *score, const struct generated_profile *g,
		       const struct frequency *frequency)
{
	for (uint32_t i = 0; i < g->cfg->insn_count; i++) {
		uint32_t b = g->cfg->block_of[i];
		const struct frequency_estimate *f = &frequency->blocks[b];
		double error = relative_error(f->value, g->block_truth[b]);
		double weight = g->profile.samples[i];

		score->samples += weight;
		for (int k = 0; k < 4; k++)
			score->within[k] += error <= limits[k] ? weight : 0;
		if (f->low <= g->block_truth[b] && g->block_truth[b] <= f->high)
			score->covered += weight;
		if (f->confidence != FREQUENCY_LOW)
			score->confident += weight;
		if (error > 0.15) {
			score->far += weight;
			score->far_flagged += f->confidence == FREQUENCY_LOW ? weight : 0;
		}
	}
	for (uint32_t e = 0; e < g->cfg->edge_count; e++) {
		const struct frequency_estimate *f = &frequency->edges[e];
		double error = relative_error(f->value, g->edge_truth[e]);

		score->executions += g->edge_truth[e];
		for (int k = 0; k < 4; k++)
			score->edges_within[k] += error <= limits[k] ? g->edge_truth[e] : 0;
		if (f->low <= g->edge_truth[e] && g->edge_truth[e] <= f->high)
			score->edges_covered += g->edge_truth[e];
	}
}
