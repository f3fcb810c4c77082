// SPDX-License-Identifier: GPL-2.0-only
/* Recordings of rewritten programs in the profile database: format, merges, damage. */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "db/profile_merge.h"
#include "db/recording_blob.h"

static struct error err;

/* A recording of random numbers; small ones, large ones, sorted columns and constant ones. */
struct sample {
	struct profile_recording recording;
	uint64_t *values[PROFILE_RECORDING_TABLES_MAX];
	char text[40][32];
	const char *texts[40];
};

static uint64_t random_number(uint64_t *state, unsigned int column, uint64_t row)
{
	switch (column % 4) {
	case 0:
		return row;
	case 1:
		return 42;
	case 2:
		return unit_random(state) % 1000;
	}
	return unit_random(state) >> (1 + unit_random(state) % 63);
}

static void sample_make(struct sample *sample, uint64_t *state)
{
	struct profile_recording *recording = &sample->recording;

	*sample = (struct sample){.recording = {.metric = "cycles"}};
	recording->table_count = (unsigned int)(unit_random(state) % 4);
	for (unsigned int i = 0; i < recording->table_count; i++) {
		struct profile_recording_table *table = &recording->tables[i];
		size_t numbers;

		table->columns = 1 + (unsigned int)(unit_random(state) % 8);
		table->rows = unit_random(state) % 200;
		numbers = table->rows * table->columns;
		table->values = sample->values[i] = calloc(numbers + 1, sizeof(uint64_t));
		assert_non_null(table->values);
		for (size_t n = 0; n < numbers; n++)
			sample->values[i][n] = random_number(
				state, (unsigned int)n % table->columns, n / table->columns);
	}
	recording->text_count = unit_random(state) % 40;
	recording->texts = sample->texts;
	for (size_t i = 0; i < recording->text_count; i++) {
		if (i % 5 != 0)
			snprintf(sample->text[i], sizeof(sample->text[i]), "procedure_%llu",
				 (unsigned long long)(unit_random(state) % 1000));
		sample->texts[i] = sample->text[i];
	}
}

static void sample_free(struct sample *sample)
{
	for (unsigned int i = 0; i < PROFILE_RECORDING_TABLES_MAX; i++)
		free(sample->values[i]);
}

static void assert_same(const struct profile_recording *a, const struct profile_recording *b)
{
	assert_int_equal(a->table_count, b->table_count);
	assert_int_equal(a->text_count, b->text_count);
	for (size_t i = 0; i < a->text_count; i++)
		assert_string_equal(a->texts[i], b->texts[i]);
	for (unsigned int i = 0; i < a->table_count; i++) {
		assert_int_equal(a->tables[i].columns, b->tables[i].columns);
		assert_int_equal(a->tables[i].rows, b->tables[i].rows);
		for (size_t n = 0; n < a->tables[i].rows * a->tables[i].columns; n++)
			assert_int_equal(a->tables[i].values[n], b->tables[i].values[n]);
	}
}

/* A recording is read as written; an additional, missing or changed byte is damage. */
static void test_round_trip(void **state)
{
	struct recording_content content = {0};
	struct profile_blob blob = {0};
	uint64_t seed = 5, rows;

	(void)state;
	for (unsigned int round = 0; round < 300; round++) {
		struct sample sample;
		size_t at;

		sample_make(&sample, &seed);
		assert_ok(recording_blob_encode(&blob, round, &sample.recording, &rows));
		assert_ok(recording_blob_decode(&content, round, blob.data, blob.bytes));
		assert_same(&content.recording, &sample.recording);
		assert_int_equal(recording_blob_decode(&content, round + 1, blob.data, blob.bytes),
				 -EBADMSG);
		assert_int_equal(recording_blob_decode(&content, round, blob.data, blob.bytes - 1),
				 -EBADMSG);
		at = unit_random(&seed) % blob.bytes;
		blob.data[at] ^= (uint8_t)(1 << unit_random(&seed) % 8);
		assert_int_equal(recording_blob_decode(&content, round, blob.data, blob.bytes),
				 -EBADMSG);
		sample_free(&sample);
	}
	recording_content_deinit(&content);
	profile_blob_deinit(&blob);
}

