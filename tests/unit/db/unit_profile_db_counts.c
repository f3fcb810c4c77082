// SPDX-License-Identifier: GPL-2.0-only
/* Exact counts in the profile database: merged, expired, damaged, migrated. */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>
#include <sqlite3.h>

#include "db/profile_merge.h"

#define COUNT_IMAGES 4
#define COUNT_PLACES 6
#define COUNT_EPOCHS 3

static struct error err;

/* The model: a count for each possible range. */
struct count_model {
	uint64_t count[COUNT_EPOCHS][COUNT_IMAGES][PROFILE_COUNT_KINDS][COUNT_PLACES][COUNT_PLACES];
};

static struct count_model model, seen;

/* Add some counts to a random row of the epoch and to the model. */
static void add_random(struct profile_writer *writer, uint64_t *state, struct count_model *to,
		       unsigned int epoch)
{
	unsigned int image = (unsigned int)(unit_random(state) % COUNT_IMAGES);
	unsigned int kind = (unsigned int)(unit_random(state) % PROFILE_COUNT_KINDS);
	uint64_t chosen = unit_random(state);
	struct profile_edge counts[COUNT_PLACES * COUNT_PLACES];
	int64_t id = add_model_image(writer, image);
	size_t count = 0;

	for (unsigned int i = 0; i < COUNT_PLACES * COUNT_PLACES; i++) {
		unsigned int a = i / COUNT_PLACES, b = i % COUNT_PLACES;

		if (!(chosen >> i & 1))
			continue;
		counts[count] = (struct profile_edge){model_offset(a), model_offset(b),
						      unit_random(state) % 5 + 1};
		to->count[epoch][image][kind][a][b] += counts[count++].count;
	}
	assert_ok(profile_writer_counts(writer, id, (enum profile_count_kind)kind, counts, count,
					&err));
}

static unsigned int place_number(uint64_t offset)
{
	unsigned int i = 0;

	while (model_offset(i) != offset)
		assert_true(++i < COUNT_PLACES);
	return i;
}

struct survey {
	struct profile_reader *reader;
	struct profile_counts last;
	unsigned int rows;
};

static bool in_order(const struct profile_counts *a, const struct profile_counts *b)
{
	if (a->image != b->image)
		return a->image < b->image;
	return a->epoch != b->epoch ? a->epoch < b->epoch : a->kind < b->kind;
}

static int survey_counts(void *context, const struct profile_counts *counts)
{
	struct survey *survey = context;
	struct profile_image image;
	unsigned int i = 0;
	uint64_t total = 0;

	assert_true(survey->rows++ == 0 || in_order(&survey->last, counts));
	survey->last = *counts;
	assert_ok(profile_reader_image(survey->reader, counts->image, &image, &err));
	assert_int_equal(sscanf(image.path, "/usr/lib/image-%u.so", &i), 1);
	for (size_t n = 0; n < counts->count; n++) {
		const struct profile_edge *one = &counts->counts[n];

		seen.count[counts->epoch - 1][i][counts->kind][place_number(one->from)]
			  [place_number(one->to)] += one->count;
		total += one->count;
	}
	assert_int_equal(total, counts->total);
	return 0;
}

static unsigned int look(const char *path, const struct profile_filter *filter)
{
	struct survey survey = {.reader = open_reader(path)};

	memset(&seen, 0, sizeof(seen));
	assert_ok(profile_reader_counts(survey.reader, filter, survey_counts, &survey, &err));
	profile_reader_close(survey.reader);
	return survey.rows;
}

/* Make random merges; some are rolled back, and the file is reopened in between. */
static void write_model(const char *path, uint64_t *state)
{
	static struct count_model trial;

	memset(&model, 0, sizeof(model));
	for (unsigned int epoch = 0; epoch < COUNT_EPOCHS; epoch++) {
		struct profile_writer *writer = open_writer(path);
		struct profile_epoch config = model_epoch(epoch);

		assert_ok(profile_writer_epoch_begin(writer, &config, NULL, 0, &err));
		for (unsigned int merge = 0; merge < 16; merge++) {
			trial = model;
			assert_ok(profile_writer_begin(writer, &err));
			for (unsigned int i = 0; i < 8; i++)
				add_random(writer, state, &trial, epoch);
			if (merge % 4 == 3) {
				profile_writer_rollback(writer);
				continue;
			}
			assert_ok(profile_writer_commit(writer, &err));
			model = trial;
		}
		assert_ok(profile_writer_epoch_end(writer, config.start_ns + 1, &err));
		profile_writer_close(writer);
	}
}

