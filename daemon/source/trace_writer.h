/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recording a trace (daemon/source/trace.h) while samples are drained.
 *
 * Recording never stands in the way of profiling: a trace that cannot be
 * written is given up, once, and trace_writer_failed() says so.
 */
#ifndef DCPI_TRACE_WRITER_H
#define DCPI_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct trace_writer;

/**
 * trace_writer_create() - begin a trace
 * @path: replaced if it exists; readable by its owner only, as it tells
 *        addresses of the kernel
 *
 * Memory: 64 KiB for each CPU, and 24 bytes for each sample of one CPU that
 * was added since trace_writer_settle(), up to 6 MiB.
 *
 * Return: 0; -ENOMEM; errors of open(2) and write(2).
 */
int trace_writer_create(struct trace_writer **ret, const char *path, struct error *err);

/**
 * trace_writer_add() - add a sample
 * @cpu:     whose; 0 .. TRACE_CPU_MAX
 * @time_ns: when; samples of a CPU are put in this order between two calls of
 *           trace_writer_settle() (and 2^18 samples), else in that of the calls
 * @tag:     dcpi_tag(), count bits zero
 */
void trace_writer_add(struct trace_writer *writer, uint32_t cpu, uint64_t time_ns, uint64_t pc,
		      uint64_t tag);

/** trace_writer_settle() - no older sample than those added will come. */
void trace_writer_settle(struct trace_writer *writer);

/**
 * trace_writer_failed() - whether the trace was given up since the last call
 *
 * Return: true once, then false. @err says why.
 */
bool trace_writer_failed(struct trace_writer *writer, struct error *err);

/**
 * trace_writer_destroy() - write what is left and the end, free everything
 * @err: may be NULL; NULL as @writer is fine
 *
 * Return: 0 (also if a failure was told before); else why the trace is not
 * complete.
 */
int trace_writer_destroy(struct trace_writer *writer, struct error *err);

#endif
