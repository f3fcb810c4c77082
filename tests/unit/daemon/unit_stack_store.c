// SPDX-License-Identifier: GPL-2.0-only
/* The tree of call stacks: sharing of nodes, and pruning. */
#include "tests/lib/unit.h"

#include <string.h>

#include "daemon/collect/stack_recording.h"
#include "daemon/collect/stack_store.h"

#define DEPTH 12
#define NODES_MAX 512

static void add(struct stack_store *store, const uint64_t *offsets, size_t count)
{
	struct stack_frame frames[DEPTH];

	for (size_t i = 0; i < count; i++)
		frames[i] = (struct stack_frame){1 + (uint32_t)(offsets[i] % 3), offsets[i]};
	stack_store_add(store, frames, count, (struct stack_store_amount){1, 1});
}

static uint64_t weight_check(const struct stack_store *store)
{
	const struct stack_store_node *nodes;
	uint64_t weight = 0;
	uint32_t count;

	nodes = stack_store_nodes(store, &count);
	for (uint32_t i = 0; i < count; i++) {
		assert_true(i == 0 || nodes[i].parent < i);
		weight += nodes[i].weight;
	}
	return weight;
}

static void stacks_share_their_callers(void **state)
{
	struct stack_store *store = stack_store_create(NODES_MAX);
	const struct stack_store_node *nodes;
	uint32_t count;

	(void)state;
	assert_non_null(store);
	add(store, (const uint64_t[]){10, 20, 30}, 3);
	add(store, (const uint64_t[]){10, 20, 30}, 3);
	add(store, (const uint64_t[]){10, 20, 40}, 3);
	add(store, (const uint64_t[]){10, 20}, 2);
	add(store, (const uint64_t[]){20, 10}, 2);
	nodes = stack_store_nodes(store, &count);
	assert_int_equal(count, 1 + 4 + 2);
	assert_int_equal(nodes[3].weight, 2);
	assert_int_equal(nodes[3].parent, 2);
	assert_int_equal(nodes[4].weight, 1);
	assert_int_equal(nodes[2].weight, 1);
	assert_int_equal(weight_check(store), 5);
	assert_int_equal(stack_store_counts(store).stacks, 5);
	assert_int_equal(stack_store_counts(store).pruned, 0);
	stack_store_destroy(store);
}

/* The most frequent stacks keep their frames, and no weight is lost. */
static void a_full_tree_loses_rare_branches(void **state)
{
	static const uint64_t frequent[] = {1, 2, 3, 4, 5, 6};
	struct stack_store *store = stack_store_create(NODES_MAX);
	const struct stack_store_node *nodes;
	uint64_t random = 1, offsets[DEPTH];
	uint32_t count, found = 0;

	(void)state;
	assert_non_null(store);
	for (int i = 0; i < 5000; i++) {
		size_t depth = 1 + unit_random(&random) % DEPTH;

		for (size_t k = 0; k < depth; k++)
			offsets[k] = 100 + unit_random(&random) % 7;
		add(store, offsets, depth);
		add(store, frequent, 6);
		stack_store_nodes(store, &count);
		assert_true(count <= NODES_MAX);
		assert_int_equal(weight_check(store), 2 * (i + 1));
	}
	assert_true(stack_store_counts(store).pruned > 0);
	assert_int_equal(stack_store_counts(store).refused, 0);
	nodes = stack_store_nodes(store, &count);
	for (uint32_t i = 0; i < count; i++)
		found += nodes[i].frame.offset == 6 && nodes[i].weight == 5000;
	assert_int_equal(found, 1);
	stack_store_destroy(store);
}

