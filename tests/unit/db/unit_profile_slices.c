// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slices of epochs. Any range of time has the samples, shares and losses that a list of all samples
 * gives: before and after slices are merged, in a copy of the database, and while epochs expire.
 */
#include "tests/fixtures/profile_db_fixture.h"

#include <errno.h>
#include <sqlite3.h>

#include "db/profile_merge.h"

#define SECOND 1000000000LL
#define EPOCHS 2
#define SLOTS 60
#define LABELS 3
#define RECORDS 4000
#define SEED 48
/* 2026-01-02 23:55:03 UTC: minutes, hours and days change within an epoch. */
#define START (1767398103 * SECOND)

static struct error err;

/* Samples, or a loss if @image is MODEL_IMAGES. @slot: of the epoch, some ten seconds long */
struct record {
	unsigned int epoch;
	unsigned int slot;
	unsigned int image;
	unsigned int event;
	unsigned int pid;
	unsigned int label;
	unsigned int offset;
	uint64_t count;
};

static struct record records[RECORDS];

/* Sums of a range. */
struct sums {
	uint64_t samples[MODEL_IMAGES][MODEL_EVENTS][MODEL_PIDS][MODEL_OFFSETS];
	uint64_t shares[MODEL_IMAGES][MODEL_EVENTS][LABELS];
	uint64_t total;
	uint64_t losses;
	uint64_t interrupts;
};

/* Starts of the slices that the database has now. */
struct starts {
	int64_t list[SLOTS];
	size_t count;
};

static struct starts starts[EPOCHS];

/* The length of a slot, and the time between two epochs. */
static int64_t slot_ns = 10 * SECOND;

static int64_t slot_start(unsigned int epoch, unsigned int slot)
{
	return START + (epoch * (SLOTS + 3) + slot) * slot_ns;
}

static void records_make(uint64_t *seed)
{
	for (size_t i = 0; i < RECORDS; i++) {
		records[i] = (struct record){
			.epoch = (unsigned int)(i * EPOCHS / RECORDS),
			.slot = (unsigned int)(unit_random(seed) % SLOTS),
			.image = (unsigned int)(unit_random(seed) % (MODEL_IMAGES + 1)),
			.event = (unsigned int)(unit_random(seed) % MODEL_EVENTS),
			.pid = (unsigned int)(unit_random(seed) % MODEL_PIDS),
			.label = (unsigned int)(unit_random(seed) % LABELS),
			.offset = (unsigned int)(unit_random(seed) % MODEL_OFFSETS),
			.count = 1 + unit_random(seed) % 1000,
		};
	}
}

static void record_write(struct profile_writer *writer, const struct record *record)
{
	const struct profile_sample sample = {model_offset(record->offset), record->count};
	int64_t pid = model_pids[record->pid], slice = 0, image;

	assert_ok(profile_writer_slice(writer, slot_start(record->epoch, record->slot), &slice,
				       &err));
	if (record->image == MODEL_IMAGES) {
		assert_ok(profile_writer_slice_count(writer, slice, "loss", "ring_full",
						     record->count, &err));
		return;
	}
	image = add_model_image(writer, record->image);
	assert_ok(profile_writer_add(writer, image, record->event, pid, &sample, 1, &err));
	assert_ok(profile_writer_slice_add(writer, slice, image, record->event, pid, &sample, 1,
					   &err));
	if (record->label == 0)
		return;
	assert_ok(profile_writer_share(writer, image, record->event, record->label, record->count,
				       &err));
	assert_ok(profile_writer_slice_share(writer, slice, image, record->event, record->label,
					     record->count, &err));
}

static uint64_t interrupts_of(unsigned int epoch, unsigned int slot, uint64_t *losses)
{
	uint64_t interrupts = 0;

	for (size_t i = 0; i < RECORDS; i++) {
		if (records[i].epoch != epoch || (slot < SLOTS && records[i].slot != slot))
			continue;
		interrupts += records[i].count;
		*losses += records[i].image == MODEL_IMAGES ? records[i].count : 0;
	}
	return interrupts;
}

