// SPDX-License-Identifier: GPL-2.0-only
/* The profile database compared with a model, and its guarantees. */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>

static struct error err;
static struct model model, seen;

/* Add some samples to a random profile of the epoch and to the model. */
static void add_random(struct profile_writer *writer, uint64_t *state, struct model *to,
		       unsigned int epoch)
{
	unsigned int image = (unsigned int)(unit_random(state) % MODEL_IMAGES);
	unsigned int event = (unsigned int)(unit_random(state) % MODEL_EVENTS);
	unsigned int pid = (unsigned int)(unit_random(state) % MODEL_PIDS);
	/* NOLINTNEXTLINE(misc-redundant-expression): two draws: one bit in four */
	uint64_t chosen = unit_random(state) & unit_random(state);
	struct profile_sample samples[MODEL_OFFSETS];
	int64_t id = add_model_image(writer, image);
	size_t count = 0;
	unsigned int i;

	for (i = 0; i < MODEL_OFFSETS; i++) {
		if (!(chosen >> i & 1))
			continue;
		samples[count].offset = model_offset(i);
		samples[count].count = unit_random(state) % 5 + 1;
		to->count[epoch][image][event][pid][i] += samples[count].count;
		count++;
	}
	assert_ok(profile_writer_add(writer, id, event, model_pids[pid], samples, count, &err));
}

/* State of a walk over the database that fills a model from its contents. */
struct survey {
	struct profile_reader *reader;
	struct model *model;
	unsigned int profiles;
	int64_t last_image;
	uint64_t keys; /* all keys and totals, in order */
};

static uint64_t add_key(uint64_t keys, const struct profile *profile)
{
	uint64_t state = keys ^ (uint64_t)profile->image << 40 ^ (uint64_t)profile->epoch << 20 ^
			 (uint64_t)profile->event << 16 ^ (uint64_t)profile->pid;

	return unit_random(&state) ^ profile->total;
}

static int survey_total(void *context, const struct profile *profile)
{
	struct survey *survey = context;

	assert_null(profile->samples);
	assert_int_equal(profile->count, 0);
	survey->keys = add_key(survey->keys, profile);
	return 0;
}

static unsigned int image_number(struct profile_reader *reader, int64_t id)
{
	struct profile_image image, expected;
	unsigned int number;
	char path[64];

	assert_ok(profile_reader_image(reader, id, &image, &err));
	assert_int_equal(sscanf(image.path, "/usr/lib/image-%u.so", &number), 1);
	assert_true(number < MODEL_IMAGES);
	model_image(number, &expected, path, sizeof(path));
	assert_int_equal(image.kind, expected.kind);
	assert_int_equal(image.identity_kind, expected.identity_kind);
	assert_int_equal(image.identity_bytes, expected.identity_bytes);
	assert_memory_equal(image.identity, expected.identity, sizeof(image.identity));
	return number;
}

static int survey_profile(void *context, const struct profile *profile)
{
	struct survey *survey = context;
	unsigned int image = image_number(survey->reader, profile->image);
	unsigned int pid = 0, offset = 0;
	uint64_t total = 0;
	size_t i;

	assert_true(profile->epoch >= 1 && profile->epoch <= MODEL_EPOCHS);
	assert_true(profile->event < MODEL_EVENTS);
	assert_string_equal(profile->event_name, model_events[profile->event].name);
	assert_true(profile->image >= survey->last_image);
	survey->last_image = profile->image;
	while (pid < MODEL_PIDS && model_pids[pid] != profile->pid)
		pid++;
	assert_true(pid < MODEL_PIDS);
	for (i = 0; i < profile->count; i++) {
		while (model_offset(offset) != profile->samples[i].offset)
			assert_true(++offset < MODEL_OFFSETS);
		survey->model->count[profile->epoch - 1][image][profile->event][pid][offset] +=
			profile->samples[i].count;
		total += profile->samples[i].count;
	}
	assert_int_equal(profile->total, total);
	survey->keys = add_key(survey->keys, profile);
	survey->profiles++;
	return 0;
}

static unsigned int look(struct profile_reader *reader, const struct profile_filter *filter)
{
	struct survey survey = {.reader = reader, .model = &seen};
	struct survey totals = {0};

	memset(&seen, 0, sizeof(seen));
	assert_ok(profile_reader_profiles(reader, filter, survey_profile, &survey, &err));
	assert_ok(profile_reader_totals(reader, filter, survey_total, &totals, &err));
	assert_int_equal(totals.keys, survey.keys);
	return survey.profiles;
}

