// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bursts and times of paths are stored in recordings and read back unchanged; those of several
 * epochs are added up. Damaged recordings are refused or have other contents, but never cause
 * invalid memory accesses.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/bursts/bursts_recording.h"
#include "instrument/variation/variation_listing.h"
#include "instrument/variation/variation_recording.h"
#include "tests/fixtures/recording_damage.h"

#define ROUNDS 4000

/* --- bursts --------------------------------------------------------------- */

/* Three procedures; the second one has no memory references. */
static void make_map(struct bursts_map *map)
{
	static const uint64_t addresses[] = {0x1000, 0x1008, 0x1010, 0x1100, 0x1104};

	*map = (struct bursts_map){
		.path = strdup("/bin/it"), .build_id = strdup("12"), .checks = 100, .records = 10};
	assert_int_equal(bursts_map_add(map, "main", 0x1000, addresses, 3), 0);
	assert_int_equal(bursts_map_add(map, "unused", 0x1080, NULL, 0), 0);
	assert_int_equal(bursts_map_add(map, "a,b", 0x1100, addresses + 3, 2), 0);
}

/* The first instruction has no references. The last address is invalid in a program. */
static const struct bursts_reference references[] = {
	{0x7fff1000, 1, 1, 0}, {0x7fff1008, 4, 1, 0}, {0x7fff1000, 1, 2, 0},
	{0x55550000, 3, 1, 1}, {0, 2, 7, 1},	      {UINT64_MAX, 1, 8, 1},
};
#define REFERENCES (sizeof(references) / sizeof(references[0]))

static void make_bursts(struct recording_builder *builder, struct profile_recording *recording)
{
	struct bursts_reference all[REFERENCES];
	const struct bursts_profile profile = {
		.all = all, .count = REFERENCES, .bursts = 9, .lost = 3, .threads = 2, .shared = 1};
	struct bursts_map map;

	memcpy(all, references, sizeof(all));
	make_map(&map);
	*builder = (struct recording_builder){0};
	bursts_recording_make(builder, &map, &profile, 1, offset_of, NULL);
	assert_int_equal(recording_builder_end(builder, recording), 0);
	recording->mode = PROFILE_RECORDING_BURSTS;
	bursts_map_deinit(&map);
}

static void test_bursts_round_trip(void **state)
{
	struct bursts_recorded recorded = {.map = {.image = 0}};
	struct recording_builder builder;
	struct profile_recording recording;
	struct bursts_map map;

	(void)state;
	make_map(&map);
	make_bursts(&builder, &recording);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(bursts_recorded_add(&recorded, &recording, "/bin/it"), 0);
	assert_int_equal(bursts_recorded_end(&recorded), 0);
	assert_string_equal(recorded.map.path, "/bin/it");
	assert_int_equal(recorded.map.checks, 100);
	assert_int_equal(recorded.map.records, 10);
	assert_int_equal(recorded.map.procedure_count, 2);
	assert_string_equal(recorded.map.procedures[1].name, "a,b");
	assert_int_equal(recorded.map.procedures[0].count, 2);
	assert_int_equal(recorded.map.procedures[1].first, 2);
	assert_int_equal(recorded.map.reference_count, 4);
	assert_int_equal(recorded.profile.count, 2 * (REFERENCES - 1));
	for (size_t i = 0; i < recorded.profile.count; i++) {
		const struct bursts_reference *got = &recorded.profile.all[i];
		const struct bursts_reference *want = &references[i % (REFERENCES - 1)];

		assert_int_equal(got->address, want->address);
		assert_int_equal(recorded.map.references[got->number],
				 map.references[want->number]);
		assert_int_equal(got->burst, want->burst);
		assert_int_equal(got->thread, want->thread + (i < REFERENCES - 1 ? 0 : 2));
	}
	assert_int_equal(recorded.profile.bursts, 18);
	assert_int_equal(recorded.profile.lost, 8);
	assert_int_equal(recorded.profile.threads, 4);
	assert_int_equal(recorded.profile.shared, 2);
	/* Bursts with other parameters cannot be added. */
	builder.tables[PROFILE_BURSTS_HEAD].values[PROFILE_BURSTS_RECORDS]++;
	assert_int_equal(bursts_recorded_add(&recorded, &recording, "/bin/it"), -EINVAL);
	bursts_recorded_deinit(&recorded);
	recording_builder_deinit(&builder);
	bursts_map_deinit(&map);
}

