/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf.data, the file that perf record writes: its container. Layout: the kernel's
 * tools/perf/Documentation/perf.data-file-format.txt.
 *
 *	perfdata_file_open()		magic, sections, events
 *	while (perfdata_file_next() > 0)
 *		records, compressed ones unpacked, in the order of the file
 *	perfdata_file_rewind()		and again
 *
 * Files on disk, and what was written to a pipe ("perf record -o -"), which may come
 * from a pipe here, too. Nothing in them is trusted. The file is read, never mapped,
 * in memory that does not depend on its size; what arrives by a pipe is put in a
 * temporary file.
 */
#ifndef DCPI_PERFDATA_FILE_H
#define DCPI_PERFDATA_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/import/perfdata_header.h"

struct error;
struct perf_event_header;
struct perfdata_file;

/**
 * perfdata_file_open() - open a recording
 * @path: "-": standard input
 *
 * Return: 0; -EMEDIUMTYPE not a perf.data file of this byte order; -EBADMSG malformed;
 * -EISDIR one of several files (perf record --threads); errors of open(2) and pread(2).
 */
int perfdata_file_open(struct perfdata_file **ret, const char *path, struct error *err);
void perfdata_file_close(struct perfdata_file *file);

/** perfdata_file_header() - what it says about itself; complete after the last record. */
struct perfdata_header *perfdata_file_header(struct perfdata_file *file);

/** perfdata_file_modified_ns() - when it was written, CLOCK_REALTIME. */
int64_t perfdata_file_modified_ns(const struct perfdata_file *file);

/** perfdata_file_cut_off() - whether its end is missing: perf was killed, or a disk full. */
bool perfdata_file_cut_off(const struct perfdata_file *file);

/**
 * perfdata_file_next() - the next record
 * @record: out: aligned, as long as its header says; valid until the next call
 *
 * The records' contents are as the file has them, unchecked.
 *
 * Return: 1; 0 there are no more; -EBADMSG malformed; -ENOMEM; errors of pread(2).
 */
int perfdata_file_next(struct perfdata_file *file, const struct perf_event_header **record,
		       struct error *err);

/** perfdata_file_rewind() - back to the first record. */
void perfdata_file_rewind(struct perfdata_file *file);

#endif
