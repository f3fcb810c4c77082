/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces in memory, replayed against models of stores and against the real store. */
#ifndef DCPI_TESTS_POLICY_RUN_H
#define DCPI_TESTS_POLICY_RUN_H

#include <stddef.h>
#include <stdint.h>

#include "kmod/core/sample_store.h"
#include "tests/eval/policy/policy_model.h"

struct error;

/** struct policy_stream - the samples of one CPU, in order */
struct policy_stream {
	uint32_t cpu;
	struct dcpi_sample *samples;
	size_t count, capacity;
};

/**
 * struct policy_trace - a trace
 * @name:    of its file, without folder and suffix
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
 * policy_run() - replay a trace against a model, with one store per CPU
 * @flush_every: samples of a CPU after which its store is flushed; 0: never
 * @counts:      zero, or counts to add to
 *
 * Return: 0 or -ENOMEM.
 */
int policy_run(const struct policy_trace *trace, const struct policy *policy, uint64_t flush_every,
	       struct policy_counts *counts);

/**
 * policy_store_run() - replay a trace against kmod/core/sample_store.c
 *
 * Parameters as policy_run(). In @counts, @hits[0] is the number of all hits, and moves are zero.
 *
 * Return: 0; -ENOMEM; -EINVAL bad number of entries; -EIO samples were lost, or counts do not add
 * up.
 */
int policy_store_run(const struct policy_trace *trace, uint32_t entries, uint64_t flush_every,
		     struct policy_counts *counts);

#endif
