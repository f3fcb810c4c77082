// SPDX-License-Identifier: GPL-2.0-only
/* The memory of a merge is bounded, independent of its size and that of the database. */
#include "tests/fixtures/profile_db_fixture.h"

#include <sqlite3.h>
#include <sys/stat.h>

#define IMAGES 600
#define OFFSETS 6000
/* Bound of SQLite's page cache and its other memory, including statements. */
#define LIBRARY_BYTES_MAX (4 << 20)

static struct error err;

static void image_add(struct profile_writer *writer, int number, uint64_t *seed)
{
	static struct profile_sample samples[OFFSETS];
	char path[64];
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = path};
	uint64_t offset = 0;
	int64_t id = 0;
	size_t i;

	snprintf(path, sizeof(path), "/usr/lib/%d.so", number);
	assert_ok(profile_writer_image(writer, &image, &id, &err));
	for (i = 0; i < OFFSETS; i++) {
		offset += 4 + unit_random(seed) % 5000;
		samples[i] = (struct profile_sample){offset, 1 + unit_random(seed) % 100};
	}
	assert_ok(profile_writer_add(writer, id, 0, PROFILE_PID_ALL, samples, OFFSETS, &err));
}

/* Two merges: the first makes new profiles, the second adds to them. */
static void test_merge_uses_bounded_memory(void **state)
{
	struct profile_epoch epoch = model_epoch(0);
	const char *path = path_of("large");
	struct profile_writer *writer = NULL;
	uint64_t seed = 1;
	struct stat status;
	int merge, image;

	(void)state;
	assert_ok(profile_writer_open(&writer, path, &err));
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	sqlite3_memory_highwater(1);
	for (merge = 0; merge < 2; merge++) {
		assert_ok(profile_writer_begin(writer, &err));
		for (image = 0; image < IMAGES; image++)
			image_add(writer, image, &seed);
		assert_ok(profile_writer_commit(writer, &err));
		assert_in_range(sqlite3_memory_highwater(0), 1, LIBRARY_BYTES_MAX);
	}
	profile_writer_close(writer);
	/* The database is much larger than the bound. */
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_size > 2 * LIBRARY_BYTES_MAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge_uses_bounded_memory),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
