/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording of perf record, which a process in a sandbox reads (daemon/base/sandbox_process.h).
 *
 *	recording_open()		summary of all records
 *	while (recording_next() > 0)
 *		samples, changes of address spaces and expiries, in chronological order
 *
 * The process has the file and a pipe. It returns messages (recording_message.h), whose contents
 * are checked here: a file that takes over the process can only make wrong contents of the
 * recording.
 */
#ifndef DCPI_RECORDING_H
#define DCPI_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/import/import_survey.h"
#include "daemon/import/perfdata_event.h"
#include "daemon/import/perfdata_header.h"
#include "daemon/import/perfdata_stack.h"
#include "loader-hook/perf/side_band_record.h"

struct error;
struct recording;

enum recorded_kind {
	RECORDED_SAMPLE,
	RECORDED_CHANGE,
	RECORDED_EXPIRY, /* no samples follow that are older than @time_ns */
};

/**
 * struct recorded - a part of a recording
 * @sample:    RECORDED_SAMPLE; its event is one of the header
 * @has_stack, @has_branches: @sample should have a stack (import_survey.h: of event 0), or branch
 *             records in @stack; @stack_damaged: but they could not be parsed
 * @change:    RECORDED_CHANGE; @misc: of its record
 */
struct recorded {
	enum recorded_kind kind;
	uint64_t time_ns;
	struct perfdata_sample sample;
	bool has_stack;
	bool has_branches;
	bool stack_damaged;
	struct perfdata_stack stack;
	struct side_band_record change;
	uint16_t misc;
};

/**
 * recording_open() - start reading a file, until its summary is complete
 * @path: of the file; "-": standard input
 *
 * Return: 0; -EIO: the process crashed, or exceeded its CPU time; errors of perfdata_input_open()
 * and import_survey_make().
 */
int recording_open(struct recording **ret, const char *path, struct error *err);

/** recording_receive() - as recording_open(), but from messages that can be read from @input */
int recording_receive(struct recording **ret, int input, struct error *err);

/** recording_close() - end the process. @recording may be NULL. */
void recording_close(struct recording *recording);

/** recording_header() - return the metadata, without the ids of events */
const struct perfdata_header *recording_header(const struct recording *recording);

const struct import_survey *recording_survey(const struct recording *recording);

/** recording_modified_ns() - return when the file was written, CLOCK_REALTIME */
int64_t recording_modified_ns(const struct recording *recording);

/** recording_unfiltered() - return true if the kernel provides no seccomp filter */
bool recording_unfiltered(const struct recording *recording);

/**
 * recording_next() - return the next part
 * @ret: pointers are valid until the next call
 *
 * Return: 1; 0: there are no more; -EBADMSG: the file is malformed, or has changed since
 * recording_open(); otherwise as recording_open().
 */
int recording_next(struct recording *recording, struct recorded *ret, struct error *err);

/* After the last part: number of records that were too late to be sorted; the file is truncated. */
uint64_t recording_late(const struct recording *recording);
bool recording_cut_off(const struct recording *recording);

#endif
