/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact counts of an image's executions, out of the database, as the analysis takes them.
 *
 * They are those of all epochs, whichever samples are looked at: they say how often
 * instructions run in proportion to each other, not when. Code that was counted in some
 * processes only is taken as not counted: its counts could not be compared with the others.
 */
#ifndef DCPI_CALC_COUNTS_H
#define DCPI_CALC_COUNTS_H

#include "analysis/exact_scale.h"
#include "db/profile_read.h"

/**
 * struct calc_counts - zero-initialised is empty
 * @processes: that were counted
 * @epochs:    that have counts of the image
 * @scale:     as was found, or said; its @samples 0: said
 * @exact:     for the analysis; points to memory of this
 */
struct calc_counts {
	uint64_t processes;
	size_t epochs;
	struct exact_scale scale;
	struct exact_counts exact;
};

/**
 * calc_counts_load() - read the counts of an image, if there are any
 * @ret: out; freed by calc_counts_deinit()
 *
 * Their scale is 1.
 *
 * Return: 0; -ENOMEM; or the reader's error.
 */
int calc_counts_load(struct calc_counts *ret, struct profile_reader *reader, int64_t image,
		     const struct image_code *code, struct error *err);

/** calc_counts_set_scale() - for what the analysis will be given. */
void calc_counts_set_scale(struct calc_counts *counts, const struct exact_scale *scale);

void calc_counts_deinit(struct calc_counts *counts);

#endif
