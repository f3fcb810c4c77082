// SPDX-License-Identifier: GPL-2.0-only
/*
 * Simulated programs walk randomly through graphs. Their samples are attributed to the next
 * executed instruction, and then corrected.
 */
#include "analysis/frequency/skid.h"
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fixtures/cfg_fixture.h"

#define INSNS_MAX 64
#define EDGES_MAX 32
#define STEPS 400000

/* @cycles: per execution of each instruction; @own, @late: samples. */
struct scene {
	struct cfg *cfg;
	struct schedule schedule;
	struct schedule_insn insns[INSNS_MAX];
	double cycles[INSNS_MAX];
	double own[INSNS_MAX];
	double late[INSNS_MAX];
	double weights[EDGES_MAX];
	uint64_t random;
};

static const uint32_t insn_counts[] = {3, 5, 1, 4, 1, 6};

/* A loop with a branch around a block, a block that is a loop itself, and two exits. */
static const struct cfg_fixture_edge ways[] = {
	{CFG_ENTRY, 0}, {0, 1}, {1, 2}, {1, 3},	       {2, 3},	      {3, 4},
	{4, 4},		{4, 1}, {3, 5}, {5, CFG_EXIT}, {2, CFG_EXIT},
};

static double chance(struct scene *scene)
{
	return (double)(unit_random(&scene->random) >> 11) / (double)(1ULL << 53);
}

/* Make a scene: every third instruction issues with the previous one; some wait for a long time. */
static void scene_make(struct scene *scene, uint64_t seed)
{
	*scene = (struct scene){
		.cfg = cfg_fixture_create(insn_counts, 6, ways, 11),
		.random = seed,
	};
	assert_true(scene->cfg->insn_count <= INSNS_MAX && scene->cfg->edge_count <= EDGES_MAX);
	scene->schedule.insns = scene->insns;
	for (uint32_t i = 0; i < scene->cfg->insn_count; i++) {
		scene->insns[i].min_cycles = i % 3 == 1 ? 0 : 1;
		scene->cycles[i] = scene->insns[i].min_cycles;
		if (scene->cycles[i] > 0 && unit_random(&scene->random) % 4 == 0)
			scene->cycles[i] += (double)(unit_random(&scene->random) % 20);
	}
}

static uint32_t edge_choose(struct scene *scene, uint32_t block)
{
	const struct cfg_block *from = &scene->cfg->blocks[block];
	/* The first of two edges is taken nine times in ten. */
	uint32_t other = from->out_count > 1 && chance(scene) > 0.9 ? 1 : 0;

	return from->out + other;
}

/*
 * The program leaves through one exit and returns by the entry, where the last sample is
 * attributed.
 */
static void scene_walk(struct scene *scene)
{
	const struct cfg *cfg = scene->cfg;
	uint32_t entry = cfg_fixture_edge(cfg, CFG_ENTRY, 0), block = 0;
	double carried = 0;

	for (int step = 0; step < STEPS; step++) {
		uint32_t first = cfg->blocks[block].first, edge;

		for (uint32_t i = first; i < first + cfg->blocks[block].count; i++) {
			double samples = scene->cycles[i] / 16;

			scene->own[i] += samples;
			scene->late[i] += carried;
			carried = samples;
		}
		edge = edge_choose(scene, block);
		scene->weights[edge]++;
		block = cfg->edges[edge].to;
		if (block >= cfg->block_count) {
			scene->weights[entry]++;
			block = 0;
		}
	}
}

