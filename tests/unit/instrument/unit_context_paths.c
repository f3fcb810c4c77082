// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths in contexts: the map survives encoding, the table of a thread is assigned to records, and
 * damaged data is refused.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "instrument/calls/call_map.h"
#include "instrument/calls/call_paths.h"
#include "instrument/calls/call_thread.h"
#include "instrument/calls/context_tree.h"
#include "instrument/flow/flow_map.h"
#include "instrument/runtime/call_automaton.h"
#include "lib/error.h"

#define PROCEDURES 3
#define TABLE_AT ((sizeof(struct call_area) + PROCEDURES * 4 * CALL_LAYOUT_LAST + 63) & ~63ULL)
#define STACK UINT64_C(0x7fff0000)

/* --- the map -------------------------------------------------------------- */

/* A map with as many sites as a procedure's number, and the map of paths, without any. */
static void make_map(struct call_map *map, const struct paths_map *paths)
{
	*map = (struct call_map){.path = strdup("/bin/it"),
				 .build_id = strdup("12"),
				 .policy = CALL_POLICY_CONTEXT,
				 .sites_distinguished = true};
	for (uint64_t i = 0; i < PROCEDURES; i++) {
		assert_int_equal(call_map_add(map, "name", 0x1000 * (i + 1)), 0);
		for (uint64_t s = 0; s < i; s++)
			assert_int_equal(call_map_add_site(map, 0x1000 * (i + 1) + 5 * s), 0);
	}
	if (paths != NULL) {
		map->flow_at = TABLE_AT;
		map->words = 7;
		assert_int_equal(paths_map_encode(paths, &map->flow, &map->flow_bytes), 0);
	}
}

static void make_paths(struct paths_map *paths)
{
	struct path_edge no_edge = {0};
	struct path_start no_start = {0};
	const struct path_graph graph = {
		.path_edges = &no_edge, .first = (uint32_t[]){0}, .starts = &no_start};
	const struct count_graph counts = {0};
	const struct paths_procedure like = {0};

	*paths = (struct paths_map){.path = strdup("/bin/it"),
				    .build_id = strdup("12"),
				    .metric = strdup(""),
				    .contexts = TABLE_AT,
				    .words = 1000};
	for (uint64_t i = 0; i < PROCEDURES; i++)
		assert_int_equal(
			paths_map_add(paths, "name", 0x1000 * (i + 1), &counts, &graph, &like), 0);
}

static void test_map(void **state)
{
	struct call_map map, again;
	struct paths_map paths, decoded;
	uint8_t *data;
	size_t bytes;

	(void)state;
	make_paths(&paths);
	make_map(&map, &paths);
	assert_int_equal(call_map_encode(&map, &data, &bytes), 0);
	assert_int_equal(call_map_decode(&again, data, bytes), 0);
	assert_true(again.sites_distinguished);
	assert_int_equal(again.site_count, map.site_count);
	assert_memory_equal(again.sites, map.sites, map.site_count * sizeof(*map.sites));
	for (size_t i = 0; i < PROCEDURES; i++)
		assert_int_equal(again.procedures[i].sites, i);
	assert_int_equal(again.flow_at, TABLE_AT);
	assert_int_equal(again.words, 7);
	assert_int_equal(flow_map_decode(&decoded, &again, NULL), 0);
	assert_int_equal(decoded.procedure_count, PROCEDURES);
	assert_int_equal(decoded.contexts, TABLE_AT);
	paths_map_deinit(&decoded);
	for (size_t shorter = 0; shorter < bytes; shorter++) {
		struct call_map part;

		assert_int_not_equal(call_map_decode(&part, data, shorter), 0);
	}
	free(data);
	call_map_deinit(&again);
	call_map_deinit(&map);
	paths_map_deinit(&paths);
}

static void test_other_paths(void **state)
{
	struct paths_map paths, decoded;
	struct call_map map;

	(void)state;
	make_paths(&paths);
	make_map(&map, NULL);
	assert_int_equal(flow_map_decode(&decoded, &map, NULL), -ENODATA);
	call_map_deinit(&map);
	make_map(&map, &paths);
	map.procedures[1].address++;
	assert_int_equal(flow_map_decode(&decoded, &map, NULL), -EBADMSG);
	map.procedures[1].address--;
	map.flow_at++;
	assert_int_equal(flow_map_decode(&decoded, &map, NULL), -EBADMSG);
	map.flow_at--;
	map.flow_bytes--;
	assert_int_equal(flow_map_decode(&decoded, &map, NULL), -EBADMSG);
	call_map_deinit(&map);
	paths_map_deinit(&paths);
}

