// SPDX-License-Identifier: GPL-2.0-only
/* Profiles of a process, a unit or a container: random profiles, compared with a list. */
#include "tests/fixtures/profile_db_fixture.h"

#include <fnmatch.h>
#include <stdio.h>

#define LABELS 7
#define PROCESSES 12
#define ROWS_MAX 4096
#define FILTERS 600

static struct error err;

/* A row of the database, and its owner. */
struct row {
	int64_t epoch;
	int64_t image;
	uint32_t event;
	int64_t pid;
	unsigned int label; /* 0: none */
	uint64_t total;
	bool seen;
};

static struct row rows[ROWS_MAX];
static size_t row_count;

static void label_names(unsigned int number, char unit[64], char container[80])
{
	snprintf(unit, 64, number == 1 ? "" : "unit-%u.service", number / 2);
	snprintf(container, 80, number % 3 == 0 ? "" : "%u%063x", number % 3, number);
}

/* The label of a process differs between epochs. */
static unsigned int label_of_process(unsigned int epoch, unsigned int process)
{
	return (process * 5 + epoch) % LABELS;
}

static void write_names(struct profile_writer *writer, unsigned int epoch)
{
	struct profile_label label;
	struct profile_process process = {.command = "command"};
	char unit[64], container[80];
	unsigned int i;

	for (i = 1; i < LABELS; i++) {
		label_names(i, unit, container);
		label = (struct profile_label){i, unit, container};
		assert_ok(profile_writer_label(writer, &label, &err));
	}
	for (i = 1; i <= PROCESSES; i++) {
		process.pid = i;
		process.label = label_of_process(epoch, i);
		assert_ok(profile_writer_process(writer, &process, &err));
	}
}

static int64_t random_owner(uint64_t *random)
{
	switch (unit_random(random) % 3) {
	case 0:
		return PROFILE_PID_ALL;
	case 1:
		return (int64_t)(1 + unit_random(random) % PROCESSES);
	default:
		return PROFILE_PID_OF_LABEL(1 + unit_random(random) % (LABELS - 1));
	}
}

static void row_note(unsigned int epoch, int64_t image, uint32_t event, int64_t pid, uint64_t total)
{
	unsigned int label = profile_label_of_pid(pid);
	size_t i;

	for (i = 0; i < row_count; i++) {
		if (rows[i].epoch == epoch + 1 && rows[i].image == image &&
		    rows[i].event == event && rows[i].pid == pid) {
			rows[i].total += total;
			return;
		}
	}
	assert_true(row_count < ROWS_MAX);
	if (pid > 0)
		label = label_of_process(epoch, (unsigned int)pid);
	rows[row_count++] =
		(struct row){.epoch = epoch + 1, image, event, pid, label, total, false};
}

static void write_rows(const char *path, uint64_t seed)
{
	struct profile_writer *writer = open_writer(path);
	unsigned int epoch, n;

	for (epoch = 0; epoch < MODEL_EPOCHS; epoch++) {
		struct profile_epoch begun = model_epoch(epoch);

		assert_ok(profile_writer_epoch_begin(writer, &begun, model_events, MODEL_EVENTS,
						     &err));
		assert_ok(profile_writer_begin(writer, &err));
		write_names(writer, epoch);
		for (n = 0; n < 150; n++) {
			struct profile_sample sample = {model_offset(n % MODEL_OFFSETS),
							1 + unit_random(&seed) % 9};
			uint32_t event = (uint32_t)(unit_random(&seed) % MODEL_EVENTS);
			int64_t pid = random_owner(&seed), id = 0;
			struct profile_image image;
			char name[64];

			model_image((unsigned int)(unit_random(&seed) % MODEL_IMAGES), &image, name,
				    sizeof(name));
			assert_ok(profile_writer_image(writer, &image, &id, &err));
			assert_ok(profile_writer_add(writer, id, event, pid, &sample, 1, &err));
			row_note(epoch, id, event, pid, sample.count);
		}
		assert_ok(profile_writer_commit(writer, &err));
	}
	profile_writer_close(writer);
}

static bool is_asked_for(const struct row *row, const struct profile_filter *filter)
{
	char unit[64], container[80];

	if (filter->has_pid && filter->pid != PROFILE_PID_ALL && filter->pid != row->pid)
		return false;
	if (filter->unit == NULL && filter->container == NULL)
		return true;
	if (row->label == 0)
		return false;
	label_names(row->label, unit, container);
	if (filter->unit != NULL && fnmatch(filter->unit, unit, 0) != 0)
		return false;
	return filter->container == NULL || fnmatch(filter->container, container, 0) == 0 ||
	       (filter->container[0] != '\0' &&
		strncmp(container, filter->container, strlen(filter->container)) == 0);
}

static int row_take(void *context, const struct profile *profile)
{
	const struct profile_filter *filter = context;
	size_t i = 0;

	while (rows[i].epoch != profile->epoch || rows[i].image != profile->image ||
	       rows[i].event != profile->event || rows[i].pid != profile->pid)
		assert_true(++i < row_count);
	assert_false(rows[i].seen);
	rows[i].seen = true;
	assert_int_equal(rows[i].total, profile->total);
	assert_int_equal(profile->chosen, is_asked_for(&rows[i], filter));
	return 0;
}

static struct profile_filter random_filter(uint64_t *random, int64_t *epoch)
{
	static const char *const units[] = {NULL, "", "unit-1.service", "unit-*", "*", "none"};
	static const char *const containers[] = {NULL, "", "1", "2000*", "1*4", "*", "3"};
	struct profile_filter filter = {
		.unit = units[unit_random(random) % 6],
		.container = containers[unit_random(random) % 7],
		.others_too = unit_random(random) % 2,
	};

	if (unit_random(random) % 3 == 0) {
		filter.has_pid = 1;
		filter.pid = random_owner(random);
	}
	if (unit_random(random) % 2) {
		*epoch = (int64_t)(1 + unit_random(random) % MODEL_EPOCHS);
		filter.epochs = epoch;
		filter.epoch_count = 1;
	}
	return filter;
}

static void test_returns_requested_owners(void **state)
{
	const char *path = path_of("owners.db");
	struct profile_reader *reader;
	uint64_t random = 5;
	unsigned int n, some = 0;

	(void)state;
	row_count = 0;
	write_rows(path, 4);
	reader = open_reader(path);
	for (n = 0; n < FILTERS; n++) {
		int64_t epoch = 0;
		struct profile_filter filter = random_filter(&random, &epoch);
		size_t i;

		for (i = 0; i < row_count; i++)
			rows[i].seen = false;
		assert_ok((n % 2 ? profile_reader_totals : profile_reader_profiles)(
			reader, &filter, row_take, &filter, &err));
		for (i = 0; i < row_count; i++) {
			bool in_epoch = filter.epochs == NULL || rows[i].epoch == epoch;
			bool wanted = is_asked_for(&rows[i], &filter);

			assert_int_equal(rows[i].seen, in_epoch && (wanted || filter.others_too));
			some += rows[i].seen && wanted && filter.unit != NULL;
		}
	}
	assert_true(some > FILTERS);
	profile_reader_close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_returns_requested_owners),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
