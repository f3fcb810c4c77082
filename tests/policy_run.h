/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces in memory, replayed against models of stores and against the store. */
#ifndef DCPI_TESTS_POLICY_RUN_H
#define DCPI_TESTS_POLICY_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "kmod/core/sample_store.h"
#include "tests/policy_model.h"

struct error;

/** struct policy_stream - the samples of one CPU, in order */
struct policy_stream {
	uint32_t cpu;
	struct dcpi_sample *samples;
	size_t count, capacity;
};

/**
 * struct policy_trace - a trace
 * @name:    of its file, without folder and ending
 * @samples: in all streams
 * @keys:    different (program counter, tag) on one CPU, summed over CPUs
 */
struct policy_trace {
	char name[64];
	struct policy_stream *streams;
	size_t count, capacity;
	uint64_t samples;
	uint64_t keys;
};

/** policy_trace_read() - read a whole trace. Return: 0; errors of trace_reader_open(). */
int policy_trace_read(struct policy_trace *trace, const char *path, struct error *err);

/** policy_trace_deinit() - free what policy_trace_read() allocated. */
void policy_trace_deinit(struct policy_trace *trace);

/**
 * policy_run() - what a model of a store makes of a trace, a store for each CPU
 * @flush_every: samples of a CPU after which its store is flushed; 0: never
 * @counts:      zero, or what is to be added to
 *
 * Return: 0 or -ENOMEM.
 */
int policy_run(const struct policy_trace *trace, const struct policy *policy, uint64_t flush_every,
	       struct policy_counts *counts);

/**
 * policy_store_run() - what kmod/core/sample_store.c makes of it
 *
 * As policy_run(). In @counts, @hits[0] stands for all hits, and moves are zero.
 *
 * Return: 0; -ENOMEM; -EINVAL bad number of entries; -EIO samples were lost, or
 * counts do not add up.
 */
int policy_store_run(const struct policy_trace *trace, uint32_t entries, uint64_t flush_every,
		     struct policy_counts *counts);

#endif
