// SPDX-License-Identifier: GPL-2.0-only
/* The copy loop of DCPI's Figure 2, with its code and its samples. */
#include "analysis/graph/cfg_create.h"
#include "tests/lib/unit.h"

#include <string.h>

#include "analysis/culprit/culprit.h"
#include "analysis/culprit/stall_summary.h"
#include "lib/error.h"

static const uint32_t code[] = {
	0x47ff041f, /* bis zero, zero, zero: before the loop, not in the figure. */
	0xa4a20000, /* 9810: ldq t4, 0(t1) */
	0x40209401, /* addq t0, 0x4, t0 */
	0xa4c20008, /* ldq t5, 8(t1) */
	0xa4e20010, /* 981c: ldq t6, 16(t1) */
	0xa6020018, /* ldq a0, 24(t1) */
	0x20420020, /* lda t1, 32(t1) */
	0xb4a30000, /* 9828: stq t4, 0(t2) */
	0x402003a5, /* cmpult t0, v0, t4 */
	0xb4c30008, /* stq t5, 8(t2) */
	0xb4e30010, /* 9834: stq t6, 16(t2) */
	0xb6030018, /* stq a0, 24(t2) */
	0x20630020, /* lda t2, 32(t2) */
	0xf4bffff3, /* bne t4, 9810 */
	0x6bfa8001, /* ret zero, (ra), 1 */
};

#define FIRST_ADDRESS 0x980c
#define LOOP 1
#define LOOP_INSNS 13

static const double samples[LOOP_INSNS] = {3126, 0,    1636,   390,  1482, 0,	27766,
					   0,	 1493, 174727, 1548, 0,	   1586};

struct loop {
	struct cfg *cfg;
	struct schedule schedule;
	struct procedure_profile profile;
	struct frequency_estimate blocks[3];
	struct frequency_estimate edges[8];
	struct frequency frequency;
	struct culprit_input input;
	struct culprits culprits;
};

static void lay_samples(struct loop *loop)
{
	struct address_count counts[LOOP_INSNS];

	for (uint32_t i = 0; i < LOOP_INSNS; i++)
		counts[i] = (struct address_count){FIRST_ADDRESS + 4 * (LOOP + i), samples[i]};
	assert_int_equal(procedure_profile_create(&loop->profile, loop->cfg, counts, LOOP_INSNS, 1),
			 0);
}

/*
 * Set the paper's F of the loop. The figure does not report how often the loop is entered and left:
 * at most once per iteration, and in truth rarely.
 */
static void lay_frequencies(struct loop *loop)
{
	const struct cfg *cfg = loop->cfg;

	loop->blocks[1] = (struct frequency_estimate){
		1527, 1500, 1600, FREQUENCY_HIGH, FREQUENCY_CLUSTER, false};
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		bool back = cfg->edges[e].kind == CFG_EDGE_TAKEN;

		loop->edges[e] =
			back ? loop->blocks[1]
			     : (struct frequency_estimate){
				       0, 0, 1600, FREQUENCY_LOW, FREQUENCY_PROPAGATED, false};
	}
	loop->frequency = (struct frequency){loop->blocks, loop->edges};
}

/* @thorough: like the paper's tool, which schedules blocks separately */
static void look(struct loop *loop, bool thorough)
{
	uint8_t bytes[sizeof(code)];
	struct error err;

	*loop = (struct loop){.cfg = NULL};
	memcpy(bytes, code, sizeof(code));
	assert_int_equal(cfg_create_from_code(&loop->cfg, &insn_alpha_decoder, bytes, sizeof(bytes),
					      FIRST_ADDRESS, &err),
			 0);
	assert_int_equal(loop->cfg->block_count, 3);
	loop->input = (struct culprit_input){
		.thorough = thorough,
		.cfg = loop->cfg,
		.model = machine_model_find("alpha21164"),
		.schedule = &loop->schedule,
		.profile = &loop->profile,
		.frequency = &loop->frequency,
	};
	if (thorough)
		assert_int_equal(
			schedule_create_alone(&loop->schedule, loop->input.model, loop->cfg), 0);
	else
		assert_int_equal(
			schedule_create(&loop->schedule, loop->input.model, loop->cfg, NULL), 0);
	lay_samples(loop);
	lay_frequencies(loop);
	assert_int_equal(culprits_find(&loop->culprits, &loop->input), 0);
}

