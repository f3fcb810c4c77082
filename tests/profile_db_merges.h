/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges that can be identified by their results: every committed state of a database determines
 * its number of merges and the data they added.
 */
#ifndef DCPI_TESTS_PROFILE_DB_MERGES_H
#define DCPI_TESTS_PROFILE_DB_MERGES_H

#include "tests/profile_db_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "db/database.h"

static struct error err;

static inline int try_read(const char *path)
{
	struct profile_reader *reader = NULL;
	int r = profile_reader_open(&reader, path, &err);

	profile_reader_close(reader);
	return r;
}

static inline int try_write(const char *path)
{
	struct profile_writer *writer = NULL;
	int r = profile_writer_open(&writer, path, &err);

	profile_writer_close(writer);
	return r;
}

/* Write one recording per image, in its first merge; each value depends on its number. */
static inline int numbered_recording(struct profile_writer *writer, int64_t image, uint64_t number)
{
	static const char *const texts[] = {"main", "a_procedure"};
	uint64_t values[3 * 80];
	struct profile_recording recording = {
		.mode = PROFILE_RECORDING_CONTEXT,
		.metric = "cycles",
		.tables = {{.columns = 3, .rows = 80, .values = values}},
		.table_count = 1,
		.texts = texts,
		.text_count = 2,
	};

	for (uint64_t i = 0; i < 3UL * 80; i++)
		values[i] = (number + 1) * (i % 3 * i + 1);
	return profile_writer_recording(writer, image, &recording, &err);
}

/* Check that the recording read is the one written for that image. */
static inline int check_recording(void *context, const struct profile_recording *recording)
{
	uint64_t *sum = context;

	assert_int_equal(recording->table_count, 1);
	assert_int_equal(recording->tables[0].columns, 3);
	assert_int_equal(recording->tables[0].rows, 80);
	for (uint64_t i = 0; i < 3UL * 80; i++)
		assert_int_equal(recording->tables[0].values[i],
				 recording->tables[0].values[0] * (i % 3 * i + 1));
	assert_string_equal(recording->texts[1], "a_procedure");
	*sum += recording->tables[0].values[0];
	return 0;
}

/*
 * Run merge @number: three samples in all at offsets that depend on @number, and the epoch's
 * interrupts, so that every committed state can be identified.
 */
static inline int merge(struct profile_writer *writer, uint64_t number)
{
	struct profile_sample samples[2] = {{number % 97 * 4, 1}, {1000 + number % 89, 2}};
	struct profile_image image;
	char path[64];
	int64_t id;
	int r;

	model_image((unsigned int)(number % MODEL_IMAGES), &image, path, sizeof(path));
	r = profile_writer_begin(writer, &err);
	if (r == 0)
		r = profile_writer_image(writer, &image, &id, &err);
	if (r == 0)
		r = profile_writer_add(writer, id, (uint32_t)(number % 2), PROFILE_PID_ALL, samples,
				       2, &err);
	if (r == 0)
		r = numbered_edge(writer, id, number, &err);
	if (r == 0 && number < MODEL_IMAGES)
		r = numbered_recording(writer, id, number);
	if (r == 0)
		r = profile_writer_totals(writer, 1500000000, 3 * (number + 1), NULL, 0, &err);
	return profile_writer_settle(writer, r, &err);
}

static inline struct profile_writer *begin(const char *path)
{
	struct profile_epoch epoch = model_epoch(0);
	struct profile_writer *writer = NULL;

	assert_ok(profile_writer_open(&writer, path, &err));
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err));
	return writer;
}

static inline void write_merges(const char *path, uint64_t count)
{
	struct profile_writer *writer = begin(path);
	uint64_t i;

	for (i = 0; i < count; i++)
		assert_ok(merge(writer, i));
	profile_writer_close(writer);
}

/* Interrupts expected in an epoch, and the sums of its profiles. */
struct totals {
	int64_t epoch;
	uint64_t interrupts;
	uint64_t samples;
	uint64_t edges;
};

static inline int last_epoch(void *context, const struct profile_epoch *epoch)
{
	struct totals *totals = context;

	if (epoch->id > totals->epoch) {
		totals->epoch = epoch->id;
		totals->interrupts = epoch->interrupts;
	}
	return 0;
}

static inline int sum_profile(void *context, const struct profile *profile)
{
	struct totals *totals = context;
	size_t i;

	for (i = 0; i < profile->count; i++)
		totals->samples += profile->samples[i].count;
	return 0;
}

static inline struct totals read_totals(struct profile_reader *reader)
{
	struct totals totals = {0};
	struct profile_filter filter = {.epochs = &totals.epoch, .epoch_count = 1};

	assert_ok(profile_reader_snapshot(reader, &err));
	assert_ok(profile_reader_epochs(reader, NULL, last_epoch, &totals, &err));
	assert_ok(profile_reader_profiles(reader, &filter, sum_profile, &totals, &err));
	assert_ok(profile_reader_edges(reader, &filter, numbered_edges_sum, &totals.edges, &err));
	assert_int_equal(3 * totals.edges, totals.samples);
	return totals;
}

static inline void assert_sound(const char *path)
{
	struct database db = {0};
	int64_t complaints = -1;

	assert_ok(database_open_read(&db, path, &err));
	assert_ok(database_number(
		&db, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'",
		&complaints, &err));
	assert_int_equal(complaints, 0);
	assert_ok(database_number(&db, "SELECT count(*) FROM pragma_foreign_key_check", &complaints,
				  &err));
	assert_int_equal(complaints, 0);
	database_close(&db);
}

static inline struct totals check_file(const char *path)
{
	struct profile_reader *reader = NULL;
	struct totals totals;

	assert_sound(path);
	assert_ok(profile_reader_open(&reader, path, &err));
	totals = read_totals(reader);
	profile_reader_close(reader);
	assert_int_equal(totals.samples, totals.interrupts);
	return totals;
}

static inline uint8_t *read_file(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "r");
	uint8_t *data = malloc(1 << 24);

	assert_true(file != NULL && data != NULL);
	*bytes = fread(data, 1, 1 << 24, file);
	fclose(file);
	return data;
}

static inline void write_file(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, bytes, file), bytes);
	assert_int_equal(fclose(file), 0);
}

#endif
