// SPDX-License-Identifier: GPL-2.0-only
/* Edges and event times in the profile database; files of earlier schema versions. */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include "db/database.h"
#include "lib/cleanup.h"

#define EDGE_IMAGES 4
#define EDGE_PLACES 6
#define EDGE_EPOCHS 3
/* Written by the versions of this code that had these schema versions. */
#define VERSION_2_FILE "tests/fixtures/data/profile_v2.db"
#define VERSION_3_FILE "tests/fixtures/data/profile_v3.db"

static struct error err;

/* The model: a count for each possible edge. */
struct edge_model {
	uint64_t count[EDGE_EPOCHS][EDGE_IMAGES][EDGE_IMAGES][PROFILE_EDGE_KINDS][EDGE_PLACES]
		      [EDGE_PLACES];
};

static struct edge_model model, seen;

/* Add some edges to a random row of the epoch and to the model. */
static void add_random(struct profile_writer *writer, uint64_t *state, struct edge_model *to,
		       unsigned int epoch)
{
	unsigned int image = (unsigned int)(unit_random(state) % EDGE_IMAGES);
	unsigned int other = (unsigned int)(unit_random(state) % EDGE_IMAGES);
	unsigned int kind = (unsigned int)(unit_random(state) % PROFILE_EDGE_KINDS);
	uint64_t chosen = unit_random(state);
	struct profile_edge edges[EDGE_PLACES * EDGE_PLACES];
	int64_t from_id = add_model_image(writer, image), to_id = add_model_image(writer, other);
	size_t count = 0;
	unsigned int i;

	for (i = 0; i < EDGE_PLACES * EDGE_PLACES; i++) {
		unsigned int a = i / EDGE_PLACES, b = i % EDGE_PLACES;

		if (!(chosen >> i & 1))
			continue;
		edges[count] = (struct profile_edge){model_offset(a), model_offset(b),
						     unit_random(state) % 5 + 1};
		to->count[epoch][image][other][kind][a][b] += edges[count++].count;
	}
	assert_ok(profile_writer_edges(writer, from_id, to_id, (enum profile_edge_kind)kind, edges,
				       count, &err));
}

struct survey {
	struct profile_reader *reader;
	struct profile_edges last;
	unsigned int rows;
};

static unsigned int image_number(struct profile_reader *reader, int64_t id)
{
	struct profile_image image;
	unsigned int number;

	assert_ok(profile_reader_image(reader, id, &image, &err));
	assert_int_equal(sscanf(image.path, "/usr/lib/image-%u.so", &number), 1);
	assert_true(number < EDGE_IMAGES);
	return number;
}

static unsigned int place_number(uint64_t offset)
{
	unsigned int i = 0;

	while (model_offset(i) != offset)
		assert_true(++i < EDGE_PLACES);
	return i;
}

static bool in_order(const struct profile_edges *a, const struct profile_edges *b)
{
	if (a->image != b->image)
		return a->image < b->image;
	if (a->epoch != b->epoch)
		return a->epoch < b->epoch;
	return a->to_image != b->to_image ? a->to_image < b->to_image : a->kind < b->kind;
}

static int survey_edges(void *context, const struct profile_edges *edges)
{
	struct survey *survey = context;
	unsigned int image = image_number(survey->reader, edges->image);
	unsigned int other = image_number(survey->reader, edges->to_image);
	uint64_t total = 0;
	size_t i;

	assert_true(survey->rows++ == 0 || in_order(&survey->last, edges));
	survey->last = *edges;
	for (i = 0; i < edges->count; i++) {
		const struct profile_edge *edge = &edges->edges[i];

		seen.count[edges->epoch - 1][image][other][edges->kind][place_number(edge->from)]
			  [place_number(edge->to)] += edge->count;
		total += edge->count;
	}
	assert_int_equal(total, edges->total);
	return 0;
}

