// SPDX-License-Identifier: GPL-2.0-only
/* The profile database against a model, and its contract. */
#include "tests/profile_db_fixture.h"

#include <errno.h>

static struct error err;
static struct model model, seen;

static struct profile_writer *open_writer(const char *path)
{
	struct profile_writer *writer = NULL;

	assert_ok(profile_writer_open(&writer, path, &err));
	return writer;
}

static struct profile_reader *open_reader(const char *path)
{
	struct profile_reader *reader = NULL;

	assert_ok(profile_reader_open(&reader, path, &err));
	return reader;
}

static int64_t add_model_image(struct profile_writer *writer, unsigned int i)
{
	struct profile_image image;
	char path[64];
	int64_t id = 0;

	model_image(i, &image, path, sizeof(path));
	assert_ok(profile_writer_image(writer, &image, &id, &err));
	return id;
}

/* Adds some samples to a random profile of the epoch, to the model as well. */
static void add_random(struct profile_writer *writer, uint64_t *state, struct model *to,
		       unsigned int epoch)
{
	unsigned int image = (unsigned int)(unit_random(state) % MODEL_IMAGES);
	unsigned int event = (unsigned int)(unit_random(state) % MODEL_EVENTS);
	unsigned int pid = (unsigned int)(unit_random(state) % MODEL_PIDS);
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

/* What a walk over the database needs to fill a model of what it has seen. */
struct survey {
	struct profile_reader *reader;
	struct model *model;
	unsigned int profiles;
	int64_t last_image;
};

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
	size_t i;

	assert_true(profile->epoch >= 1 && profile->epoch <= MODEL_EPOCHS);
	assert_true(profile->event < MODEL_EVENTS);
	assert_string_equal(profile->event_name, model_events[profile->event].name);
	assert_true(profile->image >= survey->last_image);
	survey->last_image = profile->image;
	while (model_pids[pid] != profile->pid)
		assert_true(++pid < MODEL_PIDS);
	for (i = 0; i < profile->count; i++) {
		while (model_offset(offset) != profile->samples[i].offset)
			assert_true(++offset < MODEL_OFFSETS);
		survey->model->count[profile->epoch - 1][image][profile->event][pid][offset] +=
			profile->samples[i].count;
	}
	survey->profiles++;
	return 0;
}

static unsigned int look(struct profile_reader *reader, const struct profile_filter *filter)
{
	struct survey survey = {.reader = reader, .model = &seen};

	memset(&seen, 0, sizeof(seen));
	assert_ok(profile_reader_profiles(reader, filter, survey_profile, &survey, &err));
	return survey.profiles;
}

/* Random merges, some rolled back, the file closed and opened now and then. */
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

static void random_merges(void **state)
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_merges),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
