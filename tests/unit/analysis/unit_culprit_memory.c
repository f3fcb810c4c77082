// SPDX-License-Identifier: GPL-2.0-only
/* Culprits of instruction fetch, loads and stores; for the others see unit_culprit.c. */
#include "tests/lib/unit.h"

#include <math.h>
#include <string.h>

#include "tests/fixtures/culprit_scene.h"

static void test_icache_at_line_starts(void **state)
{
	struct culprit_scene scene;
	const struct culprit *culprit;

	(void)state;
	culprit_scene_straight(&scene, 16); /* from 0x1000: lines begin at 0 and 8 */
	for (uint32_t i = 1; i < 16; i++)
		culprit_scene_stall(&scene, i, 10);
	culprit_scene_look(&scene);
	for (uint32_t i = 1; i < 16; i++)
		assert_string_equal(culprit_scene_letters(&scene, i), i == 8 ? "i" : "");
	culprit = culprit_scene_find(&scene, 8, CULPRIT_ICACHE);
	assert_float_equal(culprit->cycles_low, 10, 1e-9);
	assert_float_equal(culprit->cycles_high, 10, 1e-9);
	culprit_scene_deinit(&scene);
}

static void test_icache_costs_no_more_than_memory(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 16);
	culprit_scene_stall(&scene, 8, 70);
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 8, CULPRIT_ICACHE)->cycles_low, 50, 1e-9);
	assert_float_equal(culprits_unexplained(&scene.culprits, 8), 20, 1e-9);
	culprit_scene_deinit(&scene);
}

/* A loop that fits misses only when it is entered: once in 100 iterations, half a cycle each. */
static void test_icache_in_loops(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_loop(&scene, 24);
	culprit_scene_stall(&scene, 16, 10);
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 16, CULPRIT_ICACHE)->cycles_high, 0.5, 1e-9);
	assert_float_equal(culprits_unexplained(&scene.culprits, 16), 9.5, 1e-9);

	/* A call in the loop may evict it. */
	scene.cfg->insns[20].flow = INSN_FLOW_CALL;
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 16, CULPRIT_ICACHE)->cycles_high, 10, 1e-9);
	scene.cfg->insns[20].flow = INSN_FLOW_NEXT;

	/* A loop larger than the cache evicts itself. */
	scene.model.icache.bytes = 64;
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 16, CULPRIT_ICACHE)->cycles_high, 10, 1e-9);
	culprit_scene_deinit(&scene);
}

/* If all active code fits in the cache, code misses only by chance. */
static void test_icache_by_footprint(void **state)
{
	struct code_footprint footprint = {.residency = INFINITY};
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 16);
	scene.profile.period_cycles = 62000;
	scene.input.footprint = &footprint;
	culprit_scene_stall(&scene, 8, 10);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 8, CULPRIT_ICACHE));
	/* One miss in a hundred executions, or four at worst: 50 cycles each. */
	footprint.residency = log(100) / 1000;
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 8, CULPRIT_ICACHE)->cycles_high, 2, 1e-3);
	footprint.residency = 0;
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 8, CULPRIT_ICACHE)->cycles_high, 10, 1e-9);
	/* Code that runs rarely may miss each time, for any reason. */
	footprint.residency = INFINITY;
	scene.profile.period_cycles = 0.5;
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 8, CULPRIT_ICACHE)->cycles_high, 10, 1e-9);
	culprit_scene_deinit(&scene);
}

