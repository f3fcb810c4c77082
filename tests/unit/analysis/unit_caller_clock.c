// SPDX-License-Identifier: GPL-2.0-only
/*
 * Executions of procedures by the clocks of their callers' loops: procedures of the test's own
 * executable, with made-up pairs of samples. The number of calls between two samples is known.
 */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "analysis/caller_clock.h"
#include "analysis/graph/cfg_create.h"
#include "analysis/image_analysis.h"
#include "db/profile.h"
#include "lib/error.h"
#include "tests/fixtures/self_image.h"

#define RBX 3
#define R12 12
/* The word at the stack pointer. */
#define WORD (PROFILE_WORD_STACK + PROFILE_WORD_STACK_BELOW / PROFILE_WORD_BYTES)
/* Samples between two readings of words. */
#define SPAN 10
#define SAMPLES 401
#define PAIRS (SAMPLES - 1)
#define PERIOD 1000.0
#define CALLS_PER_SAMPLE 100
/* Half the width of a 90% interval, in standard deviations. */
#define INTERVAL_SIGMAS 1.645

#define PROCEDURE(name, code)                                                                      \
	".type " #name ", @function\n" #name ": " code "\n.size " #name ", . - " #name "\n"
/* A loop that counts the registers that its caller does not use. */
#define CALLEE(name) PROCEDURE(name, "mov %rdi, %rax\n1: dec %rax\njne 1b\n ret")
#define CALLER(name, body)                                                                         \
	PROCEDURE(name, "push %rbx\n push %r12\n mov %rdi, %rbx\n1: " body                         \
			"\n sub $8, %rbx\n jne 1b\n pop %r12\n pop %rbx\n ret")

/* These are never executed. */
__asm__(".text\n" CALLEE(callee_one) CALLER(caller_one, "call callee_one") CALLEE(
	callee_two) CALLER(caller_two_a,
			   "call callee_two") CALLER(caller_two_b,
						     "call callee_two") PROCEDURE(callee_recursive,
										  "mov %rdi, "
										  "%rax\n1: dec "
										  "%rax\n jne 1b\n "
										  "call "
										  "callee_"
										  "recursive\n"
										  " ret")
		CALLER(caller_recursive, "call callee_recursive") CALLEE(callee_condition) CALLER(
			caller_condition,
			"test $16, %bl\n je 2f\n call "
			"callee_condition\n2:") CALLEE(callee_counted) CALLER(caller_counted,
									      "test $16, %bl\n je "
									      "2f\n inc %r12\n "
									      "call "
									      "callee_counted\n2:")
			CALLEE(callee_rest) PROCEDURE(
				caller_rest,
				"push %rbx\n mov %rdi, %rbx\n1: "
				"call callee_rest\n sub $8, %rbx\n"
				" jne 1b\n pop %rbx\n jmp "
				"callee_rest") CALLEE(callee_pointer) CALLER(caller_pointer,
									     "call "
									     "callee_pointer\n lea "
									     "callee_pointer(%rip),"
									     " %rax")
				CALLEE(callee_among) CALLER(caller_among,
							    "call callee_among\n call "
							    "callee_one_other")
					CALLEE(callee_one_other) PROCEDURE(
						callee_writes,
						"push %rbx\n mov %rdi, %rbx\n1: dec %rbx\n "
						"jne 1b\n pop %rbx\n"
						" ret") CALLER(caller_writes, "call callee_writes")
						CALLEE(callee_twice) CALLER(
							caller_twice,
							"call callee_twice\n call callee_twice")
							CALLEE(callee_data) CALLER(
								caller_data,
								"call callee_data") ".section "
										    ".data.rel.ro, "
										    "\"aw\"\n "
										    ".quad "
										    "callee_data\n "
										    ".text\n");

static size_t procedure_index(const char *name)
{
	const struct procedure_table *table = image_code_procedures(self);

	for (size_t i = 0; i < procedure_table_count(table); i++) {
		if (strcmp(procedure_table_get(table, i)->name, name) == 0)
			return i;
	}
	fail_msg("no procedure %s", name);
	return 0;
}

/* struct scene - samples of a procedure; @calls: the true number */
struct scene {
	size_t index;
	struct cfg *cfg;
	struct image_range parts[PROCEDURE_PARTS_MAX];
	struct address_count times[2];
	struct branch_count returns[2];
	struct image_pair pairs[PAIRS];
	struct register_change changes[PAIRS];
	struct image_samples samples;
	double calls;
};

/*
 * The procedure is called between 50 and 150 times a sample.
 * @reg: register, or word of the frame
 * @step: of the register at each call
 * @paired: number of samples that have a pair with the register's change
 */