static void totals_write(struct profile_writer *writer, unsigned int epoch)
{
	struct profile_counter loss = {"loss", "ring_full", 0};
	uint64_t ignored = 0, all = interrupts_of(epoch, SLOTS, &loss.count);
	int64_t id = 0;

	for (unsigned int slot = 0; slot < SLOTS; slot++) {
		const struct profile_slice slice = {
			.start_ns = slot_start(epoch, slot),
			.end_ns = slot_start(epoch, slot + 1),
			.interrupts = interrupts_of(epoch, slot, &ignored),
		};

		assert_ok(profile_writer_slice(writer, slice.start_ns, &id, &err));
		assert_ok(profile_writer_slice_set(writer, id, &slice, NULL, 0, &err));
	}
	assert_ok(profile_writer_totals(writer, slot_start(epoch, SLOTS), all, &loss, 1, &err));
}

/* Write all records in several transactions. Some are rolled back and repeated. */
static void database_write(const char *path, uint64_t *seed)
{
	struct profile_writer *writer = open_writer(path);

	for (unsigned int i = 0; i < EPOCHS; i++) {
		struct profile_epoch epoch = model_epoch(0);
		const struct record *record = &records[i * RECORDS / EPOCHS];
		const struct record *end = &records[(i + 1) * RECORDS / EPOCHS];

		epoch.start_ns = slot_start(i, 0);
		assert_ok(profile_writer_epoch_begin(writer, &epoch, model_events, MODEL_EVENTS,
						     &err));
		while (record < end) {
			const struct record *next = record + 1 + unit_random(seed) % 500;

			next = next < end ? next : end;
			assert_ok(profile_writer_begin(writer, &err));
			for (unsigned int label = 1; label < LABELS; label++)
				assert_ok(profile_writer_label(
					writer,
					&(struct profile_label){label, label == 1 ? "a" : "b", ""},
					&err));
			for (const struct record *each = record; each < next; each++)
				record_write(writer, each);
			if (unit_random(seed) % 4 == 0) {
				profile_writer_rollback(writer);
				continue;
			}
			if (next == end)
				totals_write(writer, i);
			assert_ok(profile_writer_commit(writer, &err));
			record = next;
		}
	}
	assert_ok(profile_writer_epoch_end(writer, slot_start(EPOCHS - 1, SLOTS), &err));
	profile_writer_close(writer);
}

struct look {
	struct profile_reader *reader;
	struct sums sums;
	uint64_t totals;
	unsigned int epochs;
	const struct profile_filter *filter;
	int64_t slice_ns;
	uint64_t slice_total; /* samples of the slice that starts at slice_ns, in an iteration by
				 slice */
};

static unsigned int image_number(struct look *look, int64_t id)
{
	struct profile_image image;
	unsigned int number = MODEL_IMAGES;

	assert_ok(profile_reader_image(look->reader, id, &image, &err));
	assert_int_equal(sscanf(image.path, "/usr/lib/image-%u.so", &number), 1);
	assert_true(number < MODEL_IMAGES);
	return number;
}

static unsigned int pid_number(int64_t pid)
{
	unsigned int i = 0;

	while (model_pids[i] != pid)
		assert_true(++i < MODEL_PIDS);
	return i;
}

/* Samples of a slice are passed with its start. */
static void look_slice(struct look *look, const struct profile *profile)
{
	const struct starts *list = &starts[profile->epoch - 1];
	size_t i = 0;

	while (list->list[i] != profile->slice_ns)
		assert_true(++i < list->count);
	if (profile->slice_ns == look->slice_ns)
		look->slice_total += profile->total;
}

static int look_profile(void *context, const struct profile *profile)
{
	struct look *look = context;
	unsigned int image = image_number(look, profile->image), pid = pid_number(profile->pid);
	uint64_t sum = 0;

	for (size_t i = 0; i < profile->count; i++) {
		unsigned int offset = 0;

		while (model_offset(offset) != profile->samples[i].offset)
			assert_true(++offset < MODEL_OFFSETS);
		assert_true(i == 0 || profile->samples[i - 1].offset < profile->samples[i].offset);
		look->sums.samples[image][profile->event][pid][offset] += profile->samples[i].count;
		sum += profile->samples[i].count;
	}
	assert_true(profile->partial ? sum <= profile->total : sum == profile->total);
	look->sums.total += profile->total;
	if (look->filter != NULL && look->filter->by_slice)
		look_slice(look, profile);
	else
		assert_int_equal(profile->slice_ns, 0);
	return 0;
}