static unsigned int look(struct profile_reader *reader, const struct profile_filter *filter)
{
	struct survey survey = {.reader = reader};

	memset(&seen, 0, sizeof(seen));
	assert_ok(profile_reader_edges(reader, filter, survey_edges, &survey, &err));
	return survey.rows;
}

/* Make random merges; some are rolled back, and the file is reopened in between. */
static void write_model(const char *path, uint64_t *state)
{
	static struct edge_model trial;
	unsigned int epoch, merge, i;

	memset(&model, 0, sizeof(model));
	for (epoch = 0; epoch < EDGE_EPOCHS; epoch++) {
		struct profile_writer *writer = open_writer(path);
		struct profile_epoch config = model_epoch(epoch);

		assert_ok(profile_writer_epoch_begin(writer, &config, model_events, MODEL_EVENTS,
						     &err));
		for (merge = 0; merge < 16; merge++) {
			trial = model;
			assert_ok(profile_writer_begin(writer, &err));
			for (i = 0; i < 8; i++)
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

static void keep_only(unsigned int epochs, unsigned int images)
{
	unsigned int epoch, image;

	for (epoch = 0; epoch < EDGE_EPOCHS; epoch++) {
		for (image = 0; image < EDGE_IMAGES; image++) {
			if (!(epochs >> epoch & 1) || !(images >> image & 1))
				memset(model.count[epoch][image], 0,
				       sizeof(model.count[epoch][image]));
		}
	}
}

static void test_random_merges(void **state)
{
	const char *path = path_of("edges.db");
	struct profile_filter filter = {.event = "no such event", .has_pid = 1, .pid = 5};
	static const int64_t two[] = {3, 1};
	struct profile_reader *reader;
	uint64_t seed = 31;

	(void)state;
	write_model(path, &seed);
	reader = open_reader(path);
	assert_true(look(reader, NULL) > EDGE_IMAGES * EDGE_IMAGES);
	assert_memory_equal(&seen, &model, sizeof(model));
	/* Edges have no event and no process. */
	look(reader, &filter);
	assert_memory_equal(&seen, &model, sizeof(model));
	filter.epochs = two;
	filter.epoch_count = 2;
	keep_only(1 << 2 | 1 << 0, ~0U);
	look(reader, &filter);
	assert_memory_equal(&seen, &model, sizeof(model));
	filter.image = 2;
	keep_only(~0U, 1U << image_number(reader, 2));
	assert_true(look(reader, &filter) > 0);
	assert_memory_equal(&seen, &model, sizeof(model));
	profile_reader_close(reader);
}

/* Images are kept as long as they are the source or target of edges. */
static void test_expiry(void **state)
{
	static const struct profile_edge edge = {0, 4, 2};
	struct profile_writer *writer = open_writer(path_of("expiry.db"));
	struct profile_reader *reader = open_reader(path_of("expiry.db"));
	struct profile_epoch epoch = model_epoch(0);
	int64_t ids[3], epochs = 1;
	struct profile_filter first = {.epochs = &epochs, .epoch_count = 1};
	struct profile_image image;
	unsigned int i;

	(void)state;
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	assert_ok(profile_writer_begin(writer, &err));
	for (i = 0; i < 3; i++)
		ids[i] = add_model_image(writer, i);
	assert_ok(profile_writer_edges(writer, ids[0], ids[1], 0, &edge, 1, &err));
	assert_ok(profile_writer_edges(writer, ids[2], ids[2], 0, &edge, 1, &err));
	assert_ok(profile_writer_commit(writer, &err));
	epoch.start_ns = 5000000000;
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_edges(writer, ids[0], ids[1], 1, &edge, 1, &err));
	assert_ok(profile_writer_commit(writer, &err));
	assert_int_equal(look(reader, NULL), 3);
	assert_int_equal(expire_all(writer, 6000000000, 0), 1);
	assert_int_equal(look(reader, NULL), 1);
	assert_int_equal(look(reader, &first), 0);
	assert_ok(profile_reader_image(reader, ids[0], &image, &err));
	assert_ok(profile_reader_image(reader, ids[1], &image, &err));
	assert_int_equal(profile_reader_image(reader, ids[2], &image, &err), -ENOENT);
	profile_reader_close(reader);
	profile_writer_close(writer);
}

static void test_misuse(void **state)
{
	static const struct profile_edge good[] = {{4, 8, 1}};
	static const struct profile_edge back[] = {{4, 8, 1}, {4, 8, 1}};
	static const struct profile_edge huge[] = {{4, 8, (uint64_t)INT64_MAX}};
	struct profile_writer *writer = open_writer(path_of("misuse.db"));
	struct profile_epoch epoch = model_epoch(0);
	int64_t id;

	(void)state;
	assert_ok(profile_writer_begin(writer, &err));
	id = add_model_image(writer, 0);
	assert_int_equal(profile_writer_edges(writer, id, id, 0, good, 1, &err), -EINVAL);
	assert_int_equal(profile_writer_event_time(writer, 0, 1, 1, &err), -EINVAL);
	assert_ok(profile_writer_commit(writer, &err));
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	assert_int_equal(profile_writer_edges(writer, id, id, 0, good, 1, &err), -EINVAL);
	assert_ok(profile_writer_begin(writer, &err));
	assert_int_equal(profile_writer_edges(writer, id, id, 0, back, 2, &err), -EINVAL);
	assert_int_equal(profile_writer_edges(writer, id, id, PROFILE_EDGE_KINDS, good, 1, &err),
			 -EINVAL);
	assert_int_equal(profile_writer_edges(writer, id + 1, id, 0, good, 1, &err), -EINVAL);
	assert_int_equal(profile_writer_edges(writer, id, id + 1, 0, good, 1, &err), -EINVAL);
	assert_ok(profile_writer_edges(writer, id, id, 0, good, 1, &err));
	assert_int_equal(profile_writer_edges(writer, id, id, 0, huge, 1, &err), -EOVERFLOW);
	assert_ok(profile_writer_edges(writer, id, id, 0, good, 0, &err));
	assert_int_equal(profile_writer_event_time(writer, 1, 1, 1, &err), -EINVAL);
	assert_int_equal(profile_writer_event_time(writer, 0, 1, 2, &err), -EINVAL);
	assert_int_equal(profile_writer_event_time(writer, 0, UINT64_MAX, 2, &err), -EOVERFLOW);
	assert_ok(profile_writer_commit(writer, &err));
	profile_writer_close(writer);
}

static int take_times(void *context, const struct profile_event *event)
{
	uint64_t(*times)[2] = context;

	times[event->number][0] = event->enabled_ns;
	times[event->number][1] = event->running_ns;
	return 0;
}

/* The last times set are valid; each epoch has its own; unset times are unknown. */
static void test_event_times(void **state)
{
	struct profile_writer *writer = open_writer(path_of("times.db"));
	struct profile_reader *reader = open_reader(path_of("times.db"));
	struct profile_epoch epoch = model_epoch(0);
	uint64_t first[2][2], second[2][2];

	(void)state;
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err));
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_event_time(writer, 1, 50, 20, &err));
	assert_ok(profile_writer_event_time(writer, 1, 100, 25, &err));
	assert_ok(profile_writer_commit(writer, &err));
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err));
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_event_time(writer, 0, 7, 7, &err));
	profile_writer_rollback(writer);
	assert_ok(profile_reader_events(reader, 1, take_times, first, &err));
	assert_ok(profile_reader_events(reader, 2, take_times, second, &err));
	assert_int_equal(first[0][0] + first[0][1], 0);
	assert_int_equal(first[1][0], 100);
	assert_int_equal(first[1][1], 25);
	assert_int_equal(second[0][0] + second[0][1] + second[1][0] + second[1][1], 0);
	profile_reader_close(reader);
	profile_writer_close(writer);
}