static void scene_make(struct scene *scene, const char *name, uint8_t reg, int64_t step,
		       size_t paired)
{
	size_t span = reg >= PROFILE_WORD_STACK ? SPAN : 1;
	size_t parent;
	uint64_t random = 1, address;

	*scene = (struct scene){.index = procedure_index(name)};
	assert_int_equal(image_samples_parts(self, scene->index, scene->parts, &parent), 1);
	assert_int_equal(cfg_create(&scene->cfg, self, scene->index, NULL, NULL), 0);
	/* The loop of the procedure. */
	address = scene->cfg->insns[scene->cfg->blocks[1].first].address;
	scene->times[0] = (struct address_count){address, SAMPLES};
	for (size_t i = 0; i < PAIRS / span; i++) {
		int64_t calls =
			CALLS_PER_SAMPLE / 2 + (int64_t)(unit_random(&random) % CALLS_PER_SAMPLE);

		calls *= (int64_t)span;
		scene->changes[i] = (struct register_change){reg, step * calls};
		scene->pairs[i] = (struct image_pair){
			address, address, (double)span, 1, &scene->changes[i], i < paired};
		scene->calls += i < paired ? (double)calls : 0;
	}
	scene->calls *= (double)SAMPLES / PAIRS;
	scene->samples = (struct image_samples){.time = {scene->times, 1, PERIOD},
						.pairs = scene->pairs,
						.pair_count = PAIRS / span};
}

/* Return: the profile of the procedure, without its arrays. */
static struct procedure_profile scene_take(struct scene *scene)
{
	struct procedure_profile profile, ret;

	assert_int_equal(
		image_samples_profile(&profile, scene->cfg, &scene->samples, scene->parts, 1), 0);
	assert_int_equal(
		caller_clock_take(&profile, scene->cfg, self, &scene->samples, scene->parts, 1), 0);
	ret = profile;
	procedure_profile_deinit(&profile);
	return ret;
}

static bool is_measured(const char *name, uint8_t reg, int64_t step)
{
	struct scene scene;
	bool measured;

	scene_make(&scene, name, reg, step, PAIRS);
	measured = scene_take(&scene).calls_measured;
	cfg_destroy(scene.cfg);
	return measured;
}

/* Check that the result's interval contains the true number of calls. Return: its width. */
static double width_of(const char *name, uint8_t reg, int64_t step, size_t paired)
{
	struct procedure_profile profile;
	struct scene scene;
	double width;

	scene_make(&scene, name, reg, step, paired);
	profile = scene_take(&scene);
	assert_true(profile.calls_measured);
	width = INTERVAL_SIGMAS / sqrt(profile.calls_in_weight);
	assert_float_equal(log(profile.calls_in * PERIOD / scene.calls), 0, width);
	cfg_destroy(scene.cfg);
	return width;
}

/* The caller itself was never sampled. */
static void test_counts_calls_of_unsampled_caller(void **state)
{
	(void)state;
	assert_true(width_of("callee_one", RBX, -8, PAIRS) < 0.05);
	/* The procedure may not have been called in the rest of the time. */
	assert_true(width_of("callee_one", RBX, -8, PAIRS * 9 / 10) > 0.1);
}

static void test_rejects_second_caller(void **state)
{
	struct procedure_profile profile;
	struct scene scene;

	(void)state;
	assert_false(is_measured("callee_two", RBX, -8));
	/* The same if one of them was sampled, in its loop. */
	scene_make(&scene, "callee_two", RBX, -8, PAIRS);
	scene.times[1] = scene.times[0];
	scene.times[1].address =
		procedure_table_get(image_code_procedures(self), procedure_index("caller_two_a"))
			->address +
		6;
	assert_true(scene.times[1].address > scene.times[0].address);
	scene.samples.time.count = 2;
	profile = scene_take(&scene);
	assert_false(profile.calls_measured);
	cfg_destroy(scene.cfg);
}

static const struct procedure *procedure_named(const char *name)
{
	return procedure_table_get(image_code_procedures(self), procedure_index(name));
}

/* The procedure returns @a times to one of its callers, and @b times to the other. */
static struct procedure_profile take_with_returns(struct scene *scene, double a, double b)
{
	const struct cfg *cfg;
	uint64_t from;

	scene_make(scene, "callee_two", RBX, -8, PAIRS);
	cfg = scene->cfg;
	from = cfg->insns[cfg->insn_count - 1].address;
	scene->returns[0] = (struct branch_count){
		.from = from, .to = procedure_named("caller_two_a")->address + 11, .count = a};
	scene->returns[1] = (struct branch_count){
		.from = from, .to = procedure_named("caller_two_b")->address + 11, .count = b};
	scene->samples.branches = scene->returns;
	scene->samples.branch_count = 2;
	scene->samples.branches_sampled = true;
	return scene_take(scene);
}

