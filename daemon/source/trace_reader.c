// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/trace_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/source/trace.h"
#include "lib/error.h"
#include "lib/error_text.h"

/*
 * @number: of the next block; @total: number of samples in the blocks before
 * @ended:  the end was read, and nothing follows it
 * @failed: negative errno of the first failure
 */
struct trace_reader {
	FILE *file;
	char *path;
	uint64_t number;
	uint64_t total;
	bool ended;
	int failed;
	struct trace_block block;
	uint8_t bytes[TRACE_BLOCK_BYTES_MAX];
};

static int fail(struct trace_reader *reader, int errnum, struct error *err)
{
	reader->failed = -errnum;
	if (errnum == EIO)
		return error_set(err, EIO, ERROR_READ, reader->path);
	return error_set(err, errnum, "'%s' is damaged: block %llu of the trace", reader->path,
			 (unsigned long long)reader->number);
}

static bool read_exactly(struct trace_reader *reader, uint8_t *data, size_t bytes)
{
	return fread(data, 1, bytes, reader->file) == bytes;
}

int trace_reader_open(struct trace_reader **ret, const char *path, struct error *err)
{
	struct trace_reader *reader = calloc(1, sizeof(*reader));
	int rc;

	if (reader == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	reader->path = strdup(path);
	reader->file = fopen(path, "re");
	if (reader->path == NULL || reader->file == NULL)
		rc = error_set_errno(err, ERROR_OPEN, path);
	else if (!read_exactly(reader, reader->bytes, TRACE_HEADER_BYTES))
		rc = error_set(err, EBADMSG, "'%s' is not a trace", path);
	else
		rc = trace_header_check(reader->bytes);
	if (rc == -EPROTO)
		error_set(err, EPROTO, "'%s' is a trace of another version", path);
	else if (rc == -EBADMSG)
		error_set(err, EBADMSG, "'%s' is not a trace", path);
	if (rc < 0) {
		trace_reader_close(reader);
		return rc;
	}
	*ret = reader;
	return 0;
}

static int end_check(struct trace_reader *reader, struct error *err)
{
	if (reader->block.total != reader->total || fgetc(reader->file) != EOF)
		return fail(reader, EBADMSG, err);
	reader->ended = true;
	return 0;
}

int trace_reader_next(struct trace_reader *reader, const struct trace_block **ret,
		      struct error *err)
{
	size_t bytes;

	if (reader->failed != 0)
		return fail(reader, -reader->failed, err);
	if (reader->ended)
		return 0;
	if (!read_exactly(reader, reader->bytes, TRACE_BLOCK_HEADER_BYTES))
		return fail(reader, ferror(reader->file) ? EIO : EBADMSG, err);
	bytes = trace_block_bytes(reader->bytes);
	if (bytes == 0)
		return fail(reader, EBADMSG, err);
	if (!read_exactly(reader, reader->bytes + TRACE_BLOCK_HEADER_BYTES,
			  bytes - TRACE_BLOCK_HEADER_BYTES))
		return fail(reader, ferror(reader->file) ? EIO : EBADMSG, err);
	if (trace_block_decode(&reader->block, reader->bytes, bytes, reader->number) < 0)
		return fail(reader, EBADMSG, err);
	if (reader->block.count == 0)
		return end_check(reader, err);
	reader->number++;
	reader->total += reader->block.count;
	*ret = &reader->block;
	return 1;
}

void trace_reader_close(struct trace_reader *reader)
{
	if (reader == NULL)
		return;
	if (reader->file != NULL)
		fclose(reader->file);
	free(reader->path);
	free(reader);
}
