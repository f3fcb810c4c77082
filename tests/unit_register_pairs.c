// SPDX-License-Identifier: GPL-2.0-only
/* Register pairs: pairing of samples, selection of pairs, and the recording made from them. */
#include "tests/unit.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/collect/pair_recording.h"
#include "daemon/collect/pair_store.h"
#include "daemon/source/register_pairs.h"
#include "kmod/uapi/dcpi_uapi.h"

#define TID 77
#define CODE UINT64_C(0x401000)
#define STACK UINT64_C(0x7ff000)
#define EMITTED_MAX 16

struct emitted {
	struct source_pair pairs[EMITTED_MAX];
	size_t count;
};

static void emit(void *context, const struct source_pair *pair)
{
	struct emitted *emitted = context;

	assert_true(emitted->count < EMITTED_MAX);
	emitted->pairs[emitted->count++] = *pair;
}

/* A sample at a time and a depth of the stack, with a counter in register 3. */
static struct register_sample sample_at(uint64_t time_ns, uint64_t depth, uint64_t counter)
{
	struct register_sample sample = {
		.tid = TID,
		.known = true,
		.tag = dcpi_tag(70, 1, 0),
		.time_ns = time_ns,
		.pc = CODE + depth,
		.sp = STACK - depth,
	};

	sample.reg[3] = counter;
	return sample;
}

static void add(struct register_pairs *pairs, struct register_sample sample,
		struct emitted *emitted)
{
	register_pairs_add(pairs, &sample, emit, emitted);
}

static void pairs_samples_of_one_frame(void **state)
{
	struct register_pairs *pairs = register_pairs_create();
	struct emitted emitted = {.count = 0};

	(void)state;
	assert_non_null(pairs);
	/* CPU by CPU: not in order of time. The thread is in a callee at 30, in the kernel at 40.
	 */
	add(pairs, sample_at(10, 0, 100), &emitted);
	add(pairs, sample_at(50, 0, 140), &emitted);
	add(pairs, sample_at(20, 0, 110), &emitted);
	add(pairs, sample_at(30, 64, 9), &emitted);
	add(pairs, (struct register_sample){.tid = TID, .tag = dcpi_tag(70, 0, 0), .time_ns = 40},
	    &emitted);
	register_pairs_settle(pairs, emit, &emitted);
	assert_int_equal(emitted.count, 2);
	assert_int_equal(emitted.pairs[0].delta[3], 10);
	assert_int_equal(emitted.pairs[0].samples, 1);
	assert_int_equal(emitted.pairs[0].changed, 1U << 3);
	assert_int_equal(emitted.pairs[1].delta[3], 30);
	assert_int_equal(emitted.pairs[1].samples, 3);
	assert_int_equal(register_pairs_counts(pairs).pairs, 2);
	assert_int_equal(register_pairs_counts(pairs).first, 2);
	register_pairs_destroy(pairs);
}

/* The callee's frame is gone once its caller was sampled; so is everything after an exec. */
static void frames_that_ended_have_no_pairs(void **state)
{
	struct register_pairs *pairs = register_pairs_create();
	struct emitted emitted = {.count = 0};
	struct register_sample other;

	(void)state;
	add(pairs, sample_at(10, 64, 1), &emitted);
	add(pairs, sample_at(20, 0, 2), &emitted);
	add(pairs, sample_at(30, 64, 3), &emitted);
	other = sample_at(40, 64, 4);
	other.tag = dcpi_tag(70, 2, 0);
	add(pairs, other, &emitted);
	other = sample_at(50, 64, 5);
	other.tag = dcpi_tag(70, 2, 0);
	other.pc += UINT64_C(1) << 32;
	add(pairs, other, &emitted);
	register_pairs_settle(pairs, emit, &emitted);
	assert_int_equal(emitted.count, 0);
	assert_int_equal(register_pairs_counts(pairs).distant, 1);
	register_pairs_destroy(pairs);
}

