// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <math.h>

#include "analysis/frequency/frequency_bound.h"
#include "analysis/frequency/loop_overlap.h"
#include "tests/fixtures/culprit_scene.h"

#define BLOCKS 4
#define INSNS 3

static const struct cfg_fixture_edge edges[] = {{CFG_ENTRY, 0}, {0, 1}, {1, 1},
						{1, 2},		{2, 3}, {3, CFG_EXIT}};
static const uint32_t insns[BLOCKS] = {INSNS, INSNS, INSNS, INSNS};

static double uniform(uint64_t *random)
{
	return (double)(unit_random(random) % 1000000) / 1e6;
}

static struct frequency_input input_of(const struct culprit_scene *scene)
{
	return (struct frequency_input){
		.cfg = scene->cfg,
		.model = &scene->model,
		.schedule = &scene->schedule,
		.profile = &scene->profile,
	};
}

static double best_of(const struct culprit_scene *scene, bool low)
{
	double best = 0;

	for (uint32_t i = 0; i < scene->cfg->insn_count; i++) {
		const struct frequency_estimate *estimate =
			&scene->frequency.blocks[scene->cfg->block_of[i]];

		best += scene->schedule.insns[i].min_cycles *
			(low ? estimate->low : estimate->value);
	}
	return best;
}

static double samples_of(const struct culprit_scene *scene)
{
	double samples = 0;

	for (uint32_t i = 0; i < scene->cfg->insn_count; i++)
		samples += scene->profile.samples[i];
	return samples;
}

static void set_samples(struct culprit_scene *scene, uint32_t insn, double samples)
{
	scene->profile.total += samples - scene->profile.samples[insn];
	scene->profile.samples[insn] = samples;
}

/* Make estimates that may be off by orders of magnitude, as those from calls and probes may be. */
static void make_wild(struct culprit_scene *scene, uint64_t *random)
{
	double scale = exp(8 * (uniform(random) - 0.5)), width = exp(3 * uniform(random));

	culprit_scene_init(scene, insns, BLOCKS, edges, sizeof(edges) / sizeof(*edges));
	scene->model.in_order = unit_random(random) % 3 == 0;
	for (uint32_t b = 0; b < BLOCKS; b++) {
		double value = scale * 300 * uniform(random);

		scene->frequency.blocks[b] = (struct frequency_estimate){
			.value = value, .low = value / width, .high = value * width};
	}
	for (uint32_t i = 0; i < BLOCKS * INSNS; i++)
		set_samples(scene, i, (double)(unit_random(random) % 900));
}

static void test_executions_take_no_longer_than_was_sampled(void **state)
{
	unsigned int lowered = 0, contradicted = 0, kept = 0;
	uint64_t random = 39;

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		struct culprit_scene scene;
		struct frequency_input input;
		enum frequency_bound_result result;
		double samples, most, low;

		make_wild(&scene, &random);
		input = input_of(&scene);
		low = best_of(&scene, true);
		result = frequency_bound(&scene.frequency, &input);
		samples = samples_of(&scene);
		most = (samples + 1.645 * sqrt(samples)) * 1.1;
		assert_true(best_of(&scene, false) <=
			    (scene.model.in_order ? most : samples) * (1 + 1e-9));
		if (low > most * (1 + 1e-9))
			assert_int_equal(result, FREQUENCY_BOUND_CONTRADICTED);
		for (uint32_t b = 0; b < BLOCKS; b++) {
			const struct frequency_estimate *estimate = &scene.frequency.blocks[b];

			assert_true(estimate->low <= estimate->value);
			assert_true(estimate->value <= estimate->high);
		}
		lowered += result == FREQUENCY_BOUND_LOWERED;
		contradicted += result == FREQUENCY_BOUND_CONTRADICTED;
		kept += result == FREQUENCY_BOUND_KEPT;
		culprit_scene_deinit(&scene);
	}
	/* All kinds of scenes occurred. */
	assert_true(lowered > 100 && contradicted > 100 && kept > 100);
}

