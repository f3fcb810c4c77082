// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the BPF source's store. The BPF program itself, compiled for this machine, writes, and
 * daemon/source/bpf_store.c reads. The counts are compared with a model that counts by key, then
 * writer and reader run at the same time. A grace period is modelled by a lock that each run of the
 * program holds for reading.
 */
#include "daemon/source/bpf_store.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/bpf_sampler.h"
#include "daemon/source/source.h"
#include "lib/error.h"
#include "tests/lib/unit.h"

#define CPUS 2
#define BUCKETS 16
#define BUFFER 64
#define KEYS 512
#define RUNS 300000U

/* BPF declarations used by the program. NOLINTBEGIN(bugprone-macro-parentheses): declarations */
#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) __typeof__(value) *name
#define __array(name, value) __typeof__(value) *name[1]
/* NOLINTEND(bugprone-macro-parentheses) */
#define __TARGET_ARCH_x86
#define kernel_type
#define hand_over(at, entries) buffer_hand_over(at, entries)

struct task_struct;

enum {
	buckets_per_cpu = BUCKETS,
	entries_per_buffer = BUFFER,
	follow_every = 3
};

static void *bpf_map_lookup_elem(const void *map, const __u32 *key);
static struct task_struct *bpf_get_current_task_btf(void);
static __u32 bpf_get_smp_processor_id(void);
static __u64 bpf_get_attach_cookie(const void *context);
static long bpf_seq_write(void *seq, const void *data, __u32 bytes);
static void bpf_tail_call(const void *context, const void *programs, __u32 number);
static void buffer_hand_over(__u64 *ready, __u32 entries);

struct sample_context;
struct bpf_iter__task;
int dcpi_sample_count(struct sample_context *context);
int dcpi_process_generation(struct bpf_iter__task *context);

/* NOLINTNEXTLINE(bugprone-suspicious-include): the program under test */
#include "daemon/source/bpf/sample_count.bpf.c"

static struct bpf_cpu cpu_memory[CPUS];
static struct bpf_bucket table_memory[CPUS * BUCKETS];
static struct dcpi_sample buffer_memory[CPUS * 2 * BUFFER];
static _Thread_local __u32 this_cpu;
static _Thread_local struct task_struct this_task;
static _Thread_local __u64 this_event;
static _Thread_local uint64_t followed, firsts, seconds;
static _Thread_local struct snapshot_pairing pairing_memory;

/*
 * The point where the program pauses when it hands a buffer over, on request.
 * @before: just before the reader can see the buffer; else just after
 */
static struct {
	bool wanted;
	bool before;
	pthread_barrier_t reached;
	pthread_barrier_t left;
} pause_at;