static int look_total(void *context, const struct profile *profile)
{
	struct look *look = context;

	look->totals += profile->total;
	return 0;
}

static int look_share(void *context, const struct profile_share *share)
{
	struct look *look = context;
	unsigned int image = image_number(look, share->image);

	look->sums.shares[image][share->event][share->label] += share->samples;
	return 0;
}

static int look_counter(void *context, const struct profile_counter *counter)
{
	struct look *look = context;

	assert_string_equal(counter->group, "loss");
	look->sums.losses += counter->count;
	return 0;
}

static int look_epoch(void *context, const struct profile_epoch *epoch)
{
	struct look *look = context;

	look->epochs++;
	look->sums.interrupts += epoch->interrupts;
	assert_ok(profile_reader_counters(look->reader, epoch, look_counter, look, &err));
	return 0;
}

/* @slice_ns: start of a slice whose samples are added up separately */
static struct look *look_at(struct profile_reader *reader, const struct profile_filter *filter,
			    int64_t slice_ns)
{
	static struct look look;

	look = (struct look){.reader = reader, .filter = filter, .slice_ns = slice_ns};
	assert_ok(profile_reader_epochs(reader, filter, look_epoch, &look, &err));
	assert_ok(profile_reader_profiles(reader, filter, look_profile, &look, &err));
	assert_ok(profile_reader_totals(reader, filter, look_total, &look, &err));
	assert_ok(profile_reader_shares(reader, filter, look_share, &look, &err));
	assert_int_equal(look.totals, look.sums.total);
	return &look;
}

static int slice_note(void *context, const struct profile_slice *slice)
{
	struct starts *list = context;

	assert_true(list->count < SLOTS);
	assert_true(list->count == 0 || list->list[list->count - 1] < slice->start_ns);
	list->list[list->count++] = slice->start_ns;
	return 0;
}

static void starts_read(struct profile_reader *reader)
{
	for (unsigned int i = 0; i < EPOCHS; i++) {
		starts[i].count = 0;
		assert_ok(profile_reader_slices(reader, i + 1, slice_note, &starts[i], &err));
		assert_true(starts[i].count > 0 && starts[i].list[0] == slot_start(i, 0));
	}
}

/* Return the start of the slice that has a record. */
static int64_t slice_of(const struct record *record)
{
	const struct starts *list = &starts[record->epoch];
	size_t i = list->count - 1;

	while (list->list[i] > slot_start(record->epoch, record->slot))
		i--;
	return list->list[i];
}

/* Sum up the list of records. */
static const struct sums *sums_of(const struct profile_filter *filter)
{
	static struct sums sums;

	memset(&sums, 0, sizeof(sums));
	for (const struct record *record = records; record < records + RECORDS; record++) {
		int64_t start_ns = slice_of(record);

		if (start_ns < filter->since_ns ||
		    (filter->until_ns != 0 && start_ns >= filter->until_ns))
			continue;
		sums.interrupts += record->count;
		if (record->image == MODEL_IMAGES) {
			sums.losses += record->count;
			continue;
		}
		sums.total += record->count;
		sums.samples[record->image][record->event][record->pid][record->offset] +=
			record->count;
		if (record->label != 0)
			sums.shares[record->image][record->event][record->label] += record->count;
	}
	return &sums;
}

static void range_check(struct profile_reader *reader, const struct profile_filter *filter)
{
	const struct look *look = look_at(reader, filter, 0);

	assert_memory_equal(&look->sums, sums_of(filter), sizeof(look->sums));
	assert_int_equal(look->sums.interrupts, look->sums.total + look->sums.losses);
}

