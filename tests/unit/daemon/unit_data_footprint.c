// SPDX-License-Identifier: GPL-2.0-only
/* Footprints: sketches of random accesses with known sets, and the estimates made from them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/machine/data_footprint.h"
#include "daemon/collect/data_spaces.h"
#include "daemon/collect/footprint_recording.h"
#include "daemon/collect/footprint_store.h"
#include "daemon/collect/region_store.h"
#include "kmod/uapi/dcpi_uapi.h"

#define LINE FOOTPRINT_LINE_BYTES
#define BASE UINT64_C(0x7f1234560000)

static const uint64_t cache_bytes[3] = {32768, 1 << 20, 1 << 25};
static const struct data_caches caches = {{32768, 1 << 20, 1 << 25}, LINE, FOOTPRINT_PAGE_BYTES};

/* splitmix64 */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* One image's footprints as they would be read back from the database. */
struct read_back {
	struct data_footprint footprints[8];
	size_t count;
};

static struct data_extent extent_of(const uint64_t *row, double samples)
{
	return data_extent_estimate(samples,
				    &(struct data_extent_counts){
					    .distinct = (double)row[PROFILE_DISTINCT_ALL],
					    .kept = (double)row[PROFILE_DISTINCT_KEPT],
					    .once = (double)row[PROFILE_DISTINCT_ONCE],
					    .twice = (double)row[PROFILE_DISTINCT_TWICE],
					    .compared = (double)row[PROFILE_DISTINCT_COMPARED],
					    .equal = (double)row[PROFILE_DISTINCT_EQUAL],
				    });
}

static int take(void *context, uint32_t image, const struct footprint *const *footprints,
		size_t count)
{
	struct footprint_recording recording = {.count = 0};
	struct read_back *ret = context;

	assert_int_equal(image, 7);
	assert_int_equal(footprint_recording_make(&recording, footprints, count, cache_bytes), 0);
	ret->count = recording.count;
	for (size_t i = 0; i < recording.count; i++) {
		const uint64_t *row = &recording.rows[i * PROFILE_ACCESS_COLUMNS];
		double samples = (double)row[PROFILE_ACCESS_SAMPLES];

		ret->footprints[i] = (struct data_footprint){
			.address = row[PROFILE_ACCESS_OFFSET],
			.samples = samples,
			.stack_share = (double)row[PROFILE_ACCESS_STACK] / samples,
			.stride = profile_signed_decode(row[PROFILE_ACCESS_STRIDE]),
			.lines = extent_of(&row[PROFILE_ACCESS_LINES], samples),
			.pages = extent_of(&row[PROFILE_ACCESS_PAGES], samples),
		};
	}
	/* Nothing that is stored is an address, or has as many bits as one. */
	for (size_t i = 0; i < recording.count * PROFILE_ACCESS_COLUMNS; i++)
		assert_true(recording.rows[i] < UINT64_C(1) << 32);
	footprint_recording_deinit(&recording);
	return 0;
}

/* @samples accesses at random to @lines lines */
static struct data_footprint random_accesses(uint64_t lines, uint64_t samples, uint64_t seed)
{
	struct footprint_store *store = footprint_store_create();
	struct read_back read = {.count = 0};

	assert_non_null(store);
	for (uint64_t i = 0; i < samples; i++)
		footprint_store_add(store, 7,
				    &(struct footprint_access){
					    .offset = 0x1234,
					    .address = BASE + random_next(&seed) % lines * LINE,
					    .space = 1,
				    });
	assert_int_equal(footprint_store_images(store, take, &read), 0);
	assert_int_equal(read.count, 1);
	assert_int_equal(read.footprints[0].samples, samples);
	footprint_store_destroy(store);
	return read.footprints[0];
}

static void test_resident_set_is_known_to_be_resident(void **unused)
{
	struct data_footprint footprint = random_accesses(64, 5000, 1);

	(void)unused;
	assert_true(footprint.lines.unseen < 0.001);
	assert_true(footprint.lines.even <= 64 && footprint.lines.even > 50);
	assert_true(data_footprint_bytes(&footprint, &caches) <= 64 * LINE);
	assert_true(data_footprint_misses(&footprint, &caches, cache_bytes[0]) == 0);
	/* A sketch that keeps all values knows how many there are. */
	for (uint64_t seed = 0; seed < 100; seed++) {
		footprint = random_accesses(DISTINCT_SKETCH_KEPT, 5000, seed);
		assert_int_equal(footprint.lines.seen, DISTINCT_SKETCH_KEPT);
	}
}

