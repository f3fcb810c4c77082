// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/counter_set.h"
#include "daemon/collect/accumulate.h"

enum {
	IMAGES = 5,
	EVENTS = 2,
	PIDS = 3, /* the first is "all" */
	OFFSETS = 40,
	SLICES = 200,
};

/* Counts that were added and not dropped yet, by slice, in plain arrays. */
static uint64_t model[SLICES][IMAGES][EVENTS][PIDS][OFFSETS];

static int add(struct accumulate *accumulate, const struct accumulate_key *key, const char *command,
	       uint32_t label, uint64_t offset, uint32_t count)
{
	return accumulate_add(accumulate, accumulate_bin(accumulate, key, command), label, offset,
			      count);
}

static int64_t pid_of(size_t index)
{
	return index == 0 ? PROFILE_PID_ALL : (int64_t)index - 1;
}

static size_t pid_index(int64_t pid)
{
	return (size_t)(pid + 1);
}

#define LABELS 7

/* The label follows from the offset of a sample, so the model need not store it. */
static uint32_t label_of(size_t offset)
{
	return (uint32_t)(offset * 5 % LABELS);
}

static void labels_check(const struct accumulate_part *part, const uint64_t *want)
{
	const struct accumulate_label *labels;
	uint64_t sums[LABELS] = {0};
	size_t count, i, expected = 0;

	for (i = 0; i < OFFSETS; i++)
		sums[label_of(i)] += want[i];
	labels = accumulate_part_labels(part, &count);
	for (i = 0; i < count; i++) {
		assert_true(labels[i].label > 0 && labels[i].label < LABELS);
		assert_true(i == 0 || labels[i].label > labels[i - 1].label);
		assert_int_equal(labels[i].samples, sums[labels[i].label]);
	}
	for (i = 1; i < LABELS; i++)
		expected += sums[i] != 0;
	assert_int_equal(count, expected);
}

/* Compare a part with the model and remove it from the model; return its samples. */
static uint64_t part_check(struct accumulate *accumulate, const struct accumulate_bin *bin,
			   const struct accumulate_part *part)
{
	const struct profile_sample *samples;
	struct accumulate_key key = accumulate_bin_key(bin);
	uint32_t slice = accumulate_part_slice(part);
	uint64_t *want = model[slice][key.image][key.event][pid_index(key.pid)], sum = 0;
	size_t i, count, expected = 0;

	assert_int_equal(accumulate_part_samples(accumulate, part, &samples, &count), 0);
	for (i = 0; i < count; i++) {
		uint64_t offset = samples[i].offset;

		assert_true(i == 0 || offset > samples[i - 1].offset);
		assert_true(offset % 0x10001 == 0 && offset / 0x10001 < OFFSETS);
		assert_int_equal(samples[i].count, want[offset / 0x10001]);
		assert_true(samples[i].count > 0);
		sum += samples[i].count;
	}
	for (i = 0; i < OFFSETS; i++)
		expected += want[i] != 0;
	assert_int_equal(count, expected);
	assert_int_equal(sum, accumulate_part_held(bin, part));
	labels_check(part, want);
	memset(want, 0, sizeof(model[0][0][0][0]));
	return sum;
}

/* Compare all parts of a bin: no other slice has samples of its key. Return: its samples. */
static uint64_t bin_check(struct accumulate *accumulate, struct accumulate_bin *bin)
{
	const struct accumulate_part *part = accumulate_bin_oldest(bin);
	struct accumulate_key key = accumulate_bin_key(bin);
	uint64_t sum = 0;

	for (; part != NULL; part = accumulate_part_next(part)) {
		const struct accumulate_part *next = accumulate_part_next(part);

		assert_true(next == NULL ||
			    accumulate_part_slice(part) < accumulate_part_slice(next));
		sum += part_check(accumulate, bin, part);
	}
	for (size_t slice = 0; slice < SLICES; slice++) {
		for (size_t i = 0; i < OFFSETS; i++)
			assert_int_equal(model[slice][key.image][key.event][pid_index(key.pid)][i],
					 0);
	}
	assert_int_equal(sum, accumulate_bin_held(bin));
	return sum;
}

static void follows_model(void **state)
{
	struct accumulate *accumulate;
	uint64_t seed = 1, added = 0, dropped = 0;
	uint32_t slice = 0;
	int step;

	(void)state;
	memset(model, 0, sizeof(model));
	assert_int_equal(accumulate_create(&accumulate, 1 << 30, NULL), 0);
	for (step = 0; step < 200000; step++) {
		struct accumulate_key key = {
			.image = (uint32_t)(unit_random(&seed) % IMAGES),
			.event = (uint32_t)(unit_random(&seed) % EVENTS),
			.pid = pid_of(unit_random(&seed) % PIDS),
		};
		size_t offset = unit_random(&seed) % OFFSETS;
		uint32_t count = 1 + (uint32_t)(unit_random(&seed) % 1000);

		if (unit_random(&seed) % 64 == 0 && accumulate_first(accumulate) != NULL) {
			dropped += bin_check(accumulate, accumulate_first(accumulate));
			accumulate_drop(accumulate, 1);
		}
		if (step % 1009 == 1008)
			assert_int_equal(accumulate_slice(accumulate), ++slice);
		assert_int_equal(
			add(accumulate, &key, NULL, label_of(offset), offset * 0x10001, count), 0);
		model[slice][key.image][key.event][pid_index(key.pid)][offset] += count;
		added += count;
		assert_int_equal(accumulate_held(accumulate), added - dropped);
	}
	while (accumulate_first(accumulate) != NULL) {
		dropped += bin_check(accumulate, accumulate_first(accumulate));
		accumulate_drop(accumulate, 1);
	}
	assert_int_equal(added, dropped);
	assert_int_equal(accumulate_held(accumulate), 0);
	assert_int_equal(accumulate_bytes(accumulate), 0);
	accumulate_destroy(accumulate);
}

