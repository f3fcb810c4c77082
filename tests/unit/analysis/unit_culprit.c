// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "tests/fixtures/culprit_scene.h"

static void test_names(void **state)
{
	char seen[CULPRIT_CAUSES + 2] = "";

	(void)state;
	for (unsigned int cause = 0; cause <= CULPRIT_CAUSES; cause++) {
		assert_true(strlen(culprit_name(cause)) > 0);
		assert_true(strlen(culprit_key(cause)) > 0);
		assert_null(strchr(seen, culprit_letter(cause)));
		seen[cause] = culprit_letter(cause);
	}
	assert_string_equal(culprit_name(CULPRIT_UNEXPLAINED), "Unexplained stall");
}

static void test_cpi(void **state)
{
	struct culprit_scene scene;
	const struct instruction_cpi *insn;

	(void)state;
	culprit_scene_straight(&scene, 3);
	scene.frequency.blocks[0].low = 500;
	scene.frequency.blocks[0].high = 2000;
	scene.schedule.insns[1] = (struct schedule_insn){
		.min_cycles = 3,
		.stall_count = 1,
		.stalls = {{STALL_RA_DEPENDENCY, 2, 0}},
	};
	culprit_scene_stall(&scene, 1, 7);
	culprit_scene_look(&scene);
	insn = &scene.culprits.insns[1];
	assert_float_equal(insn->cpi, 10, 1e-9);
	assert_float_equal(insn->low, 5, 1e-9);
	assert_float_equal(insn->high, 20, 1e-9);
	assert_float_equal(insn->execution, 1, 1e-9);
	assert_float_equal(insn->static_cycles, 2, 1e-9);
	assert_float_equal(insn->dynamic_cycles, 7, 1e-9);
	assert_true(insn->significant);
	assert_false(scene.culprits.insns[2].significant);
	culprit_scene_deinit(&scene);
}

/* A stall that could be explained by twice the frequency, within the interval, may be none. */
static void test_insignificant_stall(void **state)
{
	struct culprit_scene scene;
	const struct culprit *culprit;

	(void)state;
	culprit_scene_straight(&scene, 16);
	scene.frequency.blocks[0].high = 2000;
	culprit_scene_stall(&scene, 8, 0.5);
	culprit_scene_look(&scene);
	assert_true(scene.culprits.insns[8].significant);
	culprit = culprit_scene_find(&scene, 8, CULPRIT_ICACHE);
	assert_non_null(culprit);
	assert_float_equal(culprit->cycles_low, 0, 0);
	assert_float_equal(culprit->cycles_high, 0.5, 1e-9);
	/* Here, even at the highest frequency, a part of the samples is a stall. */
	culprit_scene_stall(&scene, 8, 3);
	culprit_scene_look(&scene);
	culprit = culprit_scene_find(&scene, 8, CULPRIT_ICACHE);
	assert_float_equal(culprit->cycles_low, 1, 1e-9);
	assert_float_equal(culprit->cycles_high, 3, 1e-9);
	/* Out of order, intervals are for whole programs and not used. */
	scene.model.in_order = false;
	culprit_scene_stall(&scene, 8, 0.5);
	culprit_scene_look(&scene);
	assert_false(scene.culprits.insns[8].significant);
	culprit_scene_deinit(&scene);
}

static void test_never_executed(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 2);
	scene.frequency.blocks[0].value = scene.frequency.blocks[0].low = 0;
	culprit_scene_look(&scene);
	assert_true(isnan(scene.culprits.insns[0].cpi));
	assert_false(scene.culprits.insns[0].significant);
	assert_int_equal(scene.culprits.count, 0);
	culprit_scene_deinit(&scene);
}

static void test_noise_is_no_stall(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 4);
	culprit_scene_stall(&scene, 1, 0.06); /* 60 of 1000 samples: 1.9 sigma */
	culprit_scene_stall(&scene, 2, 0.07);
	culprit_scene_stall(&scene, 3, -0.07);
	culprit_scene_look(&scene);
	assert_false(scene.culprits.insns[1].significant);
	assert_true(scene.culprits.insns[2].significant);
	assert_true(scene.culprits.insns[3].significant);
	assert_int_equal(scene.culprits.insns[1].count, 0);
	assert_int_equal(scene.culprits.insns[3].count, 0);
	culprit_scene_deinit(&scene);
}

