// SPDX-License-Identifier: GPL-2.0-only
/* The code held by a cache, estimated from frequencies, compared with a simulated cache. */
#include "analysis/culprit/code_footprint.h"
#include "analysis/culprit/set_pressure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fixtures/cfg_fixture.h"
#include "tests/lib/unit.h"

#define BLOCKS 600
#define INSNS 16 /* of 4 bytes each */
#define BLOCK_BYTES 64
#define KINDS 4
#define CACHE_BLOCKS 256
#define EXECUTIONS 400000

struct scene {
	struct cfg *cfg;
	struct frequency frequency;
};

/* Blocks have KINDS frequencies, in rotation. */
static double frequency_of(uint32_t block)
{
	static const double frequencies[KINDS] = {64, 16, 4, 0.5};

	return frequencies[block % KINDS];
}

static void scene_init(struct scene *scene)
{
	uint32_t counts[BLOCKS];
	struct cfg_fixture_edge edges[BLOCKS + 1];

	for (uint32_t b = 0; b < BLOCKS; b++)
		counts[b] = INSNS;
	edges[0] = (struct cfg_fixture_edge){CFG_ENTRY, 0};
	for (uint32_t b = 0; b < BLOCKS; b++)
		edges[b + 1] = (struct cfg_fixture_edge){b, b + 1 < BLOCKS ? b + 1 : CFG_EXIT};
	scene->cfg = cfg_fixture_create(counts, BLOCKS, edges, BLOCKS + 1);
	scene->frequency.blocks = calloc(BLOCKS, sizeof(*scene->frequency.blocks));
	assert_non_null(scene->frequency.blocks);
	for (uint32_t b = 0; b < BLOCKS; b++)
		scene->frequency.blocks[b].value = frequency_of(b);
}

static void scene_deinit(struct scene *scene)
{
	free(scene->frequency.blocks);
	cfg_fixture_destroy(scene->cfg);
}

static uint32_t draw(uint64_t *seed)
{
	double sum = 0, at;
	uint32_t kind = 0;

	for (uint32_t k = 0; k < KINDS; k++)
		sum += frequency_of(k);
	at = (double)(unit_random(seed) >> 11) * 0x1p-53 * sum;
	while (kind + 1 < KINDS && at >= frequency_of(kind))
		at -= frequency_of(kind++);
	return kind + KINDS * (uint32_t)(unit_random(seed) % (BLOCKS / KINDS));
}

/* Simulate a cache with least-recently-used replacement and random executions. */
static void simulate(double *miss_share)
{
	static uint64_t used[BLOCKS];
	uint64_t seed = 11, misses[KINDS] = {0}, executed[KINDS] = {0};
	uint32_t held = 0;

	memset(used, 0, sizeof(used));
	for (uint64_t now = 1; now <= EXECUTIONS; now++) {
		uint32_t block = draw(&seed), oldest = UINT32_MAX;
		bool warm = now > EXECUTIONS / 8;

		executed[block % KINDS] += warm;
		if (used[block] == 0) {
			misses[block % KINDS] += warm;
			held++;
		}
		used[block] = now;
		for (uint32_t b = 0; held > CACHE_BLOCKS && b < BLOCKS; b++)
			if (used[b] != 0 && (oldest == UINT32_MAX || used[b] < used[oldest]))
				oldest = b;
		if (oldest != UINT32_MAX) {
			used[oldest] = 0;
			held--;
		}
	}
	for (uint32_t k = 0; k < KINDS; k++)
		miss_share[k] = (double)misses[k] / (double)executed[k];
}

static void test_agrees_with_cache_model(void **state)
{
	struct code_footprint footprint = {.residency = 0};
	double simulated[KINDS];
	struct scene scene;

	(void)state;
	scene_init(&scene);
	code_footprint_add(&footprint, scene.cfg, &scene.frequency);
	code_footprint_settle(&footprint, CACHE_BLOCKS * BLOCK_BYTES);
	simulate(simulated);
	for (uint32_t k = 0; k < KINDS; k++)
		assert_true(fabs(code_footprint_miss_share(&footprint, frequency_of(k)) -
				 simulated[k]) < 0.02);
	/* Some kinds hit and others miss; otherwise the comparison would be trivial. */
	assert_true(simulated[0] < 0.05 && simulated[KINDS - 1] > 0.8);
	scene_deinit(&scene);
}

