// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include "analysis/frequency/stall_exposure.h"
#include "tests/fixtures/cfg_fixture.h"

/* Control falls through or jumps to 0 and 1, and only falls through to 2. */
static const struct cfg_fixture_edge edges[] = {
	{CFG_ENTRY, 0}, {0, 1}, {1, 1}, {1, 2}, {2, CFG_EXIT},
};
static const uint32_t insns[] = {4, 12, 3};

static void make_load(struct insn *insn, unsigned int reg)
{
	insn->class = INSN_LOAD;
	insn->flags = INSN_READS_MEMORY;
	insn_regs_add(&insn->writes, reg);
}

static void test_each_kind(void **state)
{
	struct cfg *cfg = cfg_fixture_create(insns, 3, edges, 5);
	uint8_t found[19];

	(void)state;
	make_load(&cfg->insns[5], 3);
	cfg->insns[6].flags = INSN_WRITES_MEMORY;
	insn_regs_add(&cfg->insns[7].reads, 3);
	insn_regs_add(&cfg->insns[9].reads, 3); /* already available: 7 waited for it */
	cfg->insns[10].flow = INSN_FLOW_CALL;
	make_load(&cfg->insns[14], 4);
	insn_regs_add(&cfg->insns[17].reads, 4); /* across the edge from block 1 to 2 */
	assert_int_equal(stall_exposure_find(found, cfg, NULL), 0);
	/* Addresses are 0x1000 + 4 i: lines begin at 8 and 16. */
	assert_int_equal(found[0], EXPOSED_FETCH);
	assert_int_equal(found[1], EXPOSED_NOT);
	assert_int_equal(found[4], EXPOSED_FETCH);
	assert_int_equal(found[5], EXPOSED_LOAD);
	assert_int_equal(found[6], EXPOSED_STORE);
	assert_int_equal(found[7], EXPOSED_VALUE);
	assert_int_equal(found[8], EXPOSED_LINE);
	assert_int_equal(found[9], EXPOSED_NOT);
	assert_int_equal(found[11], EXPOSED_LINE);
	assert_int_equal(found[12], EXPOSED_NOT);
	assert_int_equal(found[16], EXPOSED_FALLTHROUGH);
	assert_int_equal(found[17], EXPOSED_VALUE);
	assert_int_equal(found[18], EXPOSED_NOT);
	/* The 21164 loses a cycle after every taken branch. */
	assert_int_equal(stall_exposure_find(found, cfg, machine_model_find("alpha21164")), 0);
	assert_int_equal(found[0], EXPOSED_BUBBLE);
	assert_int_equal(found[11], EXPOSED_BUBBLE);
	assert_int_equal(found[16], EXPOSED_FALLTHROUGH);
	cfg_fixture_destroy(cfg);
}

/* An iteration waits for a value loaded by the previous one. */
static void test_around_a_loop(void **state)
{
	struct cfg *cfg = cfg_fixture_create(insns, 3, edges, 5);
	uint8_t found[19];

	(void)state;
	insn_regs_add(&cfg->insns[6].reads, 70);
	make_load(&cfg->insns[13], 70);
	assert_int_equal(stall_exposure_find(found, cfg, NULL), 0);
	assert_int_equal(found[6], EXPOSED_VALUE);
	/* It also waits for the result of a division. */
	cfg->insns[13].flags = 0;
	cfg->insns[13].class = INSN_FP_DIVIDE;
	assert_int_equal(stall_exposure_find(found, cfg, NULL), 0);
	assert_int_equal(found[6], EXPOSED_VALUE);
	/* The time of an integer division usually depends on its operands. */
	cfg->insns[13].class = INSN_DIVIDE;
	assert_int_equal(stall_exposure_find(found, cfg, NULL), 0);
	assert_int_equal(found[6], EXPOSED_DIVISION);
	/* After a call, all pending values have arrived. */
	cfg->insns[14].flow = INSN_FLOW_CALL;
	assert_int_equal(stall_exposure_find(found, cfg, NULL), 0);
	assert_int_equal(found[6], EXPOSED_NOT);
	cfg_fixture_destroy(cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_kind),
		cmocka_unit_test(test_around_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