/* All samples found by a reader, combined into one hash, and their sum. */
struct digest {
	uint64_t mixed;
	uint64_t samples;
	uint64_t edges;
	uint64_t symbols;
};

static int digest_profile(void *context, const struct profile *profile)
{
	struct digest *digest = context;
	size_t i;

	for (i = 0; i < profile->count; i++) {
		uint64_t state = digest->mixed ^ (uint64_t)profile->epoch ^
				 (uint64_t)profile->image << 8 ^ (uint64_t)profile->pid << 16 ^
				 profile->samples[i].offset << 24 ^ profile->samples[i].count;

		digest->mixed = unit_random(&state);
		digest->samples += profile->samples[i].count;
	}
	return 0;
}

static int sum_edges(void *context, const struct profile_edges *edges)
{
	*(uint64_t *)context += edges->total;
	return 0;
}

static struct digest digest_of(const char *path)
{
	struct profile_reader *reader = open_reader(path);
	struct profile_symbols symbols = {0};
	struct digest digest = {0};
	uint64_t times[2][2] = {{1, 1}, {1, 1}};

	assert_ok(profile_reader_profiles(reader, NULL, digest_profile, &digest, &err));
	assert_ok(profile_reader_symbols(reader, 1, &symbols, &err));
	digest.symbols = symbols.count;
	profile_symbols_deinit(&symbols);
	assert_ok(profile_reader_edges(reader, NULL, sum_edges, &digest.edges, &err));
	assert_ok(profile_reader_events(reader, 1, take_times, times, &err));
	assert_int_equal(times[0][0] + times[0][1] + times[1][0] + times[1][1], 0);
	profile_reader_close(reader);
	return digest;
}