static void forget(struct loop *loop)
{
	culprits_deinit(&loop->culprits);
	procedure_profile_deinit(&loop->profile);
	schedule_deinit(&loop->schedule);
	cfg_destroy(loop->cfg);
}

static const struct instruction_cpi *insn_at(const struct loop *loop, uint64_t address)
{
	long index = cfg_find_insn(loop->cfg, address);

	assert_true(index >= 0);
	return &loop->culprits.insns[index];
}

/* Return the letters of an instruction's culprits, in order of causes. */
static const char *letters(const struct loop *loop, uint64_t address)
{
	static char text[CULPRIT_CAUSES + 1];
	const struct instruction_cpi *insn = insn_at(loop, address);
	unsigned int count = 0;

	for (unsigned int cause = 0; cause < CULPRIT_CAUSES; cause++)
		for (uint32_t i = insn->first; i < insn->first + insn->count; i++)
			if (loop->culprits.list[i].cause == cause)
				text[count++] = culprit_letter(cause);
	text[count] = '\0';
	return text;
}

/* Return the address of the load blamed for a D-cache miss, or 0 if there is none. */
static uint64_t missed_load(const struct loop *loop, uint64_t address)
{
	const struct instruction_cpi *insn = insn_at(loop, address);

	for (uint32_t i = insn->first; i < insn->first + insn->count; i++)
		if (loop->culprits.list[i].cause == CULPRIT_DCACHE &&
		    loop->culprits.list[i].from != UINT32_MAX)
			return loop->cfg->insns[loop->culprits.list[i].from].address;
	return 0;
}

static void test_figure_2(void **state)
{
	struct stall_summary summary = {.gain = 0};
	struct loop loop;

	(void)state;
	look(&loop, true);
	assert_string_equal(letters(&loop, 0x9810), "Dp");
	assert_float_equal(insn_at(&loop, 0x9810)->cpi, 2.0, 0.05);
	assert_string_equal(letters(&loop, 0x9828), "dDw");
	assert_int_equal(missed_load(&loop, 0x9828), 0x9810);
	assert_float_equal(insn_at(&loop, 0x9828)->cpi, 18.0, 0.25);
	assert_string_equal(letters(&loop, 0x9834), "dDw");
	assert_int_equal(missed_load(&loop, 0x9834), 0x981c);
	assert_float_equal(insn_at(&loop, 0x9834)->cpi, 114.5, 0.25);
	/* The other instructions have static stalls, or stalls too short to be significant. */
	for (uint64_t address = 0x9814; address <= 0x9840; address += 4)
		if (address != 0x9828 && address != 0x9834)
			assert_true(insn_at(&loop, address)->dynamic_cycles < 0.5);
	stall_summary_add(&summary, &loop.input, &loop.culprits);
	assert_float_equal(summary.instructions / 1527, 13, 1e-9);
	assert_float_equal(summary.best_cycles / 1527, 8, 1e-9);
	assert_float_equal(summary.actual_cycles / 1527, 140, 0.1);
	forget(&loop);
}

/*
 * Likely causes only. The first load waits two cycles after the last store, which is no dynamic
 * stall. A page is new at most once in 128 iterations. If one cause must be named, the stores wait
 * for their data.
 */
static void test_figure_2_likely(void **state)
{
	struct loop loop;

	(void)state;
	look(&loop, false);
	assert_string_equal(letters(&loop, 0x9810), "");
	assert_null(strchr(letters(&loop, 0x9828), 'D'));
	assert_non_null(strchr(letters(&loop, 0x9828), 'd'));
	assert_null(strchr(letters(&loop, 0x9834), 'D'));
	assert_non_null(strchr(letters(&loop, 0x9834), 'd'));
	assert_int_equal(missed_load(&loop, 0x9828), 0x9810);
	assert_int_equal(missed_load(&loop, 0x9834), 0x981c);
	forget(&loop);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_2),
		cmocka_unit_test(test_figure_2_likely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
