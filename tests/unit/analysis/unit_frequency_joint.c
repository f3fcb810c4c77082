// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "analysis/frequency/frequency_solver.h"
#include "tests/fixtures/cfg_fixture.h"
#include "tests/fixtures/profile_generator.h"

static const struct cfg_fixture_edge diamond_edges[] = {
	{CFG_ENTRY, 0}, {0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, CFG_EXIT},
};
#define DIAMOND_EDGES 6

/* A graph and its constraints, for hand-made problems. */
struct setting {
	struct cfg *cfg;
	struct frequency_classes classes;
	struct flow_constraints constraints;
};

static void make_diamond(struct setting *setting)
{
	setting->cfg = cfg_fixture_create(NULL, 4, diamond_edges, DIAMOND_EDGES);
	assert_int_equal(frequency_classes_find(&setting->classes, setting->cfg), 0);
	assert_int_equal(
		flow_constraints_create(&setting->constraints, setting->cfg, &setting->classes), 0);
	/* The whole, and each arm. */
	assert_int_equal(setting->classes.count, 3);
}

static void free_setting(struct setting *setting)
{
	flow_constraints_deinit(&setting->constraints);
	frequency_classes_deinit(&setting->classes);
	cfg_fixture_destroy(setting->cfg);
}

#define GAUSS_POINTS 201

struct gaussian {
	double x[GAUSS_POINTS];
	double log[GAUSS_POINTS];
};

static struct frequency_density make_gaussian(struct gaussian *g, double mean, double deviation)
{
	for (int k = 0; k < GAUSS_POINTS; k++) {
		double z = (k - (GAUSS_POINTS - 1) / 2.0) / 10;

		g->x[k] = mean + z * deviation;
		g->log[k] = -z * z / 2;
	}
	return (struct frequency_density){g->x, g->log, GAUSS_POINTS};
}

/*
 * Expectation propagation is exact for Gaussians. a = b + c with a = 1000 +- 30, b = 400 +- 20, c =
 * 500 +- 10 is off by 100, which is divided in proportion to the variances 900 : 400 : 100.
 */
static void test_gaussians_are_exact(void **state)
{
	struct frequency_density densities[3];
	struct frequency_marginal marginals[3];
	double bounds[3] = {3000, 3000, 3000};
	struct frequency_problem problem = {.densities = densities, .bounds = bounds, .rounds = 20};
	struct gaussian gaussians[3];
	struct setting setting;
	uint32_t a, b, c;

	(void)state;
	make_diamond(&setting);
	a = setting.classes.of_block[0];
	b = setting.classes.of_block[1];
	c = setting.classes.of_block[2];
	densities[a] = make_gaussian(&gaussians[0], 1000, 30);
	densities[b] = make_gaussian(&gaussians[1], 400, 20);
	densities[c] = make_gaussian(&gaussians[2], 500, 10);
	problem.constraints = &setting.constraints;
	problem.class_count = 3;
	assert_int_equal(frequency_solve(marginals, &problem), 0);
	/* Conservation has a tolerance of 0.2%, so a small part is not divided. */
	assert_float_equal(marginals[a].median, 1000 - 100 * 900 / 1400.0, 2);
	assert_float_equal(marginals[b].median, 400 + 100 * 400 / 1400.0, 2);
	assert_float_equal(marginals[c].median, 500 + 100 * 100 / 1400.0, 2);
	/* Inverse variance of a: 1/900 + 1/500. 5% and 95% are 1.645 standard deviations off. */
	assert_float_equal(marginals[a].high - marginals[a].low,
			   2 * 1.645 * sqrt(900 * 500 / 1400.0), 1.5);
	free_setting(&setting);
}

/* Only the directions of the arms are known. */
static void test_links_share_out(void **state)
{
	struct frequency_density densities[3] = {{0}};
	struct frequency_marginal marginals[3];
	double bounds[3] = {INFINITY, INFINITY, INFINITY};
	struct frequency_link links[2];
	struct frequency_problem problem = {.densities = densities, .bounds = bounds, .rounds = 20};
	struct gaussian gaussian;
	struct setting setting;

	(void)state;
	make_diamond(&setting);
	densities[setting.classes.of_block[0]] = make_gaussian(&gaussian, 1000, 30);
	bounds[setting.classes.of_block[0]] = 3000;
	frequency_bounds_spread(bounds, 3, &setting.constraints);
	assert_float_equal(bounds[setting.classes.of_block[1]], 3000, 1e-9);
	links[0] = (struct frequency_link){setting.classes.of_block[1], setting.classes.of_block[0],
					   0.3, 0.01};
	links[1] = (struct frequency_link){setting.classes.of_block[2], setting.classes.of_block[0],
					   0.7, 0.01};
	problem.constraints = &setting.constraints;
	problem.class_count = 3;
	problem.links = links;
	problem.link_count = 2;
	assert_int_equal(frequency_solve(marginals, &problem), 0);
	assert_float_equal(marginals[setting.classes.of_block[1]].median, 300, 5);
	assert_float_equal(marginals[setting.classes.of_block[2]].median, 700, 5);
	free_setting(&setting);
}