static void hand_over_pause(void)
{
	pthread_barrier_wait(&pause_at.reached);
	pthread_barrier_wait(&pause_at.left);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the exchange writes it */
static void buffer_hand_over(__u64 *ready, __u32 entries)
{
	bool wanted = pause_at.wanted;

	pause_at.wanted = false;
	if (wanted && pause_at.before)
		hand_over_pause();
	__atomic_exchange_n(ready, entries, __ATOMIC_SEQ_CST);
	if (wanted && !pause_at.before)
		hand_over_pause();
}

static void *bpf_map_lookup_elem(const void *map, const __u32 *key)
{
	if (map == &cpus)
		return *key < CPUS ? &cpu_memory[*key] : NULL;
	if (map == &pairings)
		return &pairing_memory;
	if (map == &table)
		return *key < CPUS * BUCKETS ? &table_memory[*key] : NULL;
	return *key < CPUS * 2 * BUFFER ? &buffer_memory[*key] : NULL;
}

static struct task_struct *bpf_get_current_task_btf(void)
{
	return &this_task;
}

static __u32 bpf_get_smp_processor_id(void)
{
	return this_cpu;
}

/* Returns, like a tail call without a program to call. */
static void bpf_tail_call(const void *context, const void *programs, __u32 number)
{
	(void)context;
	assert_true(programs == &follower && number < BPF_FOLLOWERS);
	followed += number == BPF_FOLLOWER_EXAMINED;
	firsts += number == BPF_FOLLOWER_FIRST;
	seconds += number == BPF_FOLLOWER_SECOND;
}

static __u64 bpf_get_attach_cookie(const void *context)
{
	(void)context;
	return this_event;
}

static long bpf_seq_write(void *seq, const void *data, __u32 bytes)
{
	memcpy(seq, data, bytes);
	return 0;
}

/*
 * The model. Key number k is process k % 7, generation k % 3, event k % 2, PC k.
 * @counted: by CPU and key, not lost; @visited: by key
 * @synced:  since samples were last requested
 */
struct fixture {
	struct bpf_store *store;
	pthread_rwlock_t running;
	uint64_t counted[CPUS][KEYS];
	uint64_t visited[KEYS];
	uint64_t syncs;
	uint64_t graces;
	int grace_error;
	bool synced;
};

static int fixture_grace(void *context)
{
	struct fixture *f = context;

	f->graces++;
	if (f->grace_error != 0)
		return f->grace_error;
	pthread_rwlock_wrlock(&f->running);
	pthread_rwlock_unlock(&f->running);
	return 0;
}

static void fixture_sync(void *context)
{
	struct fixture *f = context;

	f->synced = true;
	f->syncs++;
}

static void fixture_visit(void *context, const struct dcpi_sample *sample, size_t count)
{
	struct fixture *f = context;

	for (; count > 0; count--, sample++) {
		uint32_t key = (uint32_t)sample->pc;

		if (dcpi_tag_count(sample->tag) == 0)
			continue;
		assert_true(f->synced);
		assert_true(sample->pc < KEYS);
		assert_int_equal(dcpi_tag_pid(sample->tag), key % 7);
		assert_int_equal(dcpi_tag_generation(sample->tag), key % 3);
		assert_int_equal(dcpi_tag_event(sample->tag), key % 2);
		f->visited[key] += dcpi_tag_count(sample->tag);
	}
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct bpf_store_config config = {
		.cpus = cpu_memory,
		.table = table_memory,
		.buffers = buffer_memory,
		.cpu_count = CPUS,
		.buckets = BUCKETS,
		.buffer_entries = BUFFER,
		.grace = fixture_grace,
		.sync = fixture_sync,
		.grace_context = f,
		.sync_context = f,
	};

	memset(cpu_memory, 0, sizeof(cpu_memory));
	memset(table_memory, 0, sizeof(table_memory));
	memset(buffer_memory, 0, sizeof(buffer_memory));
	pthread_rwlock_init(&f->running, NULL);
	*state = f;
	return bpf_store_create(&f->store, &config);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	bpf_store_destroy(f->store);
	pthread_rwlock_destroy(&f->running);
	free(f);
	return 0;
}

/* Run the program once. Return: the program's return value. */
static int count_key(struct fixture *f, __u32 cpu, uint32_t key)
{
	struct sample_context context = {.pc = key};
	uint64_t lost = cpu_memory[cpu].lost;
	int wake;

	this_cpu = cpu;
	this_task = (struct task_struct){.tgid = (int)key % 7, .self_exec_id = key % 3};
	this_event = key % 2;
	wake = dcpi_sample_count(&context);
	if (cpu_memory[cpu].lost == lost)
		f->counted[cpu][key]++;
	return wake;
}

static void drain(struct fixture *f)
{
	const struct source_sink sink = {.samples = fixture_visit, .context = f};

	f->synced = false;
	bpf_store_drain(f->store, &sink);
}

static int flush(struct fixture *f)
{
	const struct source_sink sink = {.samples = fixture_visit, .context = f};

	f->synced = false;
	return bpf_store_flush(f->store, &sink);
}

static void assert_all_visited(const struct fixture *f)
{
	struct bpf_store_totals totals;
	uint64_t taken = bpf_store_totals(f->store, &totals), sum = 0;
	uint32_t key, cpu;

	for (key = 0; key < KEYS; key++) {
		uint64_t counted = 0;

		for (cpu = 0; cpu < CPUS; cpu++)
			counted += f->counted[cpu][key];
		assert_int_equal(f->visited[key], counted);
		sum += counted;
	}
	assert_int_equal(taken, sum + totals.lost);
}

/* Draw from many keys for a small table, so that there are hits, evictions and losses. */
static uint32_t random_key(uint64_t *seed)
{
	uint64_t r = unit_random(seed);

	return (uint32_t)(r & 1 ? (r >> 8) % 16 : (r >> 8) % KEYS);
}

static void test_counts_as_the_model(void **state)
{
	struct fixture *f = *state;
	struct bpf_store_totals totals;
	uint64_t seed = 1, i;

	for (i = 0; i < 400000; i++) {
		uint64_t act = unit_random(&seed) % 2000;

		count_key(f, (__u32)(unit_random(&seed) % CPUS), random_key(&seed));
		if (act < 8)
			drain(f);
		if (act == 8)
			assert_int_equal(flush(f), 0);
	}
	assert_int_equal(flush(f), 0);
	assert_all_visited(f);
	bpf_store_totals(f->store, &totals);
	assert_true(totals.hits > 1000 && totals.misses > 1000 && totals.evictions > 1000);
	assert_true(totals.lost > 1000 && totals.flips > 100);
	assert_int_equal(totals.direct, 0);
}

static void *writer_run(void *context)
{
	struct fixture *f = context;
	static _Atomic __u32 next;
	__u32 cpu = next++ % CPUS;
	uint64_t seed = cpu + 7, i;

	for (i = 0; i < RUNS; i++) {
		pthread_rwlock_rdlock(&f->running);
		count_key(f, cpu, random_key(&seed));
		pthread_rwlock_unlock(&f->running);
	}
	return NULL;
}

static void test_counts_while_it_is_read(void **state)
{
	struct fixture *f = *state;
	struct bpf_store_totals totals;
	pthread_t writers[CPUS];
	uint32_t i;

	for (i = 0; i < CPUS; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, writer_run, f), 0);
	for (i = 0; bpf_store_totals(f->store, &totals) < (uint64_t)CPUS * RUNS; i++) {
		if (i % 16 == 0)
			assert_int_equal(flush(f), 0);
		else
			drain(f);
	}
	for (i = 0; i < CPUS; i++)
		pthread_join(writers[i], NULL);
	assert_int_equal(flush(f), 0);
	assert_all_visited(f);
}

