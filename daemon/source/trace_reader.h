/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading a trace (daemon/source/trace.h), whoever wrote it, a block at a time. */
#ifndef DCPI_TRACE_READER_H
#define DCPI_TRACE_READER_H

struct error;
struct trace_block;
struct trace_reader;

/**
 * trace_reader_open() - open a trace
 *
 * Return: 0; -EBADMSG it is none; -EPROTO another version's; -ENOMEM; errors of
 * open(2).
 */
int trace_reader_open(struct trace_reader **ret, const char *path, struct error *err);

/**
 * trace_reader_next() - the next block
 * @ret: the reader's, valid until the next call
 *
 * Return: 1; 0 at the end of a complete trace; -EBADMSG damaged or cut short;
 * -EIO cannot be read. After an error, the same error again.
 */
int trace_reader_next(struct trace_reader *reader, const struct trace_block **ret,
		      struct error *err);

/** trace_reader_close() - NULL is fine. */
void trace_reader_close(struct trace_reader *reader);

#endif
