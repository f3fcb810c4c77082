// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/policy/policy_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/trace.h"
#include "daemon/source/trace_reader.h"
#include "kmod/core/sample_store.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"

CLEANUP_DEFINE(reader, struct trace_reader *, trace_reader_close)

static struct policy_stream *stream_of(struct policy_trace *trace, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < trace->count; i++) {
		if (trace->streams[i].cpu == cpu)
			return &trace->streams[i];
	}
	if (array_reserve(&trace->streams, &trace->capacity, trace->count + 1,
			  sizeof(*trace->streams)) < 0)
		return NULL;
	trace->streams[trace->count] = (struct policy_stream){.cpu = cpu};
	return &trace->streams[trace->count++];
}

static int block_add(struct policy_trace *trace, const struct trace_block *block)
{
	struct policy_stream *stream = stream_of(trace, block->cpu);

	if (stream == NULL ||
	    array_reserve(&stream->samples, &stream->capacity, stream->count + block->count,
			  sizeof(*stream->samples)) < 0)
		return -ENOMEM;
	memcpy(stream->samples + stream->count, block->sample,
	       block->count * sizeof(*stream->samples));
	stream->count += block->count;
	trace->samples += block->count;
	return 0;
}

static int sample_compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct dcpi_sample));
}

static int keys_count(struct policy_trace *trace)
{
	size_t i, j;

	for (i = 0; i < trace->count; i++) {
		const struct policy_stream *stream = &trace->streams[i];
		size_t bytes = stream->count * sizeof(*stream->samples);
		_cleanup_free_ struct dcpi_sample *sorted = malloc(bytes);

		if (sorted == NULL)
			return -ENOMEM;
		memcpy(sorted, stream->samples, bytes);
		qsort(sorted, stream->count, sizeof(*sorted), sample_compare);
		for (j = 0; j < stream->count; j++)
			trace->keys += j == 0 || sample_compare(&sorted[j - 1], &sorted[j]) != 0;
	}
	return 0;
}

static void name_take(struct policy_trace *trace, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

	snprintf(trace->name, sizeof(trace->name), "%.*s", (int)strcspn(name, "."), name);
}

int policy_trace_read(struct policy_trace *trace, const char *path, struct error *err)
{
	_cleanup_(cleanup_reader) struct trace_reader *reader = NULL;
	const struct trace_block *block;
	int rc;

	memset(trace, 0, sizeof(*trace));
	name_take(trace, path);
	rc = trace_reader_open(&reader, path, err);
	if (rc < 0)
		return rc;
	while ((rc = trace_reader_next(reader, &block, err)) > 0) {
		if (block_add(trace, block) < 0) {
			rc = error_set(err, ENOMEM, "out of memory");
			break;
		}
	}
	if (rc == 0 && keys_count(trace) < 0)
		rc = error_set(err, ENOMEM, "out of memory");
	if (rc < 0)
		policy_trace_deinit(trace);
	return rc;
}

void policy_trace_deinit(struct policy_trace *trace)
{
	size_t i;

	for (i = 0; i < trace->count; i++)
		free(trace->streams[i].samples);
	free(trace->streams);
	memset(trace, 0, sizeof(*trace));
}

int policy_run(const struct policy_trace *trace, const struct policy *policy, uint64_t flush_every,
	       struct policy_counts *counts)
{
	size_t i, j;

	for (i = 0; i < trace->count; i++) {
		const struct policy_stream *stream = &trace->streams[i];
		struct policy_model *model = policy_model_create(policy);

		if (model == NULL)
			return -ENOMEM;
		for (j = 0; j < stream->count; j++) {
			if (flush_every != 0 && j != 0 && j % flush_every == 0)
				policy_model_flush(model);
			policy_model_count(model, stream->samples[j].pc, stream->samples[j].tag);
		}
		policy_counts_add(counts, policy_model_counts(model));
		policy_model_destroy(model);
	}
	return 0;
}

/* The store of one CPU. @taken: samples delivered by the store. */
struct run {
	struct sample_store store __attribute__((aligned(64)));
	uint64_t taken;
	uint64_t flushed;
};

static void chunk_take(struct run *run, const struct sample_chunk *chunk, bool table)
{
	uint32_t i;

	for (i = 0; i < chunk->count; i++) {
		run->taken += dcpi_tag_count(chunk->entries[i].tag);
		run->flushed += table && dcpi_tag_count(chunk->entries[i].tag) != 0;
	}
}

static void buffers_take(struct run *run)
{
	struct sample_chunk chunk;
	int buffer;

	while ((buffer = sample_store_full(&run->store, &chunk)) >= 0) {
		chunk_take(run, &chunk, false);
		sample_store_release(&run->store, buffer);
	}
}

static void flush(struct run *run)
{
	struct sample_chunk table = sample_store_table(&run->store);

	sample_store_flush_begin(&run->store);
	chunk_take(run, &table, true);
	sample_store_table_clear(&run->store, 0, table.count);
	sample_store_flush_end(&run->store);
}

static int stream_run(struct run *run, const struct policy_stream *stream, uint64_t flush_every)
{
	size_t i;

	for (i = 0; i < stream->count; i++) {
		if (flush_every != 0 && i != 0 && i % flush_every == 0)
			flush(run);
		if (sample_store_count(&run->store, stream->samples[i].pc, stream->samples[i].tag) &
		    SAMPLE_WAKE)
			buffers_take(run);
	}
	buffers_take(run);
	return run->taken + sample_store_pending(&run->store) == stream->count ? 0 : -EIO;
}

int policy_store_run(const struct policy_trace *trace, uint32_t entries, uint64_t flush_every,
		     struct policy_counts *counts)
{
	size_t bytes = sample_store_bytes(entries, DCPI_BUFFER_ENTRIES_DEFAULT), i;
	_cleanup_free_ void *memory = bytes != 0 ? aligned_alloc(64, bytes) : NULL;
	int rc = 0;

	if (memory == NULL)
		return bytes != 0 ? -ENOMEM : -EINVAL;
	for (i = 0; i < trace->count && rc == 0; i++) {
		struct run run = {.taken = 0};

		memset(memory, 0, bytes);
		sample_store_init(&run.store, memory, entries, DCPI_BUFFER_ENTRIES_DEFAULT);
		rc = stream_run(&run, &trace->streams[i], flush_every);
		counts->hits[0] += run.store.hits;
		counts->misses += run.store.misses;
		counts->evictions += run.store.evictions;
		counts->flushed += run.flushed;
	}
	return rc;
}