/* A block has two predecessors, one in its own line: only the edge from the other one counts. */
static void test_icache_at_heads(void **state)
{
	static const struct cfg_fixture_edge edges[] = {
		{CFG_ENTRY, 0}, {0, 1}, {0, 2}, {1, 2}, {2, CFG_EXIT}};
	static const uint32_t counts[] = {8, 1, 1};
	struct culprit_scene scene;

	(void)state;
	culprit_scene_init(&scene, counts, 3, edges, 5);
	culprit_scene_edge(&scene, 0, 2, 100);
	culprit_scene_edge(&scene, 0, 1, 900);
	culprit_scene_edge(&scene, 1, 2, 900);
	culprit_scene_frequency(&scene, 1, 900);
	culprit_scene_stall(&scene, 9, 20);
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 9, CULPRIT_ICACHE)->cycles_high, 5, 1e-9);
	culprit_scene_edge(&scene, 0, 2, 5);
	culprit_scene_edge(&scene, 1, 2, 995);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 9, CULPRIT_ICACHE));
	culprit_scene_deinit(&scene);
}

static void test_dcache_at_the_first_use(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 7);
	culprit_scene_load(&scene, 1, X, P, 0);
	culprit_scene_compute(&scene, 3, INSN_ALU, Q, X);
	culprit_scene_compute(&scene, 5, INSN_ALU, Q, X);
	culprit_scene_stall(&scene, 3, 30);
	culprit_scene_stall(&scene, 5, 30);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 3), "d");
	assert_int_equal(culprit_scene_find(&scene, 3, CULPRIT_DCACHE)->from, 1);
	/* Instruction 3 has already waited for the load. */
	assert_string_equal(culprit_scene_letters(&scene, 5), "");
	culprit_scene_deinit(&scene);
}

static void test_dcache_overwritten(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 7);
	culprit_scene_load(&scene, 1, X, P, 0);
	culprit_scene_compute(&scene, 3, INSN_ALU, X, W);
	culprit_scene_compute(&scene, 5, INSN_ALU, Q, X);
	culprit_scene_stall(&scene, 3, 30);
	culprit_scene_stall(&scene, 5, 30);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 3), "d");
	assert_string_equal(culprit_scene_letters(&scene, 5), "");
	culprit_scene_deinit(&scene);
}

static void test_dcache_too_long_ago(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 7);
	culprit_scene_load(&scene, 1, X, P, 0);
	culprit_scene_compute(&scene, 5, INSN_ALU, Q, X);
	culprit_scene_stall(&scene, 3, 90);
	culprit_scene_stall(&scene, 5, 30);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 5), "");
	culprit_scene_deinit(&scene);
}

/* The load is at the end of the loop, its use at the beginning. */
static void test_dcache_around_a_loop(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_loop(&scene, 6);
	culprit_scene_load(&scene, 12, X, P, 0);
	culprit_scene_compute(&scene, 9, INSN_ALU, Q, X);
	culprit_scene_stall(&scene, 9, 30);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 9), "d");
	assert_int_equal(culprit_scene_find(&scene, 9, CULPRIT_DCACHE)->from, 12);
	culprit_scene_deinit(&scene);
}

/*
 * The fourth load cannot begin a miss while three are pending. An instruction that waited for one
 * of them frees its place.
 */
static void test_dcache_queue_of_misses(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 7);
	scene.model.load_misses = 3;
	for (uint32_t i = 1; i < 5; i++)
		culprit_scene_load(&scene, i, (uint8_t)(20 + i), P, INT64_C(64) * i);
	culprit_scene_stall(&scene, 3, 30);
	culprit_scene_stall(&scene, 4, 30);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 3, CULPRIT_DCACHE));
	assert_string_equal(culprit_scene_letters(&scene, 4), "d");
	culprit_scene_compute(&scene, 3, INSN_ALU, V, 22);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 4, CULPRIT_DCACHE));
	culprit_scene_deinit(&scene);
}

static void test_write_buffer(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 8);
	for (uint32_t i = 0; i < 8; i++)
		culprit_scene_store(&scene, i, V, S, INT64_C(8) * i);
	culprit_scene_stall(&scene, 7, 10);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 7), "w");
	assert_float_equal(culprit_scene_find(&scene, 7, CULPRIT_WRITE_BUFFER)->cycles_low, 10,
			   1e-9);

	/* A barrier waits until the buffer is empty. */
	culprit_scene_compute(&scene, 3, INSN_BARRIER, V, V);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 7), "");
	culprit_scene_deinit(&scene);
}