static void test_without_causes_is_unexplained(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 4);
	culprit_scene_stall(&scene, 2, 9);
	culprit_scene_look(&scene);
	assert_true(scene.culprits.insns[2].significant);
	assert_int_equal(scene.culprits.insns[2].count, 0);
	assert_float_equal(culprits_unexplained(&scene.culprits, 2), 9, 1e-9);
	assert_float_equal(culprits_unexplained(&scene.culprits, 1), 0, 0);
	culprit_scene_deinit(&scene);
}

/* A load from the stack is suspected only if there is no other suspect. */
static void test_drops_unlikely_causes(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 12);
	culprit_scene_load(&scene, 4, X, S, 16);
	culprit_scene_compute(&scene, 6, INSN_ALU, Q, X);
	culprit_scene_stall(&scene, 6, 10);
	culprit_scene_load(&scene, 7, X, S, 16);
	culprit_scene_compute(&scene, 8, INSN_ALU, Q, X);
	culprit_scene_stall(&scene, 8, 10);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 6), "d");
	assert_string_equal(culprit_scene_letters(&scene, 8), "i");
	scene.input.thorough = true;
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 8), "id");
	culprit_scene_deinit(&scene);
}

/* If lines are not missed elsewhere, they are not missed here; if all are, this one may be, too. */
static void test_evidence_from_other_instructions(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 40); /* lines begin at 0, 8, 16, 24, 32 */
	culprit_scene_load(&scene, 8, X, P, 0);
	culprit_scene_stall(&scene, 8, 10);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 8), "D");
	for (uint32_t i = 16; i < 40; i += 8)
		culprit_scene_stall(&scene, i, 10);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 8), "iD");
	culprit_scene_deinit(&scene);
}

/* Event samples bound the number of misses: 100 samples of 10 events each, 1000 executions. */
static void test_events_bound(void **state)
{
	struct culprit_scene scene;
	double *samples = calloc(16, sizeof(*samples));
	const struct culprit *culprit;

	(void)state;
	culprit_scene_straight(&scene, 16);
	assert_non_null(samples);
	scene.profile.roles[PROFILE_ROLE_IMISS] =
		(struct profile_role_samples){.samples = samples, .period = 10};
	scene.profile.period_cycles = 10;
	samples[9] = 100;
	culprit_scene_stall(&scene, 8, 20);
	culprit_scene_look(&scene);
	culprit = culprit_scene_find(&scene, 8, CULPRIT_ICACHE);
	assert_float_equal(culprit->cycles_high, (100 + 20 + 3) / 1000.0 * 50, 1e-9);
	samples[9] = 0;
	culprit_scene_look(&scene);
	culprit = culprit_scene_find(&scene, 8, CULPRIT_ICACHE);
	assert_float_equal(culprit->cycles_high, 3 / 1000.0 * 50, 1e-9);
	culprit_scene_deinit(&scene);
}

/* The rarer direction of a branch bounds the mispredictions of both directions. */
static void test_branch(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {0, 2}, {1, CFG_EXIT}, {2, CFG_EXIT}};
	static const uint32_t counts[] = {1, 2, 2};
	struct culprit_scene scene;

	(void)state;
	culprit_scene_init(&scene, counts, 3, edges, 5);
	culprit_scene_edge(&scene, 0, 1, 900);
	culprit_scene_edge(&scene, 0, 2, 100);
	culprit_scene_frequency(&scene, 1, 900);
	culprit_scene_frequency(&scene, 2, 100);
	for (uint32_t i = 1; i < 5; i++)
		culprit_scene_stall(&scene, i, 4);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 1), "p");
	assert_string_equal(culprit_scene_letters(&scene, 2), "");
	assert_string_equal(culprit_scene_letters(&scene, 3), "p");
	assert_float_equal(culprit_scene_find(&scene, 3, CULPRIT_BRANCH)->cycles_low, 4, 1e-9);
	assert_string_equal(culprit_scene_letters(&scene, 4), "");

	/* A hundred mispredictions cannot take 3600 cycles, so other causes are as likely there. */
	culprit_scene_load(&scene, 1, X, P, 0);
	culprit_scene_load(&scene, 3, X, P, 0);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 1), "Dp");
	assert_string_equal(culprit_scene_letters(&scene, 3), "p");
	culprit_scene_deinit(&scene);
}