/* One of two values, 600 apart. */
static struct frequency_density make_either(struct gaussian *g, double mean, double deviation)
{
	for (int k = 0; k < GAUSS_POINTS; k++) {
		double x = mean - 150 + k * 900.0 / (GAUSS_POINTS - 1);
		double low = (x - mean) / deviation, high = (x - mean - 600) / deviation;

		g->x[k] = x;
		g->log[k] = -fmin(low * low, high * high) / 2;
	}
	return (struct frequency_density){g->x, g->log, GAUSS_POINTS};
}

/* a = b + c, one arm 200 and the other 800: only the first density determines which is which. */
static void test_first_finds_the_way(void **state)
{
	struct frequency_density densities[3], first[3];
	struct frequency_marginal marginals[3];
	double bounds[3] = {3000, 3000, 3000};
	struct frequency_problem problem = {
		.densities = densities, .first = first, .bounds = bounds, .rounds = 20};
	struct gaussian gaussians[5];
	struct setting setting;
	uint32_t a, arms[2];

	(void)state;
	make_diamond(&setting);
	a = setting.classes.of_block[0];
	problem.constraints = &setting.constraints;
	problem.class_count = 3;
	densities[a] = first[a] = make_gaussian(&gaussians[0], 1000, 20);
	for (int greater = 0; greater < 2; greater++) {
		for (int arm = 0; arm < 2; arm++) {
			uint32_t class = setting.classes.of_block[1 + arm];

			arms[arm] = class;
			densities[class] = make_either(&gaussians[1 + arm], 200, 15);
			first[class] =
				make_gaussian(&gaussians[3 + arm], arm == greater ? 700 : 300, 40);
		}
		assert_int_equal(frequency_solve(marginals, &problem), 0);
		assert_float_equal(marginals[arms[greater]].median, 800, 15);
		assert_float_equal(marginals[arms[!greater]].median, 200, 15);
	}
	free_setting(&setting);
}

static struct profile_score score_of(const char *name, const struct profile_recipe *recipe,
				     int rounds)
{
	struct profile_score score = {0};
	uint64_t seed = 3;

	for (int round = 0; round < rounds; round++) {
		struct generated_profile generated;
		struct frequency frequency;

		profile_generate(&generated, recipe, &seed);
		assert_int_equal(frequency_estimate(&frequency, frequency_estimator_find(name),
						    &generated.input),
				 0);
		profile_score_add(&score, &generated, &frequency);
		for (uint32_t b = 0; b < generated.cfg->block_count; b++) {
			const struct frequency_estimate *f = &frequency.blocks[b];

			assert_true(f->value >= 0 && isfinite(f->value) && isfinite(f->high));
			assert_true(f->low >= 0 && f->low <= f->value && f->value <= f->high);
		}
		frequency_deinit(&frequency);
		generated_profile_deinit(&generated);
	}
	return score;
}

/* The default is better than the paper's estimator: fewer far errors, half as many above 5%. */
static void test_beats_the_paper(void **state)
{
	static const struct profile_recipe recipes[] = {
		{4, 1e4, false, 0.1, 0.02},
		{4, 1e6, false, 0.1, 0.02},
		{5, 1e5, true, 0.1, 0.02},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(recipes) / sizeof(recipes[0]); k++) {
		struct profile_score paper = score_of("paper", &recipes[k], 200);
		struct profile_score joint = score_of("dcpi", &recipes[k], 200);

		assert_true(joint.samples - joint.within[0] <
			    0.6 * (paper.samples - paper.within[0]));
		assert_true(joint.far < paper.far);
		assert_true(joint.edges_within[1] / joint.executions >
			    paper.edges_within[1] / paper.executions);
		assert_true(joint.covered > 0.88 * joint.samples);
		assert_true(joint.confident > paper.confident);
	}
}

/*
 * Without stalls and errors of M, chance remains (1% at 10,000 samples per class). Procedures in
 * which every issue point is the first in its block might have stalled.
 */