static void test_rejects_damaged_bursts(void **state)
{
	unsigned int refused = 0;
	uint64_t seed = 23;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct bursts_recorded recorded = {.map = {.image = 0}};
		struct recording_builder builder, before;
		struct profile_recording recording;
		int r;

		make_bursts(&builder, &recording);
		before = builder;
		for (unsigned int i = 0; i <= round % 3; i++)
			damage(&builder, &seed);
		assert_int_equal(recording_builder_end(&builder, &recording), 0);
		r = bursts_recorded_add(&recorded, &recording, "/bin/it");
		assert_true(r == 0 || r == -EBADMSG);
		refused += r < 0;
		if (r == 0) {
			assert_int_equal(bursts_recorded_end(&recorded), 0);
			for (size_t i = 0; i < recorded.profile.count; i++)
				assert_true(recorded.profile.all[i].number <
					    recorded.map.reference_count);
		}
		bursts_recorded_deinit(&recorded);
		heal(&builder, &before);
	}
	assert_in_range(refused, ROUNDS / 10, ROUNDS - 1);
}

/* --- variation ------------------------------------------------------------ */

/* A procedure with one node and four paths, each along its own edge. */
struct times {
	struct counts_node node;
	struct path_edge path_edges[4];
	uint32_t first[2];
	struct path_start start;
	struct paths_procedure procedure;
	struct paths_map map;
	struct variation_profile profile;
};

static void time_path(struct times *times, uint32_t number, uint64_t least, uint64_t other)
{
	struct variation_path *path = &times->profile.paths[times->profile.count++];

	*path = (struct variation_path){.number = number, .count = 3, .least = least};
	path->total = least + 2 * other;
	path->buckets[variation_bucket(least)]++;
	path->buckets[variation_bucket(other)] += 2;
}

static void make_times(struct times *times)
{
	*times = (struct times){
		.node = {.address = 0x1000, .bytes = 4, .insns = 1},
		.first = {0, 4},
		.map = {.path = strdup("/bin/it"),
			.build_id = strdup("12"),
			.metric = strdup("cycles"),
			.timed = true,
			.checks = 50,
			.procedure_count = 1},
		.profile = {.lost = 1, .overflow = 2, .damaged = 3, .files = 1, .threads = 4},
	};
	for (uint32_t i = 0; i < 4; i++)
		times->path_edges[i] =
			(struct path_edge){.kind = PATH_END, .to = PATH_NONE, .value = i};
	times->procedure = (struct paths_procedure){.address = 0x1000,
						    .name = "p",
						    .nodes = &times->node,
						    .graph = {.path_edges = times->path_edges,
							      .first = times->first,
							      .starts = &times->start,
							      .node_count = 1,
							      .path_edge_count = 4,
							      .start_count = 1,
							      .count = 4}};
	times->map.procedures = &times->procedure;
	times->profile.paths = calloc(4, sizeof(*times->profile.paths));
	assert_non_null(times->profile.paths);
	time_path(times, 2, 10, 900);
	time_path(times, 0, 40, 41);
	time_path(times, 3, 7, 7);
	times->profile.paths[1].interrupted = 1;
	times->profile.paths[1].interrupted_total = VARIATION_LONG + 5;
}

static void free_times(struct times *times)
{
	times->map.procedures = NULL;
	times->map.procedure_count = 0;
	paths_map_deinit(&times->map);
	variation_profile_deinit(&times->profile);
}

