// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times of paths: buckets, files (including damaged ones), the order of paths, and the overlap of
 * two runs.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "instrument/runtime/variation_slow.h"
#include "instrument/variation/variation_listing.h"
#include "instrument/variation/variation_profile.h"
#include "lib/error.h"

#define PATHS 20

static void make_procedure(struct paths_procedure *procedure, uint64_t address)
{
	*procedure = (struct paths_procedure){.address = address, .name = strdup("p")};
	procedure->nodes = calloc(1, sizeof(*procedure->nodes));
	procedure->nodes[0].address = address;
	procedure->nodes[0].bytes = 4;
	procedure->nodes[0].insns = 2;
	procedure->graph = (struct path_graph){
		.path_edges = calloc(PATHS, sizeof(struct path_edge)),
		.first = calloc(2, sizeof(uint32_t)),
		.starts = calloc(1, sizeof(struct path_start)),
		.node_count = 1,
		.path_edge_count = PATHS,
		.start_count = 1,
		.count = PATHS,
	};
	procedure->graph.first[1] = PATHS;
	for (uint32_t i = 0; i < PATHS; i++)
		procedure->graph.path_edges[i] =
			(struct path_edge){.kind = PATH_END, .to = PATH_NONE, .value = i};
}

/* Make procedures of one node with many outgoing edges: path i is edge i. */
static void make_map(struct paths_map *map)
{
	*map = (struct paths_map){
		.image = 42,
		.path = strdup("/bin/x"),
		.build_id = strdup("ab"),
		.metric = strdup("cycles"),
		.timed = true,
		.checks = 10,
		.procedures = calloc(2, sizeof(struct paths_procedure)),
		.procedure_count = 2,
	};
	assert_non_null(map->procedures);
	make_procedure(&map->procedures[0], 0x1000);
	make_procedure(&map->procedures[1], 0x2000);
}

static void put_time(struct variation_area *area, uint32_t path, uint64_t time)
{
	struct variation_entry *entry = &area->entries[path];

	entry->key = UINT64_C(1) << 32 | path;
	if (time >= VARIATION_LONG) {
		entry->interrupted++;
		entry->interrupted_total += time;
		return;
	}
	entry->least = entry->count == 0 || time < entry->least ? time : entry->least;
	entry->count++;
	entry->total += time;
	entry->buckets[variation_bucket(time)]++;
}

/* Write a file as a program would. */
static void write_file(const char *path, const struct variation_area *area)
{
	static uint8_t page[PROFILE_LAYOUT_PAGE];
	struct profile_layout_header *header = (struct profile_layout_header *)page;
	FILE *file = fopen(path, "w");

	*header = (struct profile_layout_header){
		.magic = PROFILE_LAYOUT_MAGIC,
		.version = PROFILE_LAYOUT_VERSION,
		.image = 42,
		.block_bytes = sizeof(*area),
		.area_bytes = sizeof(*area),
		.mode = PROFILE_LAYOUT_VARIATION,
		.blocks = 1,
	};
	assert_non_null(file);
	assert_int_equal(fwrite(page, sizeof(page), 1, file), 1);
	assert_int_equal(fwrite(area, sizeof(*area), 1, file), 1);
	assert_int_equal(fclose(file), 0);
}

static int read_back(struct variation_profile *profile, const struct paths_map *map,
		     const struct variation_area *area)
{
	char path[] = "/tmp/unit_path_times.XXXXXX";
	struct error err;
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	close(fd);
	write_file(path, area);
	r = variation_profile_add(profile, map, path, &err);
	unlink(path);
	return r;
}

static struct variation_area *new_area(void)
{
	struct variation_area *area = calloc(1, sizeof(*area));

	assert_non_null(area);
	return area;
}

static void test_buckets(void **state)
{
	(void)state;
	assert_true(variation_bucket(VARIATION_LONG - 1) == VARIATION_BUCKETS - 1);
	for (uint64_t time = 0; time < VARIATION_LONG; time++) {
		uint32_t bucket = variation_bucket(time);

		assert_true(bucket < VARIATION_BUCKETS);
		assert_true(variation_bucket_start(bucket) <= time);
		assert_true(time < variation_bucket_start(bucket + 1));
	}
}