/* All blocks and edges are lowered by the same factor, so flow stays conserved. */
static void test_lowers_everything_alike(void **state)
{
	struct culprit_scene scene;
	struct frequency_input input;

	(void)state;
	culprit_scene_init(&scene, insns, BLOCKS, edges, sizeof(edges) / sizeof(*edges));
	scene.model.in_order = false;
	for (uint32_t b = 0; b < BLOCKS; b++)
		scene.frequency.blocks[b] =
			(struct frequency_estimate){.value = 2000, .low = 500, .high = 8000};
	assert_float_equal(samples_of(&scene), 1000 * BLOCKS * INSNS, 0);
	for (uint32_t e = 0; e < scene.cfg->edge_count; e++)
		scene.frequency.edges[e] =
			(struct frequency_estimate){.value = 2000, .low = 500, .high = 8000};
	input = input_of(&scene);
	assert_int_equal(frequency_bound(&scene.frequency, &input), FREQUENCY_BOUND_LOWERED);
	for (uint32_t b = 0; b < BLOCKS; b++)
		assert_float_equal(scene.frequency.blocks[b].value, 1000, 1e-6);
	for (uint32_t e = 0; e < scene.cfg->edge_count; e++)
		assert_float_equal(scene.frequency.edges[e].value, 1000, 1e-6);
	assert_float_equal(scene.frequency.blocks[0].low, 500, 1e-6);
	assert_true(scene.frequency.blocks[0].high < 1130);
	culprit_scene_deinit(&scene);
}

/*
 * A loop waits for its own results, in each activation. If an activation is short, the next one
 * begins meanwhile, and only the rest of the best case is a bound.
 */
static void test_short_activations_overlap(void **state)
{
	(void)state;
	for (double trips = 10; trips < 10000; trips *= 10) {
		struct culprit_scene scene;
		struct frequency_input input;

		culprit_scene_init(&scene, insns, BLOCKS, edges, sizeof(edges) / sizeof(*edges));
		scene.model.in_order = false;
		scene.schedule.block_least[1] = 0.5;
		for (uint32_t b = 0; b < BLOCKS; b++)
			culprit_scene_frequency(&scene, b, b == 1 ? 2000 : 2000 / trips);
		for (uint32_t e = 0; e < scene.cfg->edge_count; e++)
			scene.frequency.edges[e].value =
				scene.cfg->edges[e].to == 1 && scene.cfg->edges[e].from == 1
					? 2000
					: 2000 / trips;
		for (uint32_t i = 0; i < BLOCKS * INSNS; i++)
			set_samples(&scene, i, i / INSNS == 1 ? 1000 : 0);
		input = input_of(&scene);
		loop_overlap(&scene.schedule, &scene.frequency, scene.cfg);
		frequency_bound(&scene.frequency, &input);
		/* The best case that reports state is the one of the bound. */
		assert_true(scene.frequency.blocks[1].value * scene.schedule.block_cycles[1] <=
			    1000 * INSNS + 1e-6);
		assert_true(trips * INSNS < 512 ? scene.frequency.blocks[1].value > 1900
						: scene.frequency.blocks[1].value < 1100);
		culprit_scene_deinit(&scene);
	}
}

/* Measured values are lowered within their intervals, which are kept. */
static void test_measurements_move_within_their_intervals(void **state)
{
	(void)state;
	for (double width = 1.01; width < 3; width *= 1.2) {
		struct culprit_scene scene;
		struct frequency_input input;

		culprit_scene_init(&scene, insns, BLOCKS, edges, sizeof(edges) / sizeof(*edges));
		scene.model.in_order = false;
		for (uint32_t b = 0; b < BLOCKS; b++)
			scene.frequency.blocks[b] =
				(struct frequency_estimate){.value = 1500,
							    .low = 1500 / width,
							    .high = 1500 * width,
							    .measured = true};
		for (uint32_t i = 0; i < BLOCKS * INSNS; i++)
			set_samples(&scene, i, 1000);
		input = input_of(&scene);
		assert_int_equal(frequency_bound(&scene.frequency, &input), FREQUENCY_BOUND_KEPT);
		for (uint32_t b = 0; b < BLOCKS; b++) {
			const struct frequency_estimate *estimate = &scene.frequency.blocks[b];

			assert_float_equal(estimate->value, fmax(1000, 1500 / sqrt(width)), 1e-6);
			assert_float_equal(estimate->low, 1500 / width, 1e-6);
			assert_float_equal(estimate->high, 1500 * width, 1e-6);
		}
		scene.model.in_order = true;
		scene.frequency.blocks[0].value = 1500;
		frequency_bound(&scene.frequency, &input);
		assert_float_equal(scene.frequency.blocks[0].value, 1500, 1e-6);
		culprit_scene_deinit(&scene);
	}
}

