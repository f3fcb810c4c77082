/* SPDX-License-Identifier: GPL-2.0-only */
/* Writers of profiles in the formats of other tools. */
#ifndef DCPI_EXPORTER_H
#define DCPI_EXPORTER_H

#include <stdio.h>

#include "tools/tally/tally.h"

struct error;
struct execution_profile;
struct export_contexts;

/**
 * struct export_event - a sampled event: "cycles" in "cycles", "cpu-clock" in "ns"
 * @least: the smallest number of units that a sample stands for in any epoch
 */
struct export_event {
	const char *name;
	const char *unit;
	double least;
};

/**
 * struct export_profile - the data to be exported
 * @rows:     instructions with samples, grouped by image, within these by procedure, within these
 *            by address. Their counts are numbers of samples; scaled counts are the numbers of
 *            events for which the samples stand (event_scale_period())
 * @events:   events of the counts
 * @start_ns: start of the first epoch, since the Unix epoch
 * @end_ns:   end of the last epoch
 * @comment:  origin of the data, one line
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
 * @name:           by which users select it
 * @summary:        programs that read it
 * @binary:         not suitable for a terminal
 * @write:          write all of @profile to @file. Return: 0, -ENOMEM, or the error of writing;
 *                  @err is set
 * @write_flow:     write execution counts. A format has either @write or @write_flow
 * @write_contexts: write contexts (export_contexts.h); NULL: not supported
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
extern const struct exporter exporter_gold_order;
extern const struct exporter exporter_lld_order;
extern const struct exporter exporter_pixie;
extern const struct exporter exporter_pprof;
extern const struct exporter exporter_profgen;
extern const struct exporter exporter_speedscope;

/** exporter_same_procedure() - return true if two rows belong to the same procedure */
bool exporter_same_procedure(const struct tally_row *a, const struct tally_row *b);

/**
 * exporter_count() - return the count for formats with one number per event
 *
 * If periods differ, samples are scaled to the smallest number of events that one stands for, so
 * that shares are right; otherwise the number of samples is returned.
 */
uint64_t exporter_count(const struct export_event *event, const struct tally_count *count);

/**
 * exporter_procedure() - sum the counts (exporter_count()) of the procedure that begins at a row
 * @samples: out: by event of the profile
 *
 * Return: the row after its last one.
 */
size_t exporter_procedure(const struct export_profile *profile, size_t row, uint64_t *samples);

/** exporter_image_name() - return the last part of an image's path */
const char *exporter_image_name(const struct tally_row *row);

#endif