/* The runtime's counters of checks are next to the thread's word. */
static __thread int32_t
	slot[PROFILE_LAYOUT_SLOT_CHECKS / sizeof(int32_t) + PROFILE_LAYOUT_COUNTERS];

/* @flags: flags of the processor during the call */
static void record_path(struct variation_area *area, uint32_t path, uint64_t time, uint64_t flags)
{
	struct profile_layout_state state = {.parameters = {[VARIATION_CHECKS] = 100}};
	struct runtime_memory memory = {.area = area};
	struct runtime_frame frame = {.argument = 1, .what = VARIATION_OPERATION_END << 16};
	uint64_t thread;

	__asm__("movq %%fs:0, %0" : "=r"(thread));
	state.slot = (int64_t)((uint64_t)slot - thread);
	area->procedure = 1;
	area->path = path;
	area->began = 1000;
	area->ended = 1000 + time;
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | flags);
	variation_slow(&state, &memory, &frame);
	__builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~flags);
}

static void record(struct variation_area *area, uint64_t time, uint64_t flags)
{
	record_path(area, 3, time, flags);
}

/* Entries are stored one after another, and paths without room are counted. */
static void test_capacity(void **state)
{
	const uint32_t more = 50;
	struct variation_area *area = new_area();
	uint64_t seed = 1;

	(void)state;
	area->seed = 1;
	for (uint32_t i = 0; i < VARIATION_ENTRIES + more; i++)
		record_path(area, i * 7, 40 + i, 0);
	assert_int_equal(area->used, VARIATION_ENTRIES);
	assert_int_equal(area->overflow, more);
	for (uint32_t i = 0; i < VARIATION_ENTRIES; i++)
		assert_int_equal(area->entries[i].key, UINT64_C(1) << 32 | i * 7);
	for (int round = 0; round < 1000; round++) {
		uint32_t path = (uint32_t)unit_random(&seed) % VARIATION_ENTRIES;
		struct variation_entry *entry = &area->entries[path];
		uint64_t count = entry->count;

		record_path(area, path * 7, 50 + path, 0);
		assert_int_equal(entry->count, count + 1);
		assert_int_equal(entry->least, 40 + path);
	}
	assert_int_equal(area->lost, 0);
	assert_int_equal(area->overflow, more);
	free(area);
}

/* Timing a path of a few cycles overflows a 32-bit count after a few minutes. */
static void test_many_times(void **state)
{
	struct variation_area *area = new_area();
	struct variation_profile profile = {0};
	struct variation_entry *entry = area->entries;
	struct paths_map map;

	(void)state;
	make_map(&map);
	area->seed = 1;
	record(area, 40, 0);
	while (entry->key == 0)
		entry++;
	entry->count = entry->buckets[variation_bucket(40)] = UINT32_MAX;
	entry->total = UINT64_C(40) * UINT32_MAX;
	record(area, 40, 0);
	assert_int_equal(read_back(&profile, &map, area), 0);
	assert_int_equal(profile.damaged, 0);
	assert_int_equal(profile.count, 1);
	assert_int_equal(profile.paths[0].count, UINT64_C(1) << 32);
	variation_profile_deinit(&profile);
	paths_map_deinit(&map);
	free(area);
}

#define TRAP_FLAG 0x100
#define MOMENTS 64

static const struct variation_entry *watched;
static struct variation_entry moments[MOMENTS];
static size_t moment_count;

/* Record the current state if it is new. */
static void look(int number)
{
	(void)number;
	if (moment_count > 0 && (moment_count == MOMENTS || memcmp(&moments[moment_count - 1],
								   watched, sizeof(*watched)) == 0))
		return;
	moments[moment_count++] = *watched;
}