/* Direct calls are predicted; only calls through pointers are mispredicted. */
static void test_branch_of_callers(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 4);
	culprit_scene_stall(&scene, 0, 5);
	scene.profile.calls_in = -1;
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 0, CULPRIT_BRANCH)->cycles_high, 5, 1e-9);
	/* One call in five is unaccounted for; then all calls are accounted for, and then more. */
	scene.profile.calls_in = 800;
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 0, CULPRIT_BRANCH)->cycles_high, 1, 1e-9);
	scene.profile.calls_in = 1000;
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 0, CULPRIT_BRANCH));
	scene.profile.calls_in = 1200;
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 0, CULPRIT_BRANCH));
	assert_non_null(culprit_scene_find(&scene, 0, CULPRIT_ICACHE));
	culprit_scene_deinit(&scene);
}

static void test_units(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 7);
	culprit_scene_compute(&scene, 1, INSN_MULTIPLY, X, W);
	culprit_scene_compute(&scene, 3, INSN_MULTIPLY, V, W);
	culprit_scene_compute(&scene, 5, INSN_FP_DIVIDE, V, W);
	culprit_scene_compute(&scene, 6, INSN_ALU, Q, V);
	culprit_scene_stall(&scene, 3, 20);
	culprit_scene_stall(&scene, 6, 20);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 3), "m");
	assert_int_equal(culprit_scene_find(&scene, 3, CULPRIT_IMUL)->from, 1);
	assert_float_equal(culprit_scene_find(&scene, 3, CULPRIT_IMUL)->cycles_high, 15, 1e-9);
	assert_string_equal(culprit_scene_letters(&scene, 6), "f");
	assert_float_equal(culprit_scene_find(&scene, 6, CULPRIT_FDIV)->cycles_low, 20, 1e-9);
	culprit_scene_deinit(&scene);
}

static void test_synchronization(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 7);
	culprit_scene_compute(&scene, 2, INSN_BARRIER, V, V);
	for (uint32_t i = 1; i < 7; i++)
		culprit_scene_stall(&scene, i, 20);
	culprit_scene_look(&scene);
	for (uint32_t i = 1; i < 7; i++)
		assert_string_equal(culprit_scene_letters(&scene, i), i == 2 || i == 3 ? "y" : "");
	culprit_scene_deinit(&scene);
}

static void be_out_of_order(struct culprit_scene *scene)
{
	scene->model.in_order = false;
	scene->model.skid_insns = 1;
	scene->model.write_buffer_entries = 0;
}

/* Samples are one instruction late: the load before the sampled instruction waits. */
static void test_out_of_order(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 7);
	be_out_of_order(&scene);
	culprit_scene_load(&scene, 2, X, P, 0);
	culprit_scene_compute(&scene, 5, INSN_ALU, Q, X);
	culprit_scene_stall(&scene, 3, 30);
	culprit_scene_stall(&scene, 5, 30);
	culprit_scene_look(&scene);
	assert_non_null(culprit_scene_find(&scene, 3, CULPRIT_DCACHE));
	assert_int_equal(culprit_scene_find(&scene, 3, CULPRIT_DCACHE)->from, 2);
	assert_string_equal(culprit_scene_letters(&scene, 5), "o");
	culprit_scene_deinit(&scene);
}

