// SPDX-License-Identifier: GPL-2.0-only
/*
 * Costs of paths from traces: known costs are found again, the time of recording is subtracted, and
 * groups that are interrupted, at the start of a burst, or between two bursts are left out. Damaged
 * traces cause no invalid memory accesses.
 */
#include "tests/lib/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instrument/mode/mode.h"
#include "instrument/paths/paths_cost.h"
#include "instrument/paths/paths_trace.h"
#include "instrument/profile/profile_file.h"

#define PATHS 4U
#define BELOW 2U /* words before that of path 0 */
#define CLOCK 60U
#define RECORDING 5U
#define RARE 3U /* the path that takes long */
#define BURST 40

static const uint64_t costs[PATHS] = {10, 50, 200, 3 * UINT64_C(100000)};

struct scene {
	struct paths_map map;
	struct profile_file file;
	struct paths_cost cost;
	struct paths_entry *entries;
	struct paths_trace_cell *cells;
	struct paths_trace_head head;
	FILE *out;
	uint64_t now;
	uint64_t random;
};

/* A procedure of one node with PATHS outgoing edges: path i is edge i. */
static void make_map(struct paths_map *map)
{
	struct paths_procedure *procedure = calloc(1, sizeof(*procedure));

	assert_non_null(procedure);
	*map = (struct paths_map){.metric = strdup("cycles"),
				  .burst = BURST,
				  .words = 100,
				  .procedures = procedure,
				  .procedure_count = 1};
	procedure->name = strdup("p");
	procedure->first_array = 8;
	procedure->nodes = calloc(1, sizeof(*procedure->nodes));
	procedure->nodes[0].insns = 8;
	procedure->graph = (struct path_graph){
		.path_edges = calloc(PATHS, sizeof(struct path_edge)),
		.first = calloc(2, sizeof(uint32_t)),
		.starts = calloc(1, sizeof(struct path_start)),
		.node_count = 1,
		.path_edge_count = PATHS,
		.start_count = 1,
		.count = PATHS,
		.range = {.below = BELOW, .room = PATHS + BELOW},
	};
	procedure->graph.first[1] = PATHS;
	for (uint32_t i = 0; i < PATHS; i++)
		procedure->graph.path_edges[i] =
			(struct path_edge){.kind = PATH_END, .to = PATH_NONE, .value = i};
}

static void scene_begin(struct scene *scene)
{
	*scene = (struct scene){.random = 1, .now = 1000000};
	make_map(&scene->map);
	scene->entries = calloc(1, PATHS_TABLE_BYTES);
	scene->cells = calloc(PATHS_TRACE_CELLS, sizeof(*scene->cells));
	scene->out = tmpfile();
	assert_non_null(scene->entries);
	assert_non_null(scene->cells);
	assert_non_null(scene->out);
	scene->head.cursor = 1;
	for (size_t i = 0; i < PATHS_TRACE_CLOCKS; i++) {
		scene->head.clocks[i] = CLOCK;
		scene->head.empty[i] = CLOCK + PATHS_TRACE_EMPTY_PATHS * RECORDING;
	}
	scene->file.header.area_bytes = paths_map_trace(&scene->map) + PATHS_TRACE_BYTES;
	scene->file.header.block_bytes = scene->file.header.area_bytes + 8 * scene->map.words;
	scene->file.fd = fileno(scene->out);
}

static void scene_end(struct scene *scene)
{
	paths_cost_deinit(&scene->cost);
	paths_map_deinit(&scene->map);
	free(scene->entries);
	free(scene->cells);
	fclose(scene->out);
}

static uint32_t slot_of(const struct scene *scene, uint32_t path)
{
	return (uint32_t)(scene->file.header.area_bytes +
			  8 * (scene->map.procedures[0].first_array + BELOW + path));
}

/* Fill a cell, whose paths are @path, or random ones. @delay: added to its first group */
static void fill(struct scene *scene, size_t cell, uint32_t path, uint64_t delay)
{
	uint32_t *slots = scene->cells[cell].slots;

	for (uint32_t s = 0; s < PATHS_TRACE_SLOTS; s++) {
		uint32_t chosen = path < PATHS ? path : unit_random(&scene->random) % RARE;

		if (PATHS_TRACE_STARTS >> s & 1) {
			memcpy(slots + s, &scene->now, sizeof(scene->now));
			scene->now += CLOCK;
			s++;
			continue;
		}
		slots[s] = slot_of(scene, chosen);
		scene->now += costs[chosen] + RECORDING + delay;
		delay = 0;
	}
}

static void solve(struct scene *scene)
{
	uint64_t at = PROFILE_LAYOUT_PAGE + paths_map_trace(&scene->map);
	int fd = scene->file.fd;

	assert_int_equal(
		ftruncate(fd, (off_t)(PROFILE_LAYOUT_PAGE + scene->file.header.block_bytes)), 0);
	assert_int_equal(pwrite(fd, &scene->head, sizeof(scene->head), (off_t)at),
			 sizeof(scene->head));
	assert_int_equal(pwrite(fd, scene->cells, PATHS_TRACE_CELLS * sizeof(*scene->cells),
				(off_t)(at + sizeof(scene->head))),
			 PATHS_TRACE_CELLS * sizeof(*scene->cells));
	assert_int_equal(paths_cost_add(&scene->cost, &scene->map, &scene->file, 0, scene->entries),
			 0);
	paths_cost_solve(&scene->cost, &scene->map);
}

/* The solution stops early (paths_cost.c): all paths here have the same instructions. */
static void assert_costs(const struct scene *scene, uint32_t paths)
{
	for (uint32_t p = 0; p < paths; p++) {
		double cycles = 0;

		assert_true(paths_cost_find(&scene->cost, paths_cost_key(0, p), &cycles) > 100);
		if (fabs(cycles - (double)costs[p]) > 4 + 0.02 * (double)costs[p])
			fail_msg("path %u costs %.2f", p, cycles);
	}
}

