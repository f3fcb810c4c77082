// SPDX-License-Identifier: GPL-2.0-only
/*
 * Paths, calls and contexts are stored in recordings and read back unchanged; adding them twice
 * doubles them. Damaged recordings are refused or have other contents, but never cause invalid
 * memory accesses.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/calls/call_recording.h"
#include "instrument/paths/paths_listing.h"
#include "instrument/paths/paths_recording.h"
#include "tests/fixtures/recording_damage.h"

#define PROCEDURES 5
#define ROUNDS 4000

static void make_map(struct call_map *map, enum call_policy policy)
{
	static const char *const names[PROCEDURES] = {"main", "even", "odd", "", "a;b"};

	*map = (struct call_map){.path = strdup("/bin/it"),
				 .build_id = strdup("12"),
				 .policy = policy,
				 .metric = CALL_METRIC_CYCLES};
	for (size_t i = 0; i < PROCEDURES; i++)
		assert_int_equal(call_map_add(map, names[i], 0x1000 + 64 * i), 0);
}

/* --- calls ---------------------------------------------------------------- */

static void make_profile(struct call_profile *profile, const struct call_map *map, uint64_t seed)
{
	assert_int_equal(call_profile_init(profile, (uint32_t)map->procedure_count), 0);
	profile->metric = CALL_METRIC_CYCLES;
	profile->threads = 3;
	profile->shared = 1;
	profile->contexts = 9;
	profile->losses[CALL_LOSS_DEEP] = 4;
	for (uint32_t i = 0; i < PROCEDURES + CALL_PROFILE_NODES; i++) {
		profile->nodes[i] = (struct call_node){unit_random(&seed) % 100, i,
						       unit_random(&seed) >> 20, i * 7};
		profile->total += profile->nodes[i].self;
		if (i > 0)
			assert_int_equal(
				call_profile_add_arc(
					profile, &(struct call_arc){i, i - 1, 5 * i, 6, 7, 8, i}),
				0);
	}
}

static int add_calls(struct call_recorded *recorded, struct call_profile *profile,
		     const struct profile_recording *recording, unsigned int times)
{
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < times; i++)
		r = call_recorded_procedures(recorded, recording, "/bin/it", "12");
	if (r < 0)
		return r;
	assert_int_equal(call_profile_init(profile, (uint32_t)recorded->map.procedure_count), 0);
	for (unsigned int i = 0; r == 0 && i < times; i++)
		r = call_recorded_calls(recorded, recording, profile);
	return r;
}

static void record_calls(struct recording_builder *builder, struct profile_recording *recording,
			 const struct call_map *map, const struct call_profile *profile)
{
	*builder = (struct recording_builder){0};
	call_recording_make(builder, map, profile, 2, offset_of, NULL);
	assert_int_equal(recording_builder_end(builder, recording), 0);
	recording->mode = PROFILE_RECORDING_CALLS;
	recording->metric = call_recording_metric(map->metric);
}

static void test_calls_round_trip(void **state)
{
	struct call_recorded recorded = {.map = {.image = 0}};
	struct call_profile profile, again;
	struct recording_builder builder;
	struct profile_recording recording;
	struct call_map map;

	(void)state;
	make_map(&map, CALL_POLICY_CALLS);
	make_profile(&profile, &map, 3);
	record_calls(&builder, &recording, &map, &profile);
	assert_int_equal(add_calls(&recorded, &again, &recording, 2), 0);
	assert_int_equal(recorded.map.procedure_count, PROCEDURES);
	assert_string_equal(recorded.map.procedures[4].name, "a;b");
	assert_int_equal(recorded.map.metric, CALL_METRIC_CYCLES);
	for (size_t i = 0; i < PROCEDURES + CALL_PROFILE_NODES; i++) {
		assert_int_equal(again.nodes[i].self, 2 * profile.nodes[i].self);
		assert_int_equal(again.nodes[i].calls, 2 * profile.nodes[i].calls);
	}
	assert_int_equal(again.arc_count, profile.arc_count);
	assert_int_equal(call_profile_find(&again, 3, 2)->calls, 30);
	assert_int_equal(call_profile_find(&again, 3, 2)->caller_children, 6);
	assert_int_equal(again.total, 2 * profile.total);
	assert_int_equal(again.threads, 6);
	assert_int_equal(again.losses[CALL_LOSS_DEEP], 8);
	/* A recording with another metric cannot be added. */
	recording.metric = "instructions";
	assert_int_equal(call_recorded_procedures(&recorded, &recording, "/bin/it", "12"), -EINVAL);
	recording.metric = "apples";
	assert_int_equal(call_recorded_procedures(&recorded, &recording, "/bin/it", "12"),
			 -EBADMSG);
	call_recorded_deinit(&recorded);
	call_profile_deinit(&again);
	call_profile_deinit(&profile);
	recording_builder_deinit(&builder);
	call_map_deinit(&map);
}

