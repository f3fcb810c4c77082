// SPDX-License-Identifier: GPL-2.0-only
/* Culprits of loads with known addresses, out of order; for the others see unit_culprit_memory.c.
 */
#include "tests/lib/unit.h"

#include <math.h>

#include "tests/fixtures/culprit_scene.h"

#define LOAD 8
#define INSNS 16

static const struct data_caches caches = {{48 << 10, 1 << 20, 32 << 20}, 64, 4096};

/* The footprint of @samples accesses that fall evenly on @lines lines of separate pages. */
static struct data_footprint footprint_of(double samples, double lines)
{
	double seen = fmin(lines, samples), repeated = lines < samples;
	const struct data_extent_counts counts = {
		.distinct = seen,
		.kept = seen,
		.once = repeated ? 0 : seen,
		.compared = samples * 128,
		.equal = samples * 128 / lines,
	};
	struct data_extent extent = data_extent_estimate(samples, &counts);

	return (struct data_footprint){.samples = samples, .lines = extent, .pages = extent};
}

/* struct data_scene - a load with a footprint, and a stall at the instruction after it */
struct data_scene {
	struct culprit_scene scene;
	struct data_footprint footprint;
	const struct data_footprint *footprints[INSNS];
};

static void data_scene_init(struct data_scene *data, double samples, double lines)
{
	struct culprit_scene *scene = &data->scene;

	*data = (struct data_scene){.footprint = footprint_of(samples, lines)};
	culprit_scene_straight(scene, INSNS);
	scene->model.in_order = false;
	scene->model.skid_insns = 1;
	scene->model.load_misses = 0;
	culprit_scene_load(scene, LOAD, V, P, 0);
	culprit_scene_stall(scene, LOAD + 1, 300);
	data->footprints[LOAD] = &data->footprint;
	scene->profile.footprints = data->footprints;
	scene->profile.caches = caches;
}

static void test_addresses_prove_misses(void **unused)
{
	struct data_scene data;
	const struct culprit *miss;

	(void)unused;
	data_scene_init(&data, 20000, 1 << 20);
	culprit_scene_look(&data.scene);
	assert_string_equal(culprit_scene_letters(&data.scene, LOAD + 1), "d");
	miss = culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE);
	assert_int_equal(miss->from, LOAD);
	assert_true(miss->cycles_low > 0.85 * 300 && miss->cycles_low <= 300);
	assert_float_equal(miss->cycles_high, 300, 1e-9);
	culprit_scene_deinit(&data.scene);
}

/* Misses are certain, but not that they cause all of the stall after likely mispredictions. */
static void test_misses_do_not_exclude_mispredictions(void **unused)
{
	struct data_scene data;

	(void)unused;
	data_scene_init(&data, 20000, 1 << 20);
	data.scene.model.branch_mispredict_cycles = 20;
	data.scene.profile.entry_varied = 0.9;
	data.scene.profile.calls_in = -1;
	data.scene.cfg->insns[0] = data.scene.cfg->insns[LOAD];
	data.footprints[0] = &data.footprint;
	culprit_scene_stall(&data.scene, 1, 12);
	culprit_scene_look(&data.scene);
	assert_non_null(culprit_scene_find(&data.scene, 1, CULPRIT_DCACHE));
	assert_non_null(culprit_scene_find(&data.scene, 1, CULPRIT_BRANCH));
	assert_true(culprit_scene_find(&data.scene, 1, CULPRIT_DCACHE)->cycles_low > 0.85 * 12);
	culprit_scene_deinit(&data.scene);
}

static void test_resident_data_does_not_miss(void **unused)
{
	struct data_scene data;

	(void)unused;
	data_scene_init(&data, 5000, 64);
	culprit_scene_look(&data.scene);
	assert_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE));
	assert_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DTB));
	assert_non_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_OTHER));
	culprit_scene_deinit(&data.scene);
}

/*
 * The interval of the number of lines is narrow long before the unseen share is. A cache that can
 * hold all of them makes misses unlikely.
 */
static void test_few_samples_of_little_data(void **unused)
{
	struct data_scene data;

	(void)unused;
	data_scene_init(&data, 150, 64);
	culprit_scene_stall(&data.scene, LOAD + 1, 4);
	culprit_scene_look(&data.scene);
	assert_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE));
	culprit_scene_deinit(&data.scene);
	data_scene_init(&data, 150, 1 << 20);
	culprit_scene_stall(&data.scene, LOAD + 1, 40);
	culprit_scene_look(&data.scene);
	assert_non_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE));
	culprit_scene_deinit(&data.scene);
}

/* A walk takes no longer than the access after it. */
static void test_walks_take_half(void **unused)
{
	struct data_scene data;

	(void)unused;
	data_scene_init(&data, 20000, 1 << 20);
	/* More pages than the DTB has entries, but fewer lines than the cache. */
	data.footprint.lines.even = data.footprint.pages.even = 200;
	data.scene.model.dtb.miss_cycles_max = 1000;
	culprit_scene_look(&data.scene);
	assert_non_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE));
	assert_true(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DTB)->cycles_high <= 150);
	culprit_scene_deinit(&data.scene);
}

