// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schedules of in-order machines: DCPI's Figures 2 and 7, rules of the 21164 one by one, and
 * invariants of any code.
 */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/machine/machine_issue.h"
#include "analysis/machine/schedule.h"

/* Figure 2: the copy loop, at 0x9810. */
static const uint32_t copy_loop[] = {
	0xa4a20000, /* ldq t4, 0(t1) */
	0x40209401, /* addq t0, 0x4, t0 */
	0xa4c20008, /* ldq t5, 8(t1) */
	0xa4e20010, /* ldq t6, 16(t1) */
	0xa6020018, /* ldq a0, 24(t1) */
	0x20420020, /* lda t1, 32(t1) */
	0xb4a30000, /* stq t4, 0(t2) */
	0x402003a5, /* cmpult t0, v0, t4 */
	0xb4c30008, /* stq t5, 8(t2) */
	0xb4e30010, /* stq t6, 16(t2) */
	0xb6030018, /* stq a0, 24(t2) */
	0x20630020, /* lda t2, 32(t2) */
	0xf4bffff3, /* bne t4, 0x009810 */
};

#define COPY_LOOP (sizeof(copy_loop) / sizeof(copy_loop[0]))

struct fixture {
	struct cfg *cfg;
	struct schedule schedule;
};

static void fixture_code(struct fixture *f, const uint32_t *words, size_t count, uint64_t address)
{
	uint8_t *code = malloc(count * 4);

	assert_non_null(code);
	for (size_t i = 0; i < count * 4; i++)
		code[i] = (uint8_t)(words[i / 4] >> (i % 4 * 8));
	assert_int_equal(
		cfg_create_from_code(&f->cfg, &insn_alpha_decoder, code, count * 4, address, NULL),
		0);
	assert_int_equal(f->cfg->insn_count, count);
	free(code);
}

static const struct machine_model *alpha(void)
{
	const struct machine_model *model = machine_model_find("alpha21164");

	assert_non_null(model);
	return model;
}

/* Schedule code on the 21164, each block separately. */
static void fixture_alone(struct fixture *f, const uint32_t *words, size_t count, uint64_t address)
{
	fixture_code(f, words, count, address);
	assert_int_equal(schedule_create_alone(&f->schedule, alpha(), f->cfg), 0);
}

/* Schedule code on the Cortex-A53. */
static void fixture_a53(struct fixture *f, const uint8_t *code, size_t bytes, uint64_t address)
{
	const struct machine_model *model = machine_model_find("cortex-a53");

	assert_non_null(model);
	assert_int_equal(
		cfg_create_from_code(&f->cfg, &insn_arm64_decoder, code, bytes, address, NULL), 0);
	assert_int_equal(schedule_create(&f->schedule, model, f->cfg, NULL), 0);
}

static void fixture_end(struct fixture *f)
{
	schedule_deinit(&f->schedule);
	cfg_destroy(f->cfg);
}

static void test_figure_7(void **state)
{
	static const double min_cycles[COPY_LOOP] = {1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1};
	struct fixture f;

	(void)state;
	fixture_alone(&f, copy_loop, COPY_LOOP, 0x9810);
	for (uint32_t i = 0; i < COPY_LOOP; i++)
		assert_true(f.schedule.insns[i].min_cycles == min_cycles[i]);
	assert_true(f.schedule.block_cycles[0] == 8);
	fixture_end(&f);
}

/* Results in the paper: 8/13 cycles, the dual-issued instructions, and the lost slots. */
static void test_figure_2(void **state)
{
	struct fixture f;
	char text[16];

	(void)state;
	fixture_alone(&f, copy_loop, COPY_LOOP, 0x9810);
	snprintf(text, sizeof(text), "%.2f",
		 f.schedule.block_cycles[0] / (double)f.cfg->insn_count);
	assert_string_equal(text, "0.62");
	for (uint32_t i = 0; i < COPY_LOOP; i++) {
		const struct schedule_insn *insn = &f.schedule.insns[i];
		bool dual = i == 1 || i == 3 || i == 5 || i == 7 || i == 11;
		bool slotting = i == 9 || i == 10;

		assert_int_equal(insn->issues_with_previous, dual);
		assert_int_equal(insn->stall_count, slotting ? 1 : 0);
		if (slotting) {
			assert_int_equal(insn->stalls[0].kind, STALL_SLOTTING);
			assert_int_equal(stall_kind_letter(insn->stalls[0].kind), 's');
			assert_true(insn->stalls[0].cycles == 0.5);
		}
		assert_true(insn->depends_on == UINT32_MAX);
	}
	fixture_end(&f);
}