static void test_without_stalls(void **state)
{
	static const struct profile_recipe recipe = {5, 1e6, false, 0, 0};
	struct profile_score score = score_of("dcpi", &recipe, 100);

	(void)state;
	assert_true(score.within[0] > 0.94 * score.samples);
	assert_true(score.far_flagged > 0.95 * score.far);
	assert_true(score.confident > 0.9 * score.samples);
}

static void test_directions_help(void **state)
{
	struct profile_recipe recipe = {5, 3e4, false, 0.3, 0.05};
	struct profile_score without = score_of("dcpi", &recipe, 200);
	struct profile_score with;

	(void)state;
	recipe.edge_samples = true;
	with = score_of("dcpi", &recipe, 200);
	assert_true(with.edges_within[1] / with.executions >
		    without.edges_within[1] / without.executions + 0.02);
}

#define TOLD 30

/* The only issue point always stalls: its frequency is known from callers or callees. */
static void test_others_help(void **state)
{
	static const struct cfg_fixture_edge edges[] = {{CFG_ENTRY, 0}, {0, CFG_EXIT}};
	struct cfg *cfg = cfg_fixture_create(NULL, 1, edges, 2);
	struct schedule_insn insn = {.min_cycles = 1, .depends_on = UINT32_MAX};
	double samples = 9000, least = 1;
	struct schedule schedule = {.insns = &insn, .block_least = &least};
	struct procedure_profile profile = {
		.samples = &samples, .total = 9000, .period_cycles = 1, .calls_in = -1};
	struct profile_derived derived[TOLD];
	struct cfg_call call = {.insn = 0};
	struct cfg_facts facts;
	struct frequency_classes classes;
	struct frequency_input input = {.cfg = cfg,
					.facts = &facts,
					.classes = &classes,
					.schedule = &schedule,
					.profile = &profile};
	struct frequency frequency;

	(void)state;
	assert_int_equal(cfg_facts_find(&facts, cfg), 0);
	assert_int_equal(frequency_classes_find(&classes, cfg), 0);
	cfg->calls = &call;
	cfg->call_count = 1;
	for (int t = 0; t < TOLD; t++)
		derived[t] = (struct profile_derived){.executions = 2000, .weight = 1000};
	for (int round = 0; round < 3; round++) {
		profile.calls_in = round == 1 ? 1000 : -1;
		profile.calls_in_weight = 2000;
		profile.derived = derived;
		profile.derived_count = round == 2 ? TOLD : 0;
		assert_int_equal(
			frequency_estimate(&frequency, frequency_estimator_find("dcpi"), &input),
			0);
		if (round == 0)
			assert_true(frequency.blocks[0].low < 1000 &&
				    frequency.blocks[0].high > 8000 &&
				    frequency.blocks[0].confidence == FREQUENCY_LOW);
		else
			assert_float_equal(frequency.blocks[0].value, 1000 * round, 60);
		frequency_deinit(&frequency);
	}
	cfg->calls = NULL;
	cfg->call_count = 0;
	frequency_classes_deinit(&classes);
	cfg_facts_deinit(&facts);
	cfg_fixture_destroy(cfg);
}

static void test_no_samples(void **state)
{
	struct profile_recipe recipe = {3, 1e3, false, 0.25, 0};
	struct generated_profile generated;
	struct frequency frequency;
	uint64_t seed = 5;

	(void)state;
	profile_generate(&generated, &recipe, &seed);
	memset(generated.profile.samples, 0, generated.cfg->insn_count * sizeof(double));
	generated.profile.total = 0;
	assert_int_equal(
		frequency_estimate(&frequency, frequency_estimator_find(NULL), &generated.input),
		0);
	for (uint32_t b = 0; b < generated.cfg->block_count; b++) {
		assert_true(frequency.blocks[b].value == 0 && frequency.blocks[b].high > 0);
		assert_int_equal(frequency.blocks[b].origin, FREQUENCY_NONE);
		assert_int_equal(frequency.blocks[b].confidence, FREQUENCY_LOW);
	}
	frequency_deinit(&frequency);
	generated_profile_deinit(&generated);
}

#define ANY_BLOCKS 24

static uint32_t any_end(uint64_t *seed, uint32_t blocks)
{
	uint64_t kind = unit_random(seed) % 12;

	if (kind == 0)
		return CFG_EXIT;
	return kind == 1 ? CFG_UNKNOWN : (uint32_t)(unit_random(seed) % blocks);
}

/*
 * Make any graph, including infinite loops, unreachable blocks, parallel edges and unresolved
 * jumps.
 */