static double sum_of(const double *values, uint32_t count)
{
	double sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

/* Return the share of samples attributed to a wrong instruction. */
static double error_of(const struct scene *scene, const double *samples)
{
	double wrong = 0;

	for (uint32_t i = 0; i < scene->cfg->insn_count; i++)
		wrong += fabs(samples[i] - scene->own[i]);
	return wrong / 2 / sum_of(scene->own, scene->cfg->insn_count);
}

/* Return the largest error of instructions that have samples and are not marked as unsure. */
static double error_of_sure(const struct scene *scene, const double *samples, const bool *unsure)
{
	double worst = 0;

	for (uint32_t i = 0; i < scene->cfg->insn_count; i++)
		if (!unsure[i] && scene->own[i] > 0)
			worst = fmax(worst, fabs(samples[i] - scene->own[i]) / scene->own[i]);
	return worst;
}

static unsigned int count_unsure(const struct scene *scene, const bool *unsure)
{
	unsigned int count = 0;

	for (uint32_t i = 0; i < scene->cfg->insn_count; i++)
		count += unsure[i];
	return count;
}

static void test_samples_are_given_back(void **state)
{
	double back[INSNS_MAX], raw = 0, without = 0, with = 0;
	bool unsure[INSNS_MAX];
	struct scene scene;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint32_t count;

		scene_make(&scene, seed);
		scene_walk(&scene);
		count = scene.cfg->insn_count;
		raw += error_of(&scene, scene.late) / 20;
		assert_int_equal(
			skid_take_back(back, unsure, scene.cfg, &scene.schedule, scene.late, NULL),
			0);
		assert_float_equal(sum_of(back, count), sum_of(scene.late, count), 1e-3);
		without += error_of(&scene, back) / 20;
		assert_int_equal(skid_take_back(back, unsure, scene.cfg, &scene.schedule,
						scene.late, scene.weights),
				 0);
		assert_float_equal(sum_of(back, count), sum_of(scene.late, count), 1e-3);
		with += error_of(&scene, back) / 20;
		/*
		 * Blocks 2 and 5 are exits, and one has a successor of the other: 2 to 4 are
		 * unsure.
		 */
		assert_in_range(count_unsure(&scene, unsure), 2, 4);
		assert_true(error_of_sure(&scene, back, unsure) < 0.3);
		cfg_fixture_destroy(scene.cfg);
	}
	print_message("wrong: %.4f as taken, %.4f without weights, %.4f with\n", raw, without,
		      with);
	assert_true(raw > 0.4 && without < raw / 4 && with < raw / 10);
}

static bool is_late(const struct scene *scene, const double *samples, double scale)
{
	struct skid_votes votes = {0};
	double scaled[INSNS_MAX];

	for (uint32_t i = 0; i < scene->cfg->insn_count; i++)
		scaled[i] = scale * samples[i];
	skid_votes_add(&votes, scene->cfg, &scene->schedule, scaled);
	return skid_is_late(&votes);
}

static void test_samples_tell(void **state)
{
	struct scene scene;

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		scene_make(&scene, seed);
		scene_walk(&scene);
		assert_true(is_late(&scene, scene.late, 1));
		assert_false(is_late(&scene, scene.own, 1));
		assert_false(is_late(&scene, scene.late, 1e-6));
		cfg_fixture_destroy(scene.cfg);
	}
}

/* Without pairs the lateness of samples cannot be detected. */
static void test_single_issue_tells_nothing(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene, 1);
	for (uint32_t i = 0; i < scene.cfg->insn_count; i++)
		scene.insns[i].min_cycles = scene.cycles[i] = 1;
	scene_walk(&scene);
	assert_false(is_late(&scene, scene.late, 1));
	assert_false(is_late(&scene, scene.own, 1));
	cfg_fixture_destroy(scene.cfg);
}

