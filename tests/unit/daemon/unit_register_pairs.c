// SPDX-License-Identifier: GPL-2.0-only
/* Register pairs: pairing of samples, selection of pairs, and the recording made from them. */
#include "tests/lib/unit.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/counter_set.h"
#include "daemon/collect/pair_recording.h"
#include "daemon/collect/pair_store.h"
#include "daemon/source/register_pairs.h"
#include "kmod/uapi/dcpi_uapi.h"

#define TID 77
#define CODE UINT64_C(0x401000)
#define STACK UINT64_C(0x7ff000)
#define EMITTED_MAX 64

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

static void count_take(void *context, const char *group, const char *name, uint64_t count)
{
	counter_set_put(context, group, name, count);
}

static uint64_t count_of(const struct register_pairs *pairs, const struct pair_outcomes *outcomes,
			 const char *name)
{
	struct counter_set tally = {.count = 0};

	register_pairs_report(pairs, outcomes, count_take, &tally);
	return counter_set_get(&tally, "stat", name);
}

/* A sample at a time and a depth of the stack, with a counter in register 3. */
static struct dcpi_snapshot sample_at(uint64_t time_ns, uint64_t depth, uint64_t counter)
{
	return (struct dcpi_snapshot){
		.tid = TID,
		.pid = 70,
		.generation = 1,
		.known = 0xffff,
		.time_ns = time_ns,
		.pc = CODE + depth,
		.registers = {[3] = counter, [DCPI_SNAPSHOT_SP] = STACK - depth},
	};
}

static void add(struct register_pairs *pairs, struct dcpi_snapshot sample, struct emitted *emitted)
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
	add(pairs, (struct dcpi_snapshot){.tid = TID, .pid = 70, .time_ns = 40}, &emitted);
	register_pairs_settle(pairs, emit, &emitted);
	assert_int_equal(emitted.count, 2);
	assert_int_equal(emitted.pairs[0].delta[3], 10);
	assert_int_equal(emitted.pairs[0].samples, 1);
	assert_int_equal(emitted.pairs[0].changed, 1U << 3);
	assert_int_equal(emitted.pairs[0].tag, dcpi_tag(70, 1, 0));
	assert_int_equal(emitted.pairs[1].delta[3], 30);
	assert_int_equal(emitted.pairs[1].samples, 3);
	assert_int_equal(count_of(pairs, NULL, "pairs"), 2);
	assert_int_equal(count_of(pairs, NULL, "pairs_first"), 2);
	assert_int_equal(count_of(pairs, NULL, "pairs_begun"), 4);
	register_pairs_destroy(pairs);
}

/* The callee's frame is gone once its caller was sampled; so is everything after an exec. */
static void frames_that_ended_have_no_pairs(void **state)
{
	struct register_pairs *pairs = register_pairs_create();
	struct emitted emitted = {.count = 0};
	struct dcpi_snapshot other;

	(void)state;
	add(pairs, sample_at(10, 64, 1), &emitted);
	add(pairs, sample_at(20, 0, 2), &emitted);
	add(pairs, sample_at(30, 64, 3), &emitted);
	other = sample_at(40, 64, 4);
	other.generation = 2;
	add(pairs, other, &emitted);
	other = sample_at(50, 64, 5);
	other.generation = 2;
	other.pc += UINT64_C(1) << 32;
	add(pairs, other, &emitted);
	register_pairs_settle(pairs, emit, &emitted);
	assert_int_equal(emitted.count, 0);
	assert_int_equal(count_of(pairs, NULL, "pairs_distant"), 1);
	register_pairs_destroy(pairs);
}

/* More samples than have room: pairs come early, and none spans the moment. */
static void has_bounded_memory(void **state)
{
	struct register_pairs *pairs = register_pairs_create();
	struct emitted emitted = {.count = 0};

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		struct dcpi_snapshot sample = sample_at(i, 0, i);

		sample.tid = (uint32_t)i;
		add(pairs, sample, &emitted);
	}
	register_pairs_settle(pairs, emit, &emitted);
	assert_int_equal(emitted.count, 0);
	register_pairs_destroy(pairs);
}

