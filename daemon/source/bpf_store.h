/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader of the samples that the BPF program counts: see daemon/source/bpf/sample_count.h.
 *
 * The only system call is the wait for a grace period, which only a flush needs.
 */
#ifndef DCPI_BPF_STORE_H
#define DCPI_BPF_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/bpf/sample_count.h"
#include "daemon/source/register_pairs.h"

struct bpf_store;
struct source_sink;

/**
 * struct bpf_store_config - the memory to read, and how to wait
 * @cpus:                         one per CPU
 * @table:                        @buckets per CPU
 * @buffers:                      2 * @buffer_entries per CPU
 * @cpu_count:                    number of CPUs
 * @buckets:                      power of two
 * @buffer_entries:               power of two
 * @grace:                        returns when all running programs have ended, their writes are
 *                                visible to the reader, and the reader's writes to later programs;
 *                                0 or -errno
 * @sync:                         called after samples are taken, before they are visited
 * @grace_context, @sync_context: arguments of these
 */
struct bpf_store_config {
	struct bpf_cpu *cpus;
	struct bpf_bucket *table;
	struct dcpi_sample *buffers;
	uint32_t cpu_count;
	uint32_t buckets;
	uint32_t buffer_entries;
	int (*grace)(void *context);
	void (*sync)(void *context);
	void *grace_context;
	void *sync_context;
};

/** struct bpf_store_totals - sums over all CPUs since the memory was zeroed */
struct bpf_store_totals {
	uint64_t hits;
	uint64_t misses;
	uint64_t evictions;
	uint64_t direct;
	uint64_t flips;
	uint64_t lost;
	struct pair_outcomes pairs;
};

/** bpf_store_create() - create a reader of memory that remains the caller's. Return: 0; -ENOMEM. */
int bpf_store_create(struct bpf_store **ret, const struct bpf_store_config *config);

/** bpf_store_destroy() - free the reader. @store may be NULL. */
void bpf_store_destroy(struct bpf_store *store);

/** bpf_store_drain() - visit the contents of full buffers; never waits. */
void bpf_store_drain(struct bpf_store *store, const struct source_sink *sink);

/**
 * bpf_store_flush() - visit everything counted before the call
 *
 * Return: 0; or the error of @grace. In that case the samples that were not visited are still
 * there.
 */
int bpf_store_flush(struct bpf_store *store, const struct source_sink *sink);

/** bpf_store_cpu_samples() - return the number of samples of a CPU, including lost ones. */
uint64_t bpf_store_cpu_samples(const struct bpf_store *store, uint32_t cpu);

/**
 * bpf_store_totals() - sum the counters
 *
 * Return: number of samples taken. When sampling is stopped and the store has been flushed, every
 * sample that was not lost has been visited.
 */
uint64_t bpf_store_totals(const struct bpf_store *store, struct bpf_store_totals *totals);

#endif