/* Samples of a timer while interrupts were disabled are two instructions after sti. */
static void test_interrupts_disabled(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 8);
	be_out_of_order(&scene);
	culprit_scene_load(&scene, 1, X, P, 0);
	scene.cfg->insns[2].flags |= INSN_UNMASKS | INSN_UNMASKS_LATE;
	culprit_scene_compute(&scene, 4, INSN_ALU, Q, X);
	for (uint32_t i = 3; i < 6; i++)
		culprit_scene_stall(&scene, i, 300);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 4, CULPRIT_INTERRUPTS)); /* a counter with NMIs */
	scene.profile.maskable = true;
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 3, CULPRIT_INTERRUPTS));
	assert_string_equal(culprit_scene_letters(&scene, 4), "x");
	assert_int_equal(culprit_scene_find(&scene, 4, CULPRIT_INTERRUPTS)->from, 2);
	assert_float_equal(culprit_scene_find(&scene, 4, CULPRIT_INTERRUPTS)->cycles_high, 300,
			   1e-9);
	assert_null(culprit_scene_find(&scene, 5, CULPRIT_INTERRUPTS));

	/* They are one instruction after popf, and after no call. */
	scene.cfg->insns[2].flags = INSN_UNMASKS;
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 3), "x");
	assert_null(culprit_scene_find(&scene, 4, CULPRIT_INTERRUPTS));
	scene.cfg->insns[2].flow = INSN_FLOW_CALL;
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 3, CULPRIT_INTERRUPTS));
	culprit_scene_deinit(&scene);
}

/* The samples prove that the path through the block that enables interrupts was executed. */
static void test_interrupts_disabled_on_a_rare_path(void **state)
{
	const uint32_t counts[] = {2, 2, 3};
	const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {0, 2}, {1, 2}, {2, CFG_EXIT}};
	struct culprit_scene scene;

	(void)state;
	culprit_scene_init(&scene, counts, 3, edges, 5);
	scene.profile.maskable = true;
	scene.cfg->insns[2].flags |= INSN_UNMASKS | INSN_UNMASKS_LATE;
	culprit_scene_frequency(&scene, 1, 1);
	culprit_scene_edge(&scene, 0, 1, 1);
	culprit_scene_edge(&scene, 1, 2, 1);
	culprit_scene_stall(&scene, 4, 300);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 4), "x");
	assert_int_equal(culprit_scene_find(&scene, 4, CULPRIT_INTERRUPTS)->from, 2);
	culprit_scene_deinit(&scene);
}

/* In order, samples that were late have been moved back to msr daifclr itself. */
static void test_interrupts_disabled_in_order(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 4);
	scene.profile.maskable = true;
	scene.cfg->insns[1].flags |= INSN_UNMASKS;
	culprit_scene_stall(&scene, 1, 300);
	culprit_scene_stall(&scene, 2, 300);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 1, CULPRIT_INTERRUPTS));
	assert_string_equal(culprit_scene_letters(&scene, 2), "x");
	scene.profile.taken = scene.profile.samples;
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 1), "x");
	assert_null(culprit_scene_find(&scene, 2, CULPRIT_INTERRUPTS));
	scene.profile.taken = NULL;
	culprit_scene_deinit(&scene);
}

/*
 * Back edges are rarely mispredicted, and operations no longer than the window hides are no cause.
 */
static void test_out_of_order_unlikely(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_loop(&scene, 4);
	be_out_of_order(&scene);
	culprit_scene_load(&scene, 8, X, P, 0);
	culprit_scene_compute(&scene, 10, INSN_MULTIPLY, V, W);
	culprit_scene_stall(&scene, 8, 30);
	culprit_scene_stall(&scene, 11, 30);
	culprit_scene_look(&scene);
	assert_non_null(culprit_scene_find(&scene, 8, CULPRIT_DCACHE));
	assert_null(culprit_scene_find(&scene, 8, CULPRIT_BRANCH));
	assert_null(culprit_scene_find(&scene, 11, CULPRIT_IMUL));
	assert_non_null(culprit_scene_find(&scene, 11, CULPRIT_OTHER));
	scene.cfg->insns[10].class = INSN_DIVIDE;
	culprit_scene_look(&scene);
	assert_int_equal(culprit_scene_find(&scene, 11, CULPRIT_IMUL)->from, 10);
	culprit_scene_deinit(&scene);
}

