// SPDX-License-Identifier: GPL-2.0-only
/* Foreign and damaged files in place of profile databases are reported, or read correctly. */
#include "tests/fixtures/profile_db_merges.h"

#include <errno.h>
#include <sys/stat.h>

static void test_not_databases(void **state)
{
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text));
	write_file(path_of("text"), text, sizeof(text));
	write_file(path_of("empty"), "", 0);
	assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
	assert_int_equal(try_read(path_of("missing")), -ENOENT);
	assert_int_equal(try_read(path_of("no/such")), -ENOENT);
	assert_int_equal(try_write(path_of("no/such")), -ENOENT);
	assert_int_equal(try_read(fixture_directory), -EISDIR);
	assert_int_equal(try_write(fixture_directory), -EISDIR);
	assert_int_equal(try_read(path_of("fifo")), -EMEDIUMTYPE);
	assert_int_equal(try_write(path_of("fifo")), -EMEDIUMTYPE);
	assert_int_equal(try_read(path_of("text")), -EMEDIUMTYPE);
	assert_int_equal(try_write(path_of("text")), -EMEDIUMTYPE);
	assert_int_equal(try_read(path_of("empty")), -EMEDIUMTYPE);
	assert_int_equal(try_write(path_of("empty")), 0);
	assert_int_equal(try_read(path_of("empty")), 0);
	assert_int_equal(try_read("/dev/null"), -EMEDIUMTYPE);
}

/* Header fields of SQLite's file format: application id and version. */
static void test_foreign_and_newer(void **state)
{
	const char *path = path_of("version.db");
	uint8_t *data;
	size_t bytes;

	(void)state;
	write_merges(path, 3);
	data = read_file(path, &bytes);
	data[63]++;
	write_file(path, data, bytes);
	assert_int_equal(try_read(path), -EPROTO);
	assert_int_equal(try_write(path), -EPROTO);
	data[63] = 0;
	write_file(path, data, bytes);
	assert_int_equal(try_read(path), -EBADMSG);
	assert_int_equal(try_write(path), -EBADMSG);
	data[63] = 1;
	data[71] ^= 1;
	write_file(path, data, bytes);
	assert_int_equal(try_read(path), -EMEDIUMTYPE);
	assert_int_equal(try_write(path), -EMEDIUMTYPE);
	free(data);
}

/* The profiles of an intact file, for comparison with damaged ones. */
struct inventory {
	struct profile profiles[64];
	size_t count;
};

static int take_inventory(void *context, const struct profile *profile)
{
	struct inventory *inventory = context;
	struct profile_sample *copy = malloc(profile->count * sizeof(*copy));

	assert_true(copy != NULL && inventory->count < 64);
	memcpy(copy, profile->samples, profile->count * sizeof(*copy));
	inventory->profiles[inventory->count] = *profile;
	inventory->profiles[inventory->count++].samples = copy;
	return 0;
}

/* Check that a profile read is the one written under the same keys. */
static int check_inventory(void *context, const struct profile *profile)
{
	const struct inventory *inventory = context;
	const struct profile *p = inventory->profiles;
	size_t i;

	for (i = 0; i < inventory->count; i++, p++) {
		if (p->epoch == profile->epoch && p->image == profile->image &&
		    p->event == profile->event && p->pid == profile->pid)
			break;
	}
	assert_true(i < inventory->count);
	assert_int_equal(profile->count, p->count);
	assert_memory_equal(profile->samples, p->samples, p->count * sizeof(*p->samples));
	return 0;
}

static int read_damaged(const char *path, struct inventory *inventory)
{
	struct profile_reader *reader = NULL;
	struct profile_symbols symbols = {0};
	struct profile_image image;
	struct totals totals = {0};
	uint64_t recorded = 0;
	int r;

	r = profile_reader_open(&reader, path, &err);
	if (r == 0)
		r = profile_reader_epochs(reader, NULL, last_epoch, &totals, &err);
	if (r == 0)
		r = profile_reader_recordings(reader, NULL, -1, check_recording, &recorded, &err);
	if (r == 0)
		r = profile_reader_profiles(reader, NULL, check_inventory, inventory, &err);
	if (r == 0)
		r = profile_reader_edges(reader, NULL, numbered_edges_sum, &totals.edges, &err);
	if (r == 0)
		r = profile_reader_image(reader, 1, &image, &err);
	if (r == 0)
		r = profile_reader_symbols(reader, 1, &symbols, &err);
	profile_symbols_deinit(&symbols);
	profile_reader_close(reader);
	assert_true(r == 0 || r == -EBADMSG || r == -EMEDIUMTYPE || r == -EPROTO || r == -ENOENT ||
		    r == -EACCES || r == -EIO);
	return r;
}

