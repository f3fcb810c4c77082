/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads an untrusted trace (daemon/source/trace.h), one block at a time. */
#ifndef DCPI_TRACE_READER_H
#define DCPI_TRACE_READER_H

struct error;
struct trace_block;
struct trace_reader;

/**
 * trace_reader_open() - open a trace
 *
 * Return: 0; -EBADMSG if the file is not a trace; -EPROTO if it has another version; -ENOMEM;
 * errors of open(2).
 */
int trace_reader_open(struct trace_reader **ret, const char *path, struct error *err);

/**
 * trace_reader_next() - return the next block
 * @ret: owned by the reader, valid until the next call
 *
 * Return: 1; 0 at the end of a complete trace; -EBADMSG if it is damaged or truncated; -EIO if it
 * cannot be read. After an error, every call returns the same error.
 */
int trace_reader_next(struct trace_reader *reader, const struct trace_block **ret,
		      struct error *err);

/** trace_reader_close() - close the trace. @reader may be NULL. */
void trace_reader_close(struct trace_reader *reader);

#endif