static void test_large_set_cannot_be_served_by_small_caches(void **unused)
{
	uint64_t lines = (UINT64_C(64) << 20) / LINE;
	struct data_footprint footprint = random_accesses(lines, 20000, 2);

	(void)unused;
	assert_true(data_footprint_misses(&footprint, &caches, cache_bytes[0]) > 0.9);
	assert_true(data_footprint_misses(&footprint, &caches, cache_bytes[1]) > 0.7);
	/* Half of the set fits the third cache, so half of the accesses may hit. */
	assert_true(data_footprint_misses(&footprint, &caches, cache_bytes[2]) < 0.5);
	assert_true(footprint.lines.even < (double)lines);
	assert_true(footprint.lines.unseen > 0.9);
}

/* Threads @a and @b, on CPUs of these numbers, access words of a line in turn. */
static void share_line(struct footprint_store *store, uint32_t a, uint32_t b, uint64_t step_ns)
{
	for (uint64_t i = 0; i < 100; i++) {
		uint32_t thread = i % 2 == 0 ? a : b;

		footprint_store_add(store, 7,
				    &(struct footprint_access){
					    .offset = i % 2 == 0 ? 0x100 : 0x200,
					    .address = BASE + (i % 2) * 8,
					    .space = 1,
					    .thread = thread,
					    .cpu = thread,
					    .time_ns = i * step_ns,
				    });
	}
}

static int take_sharing(void *context, uint32_t image, const struct footprint *const *footprints,
			size_t count)
{
	struct footprint_recording recording = {.count = 0};
	uint64_t *ret = context;

	assert_int_equal(image, 7);
	assert_int_equal(count, 2);
	assert_int_equal(footprint_recording_make(&recording, footprints, count, cache_bytes), 0);
	memcpy(ret, recording.rows, PROFILE_ACCESS_COLUMNS * sizeof(*ret));
	for (size_t i = 0; i < recording.count * PROFILE_ACCESS_COLUMNS; i++)
		assert_true(recording.rows[i] < UINT64_C(1) << 32);
	footprint_recording_deinit(&recording);
	return 0;
}

static void test_threads_share_a_line(void **unused)
{
	static const struct {
		uint32_t b;
		uint64_t step_ns;
		bool shares;
	} cases[] = {{2, 1000000, true}, {1, 1000000, false}, {2, FOOTPRINT_SHARING_NS * 2, false}};
	uint64_t row[PROFILE_ACCESS_COLUMNS];

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct footprint_store *store = footprint_store_create();

		assert_non_null(store);
		share_line(store, 1, cases[i].b, cases[i].step_ns);
		assert_int_equal(footprint_store_images(store, take_sharing, row), 0);
		assert_int_equal(row[PROFILE_ACCESS_OFFSET], 0x100);
		assert_int_equal(row[PROFILE_ACCESS_SHARED], cases[i].shares ? 49 : 0);
		assert_int_equal(row[PROFILE_ACCESS_PARTNER], cases[i].shares ? 0x201 : 0);
		assert_int_equal(row[PROFILE_ACCESS_PARTNER_BYTE], cases[i].shares ? 8 : 0);
		assert_int_equal(row[PROFILE_ACCESS_OWN_BYTE], 0);
		/* Nothing is remembered over the end of an epoch. */
		footprint_store_clear(store);
		share_line(store, 1, 1, 1000000);
		assert_int_equal(footprint_store_images(store, take_sharing, row), 0);
		assert_int_equal(row[PROFILE_ACCESS_SHARED], 0);
		footprint_store_destroy(store);
	}
}