static void keep_only(unsigned int epochs)
{
	for (unsigned int epoch = 0; epoch < COUNT_EPOCHS; epoch++) {
		if (!(epochs >> epoch & 1))
			memset(model.count[epoch], 0, sizeof(model.count[epoch]));
	}
}

static void test_random_merges(void **state)
{
	static const int64_t two[] = {3, 1};
	struct profile_filter filter = {.event = "no such event", .has_pid = 1, .pid = 5};
	struct profile_merge_counts counts = {0};
	struct profile_writer *writer;
	struct profile_reader *reader;
	uint64_t seed = 47;

	(void)state;
	write_model(path_of("counts.db"), &seed);
	assert_int_equal(look(path_of("counts.db"), NULL),
			 COUNT_EPOCHS * COUNT_IMAGES * PROFILE_COUNT_KINDS);
	assert_memory_equal(&seen, &model, sizeof(model));
	/* Counts belong to no event and no process. */
	look(path_of("counts.db"), &filter);
	assert_memory_equal(&seen, &model, sizeof(model));
	/* Another database has the same counts after a merge, also after a second one. */
	reader = open_reader(path_of("counts.db"));
	for (unsigned int i = 0; i < 2; i++) {
		writer = open_writer(path_of("merged.db"));
		assert_ok(profile_merge(writer, reader, NULL, NULL, &counts, &err));
		profile_writer_close(writer);
		look(path_of("merged.db"), NULL);
		assert_memory_equal(&seen, &model, sizeof(model));
	}
	profile_reader_close(reader);
	filter.epochs = two;
	filter.epoch_count = 2;
	keep_only(1 << 2 | 1 << 0);
	look(path_of("counts.db"), &filter);
	assert_memory_equal(&seen, &model, sizeof(model));
}

/* Images are kept as long as they have counts. No counter records the expiry of counts. */
static void test_expiry(void **state)
{
	static const struct profile_edge one = {0, 4, 2};
	const char *path = path_of("expiry.db");
	struct profile_writer *writer = open_writer(path);
	struct profile_epoch epoch = model_epoch(0);
	int64_t ids[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		epoch.start_ns = 1000000000 + i * 4000000000LL;
		assert_ok(profile_writer_epoch_begin(writer, &epoch, NULL, 0, &err));
		assert_ok(profile_writer_begin(writer, &err));
		ids[0] = add_model_image(writer, 0);
		ids[1] = i == 0 ? add_model_image(writer, 1) : ids[1];
		assert_ok(profile_writer_counts(writer, ids[i], 0, &one, 1, &err));
		assert_ok(profile_writer_counts(writer, ids[0], 1, &one, 1, &err));
		assert_ok(profile_writer_commit(writer, &err));
	}
	assert_int_equal(number(path, "SELECT count(*) FROM execution"), 4);
	assert_int_equal(expire_all(writer, 6000000000, 0), 1);
	assert_int_equal(number(path, "SELECT count(*) FROM execution"), 2);
	assert_int_equal(number(path, "SELECT count(*) FROM image"), 2);
	assert_ok(profile_writer_epoch_end(writer, 6000000000, &err));
	assert_int_equal(expire_all(writer, 9000000000, 0), 1);
	assert_int_equal(number(path, "SELECT count(*) FROM execution"), 0);
	assert_int_equal(number(path, "SELECT count(*) FROM image"), 0);
	profile_writer_close(writer);
}