/* Make random merges; some are rolled back, and the file is occasionally reopened. */
static void write_model(const char *path, uint64_t *state)
{
	struct profile_writer *writer = open_writer(path);
	static struct model trial;
	unsigned int epoch, merge, i;

	memset(&model, 0, sizeof(model));
	for (epoch = 0; epoch < MODEL_EPOCHS; epoch++) {
		struct profile_epoch config = model_epoch(epoch);

		assert_ok(profile_writer_epoch_begin(writer, &config, model_events, MODEL_EVENTS,
						     &err));
		assert_int_equal(profile_writer_epoch_id(writer), epoch + 1);
		for (merge = 0; merge < 12; merge++) {
			trial = model;
			assert_ok(profile_writer_begin(writer, &err));
			for (i = 0; i < 10; i++)
				add_random(writer, state, &trial, epoch);
			if (merge % 4 == 3) {
				profile_writer_rollback(writer);
				continue;
			}
			assert_ok(profile_writer_commit(writer, &err));
			model = trial;
		}
		if (epoch % 2 == 0) {
			profile_writer_close(writer);
			writer = open_writer(path);
			assert_int_equal(profile_writer_epoch_id(writer), 0);
		}
	}
	profile_writer_close(writer);
}

static void test_random_merges(void **state)
{
	const char *path = path_of("model.db");
	struct profile_reader *reader;
	uint64_t seed = 11;

	(void)state;
	write_model(path, &seed);
	reader = open_reader(path);
	assert_true(look(reader, NULL) > 0);
	assert_memory_equal(&seen, &model, sizeof(model));
	profile_reader_close(reader);
}

/* Remove everything from the model that a filter does not select. */
static void mask_model(unsigned int epoch, unsigned int image, unsigned int event, unsigned int pid)
{
	unsigned int e, i, v, p;

	for (e = 0; e < MODEL_EPOCHS; e++) {
		for (i = 0; i < MODEL_IMAGES; i++) {
			for (v = 0; v < MODEL_EVENTS; v++) {
				for (p = 0; p < MODEL_PIDS; p++) {
					if ((epoch >> e & 1) && (image >> i & 1) &&
					    (event >> v & 1) && (pid >> p & 1))
						continue;
					memset(model.count[e][i][v][p], 0,
					       sizeof(model.count[e][i][v][p]));
				}
			}
		}
	}
}

static int find_image_two(void *context, const struct profile *profile)
{
	struct survey *survey = context;

	if (image_number(survey->reader, profile->image) == 2)
		survey->last_image = profile->image;
	return 0;
}

static void test_filters(void **state)
{
	static const int64_t two[] = {5, 2};
	const char *path = path_of("filters.db");
	struct profile_filter filter = {.has_pid = 1, .pid = 4194303};
	struct profile_reader *reader;
	struct survey survey;
	uint64_t seed = 12;

	(void)state;
	write_model(path, &seed);
	reader = open_reader(path);
	survey = (struct survey){.reader = reader};
	mask_model(~0U, ~0U, ~0U, 4);
	assert_true(look(reader, &filter) > 0);
	assert_memory_equal(&seen, &model, sizeof(model));
	filter.event = "imiss";
	mask_model(~0U, ~0U, 2, ~0U);
	assert_true(look(reader, &filter) > 0);
	assert_memory_equal(&seen, &model, sizeof(model));
	filter.epochs = two;
	filter.epoch_count = 2;
	mask_model(1 << 4 | 1 << 1, ~0U, ~0U, ~0U);
	look(reader, &filter);
	assert_memory_equal(&seen, &model, sizeof(model));
	filter.host = "odd";
	mask_model(1 << 1, ~0U, ~0U, ~0U);
	look(reader, &filter);
	assert_memory_equal(&seen, &model, sizeof(model));
	assert_ok(profile_reader_profiles(reader, NULL, find_image_two, &survey, &err));
	assert_true(survey.last_image > 0);
	filter.image = survey.last_image;
	mask_model(~0U, 1 << 2, ~0U, ~0U);
	look(reader, &filter);
	assert_memory_equal(&seen, &model, sizeof(model));
	profile_reader_close(reader);
}

