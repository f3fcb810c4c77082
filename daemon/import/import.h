/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Imports a perf.data file as an epoch of a profile database.
 *
 * A process in a sandbox reads the file (recording.h), twice: the first pass counts, and detects
 * errors before the database is changed. Then samples are matched in chronological order. As for
 * dcpid's epochs,
 *
 *	samples and losses of the file = samples in profiles + sum of named losses
 *
 * Losses are "ring_full" (perf was too slow, or the kernel dropped samples), "guest" (samples
 * within a virtual machine) and "event_unknown" (of an event that the file does not describe). The
 * stat "image_events_lost" counts image events that perf reports as lost, if it distinguishes them
 * from samples (Linux 6.0 and later). Unlike in dcpid, mappings are not read again from /proc after
 * a loss, so that samples may be attributed to earlier mappings.
 *
 * A sample represents the period with which it was taken. If perf was asked for a frequency and
 * periods vary, the period of an event is their mean.
 *
 * Call stacks of the first event are stored (import_stacks.h), and branch records of all events
 * (import_branches.h). Registers and raw data are not.
 */
#ifndef DCPI_IMPORT_H
#define DCPI_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct profile_writer;

/**
 * struct import_result - result of an import
 * @epoch:   its number
 * @samples: number of samples in profiles
 * @unknown: part of @samples without an image
 * @lost:    sum of the losses
 * @cut_off: the file is truncated
 * @stacks:  number of call stacks; @complete: those up to their outermost frame
 * @branches: number of branch records that are stored
 * @unfiltered: the kernel provides no seccomp filter for the process that reads the file
 * @late:    number of records older than a preceding one, which were matched too late
 */
struct import_result {
	int64_t epoch;
	uint64_t samples;
	uint64_t unknown;
	uint64_t lost;
	uint64_t stacks;
	uint64_t complete;
	uint64_t branches;
	uint64_t late;
	bool cut_off;
	bool unfiltered;
};

/**
 * import_file() - import a file as an epoch
 * @path:  of the file; "-": standard input
 * @label: NULL: the recorded command line
 *
 * The epoch is written in one transaction: if that fails there is none.
 *
 * Return: 0; -ENODATA if it has no samples; errors of recording.h and of the writer.
 */
int import_file(struct profile_writer *writer, const char *path, const char *label,
		struct import_result *result, struct error *err);

#endif