/* Bounds hold, and estimates are near, for many sizes and numbers of samples. */
static void test_estimates_hold_for_uniform_sets(void **unused)
{
	unsigned int trials = 0, above = 0, high = 0, near = 0;

	(void)unused;
	for (uint64_t lines = 16; lines <= 1 << 20; lines *= 4) {
		for (uint64_t samples = 200; samples <= 20000; samples *= 10) {
			struct data_footprint f =
				random_accesses(lines, samples, lines * 31 + samples);
			double true_lines = (double)lines;

			trials++;
			above += f.lines.even > true_lines;
			high += f.lines.least > 1.4 * true_lines;
			near += f.lines.likely > true_lines / 2 && f.lines.likely < 2 * true_lines;
		}
	}
	/* The sketch of 64 values has an error of an eighth. */
	assert_true(above <= trials / 8);
	assert_true(high <= trials / 8);
	assert_true(near >= trials / 2);
}

/* Most accesses to few lines: they may hit, although there are many lines. */
static void test_hot_lines_are_not_denied(void **unused)
{
	struct footprint_store *store = footprint_store_create();
	struct read_back read = {.count = 0};
	uint64_t seed = 3;

	(void)unused;
	for (int i = 0; i < 10000; i++) {
		uint64_t line = i % 10 != 0 ? random_next(&seed) % 16
					    : random_next(&seed) % (UINT64_C(1) << 20);

		footprint_store_add(store, 7,
				    &(struct footprint_access){.offset = 1,
							       .address = BASE + line * LINE,
							       .space = 1});
	}
	assert_int_equal(footprint_store_images(store, take, &read), 0);
	assert_true(data_footprint_misses(&read.footprints[0], &caches, cache_bytes[0]) <= 0.1);
	assert_true(read.footprints[0].lines.unseen >= 0.1);
	footprint_store_destroy(store);
}

static void test_stride_of_most_executions_is_found(void **unused)
{
	struct footprint_store *store = footprint_store_create();
	struct read_back read = {.count = 0};

	(void)unused;
	for (int i = 0; i < 1000; i++) {
		footprint_store_add(store, 7,
				    &(struct footprint_access){
					    .offset = 1,
					    .address = BASE + (uint64_t)i * 4096,
					    .space = 1,
					    .has_stride = true,
					    .stride = i % 10 == 0 ? -i : -16,
				    });
		footprint_store_add(store, 7,
				    &(struct footprint_access){
					    .offset = 2,
					    .address = BASE + (uint64_t)i * 4096,
					    .space = 1,
					    .has_stride = true,
					    .stride = i * 64,
				    });
	}
	assert_int_equal(footprint_store_images(store, take, &read), 0);
	assert_int_equal(read.count, 2);
	assert_int_equal(read.footprints[0].stride, -16);
	/* Distances that depend on data stay in the daemon. */
	assert_int_equal(read.footprints[1].stride, 0);
	footprint_store_destroy(store);
}

static void test_equal_addresses_of_two_processes_are_different_data(void **unused)
{
	struct footprint_store *store = footprint_store_create();
	struct read_back read = {.count = 0};

	(void)unused;
	for (int i = 0; i < 100; i++)
		footprint_store_add(store, 7,
				    &(struct footprint_access){.offset = 1,
							       .address = BASE,
							       .space = (uint64_t)(i % 2)});
	assert_int_equal(footprint_store_images(store, take, &read), 0);
	assert_int_equal(read.footprints[0].lines.seen, 2);
	footprint_store_destroy(store);
}

static int count_all(void *context, uint32_t image, const struct footprint *const *footprints,
		     size_t count)
{
	size_t *total = context;

	(void)image;
	for (size_t i = 1; i < count; i++)
		assert_true(footprints[i - 1]->offset < footprints[i]->offset);
	*total += count;
	return 0;
}

static int find_hot(void *context, uint32_t image, const struct footprint *const *footprints,
		    size_t count)
{
	(void)image;
	for (size_t i = 0; i < count; i++) {
		if (footprints[i]->offset == 1)
			*(uint64_t *)context = footprints[i]->samples;
	}
	return 0;
}