/* --- the table of a thread ------------------------------------------------ */

struct run {
	int fd;
	struct call_area *area;
	struct call_path *table;
	size_t used;
};

static void run_begin(struct run *run)
{
	const size_t bytes = TABLE_AT + CALL_PATHS_BYTES;

	*run = (struct run){.fd = memfd_create("area", MFD_CLOEXEC)};
	assert_true(run->fd >= 0);
	assert_int_equal(ftruncate(run->fd, (off_t)bytes), 0);
	run->area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, run->fd, 0);
	assert_ptr_not_equal(run->area, MAP_FAILED);
	run->table = (struct call_path *)((uint8_t *)run->area + TABLE_AT);
	call_automaton_begin(run->area, 64, CALL_POLICY_CONTEXT, CALL_METRIC_NONE);
}

static void run_end(struct run *run)
{
	munmap(run->area, TABLE_AT + CALL_PATHS_BYTES);
	close(run->fd);
}

/* Count a path in the state of the last frame, as the program does, anywhere in the table. */
static void count_path(struct run *run, uint32_t procedure, uint32_t number, uint64_t count)
{
	const struct call_head *head = &run->area->head;
	uint32_t depth = (head->depth - head->frames) / (uint32_t)sizeof(struct call_frame);
	uint64_t state = run->area->frames[depth].state;

	run->table[run->used * 1000] = (struct call_path){
		.key = number | state << CALL_PATHS_STATE_AT |
		       (uint64_t)(procedure + 1) << CALL_PATHS_PROCEDURE_AT,
		.count = count,
	};
	run->used++;
}

static uint64_t count_of(const struct context_tree *tree, uint32_t record, uint32_t number)
{
	uint64_t count = 0;

	for (size_t i = 0; i < tree->path_count; i++) {
		if (tree->paths[i].record == record && tree->paths[i].number == number)
			count += tree->paths[i].count;
	}
	return count;
}

/* 0 calls 1, which calls 2; then 0 calls 2. */
static void record(struct run *run)
{
	call_automaton_enter(run->area, 0, STACK - 16);
	call_automaton_enter(run->area, 1, STACK - 32);
	call_automaton_enter(run->area, 2, STACK - 48);
	count_path(run, 2, 5, 100);
	call_automaton_leave(run->area, STACK - 48);
	count_path(run, 1, 0, 20);
	count_path(run, 2, 9, 7); /* not the procedure of the frame */
	call_automaton_leave(run->area, STACK - 32);
	call_automaton_enter(run->area, 2, STACK - 32);
	count_path(run, 2, 5, 3);
	count_path(run, 2, PATH_COUNT_MAX - 1, 4);
	call_automaton_leave(run->area, STACK - 32);
	call_automaton_leave(run->area, STACK - 16);
	count_path(run, 0, 1, 50); /* in the root */
}

static void test_contexts(void **state)
{
	const struct call_map map = {.procedure_count = PROCEDURES};
	struct call_thread thread;
	struct context_tree tree;
	uint32_t first, inner, outer;
	struct run run;

	(void)state;
	run_begin(&run);
	record(&run);
	assert_int_equal(call_thread_read(&thread, run.fd, 0, PROCEDURES, TABLE_AT), 0);
	assert_int_equal(thread.path_count, run.used);
	assert_int_equal(context_tree_init(&tree, PROCEDURES), 0);
	for (int twice = 0; twice < 2; twice++)
		assert_int_equal(context_tree_add(&tree, &map, &thread), 0);
	first = context_tree_child(&tree, 0, 0, 0);
	inner = context_tree_child(&tree, context_tree_child(&tree, first, 1, 0), 2, 0);
	outer = context_tree_child(&tree, first, 2, 0);
	assert_int_equal(tree.count, 5);
	assert_int_equal(tree.path_count, 4);
	assert_int_equal(count_of(&tree, inner, 5), 200);
	assert_int_equal(count_of(&tree, tree.records[inner].parent, 0), 40);
	assert_int_equal(count_of(&tree, outer, 5), 6);
	assert_int_equal(count_of(&tree, outer, PATH_COUNT_MAX - 1), 8);
	assert_int_equal(tree.misplaced, 2 * (7 + 50));
	context_tree_deinit(&tree);
	call_thread_deinit(&thread);
	run_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_other_paths),
		cmocka_unit_test(test_contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
