// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <math.h>

#include "analysis/frequency/flow_prior.h"
#include "analysis/graph/cfg_create.h"
#include "analysis/graph/cfg_facts.h"
#include "analysis/insn/insn.h"

#define ADDRESS 0x1000
#define EDGES_MAX 12

/* Return: the share of the prior of a block's edge. @seen: out: of all its edges; NULL: not needed
 */
static double share_of(const char *code, size_t bytes, uint32_t block, uint32_t to, double *seen)
{
	struct flow_chain *chain;
	struct cfg_facts facts;
	struct cfg *cfg;
	double prior[EDGES_MAX], sum = 0, share = 0;

	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, (const uint8_t *)code, bytes,
					      ADDRESS, NULL),
			 0);
	assert_int_equal(cfg_facts_find(&facts, cfg), 0);
	assert_in_range(cfg->edge_count, 1, EDGES_MAX);
	assert_int_equal(flow_chain_create(&chain, cfg), 0);
	assert_int_equal(flow_prior_find(prior, chain, cfg, facts.noreturn), 0);
	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		assert_true(prior[e] > 0);
		if (cfg->edges[e].from != block)
			continue;
		sum += prior[e];
		if (cfg->edges[e].to == to)
			share = prior[e];
	}
	if (seen != NULL)
		*seen = sum;
	flow_chain_destroy(chain);
	cfg_facts_deinit(&facts);
	cfg_destroy(cfg);
	return share / sum;
}

#define SHARE(code, block, to) share_of(code, sizeof(code) - 1, block, to, NULL)

/* sub $1, %rdi; jne to itself; ret */
#define LOOP "\x48\x83\xef\x01\x75\xfa\xc3"

static void test_zero_tests_lead_into_the_loop(void **state)
{
	(void)state;
	/* test %rdi, %rdi; je past the loop; with xor %eax, %eax; jmp between them */
	assert_true(SHARE("\x48\x85\xff\x74\x06" LOOP, 0, 1) > 0.9);
	assert_true(SHARE("\x48\x85\xff\x74\x0a\x31\xc0\xeb\x00" LOOP, 0, 1) > 0.9);
	/* cmp $0, %rdi; jle */
	assert_true(SHARE("\x48\x83\xff\x00\x7e\x06" LOOP, 0, 1) > 0.9);
	/* jne into the loop; ret before it */
	assert_true(SHARE("\x48\x85\xff\x75\x01\xc3" LOOP, 0, 2) > 0.9);
}

static void test_other_branches_are_even(void **state)
{
	(void)state;
	/* cmp %rsi, %rdi; cmp $9, %rdi */
	assert_float_equal(SHARE("\x48\x39\xf7\x74\x06" LOOP, 0, 1), 0.5, 1e-9);
	assert_float_equal(SHARE("\x48\x83\xff\x09\x74\x06" LOOP, 0, 1), 0.5, 1e-9);
	/* test %rdi, %rdi; je past xor %eax, %eax: there is no loop */
	assert_float_equal(SHARE("\x48\x85\xff\x74\x02\x31\xc0\xc3", 0, 1), 0.5, 1e-9);
	/* The loop's own branch. */
	assert_float_equal(SHARE(LOOP, 0, 0), 0.5, 1e-9);
}

/* One observation outweighs it. */
static void test_it_is_weak(void **state)
{
	static const char code[] = "\x48\x85\xff\x74\x06" LOOP;
	double seen;

	(void)state;
	share_of(code, sizeof(code) - 1, 0, 1, &seen);
	assert_true(seen < 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zero_tests_lead_into_the_loop),
		cmocka_unit_test(test_other_branches_are_even),
		cmocka_unit_test(test_it_is_weak),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
