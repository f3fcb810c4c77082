// SPDX-License-Identifier: GPL-2.0-only
/* Clocks of loops, read from pairs of samples of a modelled thread. */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/frequency/loop_clock.h"
#include "analysis/frequency/procedure_profile.h"
#include "analysis/graph/cfg_create.h"
#include "analysis/graph/loop_nest.h"

#define BASE UINT64_C(0x401000)
#define RAX 0
#define RCX 1
#define PAIRS 200
/* Instructions of the loop. */
#define FIRST 0
#define LAST 3

static const char code[] = "\x48\x83\xc0\x08" /* 1: add $8,%rax */
			   "\x48\x03\x18"     /* add (%rax),%rbx */
			   "\xff\xc9"	      /* dec %ecx */
			   "\x75\xf5"	      /* jne 1b */
			   "\xc3";

struct scene {
	struct cfg *cfg;
	struct loop_nest nest;
	struct procedure_profile profile;
	struct profile_pair pairs[PAIRS];
	struct register_change changes[PAIRS][2];
	double samples[LAST + 2];
};

static void scene_make(struct scene *scene)
{
	*scene = (struct scene){.cfg = NULL};
	assert_int_equal(cfg_create_from_code(&scene->cfg, &insn_x86_decoder, (const uint8_t *)code,
					      sizeof(code) - 1, BASE, NULL),
			 0);
	assert_int_equal(loop_nest_create(&scene->nest, scene->cfg), 0);
	assert_int_equal(scene->nest.count, 1);
	scene->profile.pairs = scene->pairs;
	scene->profile.samples = scene->samples;
}

static void scene_end(struct scene *scene)
{
	loop_nest_deinit(&scene->nest);
	cfg_destroy(scene->cfg);
}

/* Add a pair with a number of iterations by each register; 0: the register was not recorded. */
static void pair_add(struct scene *scene, int64_t by_rax, int64_t by_rcx, double samples)
{
	size_t i = scene->profile.pair_count++, count = 0;

	if (by_rax != 0)
		scene->changes[i][count++] = (struct register_change){RAX, 8 * by_rax};
	/* The high half of a 32-bit counter is of no meaning. */
	if (by_rcx != 0)
		scene->changes[i][count++] =
			(struct register_change){RCX, (INT64_C(1) << 40) - by_rcx};
	scene->pairs[i] = (struct profile_pair){
		.insns = {FIRST, LAST},
		.samples = samples,
		.weight = 1,
		.changes = scene->changes[i],
		.change_count = count,
	};
}

static int clock_read(struct loop_clock *ret, const struct scene *scene)
{
	return loop_clock_read(ret, scene->cfg, &scene->nest, 0, &scene->profile);
}

static void counts_iterations(void **state)
{
	static struct scene scene;
	struct loop_clock clock;

	(void)state;
	scene_make(&scene);
	for (int i = 0; i < 100; i++)
		pair_add(&scene, 1000 + i % 7, i % 2 == 0 ? 1000 + i % 7 : 0, 1);
	assert_int_equal(clock_read(&clock, &scene), 1);
	assert_int_equal(clock.pairs, 100);
	assert_true(fabs(clock.iterations / 100 - 1003) < 1);
	assert_true(clock.variance < 0.001);
	scene_end(&scene);
}

/* Iterations between samples that vary are no error if they were counted for nearly all samples. */
static void counting_all_samples_leaves_no_error(void **state)
{
	static struct scene scene;
	struct loop_clock all, some;

	(void)state;
	scene_make(&scene);
	for (int i = 0; i < 100; i++)
		pair_add(&scene, 800 + 400 * (i % 2), 0, 1);
	scene.samples[LAST] = 101;
	assert_int_equal(clock_read(&all, &scene), 1);
	scene.samples[LAST] = 10000;
	assert_int_equal(clock_read(&some, &scene), 1);
	assert_true(all.variance < 0.0007);
	assert_true(some.variance > 0.0008);
	/* Each pair stands for a hundred. */
	for (int i = 0; i < 100; i++)
		scene.pairs[i].weight = 99.99;
	assert_int_equal(clock_read(&all, &scene), 1);
	assert_true(all.variance < some.variance);
	scene_end(&scene);
}

