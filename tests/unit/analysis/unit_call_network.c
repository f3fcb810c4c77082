// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <math.h>

#include "analysis/frequency/call_network.h"

#define CHAIN 20

static void assert_near(double value, double expected, double part)
{
	if (!(fabs(value - expected) <= part * fabs(expected)))
		fail_msg("%g is not within %g of %g", value, part, expected);
}

static void solve(struct call_network_procedure *procedures, size_t procedure_count,
		  struct call_network_call *calls, size_t call_count)
{
	struct call_network network = {.procedures = procedures,
				       .procedure_count = procedure_count,
				       .calls = calls,
				       .call_count = call_count};

	assert_int_equal(call_network_solve(&network), 0);
}

/* A caller with a small spread corrects a callee with a large one. */
static void test_who_is_sure_is_believed(void **state)
{
	struct call_network_procedure p[] = {{.executions = 1, .scale_spread = 0.05},
					     {.executions = 300, .scale_spread = 1}};
	struct call_network_call call[] = {{.caller = 0, .callee = 1, .calls = 1000}};

	(void)state;
	solve(p, 2, call, 1);
	assert_near(p[0].factor, 1, 0.05);
	assert_near(p[1].factor, 1000.0 / 300, 0.05);
}

/* In a chain of equal spreads all estimates agree, near the mean of the inputs. */
static void test_a_chain_agrees(void **state)
{
	struct call_network_procedure p[CHAIN];
	struct call_network_call calls[CHAIN - 1];
	double product = 1;

	(void)state;
	for (uint32_t i = 0; i < CHAIN; i++) {
		double executions = 100 * (i % 2 == 0 ? 1.25 : 0.8);

		p[i] = (struct call_network_procedure){.executions = executions, .scale_spread = 1};
		/* Calls are given in reverse order, because the solver sorts them. */
		if (i + 1 < CHAIN)
			calls[CHAIN - 2 - i] = (struct call_network_call){
				.caller = i, .callee = i + 1, .calls = executions};
	}
	solve(p, CHAIN, calls, CHAIN - 1);
	for (uint32_t i = 0; i < CHAIN; i++)
		product *= p[i].executions * p[i].factor / 100;
	for (uint32_t i = 0; i < CHAIN; i++)
		assert_near(p[i].executions * p[i].factor, 100, 0.1);
	assert_near(pow(product, 1.0 / CHAIN), 1, 0.02);
}

static void test_calls_of_all_callers_add_up(void **state)
{
	struct call_network_procedure p[] = {{.executions = 1, .scale_spread = 0.02},
					     {.executions = 1, .scale_spread = 0.02},
					     {.executions = 100, .scale_spread = 2}};
	struct call_network_call calls[] = {{.caller = 0, .callee = 2, .calls = 30},
					    {.caller = 1, .callee = 2, .calls = 20},
					    {.caller = 0, .callee = 2, .calls = 10}};

	(void)state;
	solve(p, 3, calls, 3);
	assert_near(p[2].factor, 0.6, 0.05);
}

/* A thousand times as many executions as calls is accepted: some callers are unknown. */
static void test_unknown_callers_are_possible(void **state)
{
	struct call_network_procedure p[] = {{.executions = 1, .scale_spread = 0.5},
					     {.executions = 1000, .scale_spread = 0.5}};
	struct call_network_call call[] = {{.caller = 0, .callee = 1, .calls = 1}};

	(void)state;
	solve(p, 2, call, 1);
	assert_near(p[0].factor, 1, 0.1);
	assert_near(p[1].factor, 1, 0.1);
}

/* More calls than executions is not accepted. */
static void test_calls_are_executions(void **state)
{
	struct call_network_procedure p[] = {{.executions = 1, .scale_spread = 0.5},
					     {.executions = 1, .scale_spread = 0.5}};
	struct call_network_call call[] = {{.caller = 0, .callee = 1, .calls = 1000}};

	(void)state;
	solve(p, 2, call, 1);
	assert_true(1000 * p[0].factor < 1.5 * p[1].factor);
}

static void solve_pairs(struct call_network_procedure *procedures, size_t procedure_count,
			struct call_network_pair *pairs, size_t pair_count)
{
	struct call_network network = {.procedures = procedures,
				       .procedure_count = procedure_count,
				       .pairs = pairs,
				       .pair_count = pair_count};

	assert_int_equal(call_network_solve(&network), 0);
}

/* The callee's estimate is ten times the caller's: the one with the larger spread moves more. */
static void test_pairs_compare(void **state)
{
	struct call_network_procedure p[] = {{.executions = 1, .scale_spread = 0.1},
					     {.executions = 1, .scale_spread = 3}};
	struct call_network_pair pair = {.caller = 0, .callee = 1, .ratio = 10, .spread = 0.1};

	(void)state;
	solve_pairs(p, 2, &pair, 1);
	assert_near(p[0].factor, 1, 0.05);
	assert_near(p[1].factor, 0.1, 0.1);
	p[0].scale_spread = 3;
	p[1].scale_spread = 0.1;
	solve_pairs(p, 2, &pair, 1);
	assert_near(p[0].factor, 10, 0.1);
	assert_near(p[1].factor, 1, 0.05);
}

