// SPDX-License-Identifier: GPL-2.0-only
/* Labels, shares, and other additions of schema version 3. */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>
#include <sqlite3.h>

#include "db/database.h"
#include "db/profile_merge.h"

#define LABELS 5
#define MERGES 400

static struct error err;

/* Samples by image, event and label; label 0: no label. */
struct shares {
	uint64_t samples[MODEL_EPOCHS][MODEL_IMAGES][MODEL_EVENTS][LABELS];
};

static struct shares wanted, pending, seen;

static void sql(const char *path, const char *text)
{
	sqlite3 *handle = NULL;

	assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(handle);
}

static void label_names(unsigned int number, char *unit, char *container, size_t bytes)
{
	snprintf(unit, bytes, number == 1 ? "" : "unit-%u.service", number);
	snprintf(container, bytes, number % 2 ? "%064x" : "", number);
}

static void write_label(struct profile_writer *writer, unsigned int number)
{
	struct profile_label label = {.number = number};
	char unit[80], container[80];

	label_names(number, unit, container, sizeof(unit));
	label.unit = unit;
	label.container = container;
	assert_ok(profile_writer_label(writer, &label, &err));
}

/* Write one bin: samples of one image, some of them with labels. */
static void write_bin(struct profile_writer *writer, uint64_t *state, unsigned int epoch)
{
	unsigned int image = (unsigned int)(unit_random(state) % MODEL_IMAGES);
	unsigned int event = (unsigned int)(unit_random(state) % MODEL_EVENTS);
	struct profile_sample sample = {model_offset(unit_random(state) % MODEL_OFFSETS), 0};
	struct profile_image model;
	int64_t id = 0;
	char path[64];

	model_image(image, &model, path, sizeof(path));
	assert_ok(profile_writer_image(writer, &model, &id, &err));
	for (unsigned int label = 0; label < LABELS; label++) {
		uint64_t samples = unit_random(state) % 4;

		pending.samples[epoch][image][event][label] += samples;
		sample.count += samples;
		if (label == 0 || samples == 0)
			continue;
		write_label(writer, label);
		assert_ok(profile_writer_share(writer, id, event, label, samples, &err));
	}
	if (sample.count > 0)
		assert_ok(profile_writer_add(writer, id, event, PROFILE_PID_ALL, &sample, 1, &err));
}

struct survey {
	struct profile_reader *reader;
	struct profile_share last;
	unsigned int labels;
};

static unsigned int image_number(struct profile_reader *reader, int64_t id)
{
	struct profile_image image;
	unsigned int number;

	assert_ok(profile_reader_image(reader, id, &image, &err));
	assert_int_equal(sscanf(image.path, "/usr/lib/image-%u.so", &number), 1);
	assert_true(number < MODEL_IMAGES);
	return number;
}

static int survey_share(void *context, const struct profile_share *share)
{
	struct survey *survey = context;
	const struct profile_share *last = &survey->last;
	unsigned int image = image_number(survey->reader, share->image);

	assert_true(share->epoch > last->epoch ||
		    (share->epoch == last->epoch &&
		     (share->image > last->image ||
		      (share->image == last->image &&
		       (share->event > last->event ||
			(share->event == last->event && share->label > last->label))))));
	assert_string_equal(share->event_name, model_events[share->event].name);
	assert_true(share->epoch <= MODEL_EPOCHS && share->label > 0 && share->label < LABELS);
	seen.samples[share->epoch - 1][image][share->event][share->label] += share->samples;
	survey->last = *share;
	return 0;
}

static int survey_profile(void *context, const struct profile *profile)
{
	struct survey *survey = context;
	unsigned int image = image_number(survey->reader, profile->image);

	seen.samples[profile->epoch - 1][image][profile->event][0] += profile->total;
	return 0;
}

static int survey_label(void *context, const struct profile_label *label)
{
	struct survey *survey = context;
	char unit[80], container[80];

	label_names(label->number, unit, container, sizeof(unit));
	assert_string_equal(label->unit, unit);
	assert_string_equal(label->container, container);
	survey->labels++;
	return 0;
}

/* Read the database; samples of label 0 are those of profiles without shares. */
static void look(const char *path)
{
	struct survey survey = {.reader = open_reader(path)};
	uint64_t *one = &seen.samples[0][0][0][0];

	memset(&seen, 0, sizeof(seen));
	assert_ok(profile_reader_totals(survey.reader, NULL, survey_profile, &survey, &err));
	assert_ok(profile_reader_shares(survey.reader, NULL, survey_share, &survey, &err));
	for (int64_t epoch = 1; epoch <= MODEL_EPOCHS; epoch++)
		assert_ok(profile_reader_labels(survey.reader, epoch, survey_label, &survey, &err));
	for (; one < &seen.samples[0][0][0][0] + sizeof(seen) / sizeof(*one); one += LABELS) {
		uint64_t sum = one[1] + one[2] + one[3] + one[4];

		assert_true(sum <= one[0]);
		one[0] -= sum;
	}
	profile_reader_close(survey.reader);
}