/* Code without a known predecessor has no edges. */
static void test_code_that_is_not_reached(void **state)
{
	static const struct cfg_fixture_edge one[] = {{CFG_ENTRY, 0}, {0, CFG_EXIT}};
	const double late[] = {1, 2, 4, 8}, expected[] = {2, 1, 8, 4};
	struct schedule_insn insns[4] = {{0}};
	struct schedule schedule = {.insns = insns};
	static const uint32_t counts[] = {2, 2};
	struct cfg *cfg = cfg_fixture_create(counts, 2, one, 2);
	double back[4];
	bool unsure[4];

	(void)state;
	assert_int_equal(skid_take_back(back, unsure, cfg, &schedule, late, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_float_equal(back[i], expected[i], 1e-9);
	cfg_fixture_destroy(cfg);
}

/* A loop that is never left: its entry has no samples, and no sample is lost. */
static void test_what_is_never_left(void **state)
{
	static const struct cfg_fixture_edge loop[] = {{CFG_ENTRY, 0}, {0, 1}, {1, 1}};
	static const uint32_t counts[] = {2, 2};
	const double late[] = {1, 1, 1000, 3000}, weights[] = {1, 2000, 1};
	struct schedule_insn insns[4] = {{0}};
	struct schedule schedule = {.insns = insns};
	struct cfg *cfg = cfg_fixture_create(counts, 2, loop, 3);
	bool unsure[4];
	double back[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		insns[i].min_cycles = 1;
	for (int known = 0; known < 2; known++) {
		assert_int_equal(
			skid_take_back(back, unsure, cfg, &schedule, late, known ? weights : NULL),
			0);
		assert_float_equal(back[0], 1, 1e-9);
		assert_float_equal(back[0] + back[1] + back[2] + back[3], 4002, 1e-6);
		assert_float_equal(back[2], 3000, 1e-9);
		assert_true(back[3] > 990);
	}
	cfg_fixture_destroy(cfg);
}

#define RANDOM_BLOCKS 8
#define RANDOM_EDGES 20

static uint32_t random_node(uint64_t *random, uint32_t outside)
{
	uint64_t node = unit_random(random) % (RANDOM_BLOCKS + 2);

	if (node < RANDOM_BLOCKS)
		return (uint32_t)node;
	return node == RANDOM_BLOCKS ? CFG_UNKNOWN : outside;
}

/* Graphs with unreached blocks, blocks without successors, and duplicate or unused edges. */
static void test_any_graph(void **state)
{
	struct cfg_fixture_edge edges[RANDOM_EDGES];
	double late[INSNS_MAX], weights[RANDOM_EDGES], back[INSNS_MAX];
	struct schedule_insn insns[INSNS_MAX] = {{0}};
	struct schedule schedule = {.insns = insns};
	uint32_t counts[RANDOM_BLOCKS];
	bool unsure[INSNS_MAX];
	uint64_t random = 5;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint32_t edge_count = (uint32_t)(unit_random(&random) % (RANDOM_EDGES + 1));
		struct cfg *cfg;

		for (uint32_t b = 0; b < RANDOM_BLOCKS; b++)
			counts[b] = 1 + (uint32_t)(unit_random(&random) % 4);
		for (uint32_t e = 0; e < edge_count; e++) {
			edges[e].from = random_node(&random, CFG_ENTRY);
			edges[e].to = random_node(&random, CFG_EXIT);
			weights[e] = (double)(unit_random(&random) % 4);
		}
		cfg = cfg_fixture_create(counts, RANDOM_BLOCKS, edges, edge_count);
		for (uint32_t i = 0; i < cfg->insn_count; i++) {
			late[i] = (double)(unit_random(&random) % 3 * 100);
			insns[i].min_cycles = (double)(unit_random(&random) % 2);
		}
		for (int known = 0; known < 2; known++) {
			assert_int_equal(skid_take_back(back, unsure, cfg, &schedule, late,
							known ? weights : NULL),
					 0);
			assert_float_equal(sum_of(back, cfg->insn_count),
					   sum_of(late, cfg->insn_count), 1e-6);
			for (uint32_t i = 0; i < cfg->insn_count; i++)
				assert_true(back[i] >= 0);
		}
		cfg_fixture_destroy(cfg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_are_given_back),
		cmocka_unit_test(test_samples_tell),
		cmocka_unit_test(test_single_issue_tells_nothing),
		cmocka_unit_test(test_code_that_is_not_reached),
		cmocka_unit_test(test_what_is_never_left),
		cmocka_unit_test(test_any_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