/* "M for the ldq at 009810 should be 2": no load two cycles after a store. */
static void test_figure_7_as_loop(void **state)
{
	static const double min_cycles[COPY_LOOP] = {2, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0, 1};
	struct fixture f;
	double *weights;

	(void)state;
	fixture_code(&f, copy_loop, COPY_LOOP, 0x9810);
	weights = calloc(f.cfg->edge_count, sizeof(*weights));
	assert_non_null(weights);
	for (uint32_t i = 0; i < f.cfg->edge_count; i++)
		weights[i] = f.cfg->edges[i].kind == CFG_EDGE_TAKEN ? 500000 : 0;
	assert_int_equal(schedule_create(&f.schedule, alpha(), f.cfg, weights), 0);
	for (uint32_t i = 0; i < COPY_LOOP; i++)
		assert_true(f.schedule.insns[i].min_cycles == min_cycles[i]);
	assert_int_equal(f.schedule.insns[0].stall_count, 1);
	assert_int_equal(f.schedule.insns[0].stalls[0].kind, STALL_FU_DEPENDENCY);
	assert_int_equal(f.schedule.insns[0].stalls[0].from, 10);
	assert_true(f.schedule.insns[0].stalls[0].cycles == 1);
	schedule_deinit(&f.schedule);

	/* Without weights the value is in between, nearer to that of the loop. */
	assert_int_equal(schedule_create(&f.schedule, alpha(), f.cfg, NULL), 0);
	assert_true(f.schedule.insns[0].min_cycles > 1.5 && f.schedule.insns[0].min_cycles < 2);
	free(weights);
	fixture_end(&f);
}

static void check_late(const uint8_t *code, size_t bytes, uint64_t address,
		       const double min_cycles[5], const double changes[5])
{
	struct fixture f;

	fixture_a53(&f, code, bytes, address);
	assert_int_equal(f.cfg->block_count, 3);
	for (uint32_t i = 0; i < 5; i++) {
		assert_float_equal(f.schedule.insns[i].min_cycles, min_cycles[i], 1e-9);
		assert_float_equal(f.schedule.insns[i].late_change, changes[i], 1e-9);
	}
	/* The last block has two predecessors, and both may be late: one falls through. */
	assert_int_equal(f.schedule.insns[5].late_change != 0, changes[4] != 0);
	fixture_end(&f);
}

/*
 * A branch issues with the next instruction, except after a misprediction. Pairs after it are then
 * formed differently, also in the next block. After a misprediction, an aligned block of code is
 * fetched per cycle. A block entered at the end of such a block has no instruction to pair with, as
 * this procedure in the last case.
 */
static void test_pairs_after_mispredict(void **state)
{
	static const uint8_t code[] = {
		0xa0, 0x00, 0x00, 0xb4, /* cbz x0, past the block */
		0x21, 0x04, 0x00, 0x91, /* add x1, x1, #1 */
		0x42, 0x04, 0x00, 0x91, /* add x2, x2, #1 */
		0x63, 0x04, 0x00, 0x91, /* add x3, x3, #1 */
		0x84, 0x04, 0x00, 0x91, /* add x4, x4, #1 */
		0xa5, 0x04, 0x00, 0x91, /* add x5, x5, #1 */
		0xc0, 0x03, 0x5f, 0xd6, /* ret */
	};
	static const double min_cycles[] = {1, 0, 1, 0, 1};
	static const double changes[] = {0, 1, -1, 1, -1}, at_end[] = {0, 1, 0, 0, 0};
	static const double alone[] = {1, 1, 0, 1, 0}, none[5] = {0};
	struct fixture f;

	(void)state;
	check_late(code, sizeof(code), 0x1000, min_cycles, changes);
	check_late(code, sizeof(code), 0x1004, min_cycles, changes);
	check_late(code, sizeof(code), 0x1008, min_cycles, at_end);
	check_late(code, sizeof(code), 0x100c, alone, none);

	fixture_alone(&f, copy_loop, COPY_LOOP, 0x9810);
	for (uint32_t i = 0; i < COPY_LOOP; i++)
		assert_true(f.schedule.insns[i].late_change == 0);
	fixture_end(&f);
}

