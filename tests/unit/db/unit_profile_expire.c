// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gradual expiry of a database while it is written and read: each epoch adds up after each step,
 * remaining data does not change, and the file shrinks.
 */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>
#include <sqlite3.h>

#define EPOCHS 6
#define IMAGES 40
#define PROCESSES 12
#define OFFSETS 300
#define SECOND 1000000000LL

static struct error err;

static int64_t add_image(struct profile_writer *writer, int64_t epoch, int number)
{
	char path[64];
	struct profile_image image = {
		.kind = number == 0 ? PROFILE_IMAGE_UNKNOWN : PROFILE_IMAGE_FILE, .path = path};
	int64_t id = 0;

	/* Half of the images occur in one epoch only. */
	snprintf(path, sizeof(path), "/usr/bin/%d-%d", number, number % 2 ? (int)epoch : 0);
	assert_ok(profile_writer_image(writer, &image, &id, &err));
	return id;
}

/* Fill a profile. The unknown image has one offset, and reasons. */
static uint64_t fill_profile(struct profile_writer *writer, int64_t image, int64_t pid,
			     bool unknown, uint64_t *seed)
{
	struct profile_sample samples[OFFSETS];
	size_t count = unknown ? 1 : OFFSETS, i;
	uint64_t offset = 0, sum = 0;

	for (i = 0; i < count; i++) {
		offset += 1 + unit_random(seed) % 5000;
		samples[i].offset = unknown ? 0 : offset;
		samples[i].count = 1 + unit_random(seed) % 100;
		sum += samples[i].count;
	}
	assert_ok(profile_writer_add(writer, image, 0, pid, samples, count, &err));
	return sum;
}

static void fill_epoch(struct profile_writer *writer, int number, uint64_t *seed)
{
	const struct profile_label label = {.number = 1, .unit = "a.service", .container = ""};
	const struct profile_edge edge = {4, 8, 3};
	struct profile_epoch epoch = model_epoch(0);
	struct profile_counter counters[] = {{"loss", "ring_full", 7}, {"unknown", "process", 0}};
	uint64_t samples = 0;
	int image, pid;

	epoch.start_ns = (1 + 10 * number) * SECOND;
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_label(writer, &label, &err));
	for (image = 0; image < IMAGES; image++) {
		int64_t id = add_image(writer, number, image);

		for (pid = -1; pid < (image % 8 == 0 ? PROCESSES : 0); pid++) {
			uint64_t sum = fill_profile(writer, id, pid, image == 0, seed);

			samples += sum;
			counters[1].count += image == 0 ? sum : 0;
		}
		if (image > 0)
			assert_ok(profile_writer_share(writer, id, 0, 1, 5, &err));
		assert_ok(profile_writer_edges(writer, id, id, 0, &edge, 1, &err));
	}
	assert_ok(profile_writer_totals(writer, (9 + 10 * number) * SECOND, samples + 7, counters,
					2, &err));
	assert_ok(profile_writer_commit(writer, &err));
}