static void test_rejects_damaged_calls(void **state)
{
	unsigned int refused = 0;
	uint64_t seed = 8;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct call_recorded recorded = {.map = {.image = 0}};
		struct call_profile profile, again = {0};
		struct recording_builder builder, before;
		struct profile_recording recording;
		struct call_map map;
		const char *metric;
		int r;

		make_map(&map, CALL_POLICY_CALLS);
		make_profile(&profile, &map, round);
		record_calls(&builder, &recording, &map, &profile);
		before = builder;
		metric = recording.metric;
		for (unsigned int i = 0; i <= round % 3; i++)
			damage(&builder, &seed);
		recording_builder_end(&builder, &recording);
		recording.mode = PROFILE_RECORDING_CALLS;
		recording.metric = metric;
		r = add_calls(&recorded, &again, &recording, 1);
		assert_true(r == 0 || r == -EBADMSG);
		refused += r < 0;
		call_profile_deinit(&again);
		call_recorded_deinit(&recorded);
		heal(&builder, &before);
		call_profile_deinit(&profile);
		call_map_deinit(&map);
	}
	assert_in_range(refused, ROUNDS / 10, ROUNDS - 1);
}

/* --- contexts ------------------------------------------------------------- */

/* @sites: call sites are distinguished */
static void make_tree(struct context_tree *tree, bool sites, uint64_t *seed)
{
	assert_int_equal(context_tree_init(tree, PROCEDURES), 0);
	tree->metric = CALL_METRIC_CYCLES;
	for (unsigned int i = 0; i < 40; i++) {
		uint32_t at = context_tree_child(
			tree, (uint32_t)(unit_random(seed) % tree->count),
			(uint32_t)(unit_random(seed) % (PROCEDURES + CALL_PROFILE_NODES)),
			sites ? unit_random(seed) % 4 : 0);
		uint32_t site = sites ? context_tree_site(tree, at, 1 + unit_random(seed) % 4) : 0;

		assert_true(at != UINT32_MAX && site != UINT32_MAX);
		if (sites)
			tree->sites[site].calls += i;
		tree->records[at].calls += i;
		tree->records[at].exclusive += unit_random(seed) % 1000;
	}
}

static int add_contexts(struct call_recorded *recorded, struct context_tree *tree,
			const struct profile_recording *recording, unsigned int times)
{
	int r = 0;

	for (unsigned int i = 0; r == 0 && i < times; i++)
		r = call_recorded_procedures(recorded, recording, "/bin/it", "12");
	if (r < 0)
		return r;
	assert_int_equal(context_tree_init(tree, (uint32_t)recorded->map.procedure_count), 0);
	for (unsigned int i = 0; r == 0 && i < times; i++)
		r = call_recorded_contexts(recorded, recording, tree);
	if (r == 0)
		context_tree_sum(tree);
	return r;
}

/* @twice: has everything of @once twice */
static void compare_sites(const struct context_tree *twice, const struct context_tree *once)
{
	assert_int_equal(twice->site_count, once->site_count);
	for (size_t i = 0; i < once->site_count; i++) {
		const struct context_site *site = &once->sites[i];
		struct context_tree *tree = (struct context_tree *)(uintptr_t)twice;
		uint32_t at = context_tree_site(tree, site->record, site->address);

		assert_int_equal(twice->sites[at].calls, 2 * site->calls);
	}
	assert_int_equal(twice->site_count, once->site_count);
}

