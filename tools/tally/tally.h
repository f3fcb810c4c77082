/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples added up by image, procedure, instruction, source line or source file, over
 * all profiles that a filter selects, one count an event.
 */
#ifndef DCPI_TALLY_H
#define DCPI_TALLY_H

#include "tools/tally/tally_config.h"
#include "tools/tally/tally_row.h"

struct error;
struct tally;

/**
 * tally_create() - add up
 * @ret: out; freed by tally_destroy()
 *
 * Only images that have samples are opened, one at a time. Images of the same
 * path and different identities are told apart in the rows' @image.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int tally_create(struct tally **ret, struct profile_reader *reader,
		 const struct tally_config *config, struct error *err);

void tally_destroy(struct tally *tally);

/** tally_row_count() - rows that have samples. */
size_t tally_row_count(const struct tally *tally);

/** tally_rows() - the rows; may be sorted in place. */
struct tally_row *tally_rows(struct tally *tally);

/** tally_total() - samples of an event (of set * events + event) over all rows. */
const struct tally_count *tally_total(const struct tally *tally, size_t event);

/** tally_samples() - samples of all events and processes, and those of no image. */
uint64_t tally_samples(const struct tally *tally, uint64_t *unknown);

/** tally_excluded() - samples of an event that profiling causes: a part of tally_total(). */
const struct tally_count *tally_excluded(const struct tally *tally, size_t event);

/** tally_excluded_samples() - the same of all events, a part of tally_samples(). */
uint64_t tally_excluded_samples(const struct tally *tally);

#endif
