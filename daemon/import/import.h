/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a perf.data file to an epoch of a profile database.
 *
 * The file is read twice: a survey counts, and finds what is wrong with it before the
 * database is touched; then samples are matched in the order of their times. What is
 * true of dcpid's epochs is true of these:
 *
 *	samples and losses of the file = samples in profiles + sum of named losses
 *
 * Losses are "ring_full" (perf did not keep up, or the kernel threw samples away), "guest"
 * (samples of a virtual machine's inside) and "event_unknown" (of an event that the
 * file does not describe). The stat "image_events_lost" are image events that perf says
 * are missing, where it tells them from samples (Linux 6.0 and later): what was mapped is
 * not read again from /proc, as dcpid does, and samples may be of what was there before.
 *
 * A sample stands for the period that it was taken with; where perf was asked for a
 * frequency and periods vary, an event's is the mean of them.
 *
 * Call chains, branch stacks, registers and raw data are not kept.
 */
#ifndef DCPI_IMPORT_H
#define DCPI_IMPORT_H

#include <stdbool.h>
#include <stdint.h>

struct error;
struct profile_writer;

/**
 * struct import_result - what has come of it
 * @epoch:   its number
 * @samples: in profiles; @unknown: of these, those of no image
 * @lost:    sum of the losses
 * @cut_off: the file's end is missing
 * @late:    records older than one before them, that were matched too late
 */
struct import_result {
	int64_t epoch;
	uint64_t samples;
	uint64_t unknown;
	uint64_t lost;
	uint64_t late;
	bool cut_off;
};

/**
 * import_file() - import a file as an epoch
 * @path:  "-": standard input
 * @label: NULL: the recorded command line
 *
 * The epoch is written in one transaction: if that fails there is none.
 *
 * Return: 0; -ENODATA no samples in it; errors of perfdata_file.h and of the writer.
 */
int import_file(struct profile_writer *writer, const char *path, const char *label,
		struct import_result *result, struct error *err);

#endif