static struct cfg *make_any_graph(uint64_t *seed)
{
	struct cfg_fixture_edge edges[4 * ANY_BLOCKS + 4];
	uint32_t insns[ANY_BLOCKS];
	uint32_t blocks = 1 + (uint32_t)(unit_random(seed) % ANY_BLOCKS);
	uint32_t count = 0;

	edges[count++] = (struct cfg_fixture_edge){CFG_ENTRY, 0};
	for (uint32_t b = 0; b < blocks; b++) {
		insns[b] = 1 + (uint32_t)(unit_random(seed) % 5);
		for (uint64_t k = unit_random(seed) % 4; k > 0; k--)
			edges[count++] = (struct cfg_fixture_edge){b, any_end(seed, blocks)};
	}
	for (uint64_t k = unit_random(seed) % 3; k > 0; k--)
		edges[count++] = (struct cfg_fixture_edge){CFG_UNKNOWN,
							   (uint32_t)(unit_random(seed) % blocks)};
	return cfg_fixture_create(insns, blocks, edges, count);
}

/* Return any number of samples, from none to more than real profiles have. */
static double any_samples(uint64_t *seed)
{
	static const double scales[] = {0, 0, 1, 1, 30, 1e3, 1e6, 1e12};

	return floor(scales[unit_random(seed) % 8] * (double)(unit_random(seed) % 1000) / 500);
}

static void fill_any_profile(const struct cfg *cfg, struct schedule *schedule,
			     struct procedure_profile *profile, uint64_t *seed)
{
	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		schedule->insns[i].min_cycles = (double)(unit_random(seed) % 9) / 4;
		schedule->insns[i].depends_on = (uint32_t)(unit_random(seed) % (2 * i + 2)) - 1;
		profile->samples[i] = any_samples(seed);
		profile->total += profile->samples[i];
		profile->branch_total[i] = any_samples(seed);
	}
	for (uint32_t b = 0; b < cfg->block_count; b++)
		schedule->block_least[b] = (double)(unit_random(seed) % 9);
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		profile->edge_samples[e] = any_samples(seed);
	profile->calls_in = any_samples(seed) - 1;
	profile->calls_in_weight = any_samples(seed);
}

static void check_estimates(const struct frequency_estimate *estimates, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		const struct frequency_estimate *f = &estimates[k];

		assert_true(isfinite(f->value) && isfinite(f->low) && isfinite(f->high));
		assert_true(f->low >= 0 && f->low <= f->value && f->value <= f->high);
	}
}

/* For any input, each estimate is a finite number in an interval. */
static void test_any_input(void **state)
{
	uint64_t seed = 11;

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct cfg *cfg = make_any_graph(&seed);
		double samples[5 * ANY_BLOCKS], totals[5 * ANY_BLOCKS], edges[4 * ANY_BLOCKS + 4];
		struct schedule_insn insns[5 * ANY_BLOCKS] = {0};
		double least[ANY_BLOCKS];
		struct schedule schedule = {.insns = insns, .block_least = least};
		struct procedure_profile profile = {.samples = samples,
						    .edge_samples = edges,
						    .branch_total = totals,
						    .period_cycles = 1};
		struct cfg_facts facts;
		struct frequency_classes classes;
		struct frequency_input input = {.cfg = cfg,
						.facts = &facts,
						.classes = &classes,
						.schedule = &schedule,
						.profile = &profile};
		struct frequency frequency;

		fill_any_profile(cfg, &schedule, &profile, &seed);
		assert_int_equal(cfg_facts_find(&facts, cfg), 0);
		assert_int_equal(frequency_classes_find(&classes, cfg), 0);
		for (const struct frequency_estimator *const *e = frequency_estimator_list(); *e;
		     e++) {
			assert_int_equal(frequency_estimate(&frequency, *e, &input), 0);
			check_estimates(frequency.blocks, cfg->block_count);
			check_estimates(frequency.edges, cfg->edge_count);
			frequency_deinit(&frequency);
		}
		frequency_classes_deinit(&classes);
		cfg_facts_deinit(&facts);
		cfg_fixture_destroy(cfg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gaussians_are_exact), cmocka_unit_test(test_links_share_out),
		cmocka_unit_test(test_without_stalls),	    cmocka_unit_test(test_beats_the_paper),
		cmocka_unit_test(test_directions_help),	    cmocka_unit_test(test_others_help),
		cmocka_unit_test(test_no_samples),	    cmocka_unit_test(test_any_input),
		cmocka_unit_test(test_first_finds_the_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