/* Query one number over a separate connection. */
static int64_t ask(const char *path, const char *sql)
{
	sqlite3_stmt *statement;
	sqlite3 *handle;
	int64_t number;

	assert_int_equal(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(handle);
	return number;
}

static void assert_adds_up(const char *path)
{
	assert_int_equal(ask(path,
			     "SELECT count(*) FROM epoch WHERE interrupts <> "
			     "(SELECT ifnull(sum(samples), 0) FROM profile WHERE epoch = id) + "
			     "(SELECT ifnull(sum(count), 0) FROM counter WHERE epoch = id AND "
			     "counter_group = 'loss')"),
			 0);
	assert_int_equal(ask(path,
			     "SELECT count(*) FROM epoch WHERE (SELECT ifnull(sum(samples), 0) "
			     "FROM profile JOIN image ON image.id = image WHERE epoch = epoch.id "
			     "AND kind = 5) <> (SELECT ifnull(sum(count), 0) FROM counter WHERE "
			     "epoch = epoch.id AND counter_group = 'unknown')"),
			 0);
	/* 3 per image and epoch; 40 images. */
	assert_int_equal(ask(path,
			     "SELECT count(*) FROM epoch WHERE 120 <> "
			     "(SELECT ifnull(sum(total), 0) FROM edge WHERE epoch = epoch.id) + "
			     "(SELECT ifnull(sum(count), 0) FROM counter WHERE epoch = epoch.id "
			     "AND name = 'edges_expired') AND open = 0"),
			 0);
}

static int profile_check(void *context, const struct profile *profile)
{
	uint64_t *sum = context;

	*sum += profile->total;
	return 0;
}

/* Check that every remaining blob can be read, and return the samples. */
static uint64_t read_all(const char *path)
{
	struct profile_reader *reader = NULL;
	uint64_t sum = 0;

	assert_ok(profile_reader_open(&reader, path, &err));
	assert_ok(profile_reader_profiles(reader, NULL, profile_check, &sum, &err));
	profile_reader_close(reader);
	return sum;
}

/* @steps: number of steps; @largest: the largest of them, in bytes of used pages */
static unsigned int forget(struct profile_writer *writer, const char *path, int64_t before_ns,
			   uint64_t bytes_max, unsigned int *steps, uint64_t *largest)
{
	const struct profile_limits limits = {before_ns, bytes_max};
	struct profile_expired expired;
	unsigned int epochs = 0;
	uint64_t used = 0, stored = read_all(path), gone = 0;
	int more;

	*steps = 0;
	*largest = 0;
	do {
		more = profile_writer_expire(writer, &limits, &expired, &err);
		assert_in_range(more, 0, 1);
		if (used > expired.used_bytes && used - expired.used_bytes > *largest)
			*largest = used - expired.used_bytes;
		used = expired.used_bytes;
		epochs += expired.epochs;
		gone += expired.samples;
		(*steps)++;
		assert_adds_up(path);
		assert_int_equal(read_all(path) + gone, stored);
	} while (more == 1);
	return epochs;
}

static void test_by_age(void **state)
{
	const char *path = path_of("age.db");
	struct profile_writer *writer = open_writer(path);
	unsigned int steps;
	uint64_t largest, seed = 3;
	int i;

	(void)state;
	for (i = 0; i < EPOCHS; i++)
		fill_epoch(writer, i, &seed);
	assert_int_equal(forget(writer, path, 9 * SECOND, 0, &steps, &largest), 0);
	assert_int_equal(forget(writer, path, 31 * SECOND + 1, 0, &steps, &largest), 3);
	assert_true(steps > 3 * 3);
	assert_int_equal(ask(path, "SELECT min(start_ns) FROM epoch"), 31 * SECOND);
	/* Only images used by no other epoch have been removed. */
	assert_int_equal(ask(path, "SELECT count(*) FROM image"), IMAGES / 2 + 3 * IMAGES / 2);
	assert_int_equal(ask(path, "SELECT count(*) FROM share"), 3 * (IMAGES - 1));
	assert_int_equal(ask(path, "SELECT count(*) FROM edge"), 3 * IMAGES);
	/* The current epoch is kept at any age. */
	assert_int_equal(forget(writer, path, INT64_MAX, 0, &steps, &largest), 2);
	assert_int_equal(ask(path, "SELECT count(*) FROM epoch"), 1);
	assert_int_equal(ask(path, "SELECT count(*) FROM host"), 1);
	profile_writer_close(writer);
	assert_int_equal(ask(path, "SELECT count(*) FROM pragma_integrity_check "
				   "WHERE integrity_check <> 'ok'"),
			 0);
}

/* The file shrinks to the requested size in small steps, and does not grow beyond it. */
static void test_by_size(void **state)
{
	const char *path = path_of("size.db");
	struct profile_writer *writer = open_writer(path);
	struct profile_limits limits = {0, 0};
	struct profile_expired expired;
	uint64_t largest, full, seed = 4;
	unsigned int steps;
	int i;

	(void)state;
	for (i = 0; i < 4 * EPOCHS; i++)
		fill_epoch(writer, i, &seed);
	assert_int_equal(profile_writer_expire(writer, &limits, &expired, &err), 0);
	full = expired.used_bytes;
	assert_int_equal(expired.file_bytes, full);
	limits.bytes_max = full / 2;
	assert_in_range(forget(writer, path, 0, full / 2, &steps, &largest), 2 * EPOCHS,
			2 * EPOCHS + 4);
	assert_true(largest < 512 << 10);
	assert_int_equal(profile_writer_expire(writer, &limits, &expired, &err), 0);
	/* A sixteenth and a few pages are spare. */
	assert_true(expired.file_bytes < full / 2 + (300 << 10));
	assert_false(expired.full);
	for (i = 0; i < 2 * EPOCHS; i++) {
		fill_epoch(writer, 4 * EPOCHS + i, &seed);
		expire_all(writer, 0, full / 2);
	}
	assert_int_equal(profile_writer_expire(writer, &limits, &expired, &err), 0);
	assert_true(expired.used_bytes <= full / 2);
	assert_true(expired.file_bytes < full / 2 + (600 << 10));
	/* The current epoch fills the file. */
	assert_true(expire_all(writer, 0, 1) > 0);
	limits.bytes_max = 1;
	assert_int_equal(profile_writer_expire(writer, &limits, &expired, &err), 0);
	assert_true(expired.full && expired.stuck);
	profile_writer_close(writer);
	assert_true(ask(path, "SELECT page_count * page_size FROM pragma_page_count, "
			      "pragma_page_size") <= (int64_t)expired.file_bytes);
}

/* Merges between steps find their images or add them again. */
static void test_during_merge(void **state)
{
	const struct profile_limits limits = {INT64_MAX, 0};
	const char *path = path_of("merging.db");
	struct profile_writer *writer = open_writer(path);
	struct profile_counter none[] = {{"loss", "ring_full", 7}};
	struct profile_expired expired;
	uint64_t seed = 5, merged, sum;
	int i, more;

	(void)state;
	for (i = 0; i < 3; i++)
		fill_epoch(writer, i, &seed);
	merged = (uint64_t)ask(path, "SELECT sum(samples) FROM profile WHERE epoch = 3");
	do {
		more = profile_writer_expire(writer, &limits, &expired, &err);
		assert_in_range(more, 0, 1);
		assert_ok(profile_writer_begin(writer, &err));
		for (i = 2; i < IMAGES; i += 5)
			merged +=
				fill_profile(writer, add_image(writer, i % 3, i), -1, false, &seed);
		assert_ok(profile_writer_totals(writer, 60 * SECOND, merged + 7, none, 1, &err));
		assert_ok(profile_writer_commit(writer, &err));
		assert_adds_up(path);
	} while (more == 1);
	sum = read_all(path);
	assert_int_equal(sum, merged);
	assert_int_equal(ask(path, "SELECT count(*) FROM epoch"), 1);
	profile_writer_close(writer);
}

/* Removing the current epoch removes its data from all tables, and no data of other epochs. */
static void test_current_epoch_is_rolled_back(void **state)
{
	static const char all[] =
		"SELECT (SELECT count(*) FROM epoch) + (SELECT count(*) FROM event) "
		"+ (SELECT count(*) FROM counter) + (SELECT count(*) FROM label) "
		"+ (SELECT count(*) FROM profile) + (SELECT count(*) FROM edge) "
		"+ (SELECT count(*) FROM share) + (SELECT count(*) FROM image) "
		"+ (SELECT count(*) FROM host)";
	const char *path = path_of("back.db");
	struct profile_writer *writer = open_writer(path);
	uint64_t seed = 8;
	int64_t before;

	(void)state;
	fill_epoch(writer, 0, &seed);
	before = ask(path, all);
	fill_epoch(writer, 1, &seed);
	assert_true(ask(path, all) > before);
	assert_ok(profile_writer_epoch_drop(writer, &err));
	assert_int_equal(ask(path, all), before);
	assert_int_equal(ask(path, "SELECT open FROM epoch"), 0);
	assert_adds_up(path);
	assert_int_equal(profile_writer_epoch_drop(writer, &err), -EINVAL);
	fill_epoch(writer, 2, &seed);
	assert_adds_up(path);
	profile_writer_close(writer);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_age),
		cmocka_unit_test(test_by_size),
		cmocka_unit_test(test_during_merge),
		cmocka_unit_test(test_current_epoch_is_rolled_back),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
