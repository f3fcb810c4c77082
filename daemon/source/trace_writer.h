/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records a trace (daemon/source/trace.h) while samples are drained.
 *
 * Recording never interferes with profiling: a trace that cannot be written is abandoned, and
 * trace_writer_failed() reports this once.
 */
#ifndef DCPI_TRACE_WRITER_H
#define DCPI_TRACE_WRITER_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct trace_writer;

/**
 * trace_writer_create() - create a trace
 * @path: replaced if it exists; readable only by its owner, because it contains kernel addresses
 *
 * Memory: 64 KiB per CPU, and 24 bytes for each sample of one CPU that was added since
 * trace_writer_settle(), up to 6 MiB.
 *
 * Return: 0; -ENOMEM; errors of open(2) and write(2).
 */
int trace_writer_create(struct trace_writer **ret, const char *path, struct error *err);

/**
 * trace_writer_add() - add a sample
 * @cpu:     its CPU; 0 .. TRACE_CPU_MAX
 * @time_ns: its time; samples of a CPU are sorted by it between two calls of trace_writer_settle()
 *           (and within 2^18 samples); otherwise they remain in the order of calls
 * @tag:     dcpi_tag(), count bits zero
 */
void trace_writer_add(struct trace_writer *writer, uint32_t cpu, uint64_t time_ns, uint64_t pc,
		      uint64_t tag);

/** trace_writer_settle() - declare that no sample older than those added will follow. */
void trace_writer_settle(struct trace_writer *writer);

/**
 * trace_writer_failed() - return true if recording was abandoned since the last call
 *
 * Return: true once, then false. @err contains the reason.
 */
bool trace_writer_failed(struct trace_writer *writer, struct error *err);

/**
 * trace_writer_destroy() - write the rest and the end, free everything
 * @err: may be NULL; so may @writer
 *
 * Return: 0 (also if a failure was reported before); otherwise the reason why the trace is
 * incomplete.
 */
int trace_writer_destroy(struct trace_writer *writer, struct error *err);

#endif
