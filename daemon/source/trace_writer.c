// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/source/trace.h"
#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"

#define PENDING_MAX ((size_t)1 << 18)

struct pending {
	uint64_t time_ns;
	struct dcpi_sample sample;
};

/*
 * @pending: samples of @cpu that are not sorted yet
 * @blocks:  by CPU, samples that are not written yet; NULL if the CPU has had no sample
 * @number:  of the next block; @total: number of samples in the blocks before
 * @failed:  recording was abandoned, for the reason @failure; @reported: the failure was reported
 */
struct trace_writer {
	int fd;
	char *path;
	struct pending *pending;
	size_t pending_count, pending_capacity;
	uint32_t cpu;
	struct trace_block *blocks[TRACE_CPU_MAX + 1];
	uint64_t number;
	uint64_t total;
	bool failed, reported;
	struct error failure;
	uint8_t bytes[TRACE_BLOCK_BYTES_MAX];
};

static void give_up(struct trace_writer *writer, int errnum)
{
	if (writer->failed)
		return;
	errno = errnum;
	error_set_errno(&writer->failure, "trace aborted: " ERROR_WRITE, writer->path);
	writer->failed = true;
}

static void bytes_write(struct trace_writer *writer, size_t bytes)
{
	size_t done = 0;
	ssize_t n;

	while (!writer->failed && done < bytes) {
		n = write(writer->fd, writer->bytes + done, bytes - done);
		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			give_up(writer, errno);
	}
}

static void block_write(struct trace_writer *writer, struct trace_block *block)
{
	bytes_write(writer, trace_block_encode(writer->bytes, block, writer->number));
	writer->number++;
	writer->total += block->count;
	block->count = 0;
}

static struct trace_block *block_of(struct trace_writer *writer, uint32_t cpu)
{
	struct trace_block *block = writer->blocks[cpu];

	if (block != NULL)
		return block;
	block = malloc(sizeof(*block));
	if (block == NULL)
		return NULL;
	block->cpu = cpu;
	block->count = 0;
	block->total = 0;
	writer->blocks[cpu] = block;
	return block;
}

static int time_compare(const void *a, const void *b)
{
	const struct pending *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static bool in_order(const struct pending *pending, size_t count)
{
	size_t i;

	for (i = 1; i < count; i++) {
		if (pending[i].time_ns < pending[i - 1].time_ns)
			return false;
	}
	return true;
}

void trace_writer_settle(struct trace_writer *writer)
{
	struct trace_block *block;
	size_t i, count = writer->pending_count;

	writer->pending_count = 0;
	if (count == 0 || writer->failed)
		return;
	block = block_of(writer, writer->cpu);
	if (block == NULL) {
		give_up(writer, ENOMEM);
		return;
	}
	/* Samples of one event are in chronological order; only several events need sorting. */
	if (!in_order(writer->pending, count))
		qsort(writer->pending, count, sizeof(*writer->pending), time_compare);
	for (i = 0; i < count; i++) {
		block->sample[block->count++] = writer->pending[i].sample;
		if (block->count == TRACE_BLOCK_SAMPLES)
			block_write(writer, block);
	}
}

void trace_writer_add(struct trace_writer *writer, uint32_t cpu, uint64_t time_ns, uint64_t pc,
		      uint64_t tag)
{
	struct pending *pending;

	if (writer->failed)
		return;
	if (cpu > TRACE_CPU_MAX) {
		give_up(writer, ERANGE);
		return;
	}
	if (cpu != writer->cpu || writer->pending_count == PENDING_MAX)
		trace_writer_settle(writer);
	if (array_reserve(&writer->pending, &writer->pending_capacity, writer->pending_count + 1,
			  sizeof(*writer->pending)) < 0) {
		give_up(writer, ENOMEM);
		return;
	}
	writer->cpu = cpu;
	pending = &writer->pending[writer->pending_count++];
	pending->time_ns = time_ns;
	pending->sample.pc = pc;
	pending->sample.tag = tag & ~(uint64_t)DCPI_COUNT_MAX;
}

bool trace_writer_failed(struct trace_writer *writer, struct error *err)
{
	if (!writer->failed || writer->reported)
		return false;
	writer->reported = true;
	error_set(err, writer->failure.errnum, "%s", writer->failure.message);
	return true;
}

static void writer_free(struct trace_writer *writer)
{
	uint32_t cpu;

	for (cpu = 0; cpu <= TRACE_CPU_MAX; cpu++)
		free(writer->blocks[cpu]);
	if (writer->fd >= 0)
		close(writer->fd);
	free(writer->pending);
	free(writer->path);
	free(writer);
}

int trace_writer_create(struct trace_writer **ret, const char *path, struct error *err)
{
	struct trace_writer *writer = calloc(1, sizeof(*writer));
	int rc;

	if (writer == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	writer->path = strdup(path);
	writer->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (writer->path == NULL || writer->fd < 0) {
		rc = error_set_errno(err, ERROR_CREATE, path);
		writer_free(writer);
		return rc;
	}
	trace_header_encode(writer->bytes);
	bytes_write(writer, TRACE_HEADER_BYTES);
	if (trace_writer_failed(writer, err)) {
		rc = -writer->failure.errnum;
		writer_free(writer);
		return rc;
	}
	*ret = writer;
	return 0;
}

static void end_write(struct trace_writer *writer)
{
	struct trace_block *end = block_of(writer, 0);
	uint32_t cpu;

	for (cpu = 0; cpu <= TRACE_CPU_MAX; cpu++) {
		if (writer->blocks[cpu] != NULL && writer->blocks[cpu]->count != 0)
			block_write(writer, writer->blocks[cpu]);
	}
	if (end == NULL) {
		give_up(writer, ENOMEM);
		return;
	}
	end->total = writer->total;
	block_write(writer, end);
}

int trace_writer_destroy(struct trace_writer *writer, struct error *err)
{
	int rc = 0;

	if (writer == NULL)
		return 0;
	trace_writer_settle(writer);
	if (!writer->failed)
		end_write(writer);
	if (close(writer->fd) < 0)
		give_up(writer, errno);
	writer->fd = -1;
	if (trace_writer_failed(writer, err))
		rc = -writer->failure.errnum;
	writer_free(writer);
	return rc;
}