/* After a misprediction, several instructions wait, the later ones less. */
static void test_recovery_shows_at_several_instructions(void **state)
{
	const uint32_t counts[] = {4, 2, 6};
	static const struct cfg_fixture_edge edges[] = {{CFG_ENTRY, 0}, {0, 1}, {0, 2},
							{1, 2},		{2, 0}, {2, CFG_EXIT}};
	struct culprit_scene scene;

	(void)state;
	culprit_scene_init(&scene, counts, 3, edges, 6);
	be_out_of_order(&scene);
	for (uint32_t i = 0; i < 12; i++)
		culprit_scene_compute(&scene, i, INSN_ALU, V, W);
	scene.model.branch_mispredict_cycles = 20;
	scene.cfg->insns[3].flow = INSN_FLOW_BRANCH;
	culprit_scene_edge(&scene, 0, 1, 500);
	culprit_scene_edge(&scene, 0, 2, 500);
	culprit_scene_edge(&scene, 1, 2, 500);
	culprit_scene_edge(&scene, CFG_ENTRY, 0, 1);
	culprit_scene_edge(&scene, 2, 0, 999);
	culprit_scene_edge(&scene, 2, CFG_EXIT, 1);
	culprit_scene_frequency(&scene, 1, 500);
	culprit_scene_stall(&scene, 6, 5);
	culprit_scene_stall(&scene, 8, 5);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 6), "p");
	assert_string_equal(culprit_scene_letters(&scene, 8), "p");
	assert_int_equal(culprit_scene_find(&scene, 8, CULPRIT_BRANCH)->from, 3);

	/* Now the direction is nearly always the same. */
	culprit_scene_edge(&scene, 1, 2, 1);
	culprit_scene_edge(&scene, 0, 1, 1);
	culprit_scene_edge(&scene, 0, 2, 999);
	culprit_scene_frequency(&scene, 1, 1);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 8, CULPRIT_BRANCH));
	culprit_scene_deinit(&scene);
}

/* Half of the directions are rare ones, but the code takes less time than their mispredictions. */
static void test_patterns_are_predicted(void **state)
{
	const uint32_t counts[] = {4, 2, 6};
	static const struct cfg_fixture_edge edges[] = {{CFG_ENTRY, 0}, {0, 1}, {0, 2},
							{1, 2},		{2, 0}, {2, CFG_EXIT}};
	struct culprit_scene scene;

	(void)state;
	culprit_scene_init(&scene, counts, 3, edges, 6);
	be_out_of_order(&scene);
	for (uint32_t i = 0; i < 12; i++) {
		culprit_scene_compute(&scene, i, INSN_ALU, V, W);
		scene.schedule.insns[i].min_cycles = 0.1;
		culprit_scene_stall(&scene, i, 0);
	}
	scene.model.branch_mispredict_cycles = 20;
	scene.cfg->insns[3].flow = INSN_FLOW_BRANCH;
	culprit_scene_edge(&scene, 0, 1, 500);
	culprit_scene_edge(&scene, 0, 2, 500);
	culprit_scene_edge(&scene, CFG_ENTRY, 0, 1);
	culprit_scene_edge(&scene, 2, 0, 999);
	culprit_scene_edge(&scene, 2, CFG_EXIT, 1);
	culprit_scene_frequency(&scene, 1, 500);
	culprit_scene_stall(&scene, 6, 3);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 6, CULPRIT_BRANCH));
	culprit_scene_stall(&scene, 6, 9);
	culprit_scene_look(&scene);
	assert_non_null(culprit_scene_find(&scene, 6, CULPRIT_BRANCH));
	culprit_scene_deinit(&scene);
}

/* Calls through a pointer are mispredicted as often as their targets vary, in caller and callee. */
static void test_targets_of_calls_vary(void **state)
{
	struct culprit_scene scene;
	double branch_varied[12] = {[4] = 0.75};

	(void)state;
	culprit_scene_straight(&scene, 12);
	be_out_of_order(&scene);
	scene.model.branch_mispredict_cycles = 20;
	scene.model.icache.bytes = 0;
	scene.cfg->insns[4].flow = INSN_FLOW_CALL_INDIRECT;
	scene.profile.branch_varied = branch_varied;
	scene.profile.calls_in = -1;
	culprit_scene_stall(&scene, 0, 10);
	culprit_scene_stall(&scene, 5, 10);
	culprit_scene_look(&scene);
	assert_non_null(culprit_scene_find(&scene, 5, CULPRIT_BRANCH));
	assert_int_equal(culprit_scene_find(&scene, 5, CULPRIT_BRANCH)->from, 4);
	assert_null(culprit_scene_find(&scene, 5, CULPRIT_OTHER));
	/* Procedures called by branches that vary, and by others only. */
	scene.profile.entry_varied = 0.75;
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 0), "p");
	scene.profile.entry_varied = 0;
	culprit_scene_look(&scene);
	assert_string_not_equal(culprit_scene_letters(&scene, 0), "p");
	culprit_scene_deinit(&scene);
}

