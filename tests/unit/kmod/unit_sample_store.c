// SPDX-License-Identifier: GPL-2.0-only
#include "tests/lib/unit.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/time.h>

#include "kmod/core/sample_store.h"
#include "tests/fixtures/store_model.h"

static void test_agrees_with_model(void **state)
{
	static struct store_model model;
	int round;

	(void)state;
	model.seed = 1;
	for (round = 0; round < 100; round++) {
		if (!store_model_run(&model, 100000))
			fail_msg("round %d: not true: %s", round, model.failure);
	}
}

static void test_refuses_bad_sizes(void **state)
{
	static struct store_model model;
	static const uint32_t bad[] = {0, 1, 32, 63, 65, 96, DCPI_ENTRIES_MAX * 2, 0x80000000};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(sample_store_bytes(bad[i], 64), 0);
		assert_int_equal(sample_store_bytes(64, bad[i]), 0);
		assert_int_equal(sample_store_init(&model.store, model.memory, bad[i], 64),
				 -EINVAL);
	}
	assert_int_equal(sample_store_bytes(16384, 8192), 512 * 1024);
	assert_int_equal(sample_store_init(&model.store, &model.memory[1], 64, 64), -EINVAL);
}

/* One key is counted more than 2^24 times: full counts are delivered, and none wraps. */
static void test_flushes_saturated_counts(void **state)
{
	static struct store_model model;
	const uint64_t tag = dcpi_tag(42, 1, 0);
	struct sample_chunk chunk;
	uint64_t i;

	(void)state;
	memset(model.memory, 0, sizeof(model.memory));
	assert_int_equal(sample_store_init(&model.store, model.memory, 64, 64), 0);
	for (i = 0; i < (uint64_t)DCPI_COUNT_MAX + 10; i++)
		sample_store_count(&model.store, 0x1000, tag);
	assert_int_equal(model.store.evictions, 1);
	assert_int_equal(sample_store_pending(&model.store), (uint64_t)DCPI_COUNT_MAX + 10);
	assert_int_equal(sample_store_retire(&model.store), 0);
	assert_int_equal(sample_store_full(&model.store, &chunk), 0);
	assert_int_equal(chunk.count, 1);
	assert_int_equal(dcpi_tag_count(chunk.entries[0].tag), DCPI_COUNT_MAX);
	assert_int_equal(dcpi_tag_pid(chunk.entries[0].tag), 42);
	assert_int_equal(dcpi_tag_generation(chunk.entries[0].tag), 1);
}

/* Calls while the writer is active are refused, and change nothing. */
static void test_refuses_nested_samples(void **state)
{
	static struct store_model model;
	struct sample_store before;

	(void)state;
	memset(model.memory, 0, sizeof(model.memory));
	assert_int_equal(sample_store_init(&model.store, model.memory, 64, 64), 0);
	sample_store_count(&model.store, 0x1000, dcpi_tag(1, 0, 0));
	model.store.busy = 1;
	before = model.store;
	assert_int_equal(sample_store_retire(&model.store), -EBUSY);
	assert_int_equal(sample_store_flush_begin(&model.store), -EBUSY);
	assert_memory_equal(&model.store, &before, sizeof(before));
	assert_int_equal(sample_store_count(&model.store, 0x1000, dcpi_tag(1, 0, 0)), SAMPLE_LOST);
	assert_int_equal(model.store.lost[DCPI_LOSS_NESTED], 1);
	assert_int_equal(
		sample_store_count_edge(&model.store, 1, 2, dcpi_tag(1, 0, DCPI_EVENT_BRANCH)),
		SAMPLE_LOST);
	assert_int_equal(model.store.edges, 0);
	assert_int_equal(model.store.edges_refused, 1);
	assert_int_equal(sample_store_pending(&model.store), 1);
}

static struct store_model interrupted;
static volatile uint64_t interrupts, edge_interrupts;
static uint64_t interrupt_seed;

static void interrupt(int signal_number)
{
	int i;

	(void)signal_number;
	/* A burst fills buffers, so that the buffer is switched during the interrupted call. */
	for (i = 0; i < 40; i++) {
		uint64_t pc = unit_random(&interrupt_seed) % 4096;

		interrupts++;
		sample_store_count(&interrupted.store, pc, 0);
		if (i % 4 == 0) {
			edge_interrupts++;
			sample_store_count_edge(&interrupted.store, pc, pc << (i & 16),
						dcpi_tag(2, 0, DCPI_EVENT_BRANCH));
		}
	}
}

static struct sample_totals deliver(struct sample_chunk chunk)
{
	struct sample_totals sum = {0, 0};

	sample_totals_add(&sum, chunk.entries, chunk.count);
	return sum;
}

static void add(struct sample_totals *sum, struct sample_totals more)
{
	sum->samples += more.samples;
	sum->edges += more.edges;
}

static struct sample_totals read_full(struct sample_store *store)
{
	struct sample_totals sum = {0, 0};
	struct sample_chunk chunk;
	int buffer = sample_store_full(store, &chunk);

	if (buffer < 0)
		return sum;
	sum = deliver(chunk);
	sample_store_release(store, buffer);
	return sum;
}

static struct sample_totals flush_table(void)
{
	struct sample_chunk table = sample_store_table(&interrupted.store);
	struct sample_totals sum;

	sample_store_flush_begin(&interrupted.store);
	sample_store_retire(&interrupted.store);
	sum = deliver(table);
	sample_store_table_clear(&interrupted.store, 0, table.count);
	sample_store_flush_end(&interrupted.store);
	return sum;
}