/*
 * The block after the second branch takes one more cycle after a misprediction of either branch.
 * After the second branch, it is alone at the end of the fetched block. After the first one, it is
 * the first half of a pair whose second half is the start of the loop.
 */
static void test_half_pair_after_mispredict(void **state)
{
	static const uint8_t code[] = {
		0xe0, 0x00, 0x00, 0xb4, /* cbz x0, past the loop */
		0x21, 0x04, 0x00, 0x91, /* add x1, x1, #1 */
		0xa9, 0x00, 0x00, 0xb4, /* cbz x9, past the loop */
		0x42, 0x04, 0x00, 0x91, /* add x2, x2, #1 */
		0x63, 0x04, 0x00, 0x91, /* add x3, x3, #1 */
		0x84, 0x04, 0x00, 0x91, /* add x4, x4, #1 */
		0xc4, 0xff, 0xff, 0xb5, /* cbnz x4, two before */
		0xc0, 0x03, 0x5f, 0xd6, /* ret */
	};
	struct fixture f;

	(void)state;
	fixture_a53(&f, code, sizeof(code), 0x1000);
	assert_float_equal(f.schedule.insns[3].min_cycles, 0, 1e-9);
	assert_float_equal(f.schedule.insns[3].late_change, 1, 1e-9);
	/* The loop is entered this way once in nine times. */
	assert_float_equal(f.schedule.insns[4].min_cycles, 1, 1e-9);
	assert_float_equal(f.schedule.insns[4].late_change, -1 / 9.0, 1e-9);
	fixture_end(&f);
}

/* Three instructions take two cycles if they begin with a pair, and one cycle between two pairs. */
static void test_least_of_two_predecessors(void **state)
{
	static const uint8_t code[] = {
		0x60, 0x00, 0x00, 0xb4, /* cbz x0, past the block */
		0x21, 0x04, 0x00, 0x91, /* add x1, x1, #1 */
		0x42, 0x04, 0x00, 0x91, /* add x2, x2, #1 */
		0x63, 0x04, 0x00, 0x91, /* add x3, x3, #1 */
		0x84, 0x04, 0x00, 0x91, /* add x4, x4, #1 */
		0x46, 0x00, 0x00, 0xb4, /* cbz x6, past the next */
		0xa5, 0x04, 0x00, 0x91, /* add x5, x5, #1 */
		0xc0, 0x03, 0x5f, 0xd6, /* ret */
	};
	struct fixture f;

	(void)state;
	fixture_a53(&f, code, sizeof(code), 0x1000);
	assert_float_equal(f.schedule.block_cycles[2], 1.5, 1e-9);
	assert_float_equal(f.schedule.block_least[2], 1, 1e-9);
	fixture_end(&f);
}

struct rule {
	const char *what;
	uint32_t words[6];
	size_t count;
	uint32_t cycles[6];
	enum stall_kind kind; /* longest stall of the last instruction; STALL_KINDS: none */
	uint32_t from;
};

#define UNOP 0x2ffe0000

