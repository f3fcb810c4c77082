// SPDX-License-Identifier: GPL-2.0-only
/* The ring of snapshots between the sampling interrupts and the reader, and the pairing of samples.
 */
#include "tests/lib/unit.h"

#include <pthread.h>
#include <string.h>

#include "kmod/core/sample_pairing.h"
#include "kmod/core/snapshot_ring.h"

#define CAPACITY 16
#define SNAPSHOTS 200000U

static struct dcpi_snapshot slots[CAPACITY];

/* Return: false if there is no room. */
static bool write_one(struct snapshot_ring *ring, uint32_t number, uint32_t *wakes)
{
	struct dcpi_snapshot *snapshot = snapshot_ring_begin(ring);

	if (snapshot == NULL)
		return false;
	snapshot->series = number;
	snapshot->registers[31] = number;
	*wakes += snapshot_ring_end(ring);
	return true;
}

/* Read all; their numbers follow one another. Return: the next number. */
static uint32_t read_all(struct snapshot_ring *ring, uint32_t next)
{
	const struct dcpi_snapshot *first;
	uint32_t count;

	while ((count = snapshot_ring_first(ring, &first)) > 0) {
		for (uint32_t i = 0; i < count; i++, next++) {
			assert_int_equal(first[i].series, next);
			assert_int_equal(first[i].registers[31], next);
		}
		snapshot_ring_release(ring, count);
	}
	return next;
}

static void test_fills_and_wraps(void **state)
{
	struct snapshot_ring ring = {.slots = slots, .capacity = CAPACITY};
	struct snapshot_ring none = {.slots = NULL};
	uint32_t wakes = 0, written = 0, read = 0;

	(void)state;
	assert_null(snapshot_ring_begin(&none));
	assert_false(snapshot_ring_is_half_full(&none));
	/* Also where the counters wrap. */
	ring.head = ring.tail = written = read = UINT32_MAX - 100;
	for (int round = 0; round < 30; round++) {
		for (int i = 0; i < CAPACITY; i++)
			assert_true(write_one(&ring, written++, &wakes));
		assert_false(write_one(&ring, written, &wakes));
		assert_true(snapshot_ring_is_half_full(&ring));
		read = read_all(&ring, read);
		assert_int_equal(read, written);
		assert_false(snapshot_ring_is_half_full(&ring));
	}
	assert_int_equal(wakes, 30);
}

/* A writer that interrupts another one finds no room, and changes nothing. */
static void test_refuses_nested_writers(void **state)
{
	struct snapshot_ring ring = {.slots = slots, .capacity = CAPACITY};
	uint32_t wakes = 0;

	(void)state;
	assert_non_null(snapshot_ring_begin(&ring));
	assert_false(write_one(&ring, 9, &wakes));
	slots[0].series = 0;
	slots[0].registers[31] = 0;
	snapshot_ring_end(&ring);
	assert_true(write_one(&ring, 1, &wakes));
	assert_int_equal(read_all(&ring, 0), 2);
}

static void *writer_run(void *context)
{
	struct snapshot_ring *ring = context;
	uint32_t wakes = 0;

	for (uint32_t i = 0; i < SNAPSHOTS;)
		i += write_one(ring, i, &wakes);
	return NULL;
}

static void test_reads_while_written(void **state)
{
	struct snapshot_ring ring = {.slots = slots, .capacity = CAPACITY};
	pthread_t writer;
	uint32_t next = 0;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, writer_run, &ring), 0);
	while (next < SNAPSHOTS)
		next = read_all(&ring, next);
	pthread_join(writer, NULL);
}

/*
 * Against a model: a pair is a sample and the next one of its activation, if no sample of a caller
 * or of other code lies between them.
 */
static void test_pairs_agree_with_model(void **state)
{
	struct sample_pairing pairing = {.thread = 0};
	uint64_t seed = 5, counts[SAMPLE_PAIRING_OUTCOMES] = {0}, model_own = 0, model_all = 0;
	uint64_t sp = 0, thread = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t who = 1 + unit_random(&seed) % 3, at = 100 + unit_random(&seed) % 3;
		int is_user = unit_random(&seed) % 4 != 0;
		uint64_t pc = unit_random(&seed) % 50 == 0 ? UINT64_C(1) << 40 : 0x1000;
		bool begun = sample_pairing_has_begun(&pairing), mine = who == thread;
		enum sample_pairing_outcome outcome, wanted = SAMPLE_PAIRING_WAITS;

		if (sample_pairing_is_idle(&pairing))
			sample_pairing_arm(&pairing);
		outcome = sample_pairing_step(&pairing, who, is_user, pc, at);
		counts[outcome]++;
		if (outcome == SAMPLE_PAIRING_BEGINS) {
			assert_true(!begun && is_user);
			sp = at;
			thread = who;
			model_own = model_all = 0;
			sample_pairing_begin(&pairing, who, 0x1000, at);
			continue;
		}
		if (!begun)
			continue;
		model_own += mine;
		model_all++;
		if (mine && is_user && at == sp)
			wanted = pc == 0x1000 ? SAMPLE_PAIRING_MATCHED : SAMPLE_PAIRING_ENDED;
		else if (mine && is_user && at > sp)
			wanted = SAMPLE_PAIRING_ENDED;
		else if (model_all == SAMPLE_PAIRING_WAIT)
			wanted = SAMPLE_PAIRING_EXPIRED;
		assert_int_equal(outcome, wanted);
		assert_int_equal(pairing.samples, model_own);
	}
	assert_true(counts[SAMPLE_PAIRING_MATCHED] > 1000 && counts[SAMPLE_PAIRING_ENDED] > 1000);
	assert_int_equal(counts[SAMPLE_PAIRING_BEGINS], counts[SAMPLE_PAIRING_MATCHED] +
								counts[SAMPLE_PAIRING_ENDED] +
								counts[SAMPLE_PAIRING_EXPIRED] +
								sample_pairing_has_begun(&pairing));
	/* Only the kernel is sampled. */
	memset(&pairing, 0, sizeof(pairing));
	sample_pairing_arm(&pairing);
	for (int i = 1; i < SAMPLE_PAIRING_WAIT; i++)
		assert_int_equal(sample_pairing_step(&pairing, 1, 0, 0, 0), SAMPLE_PAIRING_WAITS);
	assert_int_equal(sample_pairing_step(&pairing, 1, 0, 0, 0), SAMPLE_PAIRING_DISARMED);
	assert_true(sample_pairing_is_idle(&pairing));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fills_and_wraps),
		cmocka_unit_test(test_refuses_nested_writers),
		cmocka_unit_test(test_reads_while_written),
		cmocka_unit_test(test_pairs_agree_with_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