static void write_model(const char *path, uint64_t seed)
{
	struct profile_writer *writer = open_writer(path);
	unsigned int epoch = 0;

	memset(&wanted, 0, sizeof(wanted));
	for (unsigned int n = 0; n < MERGES; n++) {
		if (n % (MERGES / MODEL_EPOCHS + 1) == 0) {
			struct profile_epoch begun = model_epoch(epoch++);

			assert_ok(profile_writer_epoch_begin(writer, &begun, model_events,
							     MODEL_EVENTS, &err));
		}
		pending = wanted;
		assert_ok(profile_writer_begin(writer, &err));
		for (unsigned int bin = 0; bin < 3; bin++)
			write_bin(writer, &seed, epoch - 1);
		if (unit_random(&seed) % 4 == 0) {
			profile_writer_rollback(writer);
			continue;
		}
		assert_ok(profile_writer_commit(writer, &err));
		wanted = pending;
	}
	profile_writer_close(writer);
}

static void test_random_merges(void **state)
{
	const char *path = path_of("random.db");

	(void)state;
	write_model(path, 3);
	look(path);
	assert_memory_equal(&seen, &wanted, sizeof(seen));
}

/* Return: the number of expired epochs. */
static unsigned int expire(struct profile_writer *writer, int64_t before_ns)
{
	const struct profile_limits limits = {.before_ns = before_ns};
	struct profile_expired expired;
	unsigned int epochs = 0;
	int r;

	do {
		r = profile_writer_expire(writer, &limits, &expired, &err);
		assert_true(r >= 0);
		epochs += expired.epochs;
	} while (r > 0);
	return epochs;
}

static void test_expiry(void **state)
{
	const char *path = path_of("expiry.db");
	struct profile_writer *writer;
	unsigned int deleted;

	(void)state;
	write_model(path, 4);
	writer = open_writer(path);
	deleted = expire(writer, model_epoch(3).start_ns);
	assert_true(deleted > 0 && deleted < MODEL_EPOCHS);
	memset(&wanted, 0, deleted * sizeof(wanted.samples[0]));
	look(path);
	assert_memory_equal(&seen, &wanted, sizeof(seen));
	assert_int_equal(number(path, "SELECT count(*) FROM share WHERE NOT EXISTS "
				      "(SELECT 1 FROM image WHERE image.id = share.image)"),
			 0);
	assert_int_equal(number(path, "SELECT count(*) FROM pragma_foreign_key_check"), 0);
	profile_writer_close(writer);
}

static void test_misuse(void **state)
{
	struct profile_writer *writer = open_writer(path_of("misuse.db"));
	struct profile_label label = {.unit = "", .container = ""};
	struct profile_epoch epoch = model_epoch(0);

	(void)state;
	assert_int_equal(profile_writer_share(writer, 1, 0, 1, 1, &err), -EINVAL);
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	assert_int_equal(profile_writer_label(writer, &label, &err), -EINVAL);
	label.number = 7;
	assert_int_equal(profile_writer_label(writer, &label, &err), -EINVAL);
	assert_ok(profile_writer_begin(writer, &err));
	assert_int_equal(profile_writer_share(writer, 1, 0, 7, 1, &err), -EINVAL);
	assert_ok(profile_writer_label(writer, &label, &err));
	assert_ok(profile_writer_share(writer, 1, 0, 7, 1, &err));
	assert_int_equal(profile_writer_share(writer, 1, 0, 7, UINT64_MAX, &err), -EOVERFLOW);
	profile_writer_rollback(writer);
	label.number = (uint32_t)PROFILE_LABEL_MAX + 1;
	assert_ok(profile_writer_begin(writer, &err));
	assert_int_equal(profile_writer_label(writer, &label, &err), -EINVAL);
	profile_writer_close(writer);
	assert_int_equal(profile_label_of_pid(PROFILE_PID_OF_LABEL(1)), 1);
	assert_int_equal(profile_label_of_pid(PROFILE_PID_OF_LABEL(PROFILE_LABEL_MAX)),
			 PROFILE_LABEL_MAX);
	assert_int_equal(profile_label_of_pid(PROFILE_PID_ALL), 0);
	assert_int_equal(profile_label_of_pid(1), 0);
	assert_int_equal(profile_label_of_pid(INT64_MIN), 0);
}