/* One store per iteration can fill the buffer in a short loop, but not in a slow one. */
static void test_write_buffer_in_loops(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_loop(&scene, 6);
	culprit_scene_store(&scene, 10, V, S, 8);
	culprit_scene_stall(&scene, 10, 10);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 10), "w");
	culprit_scene_stall(&scene, 12, 100);
	culprit_scene_look(&scene);
	/* Code before the loop may have filled the buffer: once in 100 iterations. */
	assert_float_equal(culprit_scene_find(&scene, 10, CULPRIT_WRITE_BUFFER)->cycles_high, 0.6,
			   1e-9);
	culprit_scene_deinit(&scene);
}

/* Steps of eight bytes reach a new page once in 1024 iterations, pointers at any time. */
static void test_dtb(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_loop(&scene, 6);
	scene.input.thorough = true;
	culprit_scene_load(&scene, 9, X, P, 0);
	culprit_scene_compute(&scene, 11, INSN_ALU, P, P);
	scene.cfg->insns[11].immediate = 8;
	culprit_scene_stall(&scene, 9, 10);
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 9, CULPRIT_DTB)->cycles_high,
			   40 * (0.99 / 1024 + 0.01), 1e-3);
	culprit_scene_load(&scene, 11, P, P, 8);
	culprit_scene_look(&scene);
	assert_float_equal(culprit_scene_find(&scene, 9, CULPRIT_DTB)->cycles_high, 10, 1e-9);
	culprit_scene_load(&scene, 9, X, S, 0);
	culprit_scene_look(&scene);
	assert_null(culprit_scene_find(&scene, 9, CULPRIT_DTB));
	culprit_scene_deinit(&scene);
}

/* A load of data from two narrow stores finds it neither in a cache nor in a single store. */
static void test_store_forwarding(void **state)
{
	struct culprit_scene scene;

	(void)state;
	culprit_scene_straight(&scene, 7);
	scene.model.in_order = false;
	scene.model.write_buffer_entries = 0;
	culprit_scene_store(&scene, 1, V, P, 8);
	culprit_scene_store(&scene, 2, V, P, 16);
	culprit_scene_load(&scene, 4, X, P, 12);
	culprit_scene_stall(&scene, 4, 12);
	culprit_scene_look(&scene);
	assert_string_equal(culprit_scene_letters(&scene, 4), "F");
	assert_int_equal(culprit_scene_find(&scene, 4, CULPRIT_STORE_FORWARD)->from, 2);

	/* A load of data from one store gets it by forwarding. */
	culprit_scene_load(&scene, 4, X, P, 16);
	culprit_scene_look(&scene);
	assert_int_equal(culprit_scene_find(&scene, 4, CULPRIT_OTHER)->from, UINT32_MAX);

	/* Now the address may differ from that of the stores. */
	culprit_scene_compute(&scene, 3, INSN_ALU, P, W);
	culprit_scene_look(&scene);
	assert_non_null(culprit_scene_find(&scene, 4, CULPRIT_DCACHE));
	culprit_scene_deinit(&scene);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_icache_at_line_starts),
		cmocka_unit_test(test_icache_costs_no_more_than_memory),
		cmocka_unit_test(test_icache_in_loops),
		cmocka_unit_test(test_icache_by_footprint),
		cmocka_unit_test(test_icache_at_heads),
		cmocka_unit_test(test_dcache_at_the_first_use),
		cmocka_unit_test(test_dcache_overwritten),
		cmocka_unit_test(test_dcache_too_long_ago),
		cmocka_unit_test(test_dcache_around_a_loop),
		cmocka_unit_test(test_dcache_queue_of_misses),
		cmocka_unit_test(test_write_buffer),
		cmocka_unit_test(test_write_buffer_in_loops),
		cmocka_unit_test(test_dtb),
		cmocka_unit_test(test_store_forwarding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