/* Compare an iteration by slice with the iteration over the same range, and with one slice. */
static void by_slice_check(struct profile_reader *reader, const struct profile_filter *range,
			   int64_t slice_ns)
{
	const struct profile_filter slice = {.since_ns = slice_ns, .until_ns = slice_ns + 1};
	struct profile_filter filter = *range;
	const struct look *look;

	filter.by_slice = true;
	look = look_at(reader, &filter, slice_ns);
	assert_memory_equal(&look->sums, sums_of(range), sizeof(look->sums));
	if (slice_ns >= filter.since_ns && (filter.until_ns == 0 || slice_ns < filter.until_ns))
		assert_int_equal(look->slice_total, sums_of(&slice)->total);
	else
		assert_int_equal(look->slice_total, 0);
}

/* Compare ranges that begin and end at slices, in them, and outside of all. */
static void ranges_check(const char *path, uint64_t *seed)
{
	struct profile_reader *reader = open_reader(path);
	int64_t end_ns = slot_start(EPOCHS, SLOTS);

	starts_read(reader);
	range_check(reader, &(struct profile_filter){0});
	by_slice_check(reader, &(struct profile_filter){0}, starts[0].list[0]);
	range_check(reader, &(struct profile_filter){.since_ns = 1});
	range_check(reader, &(struct profile_filter){.since_ns = end_ns});
	range_check(reader, &(struct profile_filter){.until_ns = START});
	for (unsigned int i = 0; i < 60; i++) {
		const struct starts *list = &starts[unit_random(seed) % EPOCHS];
		int64_t middle = list->list[unit_random(seed) % list->count] +
				 (int64_t)(unit_random(seed) % 3) - 1;
		int64_t length = (int64_t)(unit_random(seed) % (uint64_t)(30 * slot_ns));
		struct profile_filter parts[] = {
			{.until_ns = middle},
			{.since_ns = middle, .until_ns = middle + length},
			{.since_ns = middle + length},
		};
		uint64_t sum = 0;

		for (size_t j = 0; j < 3; j++) {
			range_check(reader, &parts[j]);
			if (i % 4 == 0)
				by_slice_check(reader, &parts[j], list->list[i % list->count]);
			sum += sums_of(&parts[j])->total;
		}
		assert_int_equal(sum, sums_of(&(struct profile_filter){0})->total);
	}
	profile_reader_close(reader);
}

/* One image, one process, and only some offsets. */
static void selection_check(const char *path)
{
	struct profile_range list[] = {{model_offset(3), model_offset(20)}};
	const struct profile_ranges ranges = {list, 1};
	struct profile_reader *reader = open_reader(path);
	struct profile_filter filter = {.since_ns = slot_start(0, 7), .until_ns = slot_start(1, 9)};
	const struct sums *sums = sums_of(&filter);
	struct look *look;
	uint64_t wanted = 0, found = 0;

	filter.image = 2;
	filter.has_pid = 1;
	filter.pid = model_pids[1];
	filter.ranges = &ranges;
	look = look_at(reader, &filter, 0);
	for (unsigned int image = 0; image < MODEL_IMAGES; image++) {
		for (unsigned int offset = 0; offset < MODEL_OFFSETS; offset++) {
			bool in = offset >= 3 && offset < 20;

			for (unsigned int event = 0; event < MODEL_EVENTS; event++) {
				found += look->sums.samples[image][event][1][offset];
				if (image == image_number(look, 2) && in)
					wanted += sums->samples[image][event][1][offset];
			}
		}
	}
	assert_true(wanted > 0);
	assert_int_equal(found, wanted);
	assert_true(look->sums.total > wanted);
	profile_reader_close(reader);
}

static void sums_check(const char *path)
{
	assert_int_equal(number(path, "SELECT count(*) FROM slice WHERE interrupts <> "
				      "(SELECT ifnull(sum(samples), 0) FROM slice_profile "
				      "WHERE slice = id) + (SELECT ifnull(sum(count), 0) FROM "
				      "slice_counter WHERE slice = id AND counter_group = 'loss')"),
			 0);
	/* An estimate of the space in pages. */
	assert_int_equal(number(path, "SELECT count(*) FROM slice WHERE bytes < "
				      "(SELECT sum(length(data)) FROM slice_profile "
				      "WHERE slice = id) OR bytes > (SELECT sum(length(data) * 2 + "
				      "1100) FROM slice_profile WHERE slice = id) + "
				      "(SELECT 28 * count(*) FROM slice_share WHERE slice = id)"),
			 0);
}