/* Write two epochs with all their data. */
static void write_epochs(const char *path)
{
	static const struct profile_counter first[] = {{"loss", "nested", 3}, {"stat", "flips", 1}};
	static const struct profile_counter second[] = {{"loss", "nested", 4}};
	static const struct profile_process old = {77, "old", 0}, new = {77, "new name", 0};
	struct profile_writer *writer = open_writer(path);
	struct profile_epoch epoch = model_epoch(0);

	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err));
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_totals(writer, 1500000000, 10, first, 2, &err));
	assert_ok(profile_writer_process(writer, &old, &err));
	assert_ok(profile_writer_process(writer, &new, &err));
	assert_ok(profile_writer_totals(writer, 1800000000, 20, second, 1, &err));
	assert_ok(profile_writer_commit(writer, &err));
	epoch = model_epoch(1);
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	profile_writer_close(writer);
}

struct epoch_record {
	unsigned int epochs;
	unsigned int open;
	int64_t start[2];
	int64_t end[2];
	uint64_t interrupts[2];
};

static int record_epoch(void *context, const struct profile_epoch *epoch)
{
	struct epoch_record *record = context;
	struct profile_epoch expected = model_epoch((unsigned int)epoch->id - 1);

	assert_true(record->epochs < 2);
	assert_string_equal(epoch->host, expected.host);
	assert_string_equal(epoch->machine_id, expected.machine_id);
	assert_string_equal(epoch->cpu_model, expected.cpu_model);
	assert_int_equal(epoch->cpus, expected.cpus);
	assert_string_equal(epoch->kernel, expected.kernel);
	assert_string_equal(epoch->source, expected.source);
	assert_string_equal(epoch->source_reason, expected.source_reason);
	assert_string_equal(epoch->label, expected.label);
	record->start[record->epochs] = epoch->start_ns;
	record->end[record->epochs] = epoch->end_ns;
	record->interrupts[record->epochs] = epoch->interrupts;
	record->open += (unsigned int)epoch->open;
	record->epochs++;
	return 0;
}

static int count_event(void *context, const struct profile_event *event)
{
	unsigned int *events = context;
	const struct profile_event *expected = &model_events[(*events)++];

	assert_int_equal(event->number, expected->number);
	assert_string_equal(event->name, expected->name);
	assert_string_equal(event->unit, expected->unit);
	assert_int_equal(event->period_min, expected->period_min);
	assert_int_equal(event->period_max, expected->period_max);
	return 0;
}

static int count_counter(void *context, const struct profile_counter *counter)
{
	unsigned int *counters = context;
	static const struct profile_counter expected[] = {{"loss", "nested", 4},
							  {"stat", "flips", 1}};

	assert_true(*counters < 2);
	assert_string_equal(counter->group, expected[*counters].group);
	assert_string_equal(counter->name, expected[*counters].name);
	assert_int_equal(counter->count, expected[*counters].count);
	(*counters)++;
	return 0;
}

static void test_epochs(void **state)
{
	const char *path = path_of("epochs.db");
	struct epoch_record record = {0};
	struct profile_reader *reader;
	struct profile_writer *writer;
	unsigned int events = 0, counters = 0;
	char command[5];

	(void)state;
	write_epochs(path);
	reader = open_reader(path);
	assert_ok(profile_reader_epochs(reader, NULL, record_epoch, &record, &err));
	assert_int_equal(record.epochs, 2);
	assert_int_equal(record.open, 1);
	assert_int_equal(record.start[0], 1000000000);
	assert_int_equal(record.end[0], 2000000000); /* ended by the next one */
	assert_int_equal(record.interrupts[0], 20);
	assert_ok(profile_reader_events(reader, 1, count_event, &events, &err));
	assert_int_equal(events, 2);
	assert_ok(profile_reader_counters(reader, &(struct profile_epoch){.id = 1}, count_counter,
					  &counters, &err));
	assert_int_equal(counters, 2);
	assert_ok(profile_reader_command(reader, 1, 77, command, sizeof(command), &err));
	assert_string_equal(command, "new ");
	assert_ok(profile_reader_command(reader, 1, 78, command, sizeof(command), &err));
	assert_string_equal(command, "");
	/* A writer that closed without ending its epoch: the next writer ends it. */
	writer = open_writer(path);
	record = (struct epoch_record){0};
	assert_ok(profile_reader_epochs(reader, NULL, record_epoch, &record, &err));
	assert_int_equal(record.open, 0);
	profile_writer_close(writer);
	profile_reader_close(reader);
}

static unsigned int epochs_between(struct profile_reader *reader, int64_t since, int64_t until)
{
	struct profile_filter filter = {.since_ns = since, .until_ns = until};
	struct epoch_record record = {0};

	assert_ok(profile_reader_epochs(reader, &filter, record_epoch, &record, &err));
	return record.epochs;
}

static int stop_at_once(void *context, const struct profile_epoch *epoch)
{
	(void)context;
	return (int)epoch->id + 100;
}

