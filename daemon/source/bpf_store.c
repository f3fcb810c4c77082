// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/bpf_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/source_chunk.h"

/*
 * The reader's state of a CPU.
 * @taken:    per buffer, entries visited since it was released
 * @full:     per buffer, number of entries if the reader owns it
 * @cursor:   at the beginning of a flush
 * @in_flush: the CPU has samples, and its program has been asked not to use the table
 */
struct reader_cpu {
	uint32_t taken[2];
	uint32_t full[2];
	uint32_t cursor;
	bool in_flush;
};

struct bpf_store {
	struct bpf_store_config config;
	struct reader_cpu readers[];
};

int bpf_store_create(struct bpf_store **ret, const struct bpf_store_config *config)
{
	struct bpf_store *store =
		calloc(1, sizeof(*store) + config->cpu_count * sizeof(store->readers[0]));

	if (store == NULL)
		return -ENOMEM;
	store->config = *config;
	*ret = store;
	return 0;
}

void bpf_store_destroy(struct bpf_store *store)
{
	free(store);
}

static const struct dcpi_sample *buffer_of(const struct bpf_store *store, uint32_t cpu,
					   uint32_t buffer)
{
	return store->config.buffers + ((size_t)cpu * 2 + buffer) * store->config.buffer_entries;
}

/* Visit the part of a buffer that has not been visited yet, up to @end. */
static void buffer_visit(struct bpf_store *store, uint32_t cpu, uint32_t buffer, uint32_t end,
			 const struct source_sink *sink)
{
	uint32_t *taken = &store->readers[cpu].taken[buffer];

	if (end <= *taken || end > store->config.buffer_entries)
		return;
	source_chunk_walk(buffer_of(store, cpu, buffer) + *taken, end - *taken, sink);
	*taken = end;
}

/* Take over the buffers that are full now. Return: true if there is one. */
static bool full_take(struct bpf_store *store)
{
	bool any = false;
	uint32_t cpu, i;

	for (cpu = 0; cpu < store->config.cpu_count; cpu++) {
		for (i = 0; i < 2; i++) {
			uint64_t ready = __atomic_load_n(&store->config.cpus[cpu].ready[i],
							 __ATOMIC_ACQUIRE);

			store->readers[cpu].full[i] = (uint32_t)ready;
			any = any || ready != 0;
		}
	}
	return any;
}

static void full_visit(struct bpf_store *store, uint32_t cpu, const struct source_sink *sink)
{
	struct reader_cpu *reader = &store->readers[cpu];
	uint32_t i;

	for (i = 0; i < 2; i++) {
		if (reader->full[i] == 0)
			continue;
		buffer_visit(store, cpu, i, reader->full[i], sink);
		reader->taken[i] = 0;
		__atomic_store_n(&store->config.cpus[cpu].ready[i], 0, __ATOMIC_RELEASE);
	}
}

void bpf_store_drain(struct bpf_store *store, const struct source_sink *sink)
{
	uint32_t cpu;

	if (!full_take(store))
		return;
	store->config.sync(store->config.sync_context);
	for (cpu = 0; cpu < store->config.cpu_count; cpu++)
		full_visit(store, cpu, sink);
}

/* Do not write to unused buckets, so that most pages of an idle table stay untouched. */
static void table_visit(struct bpf_store *store, uint32_t cpu, const struct source_sink *sink)
{
	struct bpf_bucket *bucket = store->config.table + (size_t)cpu * store->config.buckets;
	const struct bpf_bucket *end = bucket + store->config.buckets;

	for (; bucket < end; bucket++) {
		/* Ways are filled in order. */
		if (dcpi_tag_count(bucket->way[0].tag) == 0)
			continue;
		source_chunk_walk(bucket->way, BPF_WAYS, sink);
		memset(bucket, 0, sizeof(*bucket));
	}
}

static void flush_begin(struct bpf_store *store)
{
	uint32_t cpu;

	for (cpu = 0; cpu < store->config.cpu_count; cpu++) {
		struct bpf_cpu *at = &store->config.cpus[cpu];
		struct reader_cpu *reader = &store->readers[cpu];

		reader->in_flush = bpf_store_cpu_samples(store, cpu) != 0;
		if (!reader->in_flush)
			continue;
		__atomic_store_n(&at->flushing, 1, __ATOMIC_RELAXED);
		reader->cursor = __atomic_load_n(&at->cursor, __ATOMIC_RELAXED);
	}
}

static void flush_end(struct bpf_store *store)
{
	uint32_t cpu;

	for (cpu = 0; cpu < store->config.cpu_count; cpu++)
		__atomic_store_n(&store->config.cpus[cpu].flushing, 0, __ATOMIC_RELAXED);
}

/* The buffer that was unfinished is read in place, unless it has become full since. */
static void cpu_flush(struct bpf_store *store, uint32_t cpu, const struct source_sink *sink)
{
	const struct reader_cpu *reader = &store->readers[cpu];
	uint32_t active = reader->cursor >> 31;

	full_visit(store, cpu, sink);
	if (!reader->in_flush)
		return;
	if (reader->full[active] == 0)
		buffer_visit(store, cpu, active, reader->cursor & ~BPF_CURSOR_ACTIVE, sink);
	table_visit(store, cpu, sink);
}

int bpf_store_flush(struct bpf_store *store, const struct source_sink *sink)
{
	uint32_t cpu;
	int rc;

	flush_begin(store);
	rc = store->config.grace(store->config.grace_context);
	if (rc == 0) {
		full_take(store);
		store->config.sync(store->config.sync_context);
		for (cpu = 0; cpu < store->config.cpu_count; cpu++)
			cpu_flush(store, cpu, sink);
		/* No program may see the table as it was before it was cleared. */
		rc = store->config.grace(store->config.grace_context);
	}
	flush_end(store);
	return rc;
}

uint64_t bpf_store_cpu_samples(const struct bpf_store *store, uint32_t cpu)
{
	const volatile struct bpf_cpu *at = &store->config.cpus[cpu];

	return at->hits + at->misses + at->direct + at->lost;
}

uint64_t bpf_store_totals(const struct bpf_store *store, struct bpf_store_totals *totals)
{
	uint32_t cpu;

	memset(totals, 0, sizeof(*totals));
	for (cpu = 0; cpu < store->config.cpu_count; cpu++) {
		const volatile struct bpf_cpu *at = &store->config.cpus[cpu];

		totals->hits += at->hits;
		totals->misses += at->misses;
		totals->evictions += at->evictions;
		totals->direct += at->direct;
		totals->flips += at->flips;
		totals->lost += at->lost;
		totals->pairs.begun += at->begun;
		totals->pairs.waiting +=
			at->pairing.thread != 0 && at->pairing.thread != SAMPLE_PAIRING_ARMED;
		totals->pairs.ended += at->outcomes[SAMPLE_PAIRING_ENDED];
		totals->pairs.expired += at->outcomes[SAMPLE_PAIRING_EXPIRED];
		totals->pairs.missed += at->missed;
	}
	return totals->hits + totals->misses + totals->direct + totals->lost;
}