static void *buffer_fill(void *context)
{
	uint32_t key;

	for (key = 0; key < BUFFER; key++)
		count_key(context, 0, key);
	return NULL;
}

/* Let the paused program continue, and wait until it has ended. */
static int grace_of_paused(void *context)
{
	pthread_t *writer = context;

	if (*writer != 0) {
		pthread_barrier_wait(&pause_at.left);
		pthread_join(*writer, NULL);
		*writer = 0;
	}
	return 0;
}

/* A program hands a buffer over while a drain, and a flush up to its wait, read the store. */
static void hand_over_while_it_is_read(struct fixture *f, bool before)
{
	struct bpf_store_config config = {
		.cpus = cpu_memory,
		.table = table_memory,
		.buffers = buffer_memory,
		.cpu_count = CPUS,
		.buckets = BUCKETS,
		.buffer_entries = BUFFER,
		.grace = grace_of_paused,
		.sync = fixture_sync,
		.sync_context = f,
	};
	pthread_t writer;

	bpf_store_destroy(f->store);
	config.grace_context = &writer;
	assert_int_equal(bpf_store_create(&f->store, &config), 0);
	cpu_memory[0].flushing = 1;
	pause_at.wanted = true;
	pause_at.before = before;
	assert_int_equal(pthread_create(&writer, NULL, buffer_fill, f), 0);
	pthread_barrier_wait(&pause_at.reached);
	drain(f);
	assert_int_equal(flush(f), 0);
	assert_all_visited(f);
	/* Then use each buffer again. */
	cpu_memory[0].flushing = 1;
	buffer_fill(f);
	drain(f);
	buffer_fill(f);
	assert_int_equal(flush(f), 0);
	assert_all_visited(f);
}

static void test_a_buffer_is_handed_over_while_it_is_read(void **state)
{
	pthread_barrier_init(&pause_at.reached, NULL, 2);
	pthread_barrier_init(&pause_at.left, NULL, 2);
	hand_over_while_it_is_read(*state, true);
	hand_over_while_it_is_read(*state, false);
	pthread_barrier_destroy(&pause_at.reached);
	pthread_barrier_destroy(&pause_at.left);
}

static void test_part_of_a_buffer_is_visited_once(void **state)
{
	struct fixture *f = *state;
	uint32_t key;

	/* While the reader owns the table, each sample is an entry of the buffer. */
	cpu_memory[0].flushing = 1;
	for (key = 0; key < 10; key++)
		assert_int_equal(count_key(f, 0, key), 0);
	assert_int_equal(flush(f), 0);
	assert_all_visited(f);
	assert_int_equal(cpu_memory[0].flushing, 0);
	cpu_memory[0].flushing = 1;
	for (; key < BUFFER; key++)
		assert_int_equal(count_key(f, 0, key), key == BUFFER - 1);
	drain(f);
	assert_all_visited(f);
	assert_int_equal(cpu_memory[0].direct, BUFFER);
}