/* Merge slices in as many steps as needed; some ranges are compared after each. */
static void slices_merge(const char *path, const struct profile_slice_limits *limits,
			 uint64_t *seed)
{
	struct profile_writer *writer = open_writer(path);
	int r;

	do {
		r = profile_writer_slices_merge(writer, limits, &err);
		if (r < 0)
			fail_msg("%s", err.message);
		if (unit_random(seed) % 8 == 0)
			sums_check(path);
	} while (r > 0);
	profile_writer_close(writer);
	sums_check(path);
	ranges_check(path, seed);
}

static size_t slices_of(unsigned int epoch)
{
	return starts[epoch].count;
}

static void test_merged_by_age(void **state)
{
	const char *path = path_of("age.db"), *copy = path_of("copy.db");
	uint64_t seed = SEED;
	struct profile_slice_limits limits = {
		.now_ns = slot_start(EPOCHS - 1, SLOTS),
		.before_ns = INT64_MAX,
		.age_ns = {300 * SECOND, 0, 0},
	};
	struct profile_merge_counts counts = {0};
	struct profile_writer *writer;
	struct profile_reader *reader;

	(void)state;
	slot_ns = 10 * SECOND;
	records_make(&seed);
	database_write(path, &seed);
	sums_check(path);
	ranges_check(path, &seed);
	assert_int_equal(slices_of(0), SLOTS);
	selection_check(path);
	slices_merge(path, &limits, &seed);
	/* The minutes of the first epoch, and the last five minutes of the second as before. */
	assert_int_equal(slices_of(0), 10);
	assert_int_equal(slices_of(1), 5 + 33);
	selection_check(path);
	limits.before_ns = slot_start(0, 5);
	limits.age_ns[1] = SECOND;
	slices_merge(path, &limits, &seed);
	assert_int_equal(slices_of(0), 10);
	limits.before_ns = INT64_MAX;
	slices_merge(path, &limits, &seed);
	/* The second hour is not over. */
	assert_int_equal(slices_of(0), 1 + 5);
	limits.now_ns += 3600 * SECOND;
	slices_merge(path, &limits, &seed);
	assert_int_equal(slices_of(0), 2);
	assert_int_equal(slices_of(1), 1);

	writer = open_writer(copy);
	reader = open_reader(path);
	assert_ok(profile_merge(writer, reader, NULL, NULL, &counts, &err));
	assert_int_equal(counts.epochs[PROFILE_MERGE_DONE], EPOCHS);
	profile_reader_close(reader);
	profile_writer_close(writer);
	sums_check(copy);
	ranges_check(copy, &seed);
	assert_int_equal(slices_of(0), 2);
}

static void test_merged_by_day(void **state)
{
	const char *path = path_of("day.db");
	uint64_t seed = SEED + 1;
	struct profile_slice_limits limits = {.before_ns = INT64_MAX};

	(void)state;
	slot_ns = 1799 * SECOND;
	limits.now_ns = slot_start(EPOCHS - 1, SLOTS) + 2 * 86400 * SECOND;
	limits.age_ns[2] = 86400 * SECOND;
	records_make(&seed);
	database_write(path, &seed);
	slices_merge(path, &limits, &seed);
	assert_int_equal(slices_of(0), 3);
	assert_int_equal(number(path, "SELECT count(*) FROM (SELECT 1 FROM slice GROUP BY epoch, "
				      "start_ns / 86400000000000 HAVING count(*) > 1)"),
			 0);
}