static void test_finds_costs_and_subtracts_recording(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene);
	for (size_t c = 0; c < 2000; c++)
		fill(&scene, c, PATHS, 0);
	solve(&scene);
	assert_costs(&scene, RARE);
	assert_true(fabs(scene.cost.recording - RECORDING) < 0.01);
	assert_true(fabs(scene.cost.clock - CLOCK) < 6);
	assert_int_equal(scene.cost.interrupted, 0);
	scene_end(&scene);
}

static void test_excludes_interrupted_groups(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene);
	for (size_t c = 0; c < 2000; c++)
		fill(&scene, c, PATHS, c % 100 == 50 ? 30000000 : 0);
	solve(&scene);
	assert_int_equal(scene.cost.interrupted, 20);
	assert_costs(&scene, RARE);
	scene_end(&scene);
}

static void test_includes_paths_that_are_always_slow(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene);
	for (size_t c = 0; c < 2000; c++)
		fill(&scene, c, c % 100 == 50 ? RARE : PATHS, 0);
	solve(&scene);
	assert_int_equal(scene.cost.interrupted, 0);
	assert_costs(&scene, PATHS);
	scene_end(&scene);
}

/* The first group of each burst has another cost, and the time between two bursts is very long. */
static void test_excludes_start_of_bursts(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene);
	for (size_t c = 0; c < 4000; c++) {
		if (c % 10 == 0)
			scene.now += (UINT64_C(1) << BURST_SWITCH_CHARGE_BITS) + 12345678;
		fill(&scene, c, PATHS, c % 10 == 0 ? 5000 : 0);
	}
	solve(&scene);
	assert_costs(&scene, RARE);
	assert_int_equal(scene.cost.interrupted, 0);
	scene_end(&scene);
}

/* A thread that is shorter than the part of a burst that is left out is measured nevertheless. */
static void test_uses_all_of_the_first_burst(void **state)
{
	const uint64_t none = 0;
	struct scene scene;
	double cycles;

	(void)state;
	scene_begin(&scene);
	scene.map.burst = 4000;
	fill(&scene, 0, 1, 0);
	solve(&scene);
	assert_int_equal(paths_cost_find(&scene.cost, paths_cost_key(0, 1), &cycles), 0);
	paths_cost_deinit(&scene.cost);
	memcpy(scene.cells[0].slots, &none, sizeof(none));
	solve(&scene);
	/* Without the first group, which has no time, and the last one, which has no end. */
	assert_int_equal(paths_cost_find(&scene.cost, paths_cost_key(0, 1), &cycles), 32 + 2);
	scene_end(&scene);
}

static void test_has_no_costs_without_a_trace(void **state)
{
	struct scene scene;
	double cycles;

	(void)state;
	scene_begin(&scene);
	solve(&scene);
	assert_int_equal(paths_cost_find(&scene.cost, paths_cost_key(0, 0), &cycles), 0);
	scene_end(&scene);
}

/* Paths of a table are known by the keys of its entries. */
static void test_finds_paths_of_the_table(void **state)
{
	struct scene scene;
	double cycles = 0;

	(void)state;
	scene_begin(&scene);
	scene.entries[7].key = paths_cost_key(0, 1);
	scene.entries[8].key = paths_cost_key(5, 1); /* no such procedure */
	for (size_t c = 0; c < 200; c++) {
		fill(&scene, c, 1, 0);
		for (uint32_t s = 0; s < PATHS_TRACE_SLOTS; s++) {
			uint32_t entry = c % 2 == 0 ? 7 : 8;

			if (scene.cells[c].slots[s] == slot_of(&scene, 1))
				scene.cells[c].slots[s] =
					(uint32_t)(paths_map_table(&scene.map) +
						   entry * sizeof(struct paths_entry) + 8);
		}
	}
	solve(&scene);
	assert_true(paths_cost_find(&scene.cost, paths_cost_key(0, 1), &cycles) > 0);
	assert_true(fabs(cycles - (double)costs[1]) < 2);
	assert_int_equal(paths_cost_find(&scene.cost, paths_cost_key(5, 1), &cycles), 0);
	scene_end(&scene);
}

static void test_rejects_damage(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct scene scene;
		uint32_t *words;

		scene_begin(&scene);
		scene.random = seed;
		for (size_t c = 0; c < 300; c++)
			fill(&scene, c, PATHS, 0);
		words = (uint32_t *)scene.cells;
		for (unsigned int i = 0; i < 2000; i++)
			words[unit_random(&scene.random) % (300 * PATHS_TRACE_SLOTS)] =
				(uint32_t)unit_random(&scene.random);
		for (size_t i = 0; i < PATHS_TRACE_CLOCKS; i++)
			scene.head.empty[i] = (uint32_t)unit_random(&scene.random);
		solve(&scene);
		for (uint32_t p = 0; p < PATHS; p++) {
			double cycles = 0;

			paths_cost_find(&scene.cost, paths_cost_key(0, p), &cycles);
			assert_true(isfinite(cycles) && cycles >= 0);
		}
		scene_end(&scene);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_costs_and_subtracts_recording),
		cmocka_unit_test(test_excludes_interrupted_groups),
		cmocka_unit_test(test_includes_paths_that_are_always_slow),
		cmocka_unit_test(test_excludes_start_of_bursts),
		cmocka_unit_test(test_uses_all_of_the_first_burst),
		cmocka_unit_test(test_has_no_costs_without_a_trace),
		cmocka_unit_test(test_finds_paths_of_the_table),
		cmocka_unit_test(test_rejects_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