/* A snapshot of an examined sample on a CPU */
static struct dcpi_snapshot examined_at(enum dcpi_snapshot_kind kind, uint32_t cpu, uint32_t series,
					uint64_t counter)
{
	struct dcpi_snapshot snapshot = sample_at(series, 0, counter);

	snapshot.kind = kind;
	snapshot.cpu = cpu;
	snapshot.series = series;
	snapshot.samples = kind == DCPI_SNAPSHOT_SECOND ? 2 : 0;
	return snapshot;
}

/* The second sample belongs to the last first one of its CPU, or to none. */
static void examined_samples_are_paired(void **state)
{
	struct register_pairs *pairs = register_pairs_create();
	const struct pair_outcomes outcomes = {.begun = 9, .ended = 3, .expired = 2};
	struct emitted emitted = {.count = 0};
	struct dcpi_snapshot snapshots[] = {
		examined_at(DCPI_SNAPSHOT_FIRST, 0, 1, 100),
		examined_at(DCPI_SNAPSHOT_FIRST, 1, 1, 7),
		examined_at(DCPI_SNAPSHOT_SECOND, 0, 1, 150),
		examined_at(DCPI_SNAPSHOT_SECOND, 0, 1, 160), /* its first sample is used */
		examined_at(DCPI_SNAPSHOT_SECOND, 1, 2, 9),   /* its first sample is missing */
		examined_at(DCPI_SNAPSHOT_FIRST, 1, 3, 20),
		examined_at(DCPI_SNAPSHOT_SECOND, 1, 3, 30), /* the thread was elsewhere */
	};

	(void)state;
	snapshots[6].migrations = 1;
	for (size_t i = 0; i < sizeof(snapshots) / sizeof(snapshots[0]); i++)
		register_pairs_examined(pairs, &snapshots[i], emit, &emitted);
	assert_int_equal(emitted.count, 1);
	assert_int_equal(emitted.pairs[0].delta[3], 50);
	assert_int_equal(emitted.pairs[0].samples, 2);
	assert_int_equal(count_of(pairs, &outcomes, "pairs"), 1);
	assert_int_equal(count_of(pairs, &outcomes, "pairs_migrated"), 1);
	assert_int_equal(count_of(pairs, &outcomes, "pairs_missed"), 2);
	assert_int_equal(count_of(pairs, &outcomes, "pairs_begun"), 9);
	assert_int_equal(count_of(pairs, &outcomes, "pairs_ended"), 3);
	assert_int_equal(count_of(pairs, &outcomes, "pairs_expired"), 2);
	register_pairs_destroy(pairs);
}

/* Only differences leave the object: no value of a register, however it arrived. */
static void raw_values_stay_inside(void **state)
{
	static const uint64_t secret = UINT64_C(0x5ec7e75ec7e75ec7);
	struct register_pairs *pairs = register_pairs_create();
	struct emitted emitted = {.count = 0};

	(void)state;
	for (uint32_t i = 1; i <= 4; i++) {
		struct dcpi_snapshot added = sample_at(i, 0, i),
				     first = examined_at(DCPI_SNAPSHOT_FIRST, 0, i, i),
				     second = examined_at(DCPI_SNAPSHOT_SECOND, 0, i, i + 9);

		added.registers[5] = first.registers[5] = second.registers[5] = secret;
		added.registers[6] = first.registers[6] = secret + i;
		second.registers[6] = secret + 2 * i;
		add(pairs, added, &emitted);
		register_pairs_examined(pairs, &first, emit, &emitted);
		register_pairs_examined(pairs, &second, emit, &emitted);
	}
	register_pairs_settle(pairs, emit, &emitted);
	assert_int_equal(emitted.count, 7);
	for (size_t i = 0; i < emitted.count; i++) {
		const struct source_pair *pair = &emitted.pairs[i];

		assert_int_equal(pair->delta[5], 0);
		assert_in_range(pair->delta[6], 1, 4);
		for (size_t reg = 0; reg < REGISTER_PAIR_REGISTERS; reg++)
			assert_true((uint64_t)pair->delta[reg] >> 32 == 0);
	}
	register_pairs_destroy(pairs);
}