static void test_contexts_round_trip(void **state)
{
	unsigned int refused = 0;
	uint64_t seed = 4;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct call_recorded recorded = {.map = {.image = 0}};
		struct recording_builder builder = {0}, before;
		struct context_tree tree, again = {0};
		struct profile_recording recording;
		struct call_map map;
		int r;

		make_map(&map, CALL_POLICY_CONTEXT);
		map.sites_distinguished = round % 8 < 4;
		map.procedures[1].sites = map.sites_distinguished ? 3 : 0;
		make_tree(&tree, map.sites_distinguished, &seed);
		context_tree_sum(&tree);
		call_recording_make_tree(&builder, &map, &tree, 1, offset_of, NULL);
		before = builder;
		for (unsigned int i = 0; round % 4 != 0 && i < round % 3 + 1; i++)
			damage(&builder, &seed);
		assert_int_equal(recording_builder_end(&builder, &recording), 0);
		recording.mode = PROFILE_RECORDING_CONTEXT;
		recording.metric = "cycles";
		r = add_contexts(&recorded, &again, &recording, 2);
		refused += r < 0;
		if (round % 4 != 0) {
			assert_true(r == 0 || r == -EBADMSG);
		} else {
			assert_int_equal(r, 0);
			assert_int_equal(again.count, tree.count);
			for (size_t i = 0; i < tree.count; i++) {
				assert_int_equal(again.records[i].procedure,
						 tree.records[i].procedure);
				assert_int_equal(again.records[i].inclusive,
						 2 * tree.records[i].inclusive);
				assert_int_equal(again.records[i].site, tree.records[i].site);
			}
			compare_sites(&again, &tree);
			assert_int_equal(recorded.map.sites_distinguished, map.sites_distinguished);
			assert_int_equal(recorded.map.procedures[1].sites, map.procedures[1].sites);
			recording.table_count = PROFILE_CONTEXT_NODES + 1;
			assert_int_equal(
				call_recorded_procedures(&recorded, &recording, "/bin/it", "12"),
				map.sites_distinguished ? -EINVAL : 0);
		}
		context_tree_deinit(&again);
		context_tree_deinit(&tree);
		call_recorded_deinit(&recorded);
		heal(&builder, &before);
		call_map_deinit(&map);
	}
	assert_in_range(refused, ROUNDS / 10, ROUNDS - 1);
}

/* --- paths ---------------------------------------------------------------- */

/* Two procedures, three paths, the middle one of two blocks. */
struct paths {
	struct paths_procedure procedures[2];
	struct counts_node nodes[3];
	const struct counts_node *steps[2];
	struct paths_sum sums[3];
	struct paths_loss losses[2];
	struct paths_map map;
	struct paths_profile profile;
	struct paths_row rows[3];
};

static void make_paths(struct paths *paths, struct paths_listing *listing)
{
	*paths = (struct paths){
		.procedures = {{.address = 0x1000, .name = "main", .graph = {.count = 6}},
			       {.address = 0x1040, .name = "leaf", .graph = {.count = 2}}},
		.nodes = {{0x1000, 8, 2}, {0x1008, 0, 0}, {0x1040, 12, 3}},
		.sums = {{0, 1, 10, 50, 5, 0}, {0, 5, 3, 7, 3, 0}, {1, 0, 4, 9, 4, 0}},
		.losses = {{1, 2, 3}, {0, 0, 0}},
	};
	paths->map = (struct paths_map){.path = (char *)(uintptr_t) "/bin/it",
					.metric = (char *)(uintptr_t) "cycles",
					.procedures = paths->procedures,
					.procedure_count = 2};
	paths->profile = (struct paths_profile){.sums = paths->sums,
						.sum_count = 3,
						.losses = paths->losses,
						.files = 2,
						.threads = 5};
	paths->steps[0] = &paths->nodes[0];
	paths->steps[1] = &paths->nodes[2];
	paths->rows[0] = (struct paths_row){&paths->sums[0], &paths->steps[0], 1, 20, 100,
					    0x1000,	     PATHS_HOT};
	paths->rows[1] =
		(struct paths_row){&paths->sums[1], &paths->steps[0], 2, 15, 7, 0, PATHS_HOT};
	paths->rows[2] =
		(struct paths_row){&paths->sums[2], &paths->steps[1], 1, 12, 9, 0, PATHS_HOT};
	*listing = (struct paths_listing){.map = &paths->map,
					  .profile = &paths->profile,
					  .paths = paths->rows,
					  .path_count = 3};
}

