/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader of what the BPF program counts: see daemon/source/bpf/sample_count.h.
 *
 * Nothing here is a system call but waiting for a grace period, which only a
 * drain of everything does.
 */
#ifndef DCPI_BPF_STORE_H
#define DCPI_BPF_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/source/bpf/sample_count.h"

struct bpf_store;
struct source_sink;

/**
 * struct bpf_store_config - the memory to read, and how to wait
 * @cpus:            one for each CPU
 * @table:           @buckets for each CPU
 * @buffers:         2 * @buffer_entries for each CPU
 * @cpu_count:       CPUs, by number
 * @buckets:         power of two
 * @buffer_entries:  power of two
 * @grace:           returns when all programs that were running have ended and
 *                   their writes are visible, and ours to later ones; 0/-errno
 * @sync:            called after samples are taken, before they are visited
 * @grace_context, @sync_context: for these
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

/** struct bpf_store_totals - of all CPUs, since the memory was zero */
struct bpf_store_totals {
	uint64_t hits;
	uint64_t misses;
	uint64_t evictions;
	uint64_t direct;
	uint64_t flips;
	uint64_t lost;
};

/** bpf_store_create() - read this memory, which stays the caller's; -ENOMEM. */
int bpf_store_create(struct bpf_store **ret, const struct bpf_store_config *config);

/** bpf_store_destroy() - NULL is fine. */
void bpf_store_destroy(struct bpf_store *store);

/** bpf_store_drain() - visit what is in full buffers; never waits. */
void bpf_store_drain(struct bpf_store *store, const struct source_sink *sink);

/**
 * bpf_store_flush() - visit everything counted before the call
 *
 * Return: 0; or the error of @grace: what was not visited is still there.
 */
int bpf_store_flush(struct bpf_store *store, const struct source_sink *sink);

/** bpf_store_cpu_samples() - samples that a CPU has taken, lost ones included. */
uint64_t bpf_store_cpu_samples(const struct bpf_store *store, uint32_t cpu);

/**
 * bpf_store_totals() - sum the counters
 *
 * Return: samples taken. Those that were counted and not lost have been
 * visited once all is at rest and flushed.
 */
uint64_t bpf_store_totals(const struct bpf_store *store, struct bpf_store_totals *totals);

#endif