/* Memory of the thread: a counter at the stack pointer - 24, and one at the frame pointer - 8. */
/* @fp: the register of the frame pointer */
struct memory {
	uint32_t stack_counter;
	uint32_t frame_counter;
	uint64_t fp;
	bool gone;
};

static bool memory_read(void *context, const struct dcpi_snapshot *sample, uint64_t address,
			void *to, size_t bytes)
{
	const struct memory *memory = context;

	if (memory->gone)
		return false;
	memset(to, 0, bytes);
	if (address == sample->registers[DCPI_SNAPSHOT_SP] - PROFILE_WORD_STACK_BELOW)
		memcpy((char *)to + PROFILE_WORD_STACK_BELOW - 24, &memory->stack_counter, 4);
	else
		memcpy((char *)to + PROFILE_WORD_FRAME_BELOW - 8, &memory->frame_counter, 4);
	return true;
}

/* Some samples of one frame, then a reading. */
static void words_step(struct register_pairs *pairs, struct memory *memory, uint64_t time_ns,
		       struct emitted *emitted)
{
	for (uint64_t i = 0; i < 20; i++) {
		struct dcpi_snapshot sample = sample_at(time_ns + i, 0, 0);

		sample.registers[DCPI_SNAPSHOT_FP] = memory->fp;
		register_pairs_add(pairs, &sample, emit, emitted);
	}
	emitted->count = 0;
	register_pairs_settle(pairs, emit, emitted);
	emitted->count = 0;
	register_pairs_words(pairs, memory_read, memory, emit, emitted);
	memory->stack_counter += 1000;
	memory->frame_counter -= 8;
}