/* At an address that is the start of an aligned group of four. */
static const struct rule rules[] = {
	{"two adds, and a third in the next cycle",
	 {0x40011402, 0x40012403, 0x40013404},
	 3,
	 {1, 0, 1},
	 STALL_KINDS,
	 0},
	{"an add waits for another's result",
	 {0x40011401, 0x40211402},
	 2,
	 {1, 1},
	 STALL_RA_DEPENDENCY,
	 0},
	{"a load's result two cycles later",
	 {0xa4220000, 0x40201403},
	 2,
	 {1, 2},
	 STALL_RA_DEPENDENCY,
	 0},
	{"the address of a load", {0xa4220000, 0xa4610000}, 2, {1, 2}, STALL_RB_DEPENDENCY, 0},
	{"a compare and its branch together", {0x402005a3, 0xf4600001}, 2, {1, 0}, STALL_KINDS, 0},
	{"an add and its branch apart",
	 {0x40011403, 0xf4600001},
	 2,
	 {1, 1},
	 STALL_RA_DEPENDENCY,
	 0},
	{"a compare and a conditional move of its test together",
	 {0x402005a3, 0x44640485},
	 2,
	 {1, 0},
	 STALL_KINDS,
	 0},
	{"a conditional move of what was compared apart",
	 {0x402005a3, 0x44830485},
	 2,
	 {1, 1},
	 STALL_RB_DEPENDENCY,
	 0},
	{"shifts only in one pipe",
	 {0x48211723, 0x48411724},
	 2,
	 {1, 1},
	 STALL_SLOTTING,
	 UINT32_MAX},
	{"an add before a store makes room", {0x40011403, 0xb4820000}, 2, {1, 0}, STALL_KINDS, 0},
	{"a load and a store never together",
	 {0xa4220000, 0xb4620000},
	 2,
	 {1, 1},
	 STALL_SLOTTING,
	 UINT32_MAX},
	{"mull takes eight cycles, and two more behind an add",
	 {0x40011401, 0x4c220003, 0x40601404},
	 3,
	 {1, 1, 10},
	 STALL_RA_DEPENDENCY,
	 1},
	{"mulq twelve", {0x4c220403, 0x40601404}, 2, {1, 12}, STALL_RA_DEPENDENCY, 0},
	{"umulh fourteen", {0x4c220603, 0x40601404}, 2, {1, 14}, STALL_RA_DEPENDENCY, 0},
	{"the multiplier is busy for four cycles",
	 {0x4c220003, 0x4c220004},
	 2,
	 {1, 4},
	 STALL_FU_DEPENDENCY,
	 0},
	{"a FP add takes four", {0x58221403, 0x58641405}, 2, {1, 4}, STALL_RA_DEPENDENCY, 0},
	{"a FP add and multiply together", {0x58221403, 0x58241445}, 2, {1, 0}, STALL_KINDS, 0},
	{"the FP divider is busy", {0x58221063, 0x58241064}, 2, {1, 15}, STALL_FU_DEPENDENCY, 0},
	{"results are written in order",
	 {0x4c220003, 0x40011403},
	 2,
	 {1, 8},
	 STALL_RC_DEPENDENCY,
	 0},
	{"four at once: two integer, two FP",
	 {0x40011402, 0x58221403, 0x58241445, 0x40012404},
	 4,
	 {1, 0, 0, 0},
	 STALL_KINDS,
	 0},
	{"not across aligned groups",
	 {UNOP, UNOP, UNOP, 0x40011402, 0x40012403},
	 5,
	 {1, 0, 0, 0, 1},
	 STALL_KINDS,
	 0},
	{"what found no pipe in its group waits for all of them",
	 {0xa4220000, 0x40201403, 0x40411404, 0x40a11406},
	 4,
	 {1, 2, 1, 0},
	 STALL_KINDS,
	 0},
};

static const struct static_stall *longest_stall(const struct schedule_insn *insn)
{
	const struct static_stall *longest = NULL;

	for (uint8_t i = 0; i < insn->stall_count; i++)
		if (longest == NULL || insn->stalls[i].cycles > longest->cycles)
			longest = &insn->stalls[i];
	return longest;
}

static void test_rules_of_21164(void **state)
{
	(void)state;
	for (size_t r = 0; r < sizeof(rules) / sizeof(rules[0]); r++) {
		const struct rule *rule = &rules[r];
		const struct static_stall *stall;
		struct fixture f;

		fixture_alone(&f, rule->words, rule->count, 0x120001000);
		for (size_t i = 0; i < rule->count; i++)
			if (f.schedule.insns[i].min_cycles != rule->cycles[i])
				fail_msg("%s: instruction %zu takes %g cycles, not %u", rule->what,
					 i, f.schedule.insns[i].min_cycles, rule->cycles[i]);
		stall = longest_stall(&f.schedule.insns[rule->count - 1]);
		if ((stall == NULL) != (rule->kind == STALL_KINDS))
			fail_msg("%s: a stall or none", rule->what);
		if (stall != NULL && (stall->kind != rule->kind || stall->from != rule->from))
			fail_msg("%s: kind %d, from %u", rule->what, (int)stall->kind, stall->from);
		fixture_end(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figure_7),
		cmocka_unit_test(test_figure_2),
		cmocka_unit_test(test_figure_7_as_loop),
		cmocka_unit_test(test_pairs_after_mispredict),
		cmocka_unit_test(test_half_pair_after_mispredict),
		cmocka_unit_test(test_least_of_two_predecessors),
		cmocka_unit_test(test_rules_of_21164),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
