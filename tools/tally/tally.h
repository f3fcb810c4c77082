/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums samples by image, procedure, instruction, source line or source file, over all profiles that
 * a filter selects, with one count per event.
 */
#ifndef DCPI_TALLY_H
#define DCPI_TALLY_H

#include "tools/tally/tally_config.h"
#include "tools/tally/tally_row.h"

struct error;
struct report_header;
struct tally;

/**
 * tally_create() - sum the samples
 * @ret: out; freed by tally_destroy()
 *
 * Only images that have samples are opened, one at a time. If images have the same path and
 * different identities, the rows' @image distinguishes them.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int tally_create(struct tally **ret, struct profile_reader *reader,
		 const struct tally_config *config, struct error *err);

void tally_destroy(struct tally *tally);

/** tally_row_count() - return the number of rows; every row has samples */
size_t tally_row_count(const struct tally *tally);

/** tally_rows() - return the rows; may be sorted in place */
struct tally_row *tally_rows(struct tally *tally);

/** tally_total() - return the samples of an event over all rows; of (set or time) * events + event
 */
const struct tally_count *tally_total(const struct tally *tally, size_t event);

/**
 * tally_samples() - return the samples of all events and processes
 * @unknown: out: those of no image
 */
uint64_t tally_samples(const struct tally *tally, uint64_t *unknown);

/**
 * tally_excluded() - return an event's samples of excluded rows, a part of tally_total()
 * @class: PROFILER_WHOLE or PROFILER_IDLE
 */
const struct tally_count *tally_excluded(const struct tally *tally, enum profiler_class class,
					 size_t event);

/** tally_excluded_samples() - return the same of all events, a part of tally_samples() */
uint64_t tally_excluded_samples(const struct tally *tally, enum profiler_class class);

/** tally_shared() - return an event's samples that shares are of, scaled */
uint64_t tally_shared(const struct tally *tally, size_t event);

/** tally_describe() - set the header's numbers of samples */
void tally_describe(const struct tally *tally, struct report_header *header);

#endif