static void pairs_words_of_a_frame(void **state)
{
	struct register_pairs *pairs = register_pairs_create();
	struct emitted emitted = {.count = 0};
	struct memory memory = {.stack_counter = UINT32_MAX - 500, .fp = STACK + 64};
	struct dcpi_snapshot left;

	(void)state;
	assert_non_null(pairs);
	words_step(pairs, &memory, 100, &emitted);
	assert_int_equal(emitted.count, 0);
	words_step(pairs, &memory, 200, &emitted);
	assert_int_equal(emitted.count, 1);
	assert_int_equal(emitted.pairs[0].samples, 20);
	assert_int_equal(emitted.pairs[0].changed, 0);
	assert_int_equal(emitted.pairs[0].word_count, 2);
	assert_int_equal(emitted.pairs[0].words[0].number, PROFILE_WORD_STACK + (128 - 24) / 4);
	assert_int_equal(emitted.pairs[0].words[0].delta, 1000);
	assert_int_equal(emitted.pairs[0].words[1].number, PROFILE_WORD_FRAME + (128 - 8) / 4);
	assert_int_equal(emitted.pairs[0].words[1].delta, -8);
	/* A frame that cannot be read, or was left in between, has no pair. */
	memory.gone = true;
	words_step(pairs, &memory, 300, &emitted);
	memory.gone = false;
	words_step(pairs, &memory, 400, &emitted);
	assert_int_equal(emitted.count, 0);
	left = sample_at(450, 0, 0);
	left.registers[DCPI_SNAPSHOT_SP] = STACK + 64;
	add(pairs, left, &emitted);
	words_step(pairs, &memory, 500, &emitted);
	assert_int_equal(emitted.count, 0);
	assert_int_equal(count_of(pairs, NULL, "pairs_words"), 1);
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

/* Without a frame pointer, its register has any contents. */
static void pairs_words_without_a_frame_pointer(void **state)
{
	struct register_pairs *pairs = register_pairs_create();
	struct emitted emitted = {.count = 0};
	struct memory memory = {.fp = 7};

	(void)state;
	assert_non_null(pairs);
	for (uint64_t i = 1; i < 10; i++) {
		memory.fp = memory.fp * UINT64_C(0x5851f42d4c957f2d) + 1;
		words_step(pairs, &memory, 100 * i, &emitted);
		if (i == 1)
			continue;
		assert_int_equal(emitted.count, 1);
		assert_int_equal(emitted.pairs[0].word_count, 1);
		assert_int_equal(emitted.pairs[0].words[0].delta, 1000);
	}
	/* The words of two frames cannot be compared. */
	memory.fp = STACK + 64;
	words_step(pairs, &memory, 1000, &emitted);
	assert_int_equal(emitted.pairs[0].word_count, 1);
	words_step(pairs, &memory, 1100, &emitted);
	assert_int_equal(emitted.pairs[0].word_count, 2);
	register_pairs_destroy(pairs);
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

/* A word that counts is recorded; one that does not, such as a pointer or a secret, is not. */
/* A loop that waits for memory counts at very different rates, but in one direction. */
static void counters_with_uneven_rates_are_recorded(void **state)
{
	static struct stored_pair pairs[100];
	struct pair_recording recording = {.pair_count = 0};
	const struct profile_recording *made = &recording.recording;

	(void)state;
	srand(9);
	for (size_t i = 0; i < 100; i++) {
		int64_t delta = (int64_t)((i % 10 == 0 ? 40000 : 1000) + (rand() % 5) * 1200);

		pairs[i] = (struct stored_pair){.from = 0x1000, .to = 0x1010, .samples = 1};
		pairs[i].delta[1] = delta;
		pairs[i].delta[2] = rand() % 4 != 0 ? delta : -delta;
	}
	assert_int_equal(pair_recording_make(&recording, pairs, 100, 100), 0);
	assert_int_equal(made->tables[PROFILE_PAIRS_PAIRS].rows, 100);
	assert_int_equal(made->tables[PROFILE_PAIRS_VALUES].rows, 100);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(profile_recording_row(&made->tables[PROFILE_PAIRS_VALUES], i)[0],
				 1);
	/* A few pairs may have one direction by chance. */
	assert_int_equal(pair_recording_make(&recording, pairs, 20, 20), 0);
	assert_int_equal(made->tables[PROFILE_PAIRS_PAIRS].rows, 0);
	pair_recording_deinit(&recording);
}

/*
 * A thread waits in a loop for others: most pairs have no iteration. Register 2 also changes
 * rarely, but in both directions.
 */
static void counters_that_wait_are_recorded(void **state)
{
	static struct stored_pair pairs[200];
	struct pair_recording recording = {.pair_count = 0};
	const struct profile_recording *made = &recording.recording;
	uint64_t sum = 0;

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		pairs[i] = (struct stored_pair){.from = 0x1000, .to = 0x1010 + i % 8, .samples = 1};
		if (i % 5 != 0)
			continue;
		pairs[i].delta[1] = 100 + (int64_t)i;
		pairs[i].delta[2] = i % 2 == 0 ? 7000 : -7000;
	}
	assert_int_equal(pair_recording_make(&recording, pairs, 200, 200), 0);
	assert_int_equal(made->tables[PROFILE_PAIRS_PAIRS].rows, 200);
	assert_int_equal(made->tables[PROFILE_PAIRS_VALUES].rows, 200);
	for (size_t i = 0; i < 200; i++) {
		const uint64_t *row = profile_recording_row(&made->tables[PROFILE_PAIRS_VALUES], i);

		assert_int_equal(row[PROFILE_VALUE_REGISTER], 1);
		sum += row[PROFILE_VALUE_DELTA] != 0;
	}
	assert_int_equal(sum, 40);
	pair_recording_deinit(&recording);
}

/* In a large loop each window of code has few pairs, but the counter is the same everywhere. */
static void counters_of_large_loops_are_recorded(void **state)
{
	static struct stored_pair pairs[64];
	struct pair_recording recording = {.pair_count = 0};
	const struct profile_recording *made = &recording.recording;

	(void)state;
	srand(10);
	for (uint64_t i = 0; i < 64; i++) {
		pairs[i] = (struct stored_pair){
			.from = 0x1000 + 128 * (i % 32), .to = 0x1f00, .samples = 1};
		pairs[i].delta[1] = 150 + rand() % 10;
		/* Random values of 64 bits are alike in many windows of two. */
		pairs[i].delta[2] = (int64_t)((uint64_t)rand() << 33 ^ (uint64_t)rand() << 17);
		pairs[i].delta[3] = (int64_t)(1 + i % 2) << 50;
	}
	assert_int_equal(pair_recording_make(&recording, pairs, 64, 64), 0);
	assert_int_equal(made->tables[PROFILE_PAIRS_PAIRS].rows, 64);
	assert_int_equal(made->tables[PROFILE_PAIRS_VALUES].rows, 64);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(profile_recording_row(&made->tables[PROFILE_PAIRS_VALUES], i)[0],
				 1);
	pair_recording_deinit(&recording);
}

static void only_counting_words_are_recorded(void **state)
{
	static struct stored_pair pairs[40];
	struct pair_recording recording = {.pair_count = 0};
	const struct profile_recording *made = &recording.recording;

	(void)state;
	srand(8);
	for (size_t i = 0; i < 40; i++)
		pairs[i] = (struct stored_pair){
			.from = 0x1000,
			.to = 0x1000,
			.samples = 20,
			.word_count = 2,
			.words = {{PROFILE_WORD_STACK, (int32_t)((uint32_t)rand() * 2654435761U)},
				  {PROFILE_WORD_FRAME, -20000 - rand() % 500}},
		};
	assert_int_equal(pair_recording_make(&recording, pairs, 40, 40), 0);
	assert_int_equal(made->tables[PROFILE_PAIRS_VALUES].rows, 40);
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(profile_recording_row(&made->tables[PROFILE_PAIRS_VALUES], i)[0],
				 PROFILE_WORD_FRAME);
	pair_recording_deinit(&recording);
}

/* @context: pairs of image 1 that were added to it, then those that were added to image 2 */
static int parts_count(void *context, uint32_t image, const struct stored_pair *pairs, size_t count,
		       uint64_t seen)
{
	size_t *parts = context;

	assert_int_equal(image, 1);
	assert_int_equal(seen, 50000);
	for (size_t i = 0; i < count; i++)
		parts[pairs[i].from == 2]++;
	return 0;
}

/* Two images of the same code, with 10,000 and 40,000 pairs: a pair of each is as likely kept. */
static void joined_images_are_fair(void **state)
{
	struct pair_store *store = pair_store_create();
	size_t parts[2] = {0};

	(void)state;
	for (uint64_t i = 0; i < 50000; i++) {
		struct stored_pair pair = {.from = i < 10000 ? 1 : 2, .to = i, .samples = 1};

		pair_store_add(store, (uint32_t)pair.from, &pair);
	}
	assert_int_equal(pair_store_join(store, 2, 1), 0);
	assert_int_equal(pair_store_join(store, 3, 1), 0);
	assert_int_equal(pair_store_images(store, parts_count, parts), 0);
	assert_in_range(parts[0] + parts[1], PAIR_STORE_IMAGE_MAX - 1, PAIR_STORE_IMAGE_MAX);
	assert_in_range(parts[1], 4 * parts[0] - 4, 4 * parts[0] + 4);
	pair_store_destroy(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_samples_of_one_frame),
		cmocka_unit_test(frames_that_ended_have_no_pairs),
		cmocka_unit_test(has_bounded_memory),
		cmocka_unit_test(examined_samples_are_paired),
		cmocka_unit_test(raw_values_stay_inside),
		cmocka_unit_test(the_store_is_bounded_and_fair),
		cmocka_unit_test(joined_images_are_fair),
		cmocka_unit_test(only_counters_are_recorded),
		cmocka_unit_test(pairs_words_of_a_frame),
		cmocka_unit_test(pairs_words_without_a_frame_pointer),
		cmocka_unit_test(counters_with_uneven_rates_are_recorded),
		cmocka_unit_test(counters_that_wait_are_recorded),
		cmocka_unit_test(counters_of_large_loops_are_recorded),
		cmocka_unit_test(only_counting_words_are_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