static void memory_is_bounded_and_losses_named(void **state)
{
	struct accumulate *accumulate;
	uint64_t seed = 2, added = 0, held_before;
	int step;

	(void)state;
	assert_int_equal(accumulate_create(&accumulate, 64 << 10, NULL), 0);
	for (step = 0; step < 100000; step++) {
		struct accumulate_key key = {
			.image = (uint32_t)(unit_random(&seed) % 100),
			.pid = (int64_t)(unit_random(&seed) % 4) - 1,
		};
		uint32_t count = 1 + (uint32_t)(unit_random(&seed) % 9);

		add(accumulate, &key, "x", (uint32_t)step % 50, unit_random(&seed) % 100000, count);
		added += count;
		assert_int_equal(added,
				 accumulate_held(accumulate) + accumulate_refused(accumulate));
		/* The last map to grow is the index of at most 400 bins, or smaller. */
		assert_true(accumulate_bytes(accumulate) < (64 << 10) + (8 << 10));
	}
	assert_true(accumulate_refused(accumulate) > 0);
	assert_true(accumulate_held(accumulate) > 0);
	/* Known offsets are still counted, and dropping bins frees memory. */
	held_before = accumulate_held(accumulate);
	{
		struct accumulate_bin *bin = accumulate_first(accumulate);
		const struct profile_sample *samples;
		struct accumulate_key key = accumulate_bin_key(bin);
		size_t count;

		assert_int_equal(accumulate_part_samples(accumulate, accumulate_bin_oldest(bin),
							 &samples, &count),
				 0);
		assert_int_equal(add(accumulate, &key, NULL, 0, samples[0].offset, 5), 0);
		assert_int_equal(accumulate_held(accumulate), held_before + 5);
		accumulate_drop(accumulate, 10);
		assert_int_equal(add(accumulate, &key, NULL, 0, 7, 1), 0);
	}
	accumulate_destroy(accumulate);
}

static void bins_are_in_order_of_age(void **state)
{
	struct accumulate *accumulate;
	const struct accumulate_bin *bin;
	uint32_t image;

	(void)state;
	assert_int_equal(accumulate_create(&accumulate, 1 << 20, NULL), 0);
	for (image = 0; image < 300; image++) {
		struct accumulate_key key = {.image = image * 7 % 300, .pid = image % 2};

		assert_int_equal(add(accumulate, &key, "a command that is too long", 0, 0, 1), 0);
		add(accumulate, &key, "other", 0, 1, 1);
	}
	assert_int_equal(accumulate_bins(accumulate), 300);
	image = 0;
	for (bin = accumulate_first(accumulate); bin != NULL; bin = accumulate_next(bin), image++) {
		assert_int_equal(accumulate_bin_key(bin).image, image * 7 % 300);
		assert_string_equal(accumulate_bin_command(bin), "a command that ");
		assert_int_equal(accumulate_bin_held(bin), 2);
	}
	assert_int_equal(image, 300);
	accumulate_drop(accumulate, 299);
	assert_int_equal(accumulate_bin_key(accumulate_first(accumulate)).image, 299 * 7 % 300);
	accumulate_destroy(accumulate);
}

/* Keys that differ in only one part, up to its extreme values, have different bins. */
static void keys_stay_apart(void **state)
{
	static const struct accumulate_key keys[] = {
		{0, 0, PROFILE_PID_ALL},
		{0, 0, PROFILE_PID_OF_LABEL(1)},
		{0, 0, PROFILE_PID_OF_LABEL(4096)},
		{0, 0, 0},
		{0, 0, 0x3fffff},
		{0, 255, 0x3fffff},
		{0xffffffff, 255, 0x3fffff},
		{0xffffffff, 255, PROFILE_PID_ALL},
		{0xffffffff, 0, 0},
		{1, 0, PROFILE_PID_ALL},
		{0, 1, PROFILE_PID_ALL},
		{0, 1, 1},
	};
	struct accumulate *accumulate;
	size_t i;

	(void)state;
	assert_int_equal(accumulate_create(&accumulate, 1 << 20, NULL), 0);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_int_equal(add(accumulate, &keys[i], NULL, 0, UINT64_MAX - i, 1), 0);
	assert_int_equal(accumulate_bins(accumulate), sizeof(keys) / sizeof(keys[0]));
	accumulate_destroy(accumulate);
}

static void tallies_add_up(void **state)
{
	struct counter_set base = {.count = 0}, tally;

	(void)state;
	counter_set_put(&base, "loss", "a", 3);
	counter_set_put(&base, "stat", "a", 5);
	tally = base;
	counter_set_put(&tally, "loss", "a", 10);
	counter_set_put(&tally, "loss", "b", 4);
	assert_int_equal(tally.count, 3);
	assert_int_equal(counter_set_sum(&tally, "loss"), 14);
	counter_set_subtract(&tally, &base);
	assert_int_equal(counter_set_get(&tally, "loss", "a"), 7);
	assert_int_equal(counter_set_get(&tally, "loss", "b"), 4);
	assert_int_equal(counter_set_get(&tally, "stat", "a"), 0);
	assert_int_equal(counter_set_get(&tally, "stat", "none"), 0);
	counter_set_subtract(&tally, &base);
	assert_int_equal(counter_set_get(&tally, "stat", "a"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_model),
		cmocka_unit_test(memory_is_bounded_and_losses_named),
		cmocka_unit_test(bins_are_in_order_of_age),
		cmocka_unit_test(keys_stay_apart),
		cmocka_unit_test(tallies_add_up),
	};

	return cmocka_run_group_tests_name("accumulate", tests, NULL, NULL);
}