static void test_misuse(void **state)
{
	static const struct profile_edge good[] = {{4, 8, 1}};
	static const struct profile_edge back[] = {{4, 8, 1}, {4, 8, 1}};
	static const struct profile_edge zero[] = {{4, 8, 0}};
	static const struct profile_edge huge[] = {{4, 8, (uint64_t)INT64_MAX}};
	struct profile_writer *writer = open_writer(path_of("misuse.db"));
	struct profile_epoch epoch = model_epoch(0);
	int64_t id;

	(void)state;
	assert_ok(profile_writer_epoch_begin(writer, &epoch, NULL, 0, &err));
	assert_int_equal(profile_writer_counts(writer, 1, 0, good, 1, &err), -EINVAL);
	assert_ok(profile_writer_begin(writer, &err));
	id = add_model_image(writer, 0);
	assert_int_equal(profile_writer_counts(writer, id, 0, back, 2, &err), -EINVAL);
	assert_int_equal(profile_writer_counts(writer, id, 0, zero, 1, &err), -EINVAL);
	assert_int_equal(profile_writer_counts(writer, id, PROFILE_COUNT_KINDS, good, 1, &err),
			 -EINVAL);
	assert_int_equal(profile_writer_counts(writer, id + 1, 0, good, 1, &err), -EINVAL);
	/* No image has the number that stands for counts. */
	assert_int_equal(profile_writer_edges(writer, id, 0, 0, good, 1, &err), -EINVAL);
	assert_ok(profile_writer_counts(writer, id, 0, good, 1, &err));
	assert_int_equal(profile_writer_counts(writer, id, 0, huge, 1, &err), -EOVERFLOW);
	profile_writer_close(writer);
}

static void sql(const char *path, const char *text)
{
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(handle);
}

static int try_read(const char *path)
{
	struct survey survey = {.reader = open_reader(path)};
	int r = profile_reader_counts(survey.reader, NULL, survey_counts, &survey, &err);

	profile_reader_close(survey.reader);
	return r;
}

static void write_one(const char *path)
{
	static const struct profile_edge one[] = {{4, 32, 7}, {32, 256, 9}};
	struct profile_writer *writer = open_writer(path);
	struct profile_epoch epoch = model_epoch(0);

	assert_ok(profile_writer_epoch_begin(writer, &epoch, NULL, 0, &err));
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_counts(writer, add_model_image(writer, 0), 0, one, 2, &err));
	assert_ok(profile_writer_commit(writer, &err));
	profile_writer_close(writer);
}

/* A reader reports damage; a writer replaces and counts it. */
static void test_damage(void **state)
{
	static const char *const damages[] = {
		"UPDATE execution SET data = zeroblob(9)", "UPDATE execution SET total = total + 1",
		"UPDATE execution SET ranges = 1",	   "UPDATE execution SET kind = 1",
		"UPDATE execution SET kind = 3",
	};
	static const struct profile_edge more = {4, 32, 2};
	const char *path = path_of("damaged.db");
	struct profile_writer *writer;
	struct profile_epoch epoch = model_epoch(1);

	(void)state;
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		path = path_of("damaged.db");
		unlink(path);
		write_one(path);
		assert_int_equal(try_read(path), 0);
		sql(path, damages[i]);
		assert_int_equal(try_read(path), -EBADMSG);
	}
	unlink(path);
	writer = open_writer(path);
	assert_ok(profile_writer_epoch_begin(writer, &epoch, NULL, 0, &err));
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_counts(writer, add_model_image(writer, 0), 0, &more, 1, &err));
	assert_ok(profile_writer_commit(writer, &err));
	sql(path, "UPDATE execution SET data = zeroblob(9)");
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_counts(writer, add_model_image(writer, 0), 0, &more, 1, &err));
	assert_ok(profile_writer_commit(writer, &err));
	profile_writer_close(writer);
	assert_int_equal(number(path, "SELECT total FROM execution"), 2);
	assert_int_equal(number(path, "SELECT count FROM counter WHERE name = 'counts_damaged'"),
			 2);
}

/* A file of version 3 has no counts, and gets a table for them. */
static void test_migration(void **state)
{
	const char *path = path_of("v3.db");

	(void)state;
	write_one(path);
	sql(path, MODEL_DROP_SLICES
	    "DROP TABLE execution; DROP TABLE recording; PRAGMA user_version = 3");
	assert_int_equal(look(path, NULL), 0);
	profile_writer_close(open_writer(path));
	assert_int_equal(number(path, "PRAGMA user_version"), DATABASE_VERSION);
	assert_int_equal(look(path, NULL), 0);
	write_one(path);
	assert_int_equal(look(path, NULL), 1);
	/* A view in place of the table. */
	sql(path, "DROP TABLE execution; CREATE VIEW execution AS SELECT 1");
	assert_int_equal(profile_reader_open(&(struct profile_reader *){NULL}, path, &err),
			 -EBADMSG);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_merges), cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_misuse),	      cmocka_unit_test(test_damage),
		cmocka_unit_test(test_migration),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
