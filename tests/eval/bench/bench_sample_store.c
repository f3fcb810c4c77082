// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the cost of a sample in the store: hits, misses with eviction, and a flush of the whole
 * table, in nanoseconds. Prints one JSON object per line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/core/period.h"
#include "kmod/core/sample_store.h"
#include "tests/eval/bench/bench.h"

enum {
	ROUNDS = 15,
	SAMPLES = 1 << 20,
	HOT_KEYS = 2048
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Report the median, because other processes may be using the machine. */
static void report(const char *name, const char *workload, double *ns)
{
	qsort(ns, ROUNDS, sizeof(*ns), compare);
	bench_report(name, "sample_store", workload, ns[ROUNDS / 2], "ns");
}

static struct sample_store *store;
static void *memory;

static void start(void)
{
	size_t bytes = sample_store_bytes(DCPI_TABLE_ENTRIES_DEFAULT, DCPI_BUFFER_ENTRIES_DEFAULT);

	memset(memory, 0, bytes);
	if (sample_store_init(store, memory, DCPI_TABLE_ENTRIES_DEFAULT,
			      DCPI_BUFFER_ENTRIES_DEFAULT) != 0)
		abort();
}

static void read_full(void)
{
	struct sample_chunk chunk;
	int buffer = sample_store_full(store, &chunk);

	if (buffer >= 0)
		sample_store_release(store, buffer);
}

static double bench_hit(void)
{
	uint32_t random = 1;
	double begin;
	int i;

	start();
	for (i = 0; i < HOT_KEYS; i++)
		sample_store_count(store, 0x400000 + (uint64_t)i * 4, dcpi_tag(1000, 1, 0));
	begin = bench_now_ns();
	for (i = 0; i < SAMPLES; i++) {
		uint64_t key = period_random(&random) % HOT_KEYS;

		sample_store_count(store, 0x400000 + key * 4, dcpi_tag(1000, 1, 0));
	}
	return (bench_now_ns() - begin) / SAMPLES;
}

static double bench_miss(void)
{
	double begin;
	int i;

	start();
	for (i = 0; i < DCPI_TABLE_ENTRIES_DEFAULT * 2; i++)
		sample_store_count(store, 0x800000000 + (uint64_t)i * 4, dcpi_tag(1, 1, 0));
	read_full();
	begin = bench_now_ns();
	for (i = 0; i < SAMPLES; i++) {
		if (sample_store_count(store, 0x400000 + (uint64_t)i * 4, dcpi_tag(1000, 1, 0)) &
		    SAMPLE_WAKE)
			read_full();
	}
	return (bench_now_ns() - begin) / SAMPLES;
}

/* Time per entry of a full table that is copied out and cleared as in the module. */
static double bench_flush(void)
{
	static struct dcpi_sample copy[DCPI_TABLE_ENTRIES_DEFAULT];
	struct sample_chunk table;
	double begin;
	int i;

	start();
	for (i = 0; i < DCPI_TABLE_ENTRIES_DEFAULT * 2; i++)
		sample_store_count(store, 0x400000 + (uint64_t)i * 4, dcpi_tag(1000, 1, 0));
	begin = bench_now_ns();
	sample_store_flush_begin(store);
	table = sample_store_table(store);
	memcpy(copy, table.entries, table.count * sizeof(*copy));
	sample_store_table_clear(store, 0, table.count);
	sample_store_flush_end(store);
	return (bench_now_ns() - begin) / DCPI_TABLE_ENTRIES_DEFAULT;
}

int main(void)
{
	double hit[ROUNDS], miss[ROUNDS], flush[ROUNDS];
	int i;

	store = aligned_alloc(64, (sizeof(*store) + 63) / 64 * 64);
	memory = aligned_alloc(
		64, sample_store_bytes(DCPI_TABLE_ENTRIES_DEFAULT, DCPI_BUFFER_ENTRIES_DEFAULT));
	if (store == NULL || memory == NULL)
		return 2;
	for (i = 0; i < ROUNDS; i++) {
		hit[i] = bench_hit();
		miss[i] = bench_miss();
		flush[i] = bench_flush();
	}
	report("store_hit", "2048 hot keys at random", hit);
	report("store_miss", "every key new, full table", miss);
	report("store_flush", "full table of 16384 entries, per entry", flush);
	free(store);
	free(memory);
	return 0;
}