/* With a valid checksum, contents are refused as damage, or are valid. */
static void test_hostile_bytes(void **state)
{
	struct recording_content content = {0}, again = {0};
	struct profile_blob blob = {0}, other = {0};
	uint64_t seed = 6, rows;
	unsigned int refused = 0;

	(void)state;
	for (unsigned int round = 0; round < 3000; round++) {
		struct sample sample;
		int r;

		sample_make(&sample, &seed);
		assert_ok(recording_blob_encode(&blob, 0, &sample.recording, &rows));
		sample_free(&sample);
		blob.bytes -= PROFILE_BLOB_CRC_BYTES;
		for (unsigned int i = 0; i < 1 + round % 3; i++)
			blob.data[unit_random(&seed) % blob.bytes] = (uint8_t)unit_random(&seed);
		profile_blob_append_crc(&blob, 0);
		r = recording_blob_decode(&content, 0, blob.data, blob.bytes);
		refused += r < 0;
		assert_true(r == 0 || r == -EBADMSG || r == -EPROTO);
		if (r < 0)
			continue;
		assert_ok(recording_blob_encode(&other, 0, &content.recording, &rows));
		assert_ok(recording_blob_decode(&again, 0, other.data, other.bytes));
		assert_same(&content.recording, &again.recording);
	}
	assert_in_range(refused, 500, 2999);
	recording_content_deinit(&content);
	recording_content_deinit(&again);
	profile_blob_deinit(&blob);
	profile_blob_deinit(&other);
}

/* --- in a database -------------------------------------------------------- */

static int64_t add_image(struct profile_writer *writer, unsigned int i)
{
	struct profile_image image;
	char path[64];
	int64_t id = 0;

	model_image(i, &image, path, sizeof(path));
	assert_ok(profile_writer_image(writer, &image, &id, &err));
	return id;
}

/* Make a recording with values that identify it. */
static struct profile_recording recording_of(uint64_t values[6], uint64_t seed)
{
	static const char *const texts[] = {"main"};

	for (uint64_t i = 0; i < 6; i++)
		values[i] = seed * 6 + i;
	return (struct profile_recording){
		.mode = (enum profile_recording_mode)(seed % PROFILE_RECORDING_MODES),
		.metric = seed % 2 ? "cycles" : "",
		.tables = {{.columns = 2, .rows = 1, .values = values},
			   {.columns = 1, .rows = 4, .values = values + 2}},
		.table_count = 2,
		.texts = texts,
		.text_count = 1,
	};
}

#define IMAGES 2
#define EPOCHS 3
#define ROWS (IMAGES * EPOCHS * PROFILE_RECORDING_MODES)

static void write_epochs(const char *path)
{
	struct profile_writer *writer = open_writer(path);
	uint64_t values[6];

	for (unsigned int e = 0; e < EPOCHS; e++) {
		struct profile_epoch epoch = model_epoch(e);

		assert_ok(profile_writer_epoch_begin(writer, &epoch, NULL, 0, &err));
		assert_ok(profile_writer_begin(writer, &err));
		for (unsigned int i = 0; i < IMAGES; i++) {
			int64_t id = add_image(writer, i);

			for (unsigned int m = 0; m < PROFILE_RECORDING_MODES; m++) {
				struct profile_recording recording = recording_of(
					values, (e * IMAGES + i) * PROFILE_RECORDING_MODES + m);

				assert_ok(profile_writer_recording(writer, id, &recording, &err));
			}
		}
		assert_ok(profile_writer_commit(writer, &err));
		assert_ok(profile_writer_epoch_end(writer, epoch.start_ns + 1, &err));
	}
	profile_writer_close(writer);
}

struct survey {
	struct profile_reader *reader;
	unsigned int rows;
	uint64_t sum;
};

static int survey_recording(void *context, const struct profile_recording *recording)
{
	struct survey *survey = context;
	struct profile_image image;
	unsigned int i = 0;
	uint64_t seed, values[6];
	struct profile_recording expected;

	assert_ok(profile_reader_image(survey->reader, recording->image, &image, &err));
	assert_int_equal(sscanf(image.path, "/usr/lib/image-%u.so", &i), 1);
	seed = ((uint64_t)(recording->epoch - 1) * IMAGES + i) * PROFILE_RECORDING_MODES +
	       (unsigned int)recording->mode;
	expected = recording_of(values, seed);
	assert_same(recording, &expected);
	assert_string_equal(recording->metric, expected.metric);
	survey->rows++;
	survey->sum += seed;
	return 0;
}