/* Consecutive loads of a line wait for one miss together. */
static void test_stream_misses_once_in_a_line(void **unused)
{
	struct data_scene data;

	(void)unused;
	data_scene_init(&data, 20000, 1 << 20);
	data.footprint.lines.even = data.footprint.pages.even = 4;
	data.scene.model.dcache.miss_cycles_min = 8;
	/* A chain of five cycles explains the stall. */
	culprit_scene_compute(&data.scene, LOAD - 4, INSN_ALU, X, W);
	culprit_scene_compute(&data.scene, LOAD - 3, INSN_ALU, Q, X);
	culprit_scene_compute(&data.scene, LOAD - 2, INSN_ALU, X, Q);
	culprit_scene_compute(&data.scene, LOAD - 1, INSN_ALU, P, X);
	culprit_scene_stall(&data.scene, LOAD + 1, 5);
	culprit_scene_look(&data.scene);
	assert_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE));
	assert_non_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_LATENCY));
	data.footprint.stride = 8;
	data.footprint.stride_share = 1;
	culprit_scene_look(&data.scene);
	assert_non_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE));
	culprit_scene_deinit(&data.scene);
}

/* Data of the second cache explains no more than that cache takes. */
static void test_second_cache_bounds_the_stall(void **unused)
{
	struct data_scene data;

	(void)unused;
	data_scene_init(&data, 100000, 4096);
	culprit_scene_stall(&data.scene, LOAD + 1, 12);
	culprit_scene_look(&data.scene);
	assert_non_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE));
	culprit_scene_stall(&data.scene, LOAD + 1, 900);
	culprit_scene_look(&data.scene);
	assert_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE));
	culprit_scene_deinit(&data.scene);
}

/* Another thread's store takes the line away. If no one stores, all CPUs keep it. */
static void test_sharing_needs_a_store(void **unused)
{
	struct data_scene data;

	(void)unused;
	data_scene_init(&data, 5000, 1);
	data.footprint.shared = 0.4;
	data.footprint.partner = data.scene.cfg->insns[2].address;
	culprit_scene_look(&data.scene);
	assert_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_SHARING));
	culprit_scene_store(&data.scene, 2, V, P, 8);
	culprit_scene_look(&data.scene);
	assert_string_equal(culprit_scene_letters(&data.scene, LOAD + 1), "S");
	assert_int_equal(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_SHARING)->from, LOAD);
	data.footprint.shared = 0.01;
	culprit_scene_look(&data.scene);
	assert_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_SHARING));
	culprit_scene_deinit(&data.scene);
}

/* Few samples prove nothing, and deny nothing. */
static void test_few_samples_are_inconclusive(void **unused)
{
	struct data_scene data;
	const struct culprit *miss;

	(void)unused;
	data_scene_init(&data, 10, 1 << 20);
	culprit_scene_look(&data.scene);
	miss = culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE);
	assert_non_null(miss);
	assert_true(miss->cycles_low < 0.5 * 300);
	assert_float_equal(miss->cycles_high, 300, 1e-9);
	culprit_scene_deinit(&data.scene);
}

/* Lines of a stream are fetched before they are accessed. */
static void test_streams_prove_no_misses(void **unused)
{
	struct data_scene data;

	(void)unused;
	data_scene_init(&data, 20000, 1 << 20);
	data.footprint.stride = 64;
	data.footprint.stride_share = 1;
	culprit_scene_look(&data.scene);
	assert_float_equal(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE)->cycles_low, 0,
			   1e-9);
	culprit_scene_deinit(&data.scene);
}

/* In order, the rules of the paper apply, and its simulated truth. */
static void test_in_order_causes_do_not_change(void **unused)
{
	struct data_scene data;

	(void)unused;
	data_scene_init(&data, 5000, 64);
	data.scene.model.in_order = true;
	data.scene.model.skid_insns = 0;
	culprit_scene_compute(&data.scene, LOAD + 1, INSN_ALU, W, V);
	culprit_scene_stall(&data.scene, LOAD + 1, 60);
	culprit_scene_look(&data.scene);
	assert_non_null(culprit_scene_find(&data.scene, LOAD + 1, CULPRIT_DCACHE));
	culprit_scene_deinit(&data.scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_prove_misses),
		cmocka_unit_test(test_misses_do_not_exclude_mispredictions),
		cmocka_unit_test(test_resident_data_does_not_miss),
		cmocka_unit_test(test_few_samples_of_little_data),
		cmocka_unit_test(test_walks_take_half),
		cmocka_unit_test(test_stream_misses_once_in_a_line),
		cmocka_unit_test(test_sharing_needs_a_store),
		cmocka_unit_test(test_second_cache_bounds_the_stall),
		cmocka_unit_test(test_few_samples_are_inconclusive),
		cmocka_unit_test(test_streams_prove_no_misses),
		cmocka_unit_test(test_in_order_causes_do_not_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