/* The procedure has samples in other blocks, but the loop is still faster than possible. */
static void test_a_hot_block_is_no_faster_than_its_best_case(void **state)
{
	struct culprit_scene scene;
	struct frequency_input input;

	(void)state;
	culprit_scene_init(&scene, insns, BLOCKS, edges, sizeof(edges) / sizeof(*edges));
	scene.model.in_order = false;
	for (uint32_t b = 0; b < BLOCKS; b++)
		culprit_scene_frequency(&scene, b, b == 1 ? 1250 : 1);
	input = input_of(&scene);
	for (uint32_t i = 0; i < INSNS; i++) {
		set_samples(&scene, i, 0);
		set_samples(&scene, INSNS + i, 1000);
		set_samples(&scene, 2 * INSNS + i, 0);
		set_samples(&scene, 3 * INSNS + i, 800);
	}
	frequency_bound(&scene.frequency, &input);
	assert_float_equal(scene.frequency.blocks[1].value, 1000, 1e-6);
	culprit_scene_deinit(&scene);
}

/* The processor may execute a chain of additions faster than the model: the interval includes it.
 */
static void test_dependences_bound_values_but_not_intervals(void **state)
{
	(void)state;
	for (int in_order = 0; in_order < 2; in_order++) {
		struct culprit_scene scene;
		struct frequency_input input;

		culprit_scene_init(&scene, insns, BLOCKS, edges, sizeof(edges) / sizeof(*edges));
		scene.model.in_order = in_order != 0;
		for (uint32_t b = 0; b < BLOCKS; b++) {
			scene.frequency.blocks[b] = (struct frequency_estimate){
				.value = 1500, .low = 1300, .high = 8000};
			scene.schedule.block_least[b] = INSNS / 2.0;
		}
		input = input_of(&scene);
		assert_int_equal(frequency_bound(&scene.frequency, &input),
				 in_order ? FREQUENCY_BOUND_CONTRADICTED : FREQUENCY_BOUND_LOWERED);
		if (!in_order) {
			assert_float_equal(scene.frequency.blocks[1].value, 1000, 1e-6);
			assert_true(scene.frequency.blocks[1].high > 2000);
		}
		assert_true(scene.frequency.blocks[1].high < (in_order ? 1200 : 2400));
		culprit_scene_deinit(&scene);
	}
}

/* The model of a processor may be slower than the processor. */
static void test_measured_rates_stay(void **state)
{
	struct culprit_scene scene;
	struct frequency_input input;

	(void)state;
	culprit_scene_init(&scene, insns, BLOCKS, edges, sizeof(edges) / sizeof(*edges));
	for (uint32_t b = 0; b < BLOCKS; b++)
		scene.frequency.blocks[b] =
			(struct frequency_estimate){.value = 1, .low = 0.5, .high = 2};
	scene.frequency.blocks[1] = (struct frequency_estimate){
		.value = 1e6, .low = 9e5, .high = 1.1e6, .measured = true};
	set_samples(&scene, INSNS, 1000);
	input = input_of(&scene);
	assert_int_not_equal(frequency_bound(&scene.frequency, &input),
			     FREQUENCY_BOUND_CONTRADICTED);
	assert_true(scene.frequency.blocks[1].value == 1e6);
	assert_true(scene.frequency.blocks[1].high == 1.1e6);
	culprit_scene_deinit(&scene);
}

static void test_counts_and_procedures_without_samples_stay(void **state)
{
	struct culprit_scene scene;
	struct frequency_input input;
	double counted = 1;

	(void)state;
	culprit_scene_init(&scene, insns, BLOCKS, edges, sizeof(edges) / sizeof(*edges));
	scene.model.in_order = false;
	culprit_scene_frequency(&scene, 1, 1e6);
	input = input_of(&scene);
	scene.profile.exact = &counted;
	assert_int_equal(frequency_bound(&scene.frequency, &input), FREQUENCY_BOUND_KEPT);
	assert_float_equal(scene.frequency.blocks[1].value, 1e6, 1e-6);
	scene.profile.exact = NULL;
	for (uint32_t i = 0; i < BLOCKS * INSNS; i++)
		set_samples(&scene, i, 0);
	assert_int_equal(frequency_bound(&scene.frequency, &input), FREQUENCY_BOUND_KEPT);
	assert_float_equal(scene.frequency.blocks[1].value, 1e6, 1e-6);
	culprit_scene_deinit(&scene);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executions_take_no_longer_than_was_sampled),
		cmocka_unit_test(test_lowers_everything_alike),
		cmocka_unit_test(test_short_activations_overlap),
		cmocka_unit_test(test_measurements_move_within_their_intervals),
		cmocka_unit_test(test_a_hot_block_is_no_faster_than_its_best_case),
		cmocka_unit_test(test_dependences_bound_values_but_not_intervals),
		cmocka_unit_test(test_measured_rates_stay),
		cmocka_unit_test(test_counts_and_procedures_without_samples_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