/* The schema without the text of statements, which ALTER TABLE edits. */
static const char schema_sql[] =
	"SELECT group_concat(line, ' ') FROM (SELECT m.type || m.name || m.tbl_name || "
	"ifnull((SELECT group_concat(c.cid || c.name || c.type || c.\"notnull\" || "
	"ifnull(c.dflt_value, '') || c.pk || c.hidden) FROM pragma_table_xinfo(m.name) AS c), '') "
	"|| ifnull((SELECT group_concat(f.\"table\" || f.\"from\" || ifnull(f.\"to\", '') || "
	"f.on_delete) FROM pragma_foreign_key_list(m.name) AS f), '') || "
	"ifnull((SELECT group_concat(i.seqno || ifnull(i.name, '')) FROM "
	"pragma_index_xinfo(m.name) "
	"AS i), '') AS line FROM sqlite_schema AS m ORDER BY m.name)";

static char *schema_text(const char *path)
{
	_cleanup_statement_ struct sqlite3_stmt *statement = NULL;
	struct database db = {0};
	char *text;

	assert_ok(database_open_read(&db, path, &err));
	assert_ok(database_prepare(&db, schema_sql, &statement, &err));
	assert_int_equal(database_step(&db, statement, "read", &err), 1);
	text = strdup((const char *)sqlite3_column_text(statement, 0));
	assert_non_null(text);
	database_finalize(&statement);
	statement = NULL;
	database_close(&db);
	return text;
}

static void assert_same_schema(const char *a, const char *b)
{
	char *x = schema_text(a), *y = schema_text(b);

	assert_non_null(strstr(x, "running_ns"));
	assert_string_equal(x, y);
	free(x);
	free(y);
}