static struct survey look(const char *path, const struct profile_filter *filter, int mode)
{
	struct survey survey = {.reader = open_reader(path)};

	assert_ok(profile_reader_recordings(survey.reader, filter, mode, survey_recording, &survey,
					    &err));
	profile_reader_close(survey.reader);
	return survey;
}

static void test_walks_and_merges(void **state)
{
	static const int64_t two[] = {1, 3};
	struct profile_filter filter = {.epochs = two, .epoch_count = 2};
	struct profile_merge_counts counts = {0};
	struct profile_reader *reader;

	(void)state;
	write_epochs(path_of("recordings.db"));
	assert_int_equal(look(path_of("recordings.db"), NULL, -1).rows, ROWS);
	assert_int_equal(look(path_of("recordings.db"), NULL, -1).sum, (ROWS - 1) * ROWS / 2);
	assert_int_equal(look(path_of("recordings.db"), NULL, PROFILE_RECORDING_PATHS).rows, 6);
	assert_int_equal(look(path_of("recordings.db"), &filter, 2).rows, 4);
	filter.image = 2;
	assert_int_equal(look(path_of("recordings.db"), &filter, -1).rows,
			 2 * PROFILE_RECORDING_MODES);
	reader = open_reader(path_of("recordings.db"));
	for (unsigned int i = 0; i < 2; i++) {
		struct profile_writer *writer = open_writer(path_of("merged.db"));

		assert_ok(profile_merge(writer, reader, NULL, NULL, &counts, &err));
		profile_writer_close(writer);
		assert_int_equal(look(path_of("merged.db"), NULL, -1).sum, (ROWS - 1) * ROWS / 2);
	}
	profile_reader_close(reader);
}

/* Images are kept as long as they have recordings. */
static void test_expiry(void **state)
{
	const char *path = path_of("expiry.db");
	struct profile_writer *writer;

	(void)state;
	write_epochs(path);
	writer = open_writer(path);
	assert_int_equal(expire_all(writer, 2000000001, 0), 1);
	assert_int_equal(number(path, "SELECT count(*) FROM recording"),
			 2 * IMAGES * PROFILE_RECORDING_MODES);
	assert_int_equal(number(path, "SELECT count(*) FROM image"), IMAGES);
	assert_int_equal(expire_all(writer, 9000000000, 0), 2);
	assert_int_equal(number(path, "SELECT count(*) FROM recording"), 0);
	assert_int_equal(number(path, "SELECT count(*) FROM image"), 0);
	profile_writer_close(writer);
}

static void test_misuse(void **state)
{
	struct profile_writer *writer = open_writer(path_of("misuse.db"));
	struct profile_epoch epoch = model_epoch(0);
	uint64_t values[6], large = PROFILE_RECORDING_VALUE_MAX + 1;
	struct profile_recording recording = recording_of(values, 3), bad;
	int64_t id;

	(void)state;
	assert_ok(profile_writer_epoch_begin(writer, &epoch, NULL, 0, &err));
	assert_int_equal(profile_writer_recording(writer, 1, &recording, &err), -EINVAL);
	assert_ok(profile_writer_begin(writer, &err));
	id = add_image(writer, 0);
	bad = recording;
	bad.mode = PROFILE_RECORDING_MODES;
	assert_int_equal(profile_writer_recording(writer, id, &bad, &err), -EINVAL);
	bad = recording;
	bad.table_count = PROFILE_RECORDING_TABLES_MAX + 1;
	assert_int_equal(profile_writer_recording(writer, id, &bad, &err), -EINVAL);
	bad = recording;
	bad.tables[1].columns = PROFILE_RECORDING_COLUMNS_MAX + 1;
	assert_int_equal(profile_writer_recording(writer, id, &bad, &err), -EINVAL);
	bad = recording;
	bad.tables[0] = (struct profile_recording_table){1, 1, &large};
	assert_int_equal(profile_writer_recording(writer, id, &bad, &err), -EOVERFLOW);
	assert_int_equal(profile_writer_recording(writer, id + 1, &recording, &err), -EINVAL);
	assert_ok(profile_writer_recording(writer, id, &recording, &err));
	assert_int_equal(profile_writer_recording(writer, id, &recording, &err), -EEXIST);
	/* Replacing it is not an error. */
	bad = recording;
	bad.metric = "replaced";
	assert_ok(profile_writer_recording_set(writer, id, &bad, &err));
	assert_ok(profile_writer_commit(writer, &err));
	assert_int_equal(number(path_of("misuse.db"), "SELECT count(*) FROM recording"), 1);
	assert_int_equal(number(path_of("misuse.db"), "SELECT count(*) FROM recording WHERE "
						      "metric = 'replaced'"),
			 1);
	profile_writer_close(writer);
}