static void test_flood_of_instructions_does_not_evict_a_hot_one(void **unused)
{
	struct footprint_store *store = footprint_store_create();
	size_t total = 0, bytes;
	uint64_t hot = 0;

	(void)unused;
	for (uint64_t i = 0; i < 20 * FOOTPRINT_STORE_MAX; i++) {
		footprint_store_add(store, 7,
				    &(struct footprint_access){.offset = 2 + i, .address = i});
		if (i % 64 == 0)
			footprint_store_add(store, 7,
					    &(struct footprint_access){.offset = 1, .address = i});
	}
	assert_int_equal(footprint_store_images(store, count_all, &total), 0);
	assert_int_equal(total, FOOTPRINT_STORE_MAX);
	assert_int_equal(footprint_store_images(store, find_hot, &hot), 0);
	assert_int_equal(hot, 20 * FOOTPRINT_STORE_MAX / 64);
	assert_true(footprint_store_dropped(store) >= 18 * FOOTPRINT_STORE_MAX);
	bytes = footprint_store_bytes(store);
	assert_true(bytes < 6 << 20);
	footprint_store_clear(store);
	total = 0;
	assert_int_equal(footprint_store_images(store, count_all, &total), 0);
	assert_int_equal(total, 0);
	footprint_store_destroy(store);
}

/* A program and a library, each with code, data and .bss, as the kernel lists them. */
static const char mappings[] =
	"555555554000-555555555000 r--p 00000000 08:01 11       /usr/bin/program\n"
	"555555555000-555555560000 r-xp 00001000 08:01 11       /usr/bin/program\n"
	"555555560000-555555561000 rw-p 0000c000 08:01 11       /usr/bin/program\n"
	"555555561000-555555570000 rw-p 00000000 00:00 0 \n"
	"555555570000-555555580000 rw-p 00000000 00:00 0        [heap]\n"
	"7f0000000000-7f0000021000 rw-p 00000000 00:00 0 \n"
	"7f0000021000-7f0000030000 r--p 00000000 08:01 12       /usr/lib/locale/C.utf8\n"
	"7f0000030000-7f0000031000 rw-s 00000000 00:05 13       /dev/zero (deleted)\n"
	"7f0000040000-7f0000041000 r--p 00000000 08:01 14       /lib/libc.so.6\n"
	"7f0000041000-7f0000050000 r-xp 00001000 08:01 14       /lib/libc.so.6\n"
	"7f0000050000-7f0000051000 rw-p 00010000 08:01 14       /lib/libc.so.6\n"
	"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0        [stack]\n"
	"7ffffffff000-7fffffffffff r--p 00000000 00:00 0        [vvar]\n";

static void test_regions_are_those_of_the_mappings(void **unused)
{
	static const struct {
		uint64_t address;
		enum profile_region region;
		uint64_t code;
	} cases[] = {
		{0x555555554010, PROFILE_REGION_IMAGE, 0x555555555000},
		{0x555555560008, PROFILE_REGION_IMAGE, 0x555555555000},
		{0x55555556fff8, PROFILE_REGION_IMAGE, 0x555555555000},
		{0x555555570000, PROFILE_REGION_HEAP, 0},
		{0x7f0000000000, PROFILE_REGION_ANONYMOUS, 0},
		{0x7f0000021000, PROFILE_REGION_FILE, 0},
		{0x7f0000030ff0, PROFILE_REGION_SHARED, 0},
		{0x7f0000035000, PROFILE_REGION_UNKNOWN, 0},
		{0x7f0000050000, PROFILE_REGION_IMAGE, 0x7f0000041000},
		{0x7ffffffde000, PROFILE_REGION_STACK, 0},
		{0x7ffffffff000, PROFILE_REGION_UNKNOWN, 0},
		{0, PROFILE_REGION_UNKNOWN, 0},
		{UINT64_MAX, PROFILE_REGION_UNKNOWN, 0},
	};
	struct data_spaces *spaces = data_spaces_create();

	(void)unused;
	assert_non_null(spaces);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct data_place place = data_spaces_read(spaces, mappings, cases[i].address);

		assert_int_equal(place.region, cases[i].region);
		assert_int_equal(place.code, cases[i].code);
	}
	/* This process, and one that cannot exist. */
	assert_int_equal(
		data_spaces_find(spaces, dcpi_tag((uint32_t)getpid(), 1, 0), (uintptr_t)mappings)
			.region,
		PROFILE_REGION_IMAGE);
	assert_int_equal(
		data_spaces_find(spaces, dcpi_tag(0x3ffffe, 1, 0), (uintptr_t)mappings).region,
		PROFILE_REGION_UNKNOWN);
	data_spaces_destroy(spaces);
}