/* More samples than have room: pairs come early, and none spans the moment. */
static void has_bounded_memory(void **state)
{
	struct register_pairs *pairs = register_pairs_create();
	struct emitted emitted = {.count = 0};

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		struct register_sample sample = sample_at(i, 0, i);

		sample.tid = (uint32_t)i;
		add(pairs, sample, &emitted);
	}
	register_pairs_settle(pairs, emit, &emitted);
	assert_int_equal(emitted.count, 0);
	register_pairs_destroy(pairs);
}

static int sum_up(void *context, uint32_t image, const struct stored_pair *pairs, size_t count,
		  uint64_t seen)
{
	size_t *of_image = context;

	assert_in_range(image, 0, 999);
	assert_true(count <= PAIR_STORE_IMAGE_MAX);
	assert_true(seen >= count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(pairs[i].from % 1000, image);
	of_image[image] += count;
	return 0;
}

static void the_store_is_bounded_and_fair(void **state)
{
	struct pair_store *store = pair_store_create();
	size_t of_image[1000] = {0}, all = 0, late = 0;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		struct stored_pair pair = {.from = 1, .to = i, .samples = 1};

		pair_store_add(store, 1, &pair);
	}
	pair_store_images(store, sum_up, of_image);
	assert_int_equal(of_image[1], PAIR_STORE_IMAGE_MAX);
	pair_store_clear(store);
	memset(of_image, 0, sizeof(of_image));
	for (uint64_t i = 0; i < 1000000; i++) {
		struct stored_pair pair = {.from = i % 1000, .to = i, .samples = 1};

		pair_store_add(store, (uint32_t)(i % 1000), &pair);
	}
	pair_store_images(store, sum_up, of_image);
	for (size_t i = 0; i < 1000; i++) {
		all += of_image[i];
		late += of_image[i] == 0;
	}
	assert_in_range(all, PAIR_STORE_MAX / 2, PAIR_STORE_MAX);
	/* Images that were added after the store was full. */
	assert_int_equal(late, 488);
	assert_true(pair_store_bytes(store) < 8U << 20);
	pair_store_destroy(store);
}

/* Register 1 counts, 2 is a random number, 3 counts backwards, 4 stays the same. */
static void only_counters_are_recorded(void **state)
{
	static struct stored_pair pairs[100];
	struct pair_recording recording = {.pair_count = 0};
	const struct profile_recording *made = &recording.recording;

	(void)state;
	srand(7);
	for (size_t i = 0; i < 100; i++) {
		uint64_t samples = 1 + i % 3;

		pairs[i] = (struct stored_pair){
			.from = 0x1000 + i % 16, .to = 0x1010, .samples = samples};
		pairs[i].delta[1] = (int64_t)(samples * (1000 + (uint64_t)rand() % 50));
		pairs[i].delta[2] = ((int64_t)rand() << 20) - ((int64_t)rand() << 20);
		pairs[i].delta[3] = -(int64_t)(samples * 64);
	}
	assert_int_equal(pair_recording_make(&recording, pairs, 100, 12345), 0);
	assert_int_equal(made->mode, PROFILE_RECORDING_PAIRS);
	assert_int_equal(made->tables[PROFILE_PAIRS_HEAD].values[PROFILE_PAIRS_SEEN], 12345);
	assert_int_equal(made->tables[PROFILE_PAIRS_PAIRS].rows, 100);
	assert_int_equal(made->tables[PROFILE_PAIRS_VALUES].rows, 200);
	for (size_t i = 0; i < 200; i++) {
		const uint64_t *row = profile_recording_row(&made->tables[PROFILE_PAIRS_VALUES], i);

		assert_true(row[PROFILE_VALUE_REGISTER] == 1 || row[PROFILE_VALUE_REGISTER] == 3);
	}
	/* Two pairs around the same code prove nothing. */
	assert_int_equal(pair_recording_make(&recording, pairs, 2, 2), 0);
	assert_int_equal(made->tables[PROFILE_PAIRS_PAIRS].rows, 0);
	pair_recording_deinit(&recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_samples_of_one_frame),
		cmocka_unit_test(frames_that_ended_have_no_pairs),
		cmocka_unit_test(has_bounded_memory),
		cmocka_unit_test(the_store_is_bounded_and_fair),
		cmocka_unit_test(only_counters_are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