static void test_two_full_buffers_lose_by_name(void **state)
{
	struct fixture *f = *state;
	struct bpf_store_totals totals;
	int i;

	cpu_memory[1].flushing = 1;
	for (i = 0; i < 2 * BUFFER + 5; i++)
		count_key(f, 1, 3);
	bpf_store_totals(f->store, &totals);
	assert_int_equal(totals.lost, 5);
	assert_int_equal(bpf_store_cpu_samples(f->store, 1), 2 * BUFFER + 5);
	assert_int_equal(flush(f), 0);
	assert_all_visited(f);
	/* Then the buffer that was read to its end, but not released, is given back. */
	for (i = 0; i < 2000; i++)
		count_key(f, 1, (uint32_t)i % KEYS);
	drain(f);
	assert_int_equal(flush(f), 0);
	assert_all_visited(f);
}

static void test_a_count_never_wraps(void **state)
{
	struct fixture *f = *state;
	struct dcpi_sample *entry = NULL;
	int i;

	count_key(f, 0, 5);
	for (i = 0; i < BUCKETS; i++) {
		if (table_memory[i].way[0].tag != 0)
			entry = &table_memory[i].way[0];
	}
	assert_non_null(entry);
	entry->tag += DCPI_COUNT_MAX - 1;
	f->counted[0][5] += DCPI_COUNT_MAX - 1;
	cpu_memory[0].hits += DCPI_COUNT_MAX - 1;
	count_key(f, 0, 5);
	assert_int_equal(dcpi_tag_count(entry->tag), 1);
	assert_int_equal(flush(f), 0);
	assert_all_visited(f);
}

static void test_a_failed_wait_loses_nothing(void **state)
{
	struct fixture *f = *state;

	count_key(f, 0, 1);
	f->grace_error = -EINVAL;
	assert_int_equal(flush(f), -EINVAL);
	assert_int_equal(f->visited[1], 0);
	assert_int_equal(cpu_memory[0].flushing, 0);
	f->grace_error = 0;
	assert_int_equal(flush(f), 0);
	assert_all_visited(f);
}

static void test_a_drain_of_nothing_asks_nobody(void **state)
{
	struct fixture *f = *state;

	count_key(f, 0, 1);
	drain(f);
	assert_int_equal(f->syncs, 0);
	assert_int_equal(f->graces, 0);
	assert_int_equal(flush(f), 0);
	assert_int_equal(f->syncs, 1);
	assert_int_equal(f->graces, 2);
}

/*
 * Every third user-space sample on each CPU is followed by a tail call. Samples that wake the
 * reader are not, because a tail call would lose the wake-up.
 */
static void test_some_samples_are_followed(void **state)
{
	struct sample_context kernel = {.pc = UINT64_MAX - 8};
	struct fixture *f = *state;
	uint64_t n, woken = 0;

	followed = 0;
	for (n = 1; n <= 300; n++) {
		for (__u32 cpu = 0; cpu < CPUS; cpu++)
			count_key(f, cpu, 5);
		assert_int_equal(followed, CPUS * ((n + 2) / 3));
		dcpi_sample_count(&kernel);
	}
	assert_int_equal(followed, CPUS * 100);
	cpu_memory[0].flushing = 1;
	for (n = 1; n <= 3 * (uint64_t)BUFFER; n++) {
		uint64_t before = followed;

		if (count_key(f, 0, 5) == 0)
			continue;
		woken++;
		assert_int_equal(followed, before);
	}
	assert_true(woken == 1);
	assert_in_range(followed, CPUS * 100 + BUFFER - 1, CPUS * 100 + BUFFER);
}

/* A sample of a thread of one process, on the first CPU */
static void sample_of(int tid, uint64_t pc, uint64_t sp)
{
	struct sample_context context = {.pc = pc, .sp = sp};

	this_cpu = 0;
	this_task = (struct task_struct){.pid = tid, .tgid = 70, .self_exec_id = 3};
	dcpi_sample_count(&context);
}