/* Samples come late, or samples of callees lie between: all count. */
static void uneven_times_do_not_bias(void **state)
{
	static struct scene scene;
	struct loop_clock clock;

	(void)state;
	scene_make(&scene);
	for (int i = 0; i < 100; i++) {
		pair_add(&scene, 1000, 1000, 1);
		if (i % 5 == 0) {
			pair_add(&scene, 1900, 1900, 1);
			pair_add(&scene, 4000, 4000, 4);
		}
	}
	assert_int_equal(clock_read(&clock, &scene), 1);
	assert_int_equal(clock.pairs, 140);
	assert_true(clock.iterations == 100 * 1000 + 20 * 1900 + 20 * 4000);
	scene_end(&scene);
}

/* Iterations may be slow for a while, for example while memory is cold. */
static void slow_phases_count(void **state)
{
	static struct scene scene;
	struct loop_clock clock;

	(void)state;
	scene_make(&scene);
	for (int i = 0; i < 100; i++) {
		pair_add(&scene, 1000, 1000, 1);
		if (i % 5 == 0)
			pair_add(&scene, 30, 30, 1);
	}
	assert_int_equal(clock_read(&clock, &scene), 1);
	assert_int_equal(clock.pairs, 120);
	assert_true(clock.iterations == 100 * 1000 + 20 * 30);
	scene_end(&scene);
}

/* A thread waits for another one in the loop, often for longer than the time between samples. */
static void waits_count(void **state)
{
	static struct scene scene;
	struct loop_clock clock;

	(void)state;
	scene_make(&scene);
	for (int i = 0; i < 100; i++) {
		pair_add(&scene, 1, 0, 1);
		scene.changes[i][0].delta = i % 5 < 3 ? 0 : 8000 + 8 * i;
	}
	scene.samples[LAST] = 101;
	assert_int_equal(clock_read(&clock, &scene), 1);
	assert_int_equal(clock.pairs, 100);
	assert_true(fabs(clock.iterations / clock.samples - 0.4 * 1050) < 5);
	/* Some changes have another sign: these are different activations. */
	for (int i = 0; i < 100; i += 10)
		scene.changes[i][0].delta = -8000;
	assert_int_equal(clock_read(&clock, &scene), 0);
	scene_end(&scene);
}

/* A loop that is usually slow has most of its iterations in fast phases. */
static void fast_phases_count(void **state)
{
	static struct scene scene;
	struct loop_clock clock;

	(void)state;
	scene_make(&scene);
	for (int i = 0; i < 100; i++) {
		pair_add(&scene, 1000, 0, 1);
		if (i % 5 == 0)
			pair_add(&scene, 20000, 0, 1);
	}
	/* Nearly each sample has its pair. */
	scene.samples[LAST] = 125;
	assert_int_equal(clock_read(&clock, &scene), 1);
	assert_int_equal(clock.pairs, 120);
	assert_true(clock.iterations == 100 * 1000 + 20 * 20000);
	assert_true(clock.variance > 0.1);
	/* Many pairs were none: a pointer jumped back as often as forward. */
	scene.samples[LAST] = 200;
	assert_int_equal(clock_read(&clock, &scene), 1);
	assert_int_equal(clock.pairs, 100);
	assert_int_equal(clock.outliers, 20);
	assert_true(clock.iterations == 100 * 1000);
	assert_true(clock.variance > 0.1);
	scene_end(&scene);
}