static void test_paths_round_trip(void **state)
{
	struct recording_builder builder = {0};
	struct paths_recorded recorded = {0};
	struct profile_recording recording;
	struct paths_listing listing, again;
	struct paths paths;

	(void)state;
	make_paths(&paths, &listing);
	paths_recording_make(&builder, &listing, offset_of, NULL);
	assert_int_equal(recording_builder_end(&builder, &recording), 0);
	recording.metric = "cycles";
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(paths_recorded_add(&recorded, &recording, "/bin/it"), 0);
	assert_int_equal(paths_recorded_end(&recorded), 0);
	assert_int_equal(paths_listing_make_recorded(&again, &recorded, 0.5), 0);
	assert_int_equal(again.path_count, 3);
	assert_int_equal(again.all.count, 34);
	assert_int_equal(again.all.metric, 232);
	assert_int_equal(again.all.timed, 24);
	assert_int_equal(again.paths[0].metric, 200);
	assert_int_equal(again.all.insns, 2 * (20 + 15 + 12));
	assert_int_equal(again.paths[0].sum->number, 1);
	assert_int_equal(again.paths[0].next, 0x1000);
	assert_int_equal(again.paths[0].class, PATHS_DENSE);
	assert_int_equal(again.procedure_count, 2);
	assert_int_equal(recorded.profile.losses[0].overflow, 6);
	assert_int_equal(recorded.profile.threads, 10);
	assert_int_equal(recorded.map.procedures[0].graph.count, 6);
	recording.metric = "";
	assert_int_equal(paths_recorded_add(&recorded, &recording, "/bin/it"), -EINVAL);
	paths_listing_deinit(&again);
	paths_recorded_deinit(&recorded);
	recording_builder_deinit(&builder);
}

/* Shorten a table to the format without the number of measurements of a path. */
static void shorten(struct profile_recording_table *table, uint64_t values[])
{
	for (size_t i = 0; i < table->rows; i++)
		memcpy(values + i * PROFILE_PATH_OLD, table->values + i * table->columns,
		       PROFILE_PATH_OLD * sizeof(*values));
	table->columns = PROFILE_PATH_OLD;
	table->values = values;
}

static void test_reads_recordings_without_measured_flag(void **state)
{
	struct recording_builder builder = {0};
	struct paths_recorded recorded = {0};
	struct profile_recording recording;
	struct paths_listing listing, again;
	uint64_t values[3 * PROFILE_PATH_OLD];
	struct paths paths;

	(void)state;
	make_paths(&paths, &listing);
	paths_recording_make(&builder, &listing, offset_of, NULL);
	assert_int_equal(recording_builder_end(&builder, &recording), 0);
	recording.metric = "cycles";
	shorten(&recording.tables[PROFILE_PATHS_PATHS], values);
	assert_int_equal(paths_recorded_add(&recorded, &recording, "/bin/it"), 0);
	assert_int_equal(paths_recorded_end(&recorded), 0);
	assert_int_equal(paths_listing_make_recorded(&again, &recorded, 0.5), 0);
	assert_int_equal(again.all.timed, 17);
	assert_int_equal(again.all.metric, 50 + 7 + 9);
	paths_listing_deinit(&again);
	paths_recorded_deinit(&recorded);
	recording_builder_deinit(&builder);
}

static void test_rejects_damaged_paths(void **state)
{
	unsigned int refused = 0;
	uint64_t seed = 15;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct recording_builder builder = {0}, before;
		struct paths_recorded recorded = {0};
		struct profile_recording recording;
		struct paths_listing listing, again;
		struct paths paths;
		int r;

		make_paths(&paths, &listing);
		paths_recording_make(&builder, &listing, offset_of, NULL);
		before = builder;
		for (unsigned int i = 0; i <= round % 3; i++)
			damage(&builder, &seed);
		assert_int_equal(recording_builder_end(&builder, &recording), 0);
		r = paths_recorded_add(&recorded, &recording, "/bin/it");
		assert_true(r == 0 || r == -EBADMSG);
		refused += r < 0;
		if (r == 0 && paths_recorded_end(&recorded) == 0 &&
		    paths_listing_make_recorded(&again, &recorded, 0.1) == 0)
			paths_listing_deinit(&again);
		paths_recorded_deinit(&recorded);
		heal(&builder, &before);
	}
	assert_in_range(refused, ROUNDS / 10, ROUNDS - 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls_round_trip),
		cmocka_unit_test(test_rejects_damaged_calls),
		cmocka_unit_test(test_contexts_round_trip),
		cmocka_unit_test(test_paths_round_trip),
		cmocka_unit_test(test_reads_recordings_without_measured_flag),
		cmocka_unit_test(test_rejects_damaged_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
