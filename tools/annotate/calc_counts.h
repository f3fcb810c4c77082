/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Exact execution counts of an image from the database, as input of the analysis.
 *
 * The counts are those of all epochs, independent of the epochs of the samples: they give the
 * relative frequencies of instructions, not their time. Code that only some of the processes
 * counted is treated as not counted, because its counts are not comparable with the others.
 */
#ifndef DCPI_CALC_COUNTS_H
#define DCPI_CALC_COUNTS_H

#include "analysis/exact_scale.h"
#include "db/profile_read.h"

/**
 * struct calc_counts - zero-initialised: empty
 * @processes: number of processes that counted
 * @epochs:    number of epochs with counts of the image
 * @scale:     found, or set by the user; its @samples are 0 if set
 * @exact:     for the analysis; points to memory owned by this structure
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

/** calc_counts_set_scale() - set the scale of the counts given to the analysis */
void calc_counts_set_scale(struct calc_counts *counts, const struct exact_scale *scale);

void calc_counts_deinit(struct calc_counts *counts);

#endif
