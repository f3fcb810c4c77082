/* SPDX-License-Identifier: GPL-2.0-only */
/* A profile in the formats of other tools. */
#ifndef DCPI_EXPORTER_H
#define DCPI_EXPORTER_H

#include <stdio.h>

#include "tools/tally/tally.h"

struct error;
struct execution_profile;
struct export_contexts;

/**
 * struct export_event - what was sampled: "cycles" in "cycles", "cpu-clock" in "ns"
 * @least: of these a sample stands for at least, in whichever epoch that is
 */
struct export_event {
	const char *name;
	const char *unit;
	double least;
};

/**
 * struct export_profile - what is to be written
 * @rows:     instructions with samples, grouped by image, in there by procedure, in
 *            there by address. Of their counts, the samples are samples, scaled they
 *            are what these stand for, in events (event_scale_period())
 * @events:   those of the counts
 * @start_ns: when the first epoch began, of the Unix epoch
 * @end_ns:   when the last one ended
 * @comment:  where it is from, one line
 */
struct export_profile {
	const struct tally_row *rows;
	size_t row_count;
	const struct export_event *events;
	size_t event_count;
	int64_t start_ns;
	int64_t end_ns;
	const char *comment;
};

/**
 * struct exporter - a format
 * @name:    as users ask for it
 * @summary: who reads it
 * @binary:  nothing for a terminal
 * @write:   write all of @profile to @file. Return: 0, -ENOMEM, or the error of
 *           writing; @err is set
 * @write_flow: the same for a format of how often control went where; it has the one or
 *           the other
 * @write_contexts: the same of contexts (export_contexts.h); NULL: the format has none
 */
struct exporter {
	const char *name;
	const char *summary;
	bool binary;
	int (*write)(FILE *file, const struct export_profile *profile, struct error *err);
	int (*write_flow)(FILE *file, const struct execution_profile *profile, struct error *err);
	int (*write_contexts)(FILE *file, const struct export_contexts *contexts,
			      struct error *err);
};

extern const struct exporter exporter_autofdo;
extern const struct exporter exporter_bolt;
extern const struct exporter exporter_callgrind;
extern const struct exporter exporter_csv;
extern const struct exporter exporter_flamegraph;
extern const struct exporter exporter_folded;
extern const struct exporter exporter_pixie;
extern const struct exporter exporter_pprof;
extern const struct exporter exporter_profgen;
extern const struct exporter exporter_speedscope;

/** exporter_same_procedure() - whether two rows are of one procedure. */
bool exporter_same_procedure(const struct tally_row *a, const struct tally_row *b);

/**
 * exporter_count() - samples for formats that have one number of an event: scaled to those
 * that stand for the least, so that shares are right where periods differ; else as taken
 */
uint64_t exporter_count(const struct export_event *event, const struct tally_count *count);

/**
 * exporter_procedure() - the samples (exporter_count()) of the procedure that begins at a row
 * @samples: out: by event of the profile
 *
 * Return: the row behind its last one.
 */
size_t exporter_procedure(const struct export_profile *profile, size_t row, uint64_t *samples);

/** exporter_image_name() - the last part of an image's path. */
const char *exporter_image_name(const struct tally_row *row);

#endif