/* struct regions_seen - sums over the recordings of two images */
struct regions_seen {
	uint64_t accesses[PROFILE_REGIONS];
	uint64_t nearest[PROFILE_REGIONS];
	uint64_t places;
	uint64_t negative;
	size_t images;
};

static int take_regions(void *context, uint32_t image, struct profile_recording *recording)
{
	struct regions_seen *seen = context;

	seen->images++;
	for (size_t i = 0; i < recording->tables[PROFILE_DATA_REGIONS].rows; i++) {
		const uint64_t *row =
			profile_recording_row(&recording->tables[PROFILE_DATA_REGIONS], i);

		assert_int_equal(image, row[PROFILE_DATA_REGION] == PROFILE_REGION_IMAGE ? 9 : 7);
		seen->accesses[row[PROFILE_DATA_REGION]] += row[PROFILE_DATA_ACCESSES];
		seen->nearest[row[PROFILE_DATA_REGION]] += row[PROFILE_DATA_NEAREST];
		for (int c = 0; c < PROFILE_DATA_REGION_COLUMNS; c++)
			assert_true(row[c] < UINT64_C(1) << 32);
	}
	for (size_t i = 0; i < recording->tables[PROFILE_DATA_PLACES].rows; i++) {
		const uint64_t *row =
			profile_recording_row(&recording->tables[PROFILE_DATA_PLACES], i);

		seen->places += row[PROFILE_PLACE_ACCESSES];
		if (profile_signed_decode(row[PROFILE_PLACE_POSITION]) < 0)
			seen->negative += row[PROFILE_PLACE_ACCESSES];
	}
	return 0;
}

static void test_accesses_to_regions_are_counted_and_places_selected(void **unused)
{
	struct region_store *store = region_store_create();
	struct regions_seen seen = {.images = 0};
	uint64_t random = 3;

	(void)unused;
	assert_non_null(store);
	for (int64_t i = 0; i < 10 * REGION_PLACES; i++) {
		bool is_static = random_next(&random) % 2 == 0;
		struct region_access access = {
			.image = is_static ? 9 : 7,
			.region = is_static ? PROFILE_REGION_IMAGE : PROFILE_REGION_HEAP,
			.position = random_next(&random) % 4 == 0 ? -800 : 800,
			.address = BASE + (uint64_t)i,
			.nearest = i % 2 == 0,
		};

		region_store_add(store, &access);
	}
	assert_int_equal(region_store_images(store, take_regions, &seen), 0);
	assert_int_equal(seen.images, 2);
	assert_int_equal(seen.accesses[PROFILE_REGION_IMAGE] + seen.accesses[PROFILE_REGION_HEAP],
			 10 * REGION_PLACES);
	assert_int_equal(seen.nearest[PROFILE_REGION_IMAGE] + seen.nearest[PROFILE_REGION_HEAP],
			 5 * REGION_PLACES);
	/* A quarter of all, with a standard deviation of 14. */
	assert_int_equal(seen.places, REGION_PLACES);
	assert_true(seen.negative > REGION_PLACES / 4 - 70 &&
		    seen.negative < REGION_PLACES / 4 + 70);
	region_store_clear(store);
	seen = (struct regions_seen){.images = 0};
	assert_int_equal(region_store_images(store, take_regions, &seen), 0);
	assert_int_equal(seen.images, 0);
	for (uint32_t i = 0; i < 2 * REGION_STORE_MAX; i++)
		region_store_add(store, &(struct region_access){.image = i});
	assert_int_equal(region_store_dropped(store), REGION_STORE_MAX);
	region_store_destroy(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads_share_a_line),
		cmocka_unit_test(test_resident_set_is_known_to_be_resident),
		cmocka_unit_test(test_large_set_cannot_be_served_by_small_caches),
		cmocka_unit_test(test_estimates_hold_for_uniform_sets),
		cmocka_unit_test(test_hot_lines_are_not_denied),
		cmocka_unit_test(test_stride_of_most_executions_is_found),
		cmocka_unit_test(test_equal_addresses_of_two_processes_are_different_data),
		cmocka_unit_test(test_flood_of_instructions_does_not_evict_a_hot_one),
		cmocka_unit_test(test_regions_are_those_of_the_mappings),
		cmocka_unit_test(test_accesses_to_regions_are_counted_and_places_selected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