/*
 * A timer signal counts samples at any point. Inside the writer they must be refused and counted;
 * inside retire and flush they must not interfere. All losses are accounted for.
 */
static void test_survives_interrupt_at_each_instruction(void **state)
{
	const struct itimerval every_20_us = {{0, 20}, {0, 20}}, never = {{0, 0}, {0, 0}};
	struct sample_store *store = &interrupted.store;
	struct sample_totals delivered = {0, 0}, pending;
	uint64_t counted = 0, edges = 0, seed = 3;
	struct sigaction action = {.sa_handler = interrupt};

	(void)state;
	assert_int_equal(sample_store_init(store, interrupted.memory, 256, 64), 0);
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every_20_us, NULL), 0);
	while (counted < 3000000) {
		uint64_t r = unit_random(&seed);

		counted++;
		sample_store_count(store, r % 4096, dcpi_tag(1, 0, 0));
		if ((r >> 48 & 7) == 0) {
			edges++;
			sample_store_count_edge(store, r % 4096, r % 4096 << (r >> 52 & 16),
						dcpi_tag(1, 0, DCPI_EVENT_DOUBLE));
		}
		if (r >> 32 & 15)
			continue;
		add(&delivered, read_full(store));
		if ((r >> 40 & 3) == 0)
			sample_store_retire(store);
		if ((r >> 42 & 63) == 0)
			add(&delivered, flush_table());
	}
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_true(interrupts > 0);
	assert_int_equal(store->hits + store->misses + store->direct +
				 store->lost[DCPI_LOSS_BUFFERS_FULL] +
				 store->lost[DCPI_LOSS_NESTED],
			 counted + interrupts);
	pending = sample_store_pending_totals(store);
	assert_int_equal(delivered.samples + pending.samples + store->lost[DCPI_LOSS_BUFFERS_FULL] +
				 store->lost[DCPI_LOSS_NESTED],
			 counted + interrupts);
	assert_int_equal(store->edges + store->edges_refused, edges + edge_interrupts);
	assert_int_equal(delivered.edges + pending.edges + store->edges_lost + store->edges_refused,
			 edges + edge_interrupts);
}

/* Requests of the reader to the CPU that owns the store, in place of the IPI. */
enum owner_call {
	OWNER_NONE,
	OWNER_BEGIN,
	OWNER_RETIRE,
	OWNER_END
};

static struct {
	struct store_model model;
	_Atomic enum owner_call call;
	atomic_bool done;
	uint64_t counted;
} shared;

static void *owning_cpu(void *argument)
{
	struct sample_store *store = &shared.model.store;
	uint64_t seed = 4;

	while (shared.counted < 2000000 || !atomic_load(&shared.done)) {
		switch (atomic_load(&shared.call)) {
		case OWNER_BEGIN:
			sample_store_flush_begin(store);
			break;
		case OWNER_RETIRE:
			sample_store_retire(store);
			break;
		case OWNER_END:
			sample_store_flush_end(store);
			break;
		case OWNER_NONE:
			if (shared.counted < 2000000) {
				shared.counted++;
				sample_store_count(store, unit_random(&seed) % 2048, 0);
				if (shared.counted % 64 == 0)
					sample_store_count_edge(store, shared.counted, 1ULL << 40,
								dcpi_tag(1, 0, DCPI_EVENT_BRANCH));
			}
			continue;
		}
		atomic_store(&shared.call, OWNER_NONE);
	}
	return argument;
}

static void call_owner(enum owner_call call)
{
	atomic_store(&shared.call, call);
	while (atomic_load(&shared.call) != OWNER_NONE)
		;
}

/* A reader on another CPU, for ThreadSanitizer and to check the sums. */
static void test_reads_from_other_cpu(void **state)
{
	struct sample_store *store = &shared.model.store;
	struct sample_totals delivered = {0, 0};
	struct sample_chunk table;
	pthread_t thread;
	int round, i;

	(void)state;
	assert_int_equal(sample_store_init(store, shared.model.memory, 256, 64), 0);
	assert_int_equal(pthread_create(&thread, NULL, owning_cpu, NULL), 0);
	for (round = 0; round < 2000; round++) {
		for (i = 0; i < 20; i++)
			add(&delivered, read_full(store));
		call_owner(OWNER_BEGIN);
		call_owner(OWNER_RETIRE);
		table = sample_store_table(store);
		add(&delivered, deliver(table));
		sample_store_table_clear(store, 0, table.count);
		call_owner(OWNER_END);
	}
	atomic_store(&shared.done, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(delivered.samples + sample_store_pending(store) +
				 store->lost[DCPI_LOSS_BUFFERS_FULL],
			 shared.counted);
	assert_int_equal(delivered.edges + sample_store_pending_totals(store).edges +
				 store->edges_lost,
			 store->edges);
	assert_int_equal(store->edges, shared.counted / 64);
	assert_int_equal(store->hits + store->misses + store->direct +
				 store->lost[DCPI_LOSS_BUFFERS_FULL],
			 shared.counted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_model),
		cmocka_unit_test(test_refuses_bad_sizes),
		cmocka_unit_test(test_flushes_saturated_counts),
		cmocka_unit_test(test_refuses_nested_samples),
		cmocka_unit_test(test_survives_interrupt_at_each_instruction),
		cmocka_unit_test(test_reads_from_other_cpu),
	};

	return cmocka_run_group_tests_name("sample_store", tests, NULL, NULL);
}