/* Make the recordings of all images. Return: their number. */
static unsigned int recordings_make(struct stack_recording *recording,
				    const struct stack_store *store, const int64_t *ids,
				    uint64_t *rows, uint64_t *stacks)
{
	unsigned int recordings = 0;
	int64_t id, last = 0;
	int r;

	*rows = *stacks = 0;
	assert_int_equal(stack_recording_begin(recording, store, ids), 0);
	while ((r = stack_recording_next(recording, store, PROFILE_RECORDING_STACKS, 7, &id)) > 0) {
		const struct profile_recording_table *table =
			&recording->recording.tables[PROFILE_STACKS_NODES];

		assert_int_equal(recording->recording.tables[0].values[PROFILE_STACKS_EVERY], 7);
		assert_true(id > last);
		last = id;
		recordings++;
		*rows += table->rows;
		for (size_t k = 0; k < table->rows; k++)
			*stacks += profile_recording_row(table, k)[PROFILE_STACK_STACKS];
	}
	assert_int_equal(r, 0);
	return recordings;
}

static void recordings_have_all_nodes(void **state)
{
	/* The database may have one image for several of the store. */
	static const int64_t numbers[][4] = {{0, 71, 72, 73}, {0, 71, 72, 71}, {0, 70, 70, 70}};
	struct stack_store *store = stack_store_create(NODES_MAX);
	struct stack_recording recording = {.order_count = 0};
	uint64_t rows, stacks;
	uint32_t nodes;

	(void)state;
	assert_non_null(store);
	add(store, (const uint64_t[]){10, 20, 30}, 3);
	add(store, (const uint64_t[]){11, 20, 31}, 3);
	stack_store_nodes(store, &nodes);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(recordings_make(&recording, store, numbers[i], &rows, &stacks),
				 3 - i);
		assert_int_equal(rows, nodes - 1);
		assert_int_equal(stacks, 2);
	}
	stack_store_clear(store);
	assert_int_equal(recordings_make(&recording, store, numbers[0], &rows, &stacks), 0);
	stack_recording_deinit(&recording);
	stack_store_destroy(store);
}

/* Off-CPU time has the number of intervals and their time. */
static void off_cpu_time_is_recorded(void **state)
{
	static const int64_t numbers[] = {0, 71};
	static const struct stack_frame frames[] = {{1, 10}, {1, 20}};
	struct stack_store *store = stack_store_create(NODES_MAX);
	struct stack_recording recording = {.order_count = 0};
	const struct profile_recording_table *nodes = &recording.recording.tables[1];
	int64_t id;

	(void)state;
	assert_non_null(store);
	stack_store_add(store, frames, 2, (struct stack_store_amount){1, 5000000000});
	stack_store_add(store, frames, 2, (struct stack_store_amount){0, 7});
	stack_store_add(store, frames, 1, (struct stack_store_amount){3, 90});
	assert_int_equal(stack_store_counts(store).stacks, 4);
	assert_int_equal(stack_store_counts(store).weight, 5000000097);
	assert_int_equal(stack_recording_begin(&recording, store, numbers), 0);
	assert_int_equal(
		stack_recording_next(&recording, store, PROFILE_RECORDING_OFF_CPU, 1000000, &id),
		1);
	assert_int_equal(recording.recording.mode, PROFILE_RECORDING_OFF_CPU);
	assert_int_equal(recording.recording.tables[0].values[PROFILE_STACKS_EVERY], 1000000);
	assert_int_equal(nodes->columns, PROFILE_OFF_CPU_COLUMNS);
	assert_int_equal(nodes->rows, 2);
	assert_int_equal(profile_recording_row(nodes, 0)[PROFILE_STACK_STACKS], 3);
	assert_int_equal(profile_recording_row(nodes, 0)[PROFILE_STACK_NS], 90);
	assert_int_equal(profile_recording_row(nodes, 1)[PROFILE_STACK_STACKS], 1);
	assert_int_equal(profile_recording_row(nodes, 1)[PROFILE_STACK_NS], 5000000007);
	stack_recording_deinit(&recording);
	stack_store_destroy(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_share_their_callers),
		cmocka_unit_test(a_full_tree_loses_rare_branches),
		cmocka_unit_test(recordings_have_all_nodes),
		cmocka_unit_test(off_cpu_time_is_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
