/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The container format of perf.data, the file that perf record writes. Layout: the kernel's
 * tools/perf/Documentation/perf.data-file-format.txt.
 *
 *	perfdata_input_open()		find the file (perfdata_input.h)
 *	perfdata_file_open()		magic, sections, events
 *	while (perfdata_file_next() > 0)
 *		records, compressed ones unpacked, in the order of the file
 *	perfdata_file_rewind()		start again
 *
 * Supports files on disk, directories (perf record --threads), and the output of a pipe
 * ("perf record -o -"), which may also be read from a pipe. The contents are untrusted. The file is
 * read, never mapped, and memory does not depend on its size. Input from a pipe is stored in a
 * temporary file. Files of the other byte order are converted (perfdata_swap.h).
 */
#ifndef DCPI_PERFDATA_FILE_H
#define DCPI_PERFDATA_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/import/perfdata_header.h"

struct error;
struct perf_event_header;
struct perfdata_file;
struct perfdata_input;

/**
 * perfdata_file_open() - parse the beginning of a recording
 * @input: of perfdata_input_open(); remains the caller's, and must outlive @ret
 *
 * Return: 0; -EMEDIUMTYPE not a perf.data file; -EBADMSG malformed; errors of
 * pread(2).
 */
int perfdata_file_open(struct perfdata_file **ret, const struct perfdata_input *input,
		       struct error *err);
void perfdata_file_close(struct perfdata_file *file);

/**
 * perfdata_file_in_parts() - return true if the recording has several files
 *
 * Their records are returned file by file, so that only the records of each file are in rounds.
 */
bool perfdata_file_in_parts(const struct perfdata_file *file);

/** perfdata_file_header() - return the file's metadata; complete after the last record. */
struct perfdata_header *perfdata_file_header(struct perfdata_file *file);

/**
 * perfdata_file_cut_off() - return true if it is truncated: perf was killed, or a disk was full.
 */
bool perfdata_file_cut_off(const struct perfdata_file *file);

/**
 * perfdata_file_next() - return the next record
 * @record: out: aligned, with the size in its header; valid until the next call
 *
 * The contents of records are returned unchecked.
 *
 * Return: 1; 0 if there are no more; -EBADMSG if the file is malformed; -ENOMEM; errors of
 * pread(2).
 */
int perfdata_file_next(struct perfdata_file *file, const struct perf_event_header **record,
		       struct error *err);

/** perfdata_file_rewind() - return to the first record. */
void perfdata_file_rewind(struct perfdata_file *file);

#endif