static void test_clear(void **state)
{
	const char *path = path_of("clear.db");
	struct profile_writer *writer = open_writer(path);
	struct profile_epoch epoch = model_epoch(0);
	uint64_t values[6];
	struct profile_recording recording = recording_of(values, 3);

	(void)state;
	for (int i = 0; i < 2; i++) {
		epoch = model_epoch(i);
		assert_ok(profile_writer_epoch_begin(writer, &epoch, NULL, 0, &err));
		assert_int_equal(profile_writer_recordings_clear(writer, recording.mode, &err),
				 -EINVAL);
		assert_ok(profile_writer_begin(writer, &err));
		for (int k = 0; k < 3; k++)
			assert_ok(profile_writer_recording(writer, add_image(writer, k), &recording,
							   &err));
		assert_ok(profile_writer_commit(writer, &err));
	}
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_recordings_clear(writer, recording.mode + 1, &err));
	assert_int_equal(number(path, "SELECT count(*) FROM recording"), 6);
	assert_ok(profile_writer_recordings_clear(writer, recording.mode, &err));
	assert_ok(profile_writer_commit(writer, &err));
	assert_int_equal(number(path, "SELECT count(*) FROM recording"), 3);
	assert_int_equal(number(path, "SELECT min(epoch) = max(epoch) AND min(epoch) IN "
				      "(SELECT min(id) FROM epoch) FROM recording"),
			 1);
	profile_writer_close(writer);
}

static void sql(const char *path, const char *text)
{
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(handle);
}

static void test_damage(void **state)
{
	static const char *const damages[] = {
		"UPDATE recording SET data = zeroblob(9) WHERE mode = 2",
		"UPDATE recording SET records = records + 1 WHERE mode = 2",
		"UPDATE recording SET image = 9 WHERE image = 1",
		"DELETE FROM recording WHERE mode = 0; UPDATE recording SET mode = 0 WHERE mode = "
		"1",
		"UPDATE recording SET mode = 99 WHERE mode = 4",
	};
	struct survey survey;

	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		const char *path = path_of("damaged.db");

		unlink(path);
		write_epochs(path);
		sql(path, damages[i]);
		survey = (struct survey){.reader = open_reader(path)};
		assert_int_equal(profile_reader_recordings(survey.reader, NULL, -1,
							   survey_recording, &survey, &err),
				 -EBADMSG);
		profile_reader_close(survey.reader);
	}
}

/* A file of version 4 has no recordings, and gets a table for them. */
static void test_migration(void **state)
{
	const char *path = path_of("v4.db");

	(void)state;
	write_epochs(path);
	sql(path, MODEL_DROP_SLICES "DROP TABLE recording; PRAGMA user_version = 4");
	assert_int_equal(look(path, NULL, -1).rows, 0);
	profile_writer_close(open_writer(path));
	assert_int_equal(number(path, "PRAGMA user_version"), DATABASE_VERSION);
	assert_int_equal(look(path, NULL, -1).rows, 0);
	/* A view in place of the table. */
	sql(path, "DROP TABLE recording; CREATE VIEW recording AS SELECT 1");
	assert_int_equal(profile_reader_open(&(struct profile_reader *){NULL}, path, &err),
			 -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),	 cmocka_unit_test(test_hostile_bytes),
		cmocka_unit_test(test_walks_and_merges), cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_misuse),		 cmocka_unit_test(test_clear),
		cmocka_unit_test(test_damage),		 cmocka_unit_test(test_migration),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