static int ignore_share(void *context, const struct profile_share *share)
{
	(void)context;
	(void)share;
	return 0;
}

static int ignore_label(void *context, const struct profile_label *label)
{
	(void)context;
	(void)label;
	return 0;
}

static void expect_damage(const char *path, const char *text)
{
	struct profile_reader *reader;
	int r;

	sql(path, text);
	reader = open_reader(path);
	r = profile_reader_shares(reader, NULL, ignore_share, NULL, &err);
	if (r == 0)
		r = profile_reader_labels(reader, 1, ignore_label, NULL, &err);
	assert_int_equal(r, -EBADMSG);
	profile_reader_close(reader);
}

static void test_damage(void **state)
{
	const char *path = path_of("damage.db");

	(void)state;
	write_model(path, 5);
	expect_damage(path, "UPDATE share SET samples = -1 WHERE label = 2");
	sql(path, "UPDATE share SET samples = 1");
	expect_damage(path, "UPDATE share SET event = event + 97 WHERE label = 2");
	sql(path, "DELETE FROM share");
	expect_damage(path, "PRAGMA ignore_check_constraints = 1;"
			    "UPDATE label SET number = -4 WHERE number = 4 AND epoch = 1");
	sql(path, "DROP TABLE share");
	assert_int_equal(profile_reader_open(&(struct profile_reader *){NULL}, path, &err),
			 -EBADMSG);
}

/* Two hosts with an image of the same path without identity, and one unknown image. */
static void write_host(const char *path, const char *host, uint64_t samples)
{
	struct profile_image plain = {.kind = PROFILE_IMAGE_FILE, .path = "/bin/plain"};
	struct profile_image unknown = {.kind = PROFILE_IMAGE_UNKNOWN, .path = "unknown"};
	struct profile_label label = {1, "one.service", ""};
	struct profile_sample sample = {0, samples};
	struct profile_epoch epoch = model_epoch(0);
	struct profile_writer *writer = open_writer(path);
	int64_t id = 0;

	epoch.host = host;
	assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, 1, &err));
	assert_ok(profile_writer_begin(writer, &err));
	assert_ok(profile_writer_label(writer, &label, &err));
	assert_ok(profile_writer_image(writer, &plain, &id, &err));
	assert_ok(profile_writer_add(writer, id, 0, PROFILE_PID_ALL, &sample, 1, &err));
	assert_ok(profile_writer_share(writer, id, 0, 1, samples, &err));
	assert_ok(profile_writer_image(writer, &unknown, &id, &err));
	assert_ok(profile_writer_add(writer, id, 0, PROFILE_PID_OF_LABEL(1), &sample, 1, &err));
	assert_ok(profile_writer_totals(writer, epoch.start_ns, 2 * samples, NULL, 0, &err));
	assert_ok(profile_writer_commit(writer, &err));
	assert_ok(profile_writer_epoch_end(writer, epoch.start_ns + 1, &err));
	profile_writer_close(writer);
}

static void test_hosts(void **state)
{
	struct profile_merge_counts counts = {0};
	const char *one = path_of("one.db"), *two = path_of("two.db");
	struct profile_writer *writer;
	struct profile_reader *reader;

	(void)state;
	write_host(one, "one", 3);
	write_host(two, "two", 5);
	writer = open_writer(one);
	reader = open_reader(two);
	assert_ok(profile_merge(writer, reader, NULL, NULL, &counts, &err));
	profile_reader_close(reader);
	assert_int_equal(counts.images, 1);
	assert_int_equal(number(one, "SELECT count(*) FROM image WHERE path = '/bin/plain'"), 2);
	assert_int_equal(number(one, "SELECT count(*) FROM image WHERE kind = 5"), 1);
	assert_int_equal(number(one, "SELECT sum(samples) FROM dcpi_units WHERE epoch = 2 "
				     "AND unit = 'one.service' AND path = '/bin/plain'"),
			 5);
	assert_int_equal(number(one, "SELECT sum(samples) FROM profile WHERE pid = -2"), 8);
	assert_int_equal(expire(writer, INT64_MAX), 2);
	assert_int_equal(number(one, "SELECT count(*) FROM host"), 0);
	assert_int_equal(number(one, "SELECT count(*) FROM share"), 0);
	profile_writer_close(writer);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_merges), cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_misuse),	      cmocka_unit_test(test_damage),
		cmocka_unit_test(test_hosts),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