static void test_epoch_filters(void **state)
{
	const char *path = path_of("between.db");
	struct profile_reader *reader;

	(void)state;
	write_epochs(path);
	reader = open_reader(path);
	/* [1 s, 2 s] and [2 s, 2 s] */
	assert_int_equal(epochs_between(reader, 0, 0), 2);
	assert_int_equal(epochs_between(reader, 2000000000, 0), 2);
	assert_int_equal(epochs_between(reader, 2000000001, 0), 0);
	assert_int_equal(epochs_between(reader, 0, 2000000000), 1);
	assert_int_equal(epochs_between(reader, 0, 1000000000), 0);
	assert_int_equal(profile_reader_epochs(reader, NULL, stop_at_once, NULL, &err), 101);
	profile_reader_close(reader);
}

static void test_symbols(void **state)
{
	static const struct profile_symbol given[] = {{0, 4, "a"}, {4, 0, "ab"}, {4, 9, "b"}};
	const char *path = path_of("symbols.db");
	struct profile_writer *writer = open_writer(path);
	struct profile_symbols read = {0};
	struct profile_reader *reader;
	struct profile_image image;
	int64_t id;

	(void)state;
	assert_ok(profile_writer_begin(writer, &err));
	id = add_model_image(writer, 1);
	assert_false(profile_writer_has_symbols(writer, id));
	assert_ok(profile_writer_symbols(writer, id, given, 3, &err));
	assert_ok(profile_writer_symbols(writer, id, given, 2, &err));
	assert_true(profile_writer_has_symbols(writer, id));
	assert_int_equal(profile_writer_symbols(writer, id + 1, given, 2, &err), -EINVAL);
	assert_ok(profile_writer_commit(writer, &err));
	reader = open_reader(path);
	assert_ok(profile_reader_symbols(reader, id, &read, &err));
	assert_int_equal(read.count, 2);
	assert_string_equal(read.symbols[1].name, "ab");
	profile_symbols_deinit(&read);
	assert_ok(profile_reader_symbols(reader, id + 1, &read, &err));
	assert_int_equal(read.count, 0);
	assert_int_equal(profile_reader_image(reader, id + 1, &image, &err), -ENOENT);
	profile_reader_close(reader);
	profile_writer_close(writer);
}

/* A moved image keeps its number; without an identity, the path identifies the image. */
static void test_image_identity(void **state)
{
	struct profile_writer *writer = open_writer(path_of("images.db"));
	struct profile_image image;
	char path[64];
	int64_t id, other;

	(void)state;
	assert_ok(profile_writer_begin(writer, &err));
	id = add_model_image(writer, 1);
	model_image(1, &image, path, sizeof(path));
	image.path = "/moved";
	assert_ok(profile_writer_image(writer, &image, &other, &err));
	assert_int_equal(other, id);
	image.identity[19] ^= 1;
	assert_ok(profile_writer_image(writer, &image, &other, &err));
	assert_int_not_equal(other, id);
	id = add_model_image(writer, 2);
	model_image(2, &image, path, sizeof(path));
	assert_ok(profile_writer_image(writer, &image, &other, &err));
	assert_int_equal(other, id);
	image.path = "/moved";
	assert_ok(profile_writer_image(writer, &image, &other, &err));
	assert_int_not_equal(other, id);
	image.identity_bytes = PROFILE_IDENTITY_BYTES_MAX + 1;
	assert_int_equal(profile_writer_image(writer, &image, &other, &err), -EINVAL);
	profile_writer_close(writer);
}