/* Check that a file is intact, of the current version, and has the schema of a new file. */
static void assert_migrated(const char *path, const char *new)
{
	assert_int_equal(number(path, "PRAGMA user_version"), DATABASE_VERSION);
	assert_int_equal(number(path, "SELECT count(*) FROM pragma_integrity_check "
				      "WHERE integrity_check <> 'ok'"),
			 0);
	assert_int_equal(number(path, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	assert_same_schema(path, new);
}

static void test_migration(void **state)
{
	const char *path = path_of("v3.db"), *new = path_of("new.db");
	struct digest before, after;
	struct profile_reader *reader;
	struct profile_writer *writer;
	struct profile_epoch epoch = model_epoch(0);
	static const struct profile_edge edge = {4, 8, 2};
	uint64_t sum = 0;

	(void)state;
	copy_file(VERSION_3_FILE, path);
	assert_int_equal(number(path, "PRAGMA user_version"), 3);
	before = digest_of(path);
	/* Contents from make_golden_db: figure 1 of the paper, and three small epochs. */
	assert_int_equal(before.samples, 6095201 + 1117002 + 214);
	assert_int_equal(before.edges, 230);
	assert_true(before.symbols > 0);
	assert_int_equal(number(path, "PRAGMA user_version"), 3);
	/* A reader opened before the migration sees the same data before and after it. */
	reader = open_reader(path);
	assert_ok(profile_reader_edges(reader, NULL, sum_edges, &sum, &err));
	assert_int_equal(sum, before.edges);
	sum = 0;
	writer = open_writer(path);
	profile_writer_close(open_writer(new));
	assert_migrated(path, new);
	after = digest_of(path);
	assert_memory_equal(&before, &after, sizeof(before));
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_edges(writer, 1, 2, 0, &edge, 1, &err));
	assert_ok(profile_writer_event_time(writer, 0, 9, 8, &err));
	assert_ok(profile_writer_commit(writer, &err));
	assert_ok(profile_reader_edges(reader, NULL, sum_edges, &sum, &err));
	assert_int_equal(sum, before.edges + 2);
	profile_reader_close(reader);
	profile_writer_close(writer);
	/* Opening it again does not migrate it again. */
	profile_writer_close(open_writer(path));
	assert_migrated(path, new);
}

/* A migration that cannot be written leaves the file unchanged, at version 3. */
static void test_migration_to_a_full_disk(void **state)
{
	const char *path = path_of("stuck.db");
	struct profile_writer *writer = NULL;
	struct profile_reader *reader;
	struct rlimit old, limit;
	struct digest before, after;
	uint64_t sum = 0;

	(void)state;
	copy_file(VERSION_3_FILE, path);
	before = digest_of(path);
	/* The reader keeps the shared memory open, so that the write to the log fails. */
	reader = open_reader(path);
	assert_ok(profile_reader_edges(reader, NULL, sum_edges, &sum, &err));
	assert_int_equal(sum, before.edges);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(profile_writer_open(&writer, path, &err), -ENOSPC);
	assert_non_null(strstr(err.message, "cannot"));
	assert_null(writer);
	assert_int_equal(number(path, "PRAGMA user_version"), 3);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	profile_reader_close(reader);
	after = digest_of(path);
	assert_memory_equal(&before, &after, sizeof(before));
	profile_writer_close(open_writer(path));
	assert_int_equal(number(path, "PRAGMA user_version"), DATABASE_VERSION);
	after = digest_of(path);
	assert_memory_equal(&before, &after, sizeof(before));
}

/* Readers and writers refuse a version that was never released, and leave the file unchanged. */
static void test_unsupported_version(void **state)
{
	const char *path = path_of("v2.db");
	struct profile_reader *reader = NULL;
	struct profile_writer *writer = NULL;
	char command[PATH_MAX];

	(void)state;
	copy_file(VERSION_2_FILE, path);
	assert_int_equal(profile_reader_open(&reader, path, &err), -EPROTO);
	assert_non_null(strstr(err.message, "unsupported version (schema 2; supported: 3 to "));
	assert_int_equal(profile_writer_open(&writer, path, &err), -EPROTO);
	assert_null(reader);
	assert_null(writer);
	snprintf(command, sizeof(command), "cmp %s %s", VERSION_2_FILE, path);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_merges),
		cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_misuse),
		cmocka_unit_test(test_event_times),
		cmocka_unit_test(test_migration),
		cmocka_unit_test(test_migration_to_a_full_disk),
		cmocka_unit_test(test_unsupported_version),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