/* The code of a program that fits the caches does not miss them; unknown code may. */
static void test_code_fits_the_caches(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 64);
	be_out_of_order(&scene);
	culprit_scene_stall(&scene, 32, 40);
	culprit_scene_compute(&scene, 32, INSN_ALU, V, W);
	for (int fits = 0; fits < 2; fits++) {
		scene.profile.code_bytes = fits ? scene.model.icache.bytes / 2.0 : 0;
		scene.profile.code_pages = fits ? 1 : 0;
		culprit_scene_look(&scene);
		assert_int_equal(culprit_scene_find(&scene, 32, CULPRIT_ICACHE) == NULL, fits);
	}
	scene.profile.code_bytes = scene.model.icache.bytes * 0.6;
	culprit_scene_look(&scene);
	assert_non_null(culprit_scene_find(&scene, 32, CULPRIT_ICACHE));
	culprit_scene_deinit(&scene);
}

/* Page faults that take the kernel much time explain the time around them; few explain little. */
static void test_page_faults(void **state)
{
	struct culprit_scene scene;
	struct image_fault fault = {.samples = 100000, .stacks = 100};
	const struct image_fault *faults[16] = {[8] = &fault};
	const struct culprit *culprit;

	(void)state;
	culprit_scene_straight(&scene, 16);
	be_out_of_order(&scene);
	culprit_scene_store(&scene, 8, V, P, 0);
	culprit_scene_stall(&scene, 9, 40);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 9, CULPRIT_PAGE_FAULT));
	scene.profile.faults = faults;
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 9), "P");
	culprit = culprit_scene_find(&scene, 9, CULPRIT_PAGE_FAULT);
	assert_int_equal(culprit->from, 8);
	assert_float_equal(culprit->cycles_high, 40, 1e-9);
	fault.samples = 1000;
	culprit_scene_look(&scene);
	culprit = culprit_scene_find(&scene, 9, CULPRIT_PAGE_FAULT);
	assert_true(culprit == NULL || culprit->cycles_high <= 1);
	assert_true(scene.culprits.insns[9].count > 0);
	culprit_scene_deinit(&scene);
}

/* Instructions of a block that takes its best case wait for one another only. */
static void test_blocks_at_their_best_do_not_stall(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 8);
	be_out_of_order(&scene);
	for (uint32_t i = 0; i < 8; i++)
		culprit_scene_stall(&scene, i, -1);
	culprit_scene_stall(&scene, 5, 7);
	culprit_scene_look(&scene);
	assert_false(scene.culprits.insns[5].significant);
	culprit_scene_stall(&scene, 5, 12);
	culprit_scene_look(&scene);
	assert_true(scene.culprits.insns[5].significant);
	culprit_scene_deinit(&scene);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_cpi),
		cmocka_unit_test(test_insignificant_stall),
		cmocka_unit_test(test_never_executed),
		cmocka_unit_test(test_noise_is_no_stall),
		cmocka_unit_test(test_without_causes_is_unexplained),
		cmocka_unit_test(test_drops_unlikely_causes),
		cmocka_unit_test(test_evidence_from_other_instructions),
		cmocka_unit_test(test_events_bound),
		cmocka_unit_test(test_branch),
		cmocka_unit_test(test_branch_of_callers),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_synchronization),
		cmocka_unit_test(test_out_of_order),
		cmocka_unit_test(test_interrupts_disabled),
		cmocka_unit_test(test_interrupts_disabled_on_a_rare_path),
		cmocka_unit_test(test_interrupts_disabled_in_order),
		cmocka_unit_test(test_out_of_order_unlikely),
		cmocka_unit_test(test_recovery_shows_at_several_instructions),
		cmocka_unit_test(test_patterns_are_predicted),
		cmocka_unit_test(test_targets_of_calls_vary),
		cmocka_unit_test(test_code_fits_the_caches),
		cmocka_unit_test(test_page_faults),
		cmocka_unit_test(test_blocks_at_their_best_do_not_stall),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