/* Without space, slices of any age are merged, at last all of an epoch. */
static void test_merged_by_size(void **state)
{
	static const char bytes[] = "SELECT sum(bytes) FROM slice";
	const char *path = path_of("size.db");
	uint64_t seed = SEED + 2;
	struct profile_slice_limits limits = {.before_ns = INT64_MAX, .percent = 1};
	int64_t before, after;

	(void)state;
	slot_ns = 10 * SECOND;
	records_make(&seed);
	database_write(path, &seed);
	limits.now_ns = slot_start(EPOCHS - 1, SLOTS);
	before = number(path, bytes);
	limits.bytes_min = (uint64_t)before;
	slices_merge(path, &limits, &seed);
	assert_int_equal(number(path, bytes), before);
	limits.bytes_min = (uint64_t)before * 3 / 4;
	slices_merge(path, &limits, &seed);
	after = number(path, bytes);
	assert_true(after <= before * 3 / 4 && after > before / 2);
	limits.bytes_min = 1;
	slices_merge(path, &limits, &seed);
	assert_int_equal(slices_of(0), 1);
	assert_int_equal(slices_of(1), 1);
	/* Then they have the contents of the epochs. */
	assert_int_equal(number(path, "SELECT sum(length(data)) FROM slice_profile"),
			 number(path, "SELECT sum(length(data)) FROM profile"));
}

/* An epoch that is being deleted has no slices. */
static void test_expire(void **state)
{
	const char *path = path_of("expire.db");
	uint64_t seed = SEED + 3;
	const struct profile_limits limits = {.before_ns = slot_start(1, 0) + 1};
	struct profile_writer *writer;
	struct profile_expired expired;
	int more;

	(void)state;
	slot_ns = 10 * SECOND;
	records_make(&seed);
	database_write(path, &seed);
	writer = open_writer(path);
	do {
		more = profile_writer_expire(writer, &limits, &expired, &err);
		assert_true(more >= 0);
		assert_int_equal(number(path, "SELECT count(*) FROM slice WHERE epoch = 1"), 0);
		sums_check(path);
	} while (more == 1);
	assert_int_equal(number(path, "SELECT count(*) FROM epoch"), EPOCHS - 1);
	assert_int_equal(number(path, "SELECT count(*) FROM slice"), SLOTS);
	assert_int_equal(number(path, "SELECT count(*) FROM slice WHERE epoch = 2"), SLOTS);
	profile_writer_close(writer);
}

/* Damage of a slice is an error of reports of that time only, and a loss once slices are merged. */
static void test_damage(void **state)
{
	const char *path = path_of("damage.db");
	uint64_t seed = SEED + 4;
	struct profile_slice_limits limits = {.before_ns = INT64_MAX, .age_ns = {1, 0, 0}};
	struct profile_filter filter = {.since_ns = slot_start(0, 1)};
	struct profile_writer *writer;
	struct profile_reader *reader;
	struct look look = {0};
	sqlite3 *handle;

	(void)state;
	slot_ns = 10 * SECOND;
	records_make(&seed);
	database_write(path, &seed);
	limits.now_ns = INT64_MAX / 2;
	assert_int_equal(sqlite3_open(path, &handle), SQLITE_OK);
	assert_int_equal(sqlite3_exec(handle,
				      "UPDATE slice_profile SET data = zeroblob(length(data)) "
				      "WHERE slice = (SELECT id FROM slice WHERE epoch = 1 "
				      "ORDER BY start_ns LIMIT 1 OFFSET 4)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(handle);
	look.reader = reader = open_reader(path);
	assert_int_equal(profile_reader_profiles(reader, &filter, look_profile, &look, &err),
			 -EBADMSG);
	filter.since_ns = slot_start(0, 5);
	assert_ok(profile_reader_profiles(reader, &filter, look_profile, &look, &err));
	assert_ok(profile_reader_profiles(reader, NULL, look_profile, &look, &err));
	profile_reader_close(reader);
	writer = open_writer(path);
	while (profile_writer_slices_merge(writer, &limits, &err) > 0)
		;
	profile_writer_close(writer);
	sums_check(path);
	assert_true(number(path, "SELECT sum(count) FROM slice_counter WHERE name = 'damaged'") >
		    0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merged_by_age),  cmocka_unit_test(test_merged_by_day),
		cmocka_unit_test(test_merged_by_size), cmocka_unit_test(test_expire),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