/* Returns show that only one of the callers calls. Few returns show it less certainly. */
static void test_returns_choose_caller(void **state)
{
	struct procedure_profile profile;
	struct scene scene;
	double weight;

	(void)state;
	profile = take_with_returns(&scene, 0, 200);
	assert_true(profile.calls_measured);
	assert_float_equal(profile.calls_in * PERIOD / scene.calls, 1, 0.05);
	weight = profile.calls_in_weight;
	cfg_destroy(scene.cfg);
	profile = take_with_returns(&scene, 10, 0);
	assert_true(profile.calls_measured && profile.calls_in_weight < weight / 4);
	cfg_destroy(scene.cfg);
	assert_false(take_with_returns(&scene, 100, 100).calls_measured);
	cfg_destroy(scene.cfg);
}

static void test_adds_up_calls_in_loop(void **state)
{
	struct procedure_profile profile;
	struct scene scene;

	(void)state;
	scene_make(&scene, "callee_twice", RBX, -8, PAIRS);
	profile = scene_take(&scene);
	assert_true(profile.calls_measured);
	assert_float_equal(profile.calls_in * PERIOD / scene.calls, 2, 0.1);
	cfg_destroy(scene.cfg);
}

/* The procedure pushes the caller's register, and the word at the stack pointer has its value. */
static void test_reads_saved_registers(void **state)
{
	(void)state;
	assert_true(width_of("callee_writes", WORD, -8, PAIRS) < 0.2);
	assert_false(is_measured("callee_writes", WORD + 1, -8));
	assert_false(is_measured("callee_one", WORD, -8));
}

static void test_rejects_recursion(void **state)
{
	(void)state;
	assert_false(is_measured("callee_recursive", RBX, -8));
}

/* Iterations are no calls, but a register that is changed together with each call counts them. */
static void test_counts_calls_under_condition_by_their_counter_only(void **state)
{
	(void)state;
	assert_false(is_measured("callee_condition", RBX, -8));
	assert_false(is_measured("callee_counted", RBX, -8));
	assert_true(width_of("callee_counted", R12, 1, PAIRS) < 0.05);
}

static void test_widens_interval_for_calls_outside_of_loop(void **state)
{
	struct procedure_profile profile;
	struct scene scene;

	(void)state;
	assert_true(width_of("callee_rest", RBX, -8, PAIRS) < 0.05);
	assert_true(width_of("callee_rest", RBX, -8, PAIRS * 9 / 10) > 0.3);
	scene_make(&scene, "callee_rest", RBX, -8, PAIRS * 7 / 10);
	profile = scene_take(&scene);
	assert_false(profile.calls_measured);
	cfg_destroy(scene.cfg);
}

static void test_rejects_unknown_callers(void **state)
{
	(void)state;
	assert_false(is_measured("callee_pointer", RBX, -8));
	assert_false(is_measured("callee_data", RBX, -8));
}

/* Iterations pass while another procedure runs, which are not in the pairs. */
static void test_rejects_loop_with_other_calls(void **state)
{
	(void)state;
	assert_false(is_measured("callee_among", RBX, -8));
}

static void test_rejects_registers_that_procedure_writes(void **state)
{
	(void)state;
	assert_false(is_measured("callee_writes", RBX, -8));
}

static int entry_check(void *context, const struct procedure_analysis *analysis)
{
	struct scene *scene = context;
	const struct frequency_estimate *entry = &analysis->frequency.blocks[0];

	assert_true(analysis->index == scene->index && entry->measured);
	assert_true(entry->low * PERIOD < scene->calls && scene->calls < entry->high * PERIOD);
	assert_true(entry->high < 1.2 * entry->low);
	scene->calls = 0;
	return 0;
}

/* Time of each execution is far from the model's: the count is still that of the calls. */
static void test_estimate_is_measured(void **state)
{
	struct image_analysis_options options = {.tie_calls = true};
	struct scene scene;
	struct error err;

	(void)state;
	options.model = machine_model_find("skylake");
	scene_make(&scene, "callee_one", RBX, -8, PAIRS);
	assert_int_equal(
		image_analysis_run(self, &scene.samples, &options, entry_check, &scene, NULL, &err),
		0);
	assert_true(scene.calls == 0);
	cfg_destroy(scene.cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_calls_of_unsampled_caller),
		cmocka_unit_test(test_rejects_second_caller),
		cmocka_unit_test(test_returns_choose_caller),
		cmocka_unit_test(test_adds_up_calls_in_loop),
		cmocka_unit_test(test_reads_saved_registers),
		cmocka_unit_test(test_rejects_recursion),
		cmocka_unit_test(test_counts_calls_under_condition_by_their_counter_only),
		cmocka_unit_test(test_widens_interval_for_calls_outside_of_loop),
		cmocka_unit_test(test_rejects_unknown_callers),
		cmocka_unit_test(test_rejects_loop_with_other_calls),
		cmocka_unit_test(test_rejects_registers_that_procedure_writes),
		cmocka_unit_test(test_estimate_is_measured),
	};

	return cmocka_run_group_tests(tests, open_self, close_self);
}