/*
 * After an examined sample, a sample and the next one of the same activation are passed on, too.
 * Samples of its callees and of the kernel count as time of the thread, those of others do not.
 */
static void test_some_samples_are_paired(void **state)
{
	struct bpf_cpu *cpu = &cpu_memory[0];
	struct fixture *f = *state;
	struct bpf_store_totals totals;

	this_event = 1;
	followed = firsts = seconds = 0;
	sample_of(6, 0x1000, 0x8000);
	assert_int_equal(followed, 1);
	sample_of(7, UINT64_MAX - 8, 0);
	assert_int_equal(firsts, 0);
	sample_of(7, 0x1000, 0x8000);
	assert_int_equal(firsts, 1);
	assert_int_equal(pairing_memory.series, 1);
	assert_int_equal(pairing_memory.event, 1);
	this_event = 0;
	sample_of(7, 0x1004, 0x8000);
	this_event = 1;
	sample_of(8, 0x1004, 0x8000);
	sample_of(7, 0x2000, 0x7ff0);
	sample_of(7, UINT64_MAX - 8, 0);
	assert_int_equal(seconds, 0);
	sample_of(7, 0x1010, 0x8000);
	assert_int_equal(seconds, 1);
	assert_int_equal(pairing_memory.samples, 3);
	assert_int_equal(pairing_memory.series, 1);
	/* A caller's frame, then code far away, then nothing more of the thread. */
	for (uint64_t round = 0; round < 3; round++) {
		while (!sample_pairing_has_begun(&cpu->pairing))
			sample_of(7, 0x1000, 0x8000);
		if (round == 0)
			sample_of(7, 0x1000, 0x8010);
		if (round == 1)
			sample_of(7, 0x1000 + (1 << 20), 0x8000);
		for (int i = 0; round == 2 && i < SAMPLE_PAIRING_WAIT; i++)
			sample_of(8, 0x3000, 0x9000);
		assert_true(sample_pairing_is_idle(&cpu->pairing));
	}
	bpf_store_totals(f->store, &totals);
	assert_int_equal(totals.pairs.ended, 2);
	assert_int_equal(totals.pairs.expired, 1);
	/* Here the follower returns: it is counted as if it had not run. */
	assert_int_equal(totals.pairs.missed, seconds);
	assert_int_equal(totals.pairs.begun, totals.pairs.ended + totals.pairs.expired + seconds);
	assert_int_equal(totals.pairs.begun, firsts);
	assert_int_equal(totals.pairs.waiting, 0);
}

static void test_the_generation_is_the_exec_count(void **state)
{
	struct task_struct task = {.self_exec_id = 77};
	uint32_t got = 0;
	struct bpf_iter_meta meta = {.seq = (struct seq_file *)(void *)&got};
	struct bpf_iter__task context = {.meta = &meta};

	(void)state;
	assert_int_equal(dcpi_process_generation(&context), 0);
	assert_int_equal(got, 0);
	context.task = &task;
	assert_int_equal(dcpi_process_generation(&context), 0);
	assert_int_equal(got, 77);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/*
 * A machine with too many entries is refused: entry numbers that wrap would make buffers of several
 * CPUs overlap.
 */
static void test_a_machine_too_large_is_refused(void **state)
{
	struct bpf_sampler *sampler = NULL;
	struct error err = {.errnum = 0};

	(void)state;
	assert_int_equal(bpf_sampler_open(&sampler, 2048, 64, DCPI_ENTRIES_MAX, 0, &err), -EINVAL);
	assert_non_null(strstr(err.message, "2048 CPUs"));
	assert_int_equal(bpf_sampler_open(&sampler, 4096, DCPI_ENTRIES_MAX, 64, 0, &err), -EINVAL);
	assert_null(sampler);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_counts_as_the_model),
		TEST(test_counts_while_it_is_read),
		TEST(test_a_buffer_is_handed_over_while_it_is_read),
		TEST(test_part_of_a_buffer_is_visited_once),
		TEST(test_two_full_buffers_lose_by_name),
		TEST(test_a_count_never_wraps),
		TEST(test_a_failed_wait_loses_nothing),
		TEST(test_a_drain_of_nothing_asks_nobody),
		TEST(test_some_samples_are_followed),
		TEST(test_some_samples_are_paired),
		cmocka_unit_test(test_the_generation_is_the_exec_count),
		cmocka_unit_test(test_a_machine_too_large_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