static void test_resident_code_does_not_miss(void **state)
{
	struct code_footprint footprint = {.residency = 0};
	struct scene scene;

	(void)state;
	scene_init(&scene);
	code_footprint_settle(&footprint, 1);
	assert_true(code_footprint_miss_share(&footprint, 1) == 0);
	code_footprint_add(&footprint, scene.cfg, &scene.frequency);
	code_footprint_settle(&footprint, BLOCKS * BLOCK_BYTES);
	assert_true(code_footprint_miss_share(&footprint, 0.5) == 0);
	/* The unit of frequencies does not matter; rarer code misses more. */
	for (int k = 0; k < 40; k++) {
		double unit = exp2(k - 20), before = 1;
		struct code_footprint same = {.residency = 0};

		for (uint32_t b = 0; b < BLOCKS; b++)
			scene.frequency.blocks[b].value = frequency_of(b) * unit;
		code_footprint_add(&same, scene.cfg, &scene.frequency);
		code_footprint_settle(&same, CACHE_BLOCKS * BLOCK_BYTES);
		code_footprint_settle(&footprint, CACHE_BLOCKS * BLOCK_BYTES);
		for (uint32_t b = KINDS; b-- > 0;) {
			double share = code_footprint_miss_share(&same, frequency_of(b) * unit);

			assert_true(fabs(share - code_footprint_miss_share(
							 &footprint, frequency_of(b))) < 1e-3);
			assert_true(share < before);
			before = share;
		}
	}
	/* Code that is not executed, or of unknown frequency, takes no room. */
	for (uint32_t b = 0; b < BLOCKS; b++)
		scene.frequency.blocks[b].value = b % 2 ? 0 : NAN;
	footprint = (struct code_footprint){.residency = 0};
	code_footprint_add(&footprint, scene.cfg, &scene.frequency);
	code_footprint_settle(&footprint, 1);
	assert_true(isinf(footprint.residency));
	scene_deinit(&scene);
}

#define WAYS 2

static const struct machine_cache two_ways = {
	.bytes = CACHE_BLOCKS * BLOCK_BYTES, .line_bytes = BLOCK_BYTES, .ways = WAYS};

/*
 * Each block is a line, and KINDS consecutive blocks differ in frequency. SETS is a multiple of
 * KINDS, so that each set has lines of one kind, four or five of them.
 */
#define SETS (CACHE_BLOCKS / WAYS)

/* Simulate least-recently-used replacement in each set. */
static void simulate_sets(double *miss_share)
{
	static uint64_t used[BLOCKS], misses[SETS], executed[SETS];
	uint64_t seed = 12;

	memset(used, 0, sizeof(used));
	for (uint64_t now = 1; now <= 4 * EXECUTIONS; now++) {
		uint32_t block = draw(&seed), newer = 0;
		bool warm = now > EXECUTIONS / 2;

		for (uint32_t b = block % SETS; b < BLOCKS; b += SETS)
			newer += b != block && used[b] > used[block];
		executed[block % SETS] += warm;
		misses[block % SETS] += warm && newer >= WAYS;
		used[block] = now;
	}
	for (uint32_t set = 0; set < SETS; set++)
		miss_share[set] = (double)misses[set] / (double)executed[set];
}

static void test_agrees_with_set_model(void **state)
{
	struct set_pressure sets = {0};
	double simulated[SETS], mean = 0;
	struct scene scene;

	(void)state;
	scene_init(&scene);
	assert_int_equal(set_pressure_add(&sets, &two_ways, scene.cfg, &scene.frequency), 0);
	assert_int_equal(set_pressure_settle(&sets, &two_ways), 0);
	assert_int_equal(sets.sets, SETS);
	simulate_sets(simulated);
	for (uint32_t b = 0; b < SETS; b++) {
		uint64_t address = scene.cfg->insns[scene.cfg->blocks[b].first].address;
		double share = set_pressure_miss_share(&sets, address, frequency_of(b));

		/* For few lines the approximation is coarse, but within a bound. */
		assert_true(fabs(share - simulated[b]) < 0.12);
		assert_int_equal(share > 0, simulated[b] > 0);
		mean += (share - simulated[b]) / SETS;
	}
	assert_true(fabs(mean) < 0.06);
	set_pressure_deinit(&sets);
	scene_deinit(&scene);
}

static void test_small_sets_do_not_miss(void **state)
{
	struct machine_cache cache = two_ways;
	struct set_pressure sets = {0};
	struct scene scene;

	(void)state;
	assert_int_equal(set_pressure_settle(&sets, &cache), 0);
	assert_true(set_pressure_miss_share(&sets, 0x1000, 1) == 0);
	scene_init(&scene);
	/* The number of ways is unknown. */
	cache.ways = 0;
	assert_int_equal(set_pressure_add(&sets, &cache, scene.cfg, &scene.frequency), 0);
	assert_int_equal(set_pressure_settle(&sets, &cache), 0);
	assert_true(sets.count == 0 && set_pressure_miss_share(&sets, 0x1000, 1) == 0);
	/* Adding the same blocks twice does not add lines. */
	for (int again = 0; again < 2; again++)
		assert_int_equal(set_pressure_add(&sets, &two_ways, scene.cfg, &scene.frequency),
				 0);
	assert_int_equal(set_pressure_settle(&sets, &two_ways), 0);
	assert_int_equal(sets.count, BLOCKS + 1 - (scene.cfg->insns[0].address % BLOCK_BYTES == 0));
	set_pressure_deinit(&sets);
	/* Lines that are not executed, or of unknown frequency, are not counted. */
	for (uint32_t b = 0; b < BLOCKS; b++)
		scene.frequency.blocks[b].value = b % 2 ? 0 : NAN;
	assert_int_equal(set_pressure_add(&sets, &two_ways, scene.cfg, &scene.frequency), 0);
	assert_int_equal(sets.count, 0);
	set_pressure_deinit(&sets);
	scene_deinit(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_cache_model),
		cmocka_unit_test(test_resident_code_does_not_miss),
		cmocka_unit_test(test_agrees_with_set_model),
		cmocka_unit_test(test_small_sets_do_not_miss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