/* A pair that contradicts all others is ignored. */
static void test_a_wrong_pair_is_forgiven(void **state)
{
	struct call_network_procedure p[] = {{.executions = 1, .scale_spread = 0.05},
					     {.executions = 1, .scale_spread = 3}};
	struct call_network_pair pairs[] = {
		{.caller = 0, .callee = 1, .ratio = 1.1, .spread = 0.1},
		{.caller = 0, .callee = 1, .ratio = 0.9, .spread = 0.1},
		{.caller = 0, .callee = 1, .ratio = 1000, .spread = 0.1}};

	(void)state;
	solve_pairs(p, 2, pairs, 3);
	assert_near(p[1].factor, 1, 0.2);
}

/*
 * Nine in ten returns were seen after one of two calls that are made equally often. The callee was
 * executed as often as the sum of both.
 */
static void test_wrong_shares_add_up(void **state)
{
	struct call_network_procedure p[] = {{.executions = 50, .scale_spread = 0.02},
					     {.executions = 50, .scale_spread = 0.02},
					     {.executions = 100, .scale_spread = 2}};
	struct call_network_pair pairs[] = {
		{.caller = 0, .callee = 2, .ratio = 90 / 50.0, .spread = 0.6, .part = 0.9},
		{.caller = 1, .callee = 2, .ratio = 10 / 50.0, .spread = 0.6, .part = 0.1}};

	(void)state;
	solve_pairs(p, 3, pairs, 2);
	assert_near(p[2].factor, 1, 0.1);
	/* Pairs of unknown shares are not added up. */
	pairs[0].part = pairs[1].part = 0;
	solve_pairs(p, 3, pairs, 2);
	assert_true(p[2].factor > 1.2);
}

/* Measured executions are not changed by callers and callees that are sure of something else. */
static void test_measured_procedures_keep_their_executions(void **state)
{
	struct call_network_procedure p[] = {
		{.executions = 1, .scale_spread = 0.02},
		{.executions = 10, .scale_spread = 0.02, .measured = true},
		{.executions = 100, .scale_spread = 2}};
	struct call_network_call calls[] = {{.caller = 0, .callee = 1, .calls = 1000},
					    {.caller = 1, .callee = 2, .calls = 40}};

	(void)state;
	solve(p, 3, calls, 2);
	assert_near(p[1].factor, 1, 0);
	assert_near(p[2].factor, 0.4, 0.05);
	p[1].measured = false;
	solve(p, 3, calls, 2);
	assert_true(p[1].factor > 1.02);
}

/* The callees of one call share its executions, in any proportion. */
static void test_targets_of_a_call_add_up(void **state)
{
	struct call_network_procedure p[] = {{.executions = 1000, .scale_spread = 0.01},
					     {.executions = 4000, .scale_spread = 3},
					     {.executions = 8000, .scale_spread = 3},
					     {.executions = 700, .measured = true}};
	const struct call_network_target targets[] = {
		{.site = 0, .caller = 0, .callee = 1, .part = 4},
		{.site = 0, .caller = 0, .callee = 2, .part = 8},
	};
	struct call_network_pair known = {
		.caller = 3, .callee = 1, .ratio = 4000 / 700.0, .spread = 0.01, .certain = true};
	struct call_network network = {.procedures = p,
				       .procedure_count = 4,
				       .pairs = &known,
				       .pair_count = 1,
				       .targets = targets,
				       .target_count = 2};

	(void)state;
	assert_int_equal(call_network_solve(&network), 0);
	assert_near(4000 * p[1].factor, 700, 0.1);
	assert_near(8000 * p[2].factor, 300, 0.2);
}

/* Evidence without another explanation counts even if it contradicts all others. */
static void test_a_certain_pair_is_not_forgiven(void **state)
{
	struct call_network_procedure p[] = {{.executions = 1, .measured = true},
					     {.executions = 1, .scale_spread = 0.5}};
	struct call_network_pair pair = {
		.caller = 0, .callee = 1, .ratio = 300, .spread = 0.05, .certain = true};

	(void)state;
	solve_pairs(p, 2, &pair, 1);
	assert_near(p[1].factor, 1 / 300.0, 0.4);
}

static void test_nothing_to_solve(void **state)
{
	struct call_network_procedure p[] = {{.executions = 5, .scale_spread = 1}};

	(void)state;
	solve(NULL, 0, NULL, 0);
	solve(p, 1, NULL, 0);
	assert_near(p[0].factor, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_is_sure_is_believed),
		cmocka_unit_test(test_a_chain_agrees),
		cmocka_unit_test(test_calls_of_all_callers_add_up),
		cmocka_unit_test(test_unknown_callers_are_possible),
		cmocka_unit_test(test_calls_are_executions),
		cmocka_unit_test(test_pairs_compare),
		cmocka_unit_test(test_a_wrong_pair_is_forgiven),
		cmocka_unit_test(test_wrong_shares_add_up),
		cmocka_unit_test(test_measured_procedures_keep_their_executions),
		cmocka_unit_test(test_targets_of_a_call_add_up),
		cmocka_unit_test(test_a_certain_pair_is_not_forgiven),
		cmocka_unit_test(test_nothing_to_solve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