/* The area is readable at any instruction: a program may be killed, and read while it runs. */
static void test_any_time(void **state)
{
	const struct sigaction action = {.sa_handler = look}, usual = {.sa_handler = SIG_DFL};
	struct variation_area *area = new_area();
	struct paths_map map;

	(void)state;
	make_map(&map);
	area->seed = 1;
	record(area, 40, 0);
	for (watched = area->entries; watched->key == 0;)
		watched++;
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
	for (int i = 0; i < 3; i++)
		record(area, 40 - (uint64_t)i, TRAP_FLAG);
	record(area, VARIATION_LONG, TRAP_FLAG);
	assert_int_equal(sigaction(SIGTRAP, &usual, NULL), 0);
	assert_in_range(moment_count, 12, MOMENTS - 1);
	for (size_t i = 0; i < moment_count; i++) {
		struct variation_profile profile = {0};

		memset(area, 0, sizeof(*area));
		area->entries[0] = moments[i];
		assert_int_equal(read_back(&profile, &map, area), 0);
		assert_int_equal(profile.damaged, 0);
		assert_int_equal(profile.count, 1);
		assert_in_range(profile.paths[0].count, 1, 4);
		variation_profile_deinit(&profile);
	}
	paths_map_deinit(&map);
	free(area);
}

static void test_order(void **state)
{
	struct variation_area *area = new_area();
	struct variation_profile profile = {0};
	struct variation_listing listing;
	struct paths_map map;
	uint64_t steps[VARIATION_STEPS], sum = 0;

	(void)state;
	make_map(&map);
	/* Path 3 varies, 5 is frequent and slow, 7 was timed once, 9 was interrupted. */
	for (int i = 0; i < 10; i++) {
		put_time(area, 3, i == 0 ? 20 : 320);
		put_time(area, 5, 1000);
		put_time(area, 5, 1001);
	}
	/* Paths of the other procedure, before and after these. */
	for (int i = 0; i < 3; i++) {
		put_time(area, 0, 60);
		put_time(area, 15, 61);
	}
	area->entries[0].key = UINT64_C(2) << 32 | 2;
	area->entries[15].key = UINT64_C(2) << 32 | 1;
	put_time(area, 7, 500);
	put_time(area, 9, 40);
	put_time(area, 9, VARIATION_LONG + 5);
	put_time(area, 9, 41);
	area->lost = 3;
	assert_int_equal(read_back(&profile, &map, area), 0);
	assert_int_equal(read_back(&profile, &map, area), 0); /* another process */
	assert_int_equal(profile.damaged, 0);
	assert_int_equal(profile.lost, 6);
	assert_int_equal(variation_listing_make(&listing, &map, &profile, false), 0);
	assert_int_equal(listing.row_count, 6);
	assert_int_equal(listing.rows[0].times->number, 3);
	assert_int_equal(listing.rows[0].net, 18 * 300);
	assert_int_equal(listing.rows[0].times->least, 20);
	assert_int_equal(listing.rows[0].by_count, 2);
	assert_int_equal(listing.rows[0].by_time, 2);
	assert_int_equal(listing.rows[1].times->number, 5);
	assert_int_equal(listing.rows[1].net, 20);
	assert_int_equal(listing.rows[1].by_time, 1);
	assert_int_equal(listing.rows[4].times->procedure, 1);
	assert_int_equal(listing.rows[4].path->nodes[0]->address, 0x2000);
	assert_int_equal(listing.rows[5].times->number, 2);
	assert_int_equal(listing.interrupted, 2);
	assert_int_equal(listing.interrupted_total, 2 * (VARIATION_LONG + 5));
	for (size_t i = 0; i < listing.row_count; i++) {
		const struct variation_row *row = &listing.rows[i];

		assert_int_equal(row->net + row->times->count * row->times->least,
				 row->times->total);
		sum += row->net;
	}
	assert_int_equal(listing.net, sum);
	variation_listing_steps(&listing.rows[0], steps);
	assert_int_equal(steps[0], 2);
	assert_int_equal(steps[6], 18); /* 256 and up */
	variation_listing_deinit(&listing);
	variation_profile_deinit(&profile);
	paths_map_deinit(&map);
	free(area);
}