/* Writing must succeed or return an error; the resulting file may be read again. */
static void write_damaged(const char *path)
{
	struct profile_epoch epoch = model_epoch(0);
	struct profile_writer *writer = NULL;
	int r;

	r = profile_writer_open(&writer, path, &err);
	if (r == 0)
		r = profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err);
	if (r == 0)
		r = merge(writer, 5);
	assert_true(r <= 0);
	profile_writer_close(writer);
}

/* A damaged row of the current epoch: its samples are counted as lost. */
static void test_damaged_row(void **state)
{
	const char *path = path_of("row.db");
	struct profile_counter none = {"loss", "x", 0};
	struct profile_epoch epoch = model_epoch(0);
	const struct profile_sample samples[] = {{16, 5}, {32, 7}};
	const struct profile_edge edge = {4, 8, 9};
	struct profile_writer *writer = open_writer(path);
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE, .path = "/bin/x"};
	struct database db = {0};
	int64_t id, number;
	int round;

	(void)state;
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	for (round = 1; round <= 3; round++) {
		assert_ok(profile_writer_begin(writer, &err));
		assert_ok(profile_writer_image(writer, &image, &id, &err));
		assert_ok(profile_writer_add(writer, id, 0, -1, samples, 2, &err));
		assert_ok(profile_writer_edges(writer, id, id, 0, &edge, 1, &err));
		assert_ok(profile_writer_totals(writer, 2000000000, 12 * (uint64_t)round, &none, 1,
						&err));
		assert_ok(profile_writer_commit(writer, &err));
		if (round != 2)
			continue;
		assert_ok(database_open_write(&db, path, &err));
		assert_ok(database_exec(&db,
					"UPDATE profile SET data = zeroblob(length(data));"
					"UPDATE edge SET data = zeroblob(length(data))",
					"damage", &err));
		database_close(&db);
	}
	assert_int_equal(profile_writer_damaged(writer), 24);
	profile_writer_close(writer);
	assert_ok(database_open_read(&db, path, &err));
	assert_ok(database_number(&db, "SELECT count FROM counter WHERE name = 'damaged'", &number,
				  &err));
	assert_int_equal(number, 24);
	assert_ok(database_number(
		&db, "SELECT interrupts - 24 - (SELECT sum(samples) FROM profile) FROM epoch",
		&number, &err));
	assert_int_equal(number, 0);
	assert_ok(database_number(&db, "SELECT count FROM counter WHERE name = 'edges_damaged'",
				  &number, &err));
	assert_int_equal(number, 18);
	database_close(&db);
}

static void test_damaged_files(void **state)
{
	const char *path = path_of("damaged.db"), *copy = path_of("copy.db");
	const char *log = path_of("copy.db-wal"), *shared = path_of("copy.db-shm");
	static struct inventory inventory;
	struct profile_reader *reader = NULL;
	unsigned int round, refused = 0;
	uint64_t seed = 21, recorded = 0;
	size_t bytes, at, i;
	uint8_t *data, *flipped;

	(void)state;
	write_merges(path, 300);
	assert_ok(profile_reader_open(&reader, path, &err));
	assert_ok(profile_reader_profiles(reader, NULL, take_inventory, &inventory, &err));
	assert_ok(profile_reader_recordings(reader, NULL, PROFILE_RECORDING_CONTEXT,
					    check_recording, &recorded, &err));
	assert_int_equal(recorded, MODEL_IMAGES * (MODEL_IMAGES + 1) / 2);
	profile_reader_close(reader);
	assert_int_equal(inventory.count, MODEL_IMAGES);
	data = read_file(path, &bytes);
	flipped = malloc(bytes);
	assert_non_null(flipped);
	for (round = 0; round < 1500; round++) {
		memcpy(flipped, data, bytes);
		at = unit_random(&seed) % bytes;
		flipped[at] ^= (uint8_t)(1 << unit_random(&seed) % 8);
		write_file(copy, flipped, round % 5 == 4 ? at : bytes);
		refused += read_damaged(copy, &inventory) < 0;
		if (round % 8 == 0) {
			write_damaged(copy);
			unlink(log);
			unlink(shared);
		}
	}
	assert_true(refused > 100);
	for (i = 0; i < inventory.count; i++)
		free((void *)(uintptr_t)inventory.profiles[i].samples);
	free(flipped);
	free(data);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_databases),
		cmocka_unit_test(test_foreign_and_newer),
		cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_damaged_row),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