/* Between the samples the loop was left, and entered again. */
static void contradictions_are_rejected(void **state)
{
	static struct scene scene;
	struct loop_clock clock;

	(void)state;
	scene_make(&scene);
	for (int i = 0; i < 100; i++) {
		pair_add(&scene, 1000, 1000, 1);
		if (i % 5 == 0)
			pair_add(&scene, 700, 300, 1);
		if (i % 10 == 0)
			pair_add(&scene, -400, 0, 1);
	}
	assert_int_equal(clock_read(&clock, &scene), 1);
	assert_int_equal(clock.pairs, 100);
	assert_int_equal(clock.disagreed, 30);
	assert_true(clock.iterations == 100 * 1000);
	scene_end(&scene);
}

/* A loop that waits for memory, at rates that other programs change all the time. */
static void uneven_rates_are_a_clock_of_nearly_all_samples(void **state)
{
	static struct scene scene;
	struct loop_clock clock;
	double sum = 0;

	(void)state;
	scene_make(&scene);
	for (int i = 0; i < 100; i++) {
		int iterations = (int)(1000 * pow(2, i % 20 / 4.0));

		pair_add(&scene, iterations, 0, 1);
		sum += iterations;
	}
	scene.samples[LAST] = 104;
	assert_int_equal(clock_read(&clock, &scene), 1);
	assert_true(clock.iterations == sum);
	scene.samples[LAST] = 200;
	assert_int_equal(clock_read(&clock, &scene), 0);
	scene_end(&scene);
}

/* A loop with a stride that the code does not contain: all changes are multiples of it. */
static void unknown_steps_are_found(void **state)
{
	static const char strided[] = "\x48\x01\xf8" /* 1: add %rdi,%rax */
				      "\x48\x03\x18" /* add (%rax),%rbx */
				      "\x39\xf0"     /* cmp %esi,%eax */
				      "\x75\xf6"     /* jne 1b */
				      "\xc3";
	static struct scene scene;
	struct loop_clock clock;

	(void)state;
	srand(3);
	scene_make(&scene);
	loop_nest_deinit(&scene.nest);
	cfg_destroy(scene.cfg);
	assert_int_equal(cfg_create_from_code(&scene.cfg, &insn_x86_decoder,
					      (const uint8_t *)strided, sizeof(strided) - 1, BASE,
					      NULL),
			 0);
	assert_int_equal(loop_nest_create(&scene.nest, scene.cfg), 0);
	for (int i = 0; i < 100; i++)
		pair_add(&scene, 74 * (1000 + rand() % 100) + (i % 20 == 7), 0, 1);
	/* The changes of pair_add() are multiples of 8. */
	assert_int_equal(clock_read(&clock, &scene), 1);
	assert_int_equal(clock.pairs, 95);
	assert_int_equal(clock.disagreed, 5);
	assert_true(clock.iterations / 95 > 1000 && clock.iterations / 95 < 1100);
	/* Few changes have a common divisor by chance. */
	scene.profile.pair_count = 15;
	assert_int_equal(clock_read(&clock, &scene), 0);
	scene_end(&scene);
}

/* A loop with fewer iterations than there are between samples: the pairs disagree. */
static void short_activations_are_no_clock(void **state)
{
	static struct scene scene;
	struct loop_clock clock;

	(void)state;
	scene_make(&scene);
	srand(1);
	for (int i = 0; i < 100; i++)
		pair_add(&scene, 1 + rand() % 1000, 0, 1);
	assert_int_equal(clock_read(&clock, &scene), 0);
	scene.profile.pair_count = 0;
	for (int i = 0; i < 3; i++)
		pair_add(&scene, 1000, 1000, 1);
	assert_int_equal(clock_read(&clock, &scene), 0);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_iterations),
		cmocka_unit_test(counting_all_samples_leaves_no_error),
		cmocka_unit_test(uneven_times_do_not_bias),
		cmocka_unit_test(slow_phases_count),
		cmocka_unit_test(waits_count),
		cmocka_unit_test(fast_phases_count),
		cmocka_unit_test(contradictions_are_rejected),
		cmocka_unit_test(uneven_rates_are_a_clock_of_nearly_all_samples),
		cmocka_unit_test(unknown_steps_are_found),
		cmocka_unit_test(short_activations_are_no_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