/* Time each path twice; the second time is @above(path) longer. */
static void make_run(struct variation_profile *profile, struct variation_listing *listing,
		     const struct paths_map *map, uint64_t (*above)(uint32_t path))
{
	struct variation_area *area = new_area();

	*profile = (struct variation_profile){0};
	for (uint32_t i = 0; i < PATHS; i++) {
		put_time(area, i, 100);
		put_time(area, i, 100 + above(i));
	}
	assert_int_equal(read_back(profile, map, area), 0);
	assert_int_equal(variation_listing_make(listing, map, profile, false), 0);
	free(area);
}

static uint64_t rising(uint32_t path)
{
	return 10 * path;
}

static uint64_t falling(uint32_t path)
{
	return 10 * (PATHS - 1 - path);
}

static void test_stability(void **state)
{
	struct variation_profile profiles[2];
	struct variation_listing listings[2];
	struct variation_stability same, opposite;
	struct paths_map map;

	(void)state;
	make_map(&map);
	make_run(&profiles[0], &listings[0], &map, rising);
	make_run(&profiles[1], &listings[1], &map, falling);
	assert_int_equal(variation_stability_find(&same, &listings[0], &listings[0]), 0);
	assert_int_equal(same.count, VARIATION_TOP);
	assert_int_equal(same.common, VARIATION_TOP);
	assert_true(fabs(same.correlation - 1) < 1e-9);
	assert_true(fabs(same.own[0] - same.other[0]) < 1e-9);
	assert_int_equal(variation_stability_find(&opposite, &listings[0], &listings[1]), 0);
	assert_int_equal(opposite.common, 0);
	assert_int_equal(opposite.both, PATHS);
	assert_true(fabs(opposite.correlation + 1) < 1e-9);
	/* Paths 0 .. 9 are the first ones of the other run: 450 of the run's 4000 + 1900 cycles. */
	assert_true(fabs(opposite.other[0] - 450.0 / 5900) < 1e-9);
	assert_true(fabs(opposite.own[0] - 1450.0 / 5900) < 1e-9);
	for (int i = 0; i < 2; i++) {
		variation_listing_deinit(&listings[i]);
		variation_profile_deinit(&profiles[i]);
	}
	paths_map_deinit(&map);
}

/* For any contents of a file, accepted times are possible, and the rest is counted. */
static void test_damage(void **state)
{
	struct variation_area *area = new_area();
	struct paths_map map;
	uint64_t seed = 1;

	(void)state;
	make_map(&map);
	for (int round = 0; round < 200; round++) {
		struct variation_profile profile = {0};
		struct variation_listing listing;

		memset(area, 0, sizeof(*area));
		for (uint32_t i = 0; i < PATHS; i++) {
			put_time(area, i, 100 + i);
			put_time(area, i, 200);
		}
		for (int damage = 0; damage < 5; damage++) {
			uint64_t *words = (uint64_t *)&area->entries[unit_random(&seed) % PATHS];

			words[unit_random(&seed) % (sizeof(area->entries[0]) / 8)] =
				unit_random(&seed) >> unit_random(&seed) % 64;
		}
		assert_int_equal(read_back(&profile, &map, area), 0);
		assert_in_range(profile.count + profile.damaged, PATHS - 5, PATHS);
		assert_int_equal(variation_listing_make(&listing, &map, &profile, false), 0);
		for (size_t i = 0; i < listing.row_count; i++)
			assert_true(listing.rows[i].net <= listing.rows[i].times->total);
		variation_listing_deinit(&listing);
		variation_profile_deinit(&profile);
	}
	paths_map_deinit(&map);
	free(area);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets),	   cmocka_unit_test(test_capacity),
		cmocka_unit_test(test_many_times), cmocka_unit_test(test_any_time),
		cmocka_unit_test(test_order),	   cmocka_unit_test(test_stability),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
