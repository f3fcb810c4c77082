/* SPDX-License-Identifier: GPL-2.0-only */
/* What the database holds of an image, by address: the input of analysis/image_analysis.h. */
#ifndef DCPI_CALC_PROFILE_H
#define DCPI_CALC_PROFILE_H

#include "analysis/image_analysis.h"
#include "db/profile_read.h"

struct calc_events;

/**
 * struct calc_profile - zero-initialised is empty
 * @samples:  for image_analysis_run(); points to memory of the profile's
 * @unplaced: samples of time at offsets that are no code of the file
 */
struct calc_profile {
	struct image_samples samples;
	double unplaced;
};

/**
 * calc_profile_load() - read samples and edges of an image
 * @ret:    out; freed by calc_profile_deinit()
 * @filter: epochs and process; other fields are not looked at
 * @image:  its number
 * @edges:  edges were collected in these epochs; those of the kind "branch" are read
 * @offsets_are_addresses: of code made at run time, see tools/report/jit_elf.h
 *
 * A period is the mean of the epochs', weighted by samples; of the event of time, that of all
 * images. Where epochs have different ones, samples are scaled to it. Branches that leave the
 * image go to UINT64_MAX. Edges are not kept by process: all are read.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int calc_profile_load(struct calc_profile *ret, struct profile_reader *reader,
		      const struct profile_filter *filter, int64_t image,
		      const struct calc_events *events, bool edges, const struct image_code *code,
		      bool offsets_are_addresses, struct error *err);

void calc_profile_deinit(struct calc_profile *profile);

#endif