static void test_misuse(void **state)
{
	static const struct profile_sample good[] = {{4, 1}};
	static const struct profile_sample back[] = {{4, 1}, {3, 1}};
	static const struct profile_sample huge[] = {{4, (uint64_t)INT64_MAX}};
	struct profile_writer *writer = open_writer(path_of("misuse.db"));
	struct profile_epoch epoch = model_epoch(0);
	int64_t id;

	(void)state;
	assert_int_equal(profile_writer_commit(writer, &err), -EINVAL);
	assert_int_equal(profile_writer_epoch_end(writer, 1, &err), -EINVAL);
	profile_writer_rollback(writer);
	assert_int_equal(profile_writer_settle(writer, 0, &err), -EINVAL);
	assert_ok(profile_writer_begin(writer, &err));
	assert_int_equal(profile_writer_settle(writer, -EIO, &err), -EIO);
	assert_ok(profile_writer_begin(writer, &err));
	assert_int_equal(profile_writer_begin(writer, &err), -EINVAL);
	assert_int_equal(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err),
			 -EINVAL);
	id = add_model_image(writer, 0);
	assert_int_equal(profile_writer_add(writer, id, 0, -1, good, 1, &err), -EINVAL);
	assert_ok(profile_writer_commit(writer, &err));
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	assert_int_equal(profile_writer_add(writer, id, 0, -1, good, 1, &err), -EINVAL);
	assert_ok(profile_writer_begin(writer, &err));
	assert_int_equal(profile_writer_add(writer, id, 0, -1, back, 2, &err), -EINVAL);
	assert_int_equal(profile_writer_add(writer, id + 1, 0, -1, good, 1, &err), -EINVAL);
	assert_int_equal(profile_writer_add(writer, id, 1, -1, good, 1, &err), -EINVAL);
	assert_ok(profile_writer_add(writer, id, 0, -1, good, 1, &err));
	assert_int_equal(profile_writer_add(writer, id, 0, -1, huge, 1, &err), -EOVERFLOW);
	assert_ok(profile_writer_add(writer, id, 0, -1, good, 1, &err));
	assert_ok(profile_writer_commit(writer, &err));
	assert_ok(profile_writer_epoch_end(writer, 1, &err));
	assert_int_equal(profile_writer_epoch_id(writer), 0);
	profile_writer_close(writer);
}

static void test_two_writers(void **state)
{
	const char *path = path_of("two.db"), *link = path_of("link.db");
	struct profile_writer *writer = open_writer(path), *other = NULL;

	(void)state;
	assert_int_equal(profile_writer_open(&other, path, &err), -EBUSY);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(profile_writer_open(&other, link, &err), -EBUSY);
	assert_null(other);
	profile_writer_close(writer);
	writer = open_writer(link);
	profile_writer_close(writer);
}

/* A reader sees one state from snapshot to snapshot while a writer commits. */
static void test_snapshots(void **state)
{
	const char *path = path_of("snapshots.db");
	struct profile_writer *writer = open_writer(path);
	struct profile_epoch epoch = model_epoch(0);
	struct profile_reader *reader;
	static struct model before;
	uint64_t seed = 13;
	int round;

	(void)state;
	memset(&model, 0, sizeof(model));
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 2, &err));
	reader = open_reader(path);
	for (round = 0; round < 20; round++) {
		before = model;
		assert_ok(profile_reader_snapshot(reader, &err));
		assert_ok(profile_writer_begin(writer, &err));
		add_random(writer, &seed, &model, 0);
		look(reader, NULL);
		assert_memory_equal(&seen, &before, sizeof(seen));
		assert_ok(profile_writer_commit(writer, &err));
		look(reader, NULL);
		assert_memory_equal(&seen, &before, sizeof(seen));
	}
	assert_ok(profile_reader_snapshot(reader, &err));
	look(reader, NULL);
	assert_memory_equal(&seen, &model, sizeof(seen));
	profile_reader_close(reader);
	profile_writer_close(writer);
}

/* Epochs of the model end at 1, 3, 3, 5, 5 and 6 seconds; some are ended by reopening the file. */
static void test_expiry(void **state)
{
	const char *path = path_of("expiry.db");
	struct profile_writer *writer;
	struct profile_reader *reader;
	uint64_t seed = 14;

	(void)state;
	write_model(path, &seed);
	writer = open_writer(path);
	reader = open_reader(path);
	assert_int_equal(expire_all(writer, 0, 1ULL << 40), 0);
	look(reader, NULL);
	assert_memory_equal(&seen, &model, sizeof(model));
	assert_int_equal(expire_all(writer, 2500000000, 0), 1);
	mask_model(~1U, ~0U, ~0U, ~0U);
	look(reader, NULL);
	assert_memory_equal(&seen, &model, sizeof(model));
	assert_int_equal(expire_all(writer, 0, 1), MODEL_EPOCHS - 1);
	assert_int_equal(look(reader, NULL), 0);
	assert_int_equal(profile_reader_image(reader, 1, &(struct profile_image){0}, &err),
			 -ENOENT);
	profile_reader_close(reader);
	profile_writer_close(writer);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_merges), cmocka_unit_test(test_filters),
		cmocka_unit_test(test_epochs),	      cmocka_unit_test(test_epoch_filters),
		cmocka_unit_test(test_symbols),	      cmocka_unit_test(test_image_identity),
		cmocka_unit_test(test_misuse),	      cmocka_unit_test(test_two_writers),
		cmocka_unit_test(test_snapshots),     cmocka_unit_test(test_expiry),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