static void record_times(struct recording_builder *builder, struct profile_recording *recording,
			 const struct times *times)
{
	struct variation_listing listing;

	*builder = (struct recording_builder){0};
	assert_int_equal(variation_listing_make(&listing, &times->map, &times->profile, true), 0);
	variation_recording_make(builder, &listing, offset_of, NULL);
	assert_int_equal(recording_builder_end(builder, recording), 0);
	recording->mode = PROFILE_RECORDING_VARIATION;
	recording->metric = "cycles";
	variation_listing_deinit(&listing);
}

static void check_row(const struct variation_row *row, uint32_t number, uint64_t net)
{
	assert_int_equal(row->times->number, number);
	assert_int_equal(row->net, net);
	assert_int_equal(row->times->count, 6);
	assert_int_equal(row->path->node_count, 1);
	assert_int_equal(row->path->nodes[0]->address, 0x1000);
}

static void test_times_round_trip(void **state)
{
	struct variation_recorded recorded = {.time_count = 0};
	struct recording_builder builder;
	struct profile_recording recording;
	struct variation_listing listing;
	struct times times;

	(void)state;
	make_times(&times);
	record_times(&builder, &recording, &times);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(variation_recorded_add(&recorded, &recording, "/bin/it", "12"), 0);
	assert_int_equal(variation_recorded_end(&recorded), 0);
	assert_int_equal(variation_listing_make_recorded(&listing, &recorded, false), 0);
	assert_int_equal(listing.row_count, 3);
	check_row(&listing.rows[0], 2, 4 * 890);
	check_row(&listing.rows[1], 0, 4);
	check_row(&listing.rows[2], 3, 0);
	assert_int_equal(listing.rows[1].times->least, 40);
	assert_int_equal(listing.rows[0].times->buckets[variation_bucket(900)], 4);
	assert_int_equal(listing.rows[0].times->buckets[10], 2);
	assert_int_equal(listing.interrupted, 2);
	assert_int_equal(listing.interrupted_total, 2 * (VARIATION_LONG + 5));
	assert_int_equal(listing.map->checks, 50);
	assert_string_equal(listing.map->build_id, "12");
	assert_int_equal(listing.map->procedures[0].graph.count, 4);
	assert_int_equal(recorded.profile.lost, 2);
	assert_int_equal(recorded.profile.overflow, 4);
	assert_int_equal(recorded.profile.damaged, 6);
	assert_int_equal(recorded.profile.threads, 8);
	variation_listing_deinit(&listing);
	builder.tables[PROFILE_PATHS_HEAD].values[PROFILE_VARIATION_CHECKS]++;
	assert_int_equal(variation_recorded_add(&recorded, &recording, "/bin/it", "12"), -EINVAL);
	variation_recorded_deinit(&recorded);
	recording_builder_deinit(&builder);
	free_times(&times);
}

static void test_rejects_damaged_times(void **state)
{
	unsigned int refused = 0;
	uint64_t seed = 42;

	(void)state;
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct variation_recorded recorded = {.time_count = 0};
		struct recording_builder builder, before;
		struct profile_recording recording;
		struct variation_listing listing;
		struct times times;
		int r;

		make_times(&times);
		record_times(&builder, &recording, &times);
		before = builder;
		for (unsigned int i = 0; i <= round % 3; i++)
			damage(&builder, &seed);
		assert_int_equal(recording_builder_end(&builder, &recording), 0);
		r = variation_recorded_add(&recorded, &recording, "/bin/it", "12");
		assert_true(r == 0 || r == -EBADMSG);
		refused += r < 0;
		if (r == 0) {
			assert_int_equal(variation_recorded_end(&recorded), 0);
			assert_int_equal(variation_listing_make_recorded(&listing, &recorded, true),
					 0);
			for (size_t i = 0; i < listing.row_count; i++)
				assert_true(listing.rows[i].net <= listing.rows[i].times->total);
			variation_listing_deinit(&listing);
		}
		variation_recorded_deinit(&recorded);
		heal(&builder, &before);
		free_times(&times);
	}
	assert_in_range(refused, ROUNDS / 10, ROUNDS - 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bursts_round_trip),
		cmocka_unit_test(test_rejects_damaged_bursts),
		cmocka_unit_test(test_times_round_trip),
		cmocka_unit_test(test_rejects_damaged_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
