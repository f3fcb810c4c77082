/* SPDX-License-Identifier: GPL-2.0-only */
/* What the database holds of an image, by address: the input of analysis/image_analysis.h. */
#ifndef DCPI_CALC_PROFILE_H
#define DCPI_CALC_PROFILE_H

#include "analysis/image_analysis.h"
#include "db/profile_read.h"

struct calc_events;

/* Addresses with samples in an image, up to which all are loaded for a part's sake. */
#define CALC_PROFILE_SMALL 2000

/**
 * struct calc_profile - zero-initialised is empty
 * @samples: for image_analysis_run(); points to memory of the profile's
 * @small:   they are all of the image's, at no more than CALC_PROFILE_SMALL addresses
 */
struct calc_profile {
	struct image_samples samples;
	bool small;
};

/**
 * struct calc_profile_wanted - what to load; pointers are the caller's
 * @filter: epochs and process; other fields are not looked at
 * @image:  its number
 * @all:    samples of time, of all images
 * @ranges: unless the image is small, only samples at these offsets, and edges from them;
 *          NULL: all
 * @edges:  edges were collected in these epochs; those of the kind "branch" are read
 * @offsets_are_addresses: of code made at run time, see tools/report/jit_elf.h
 */
struct calc_profile_wanted {
	struct profile_reader *reader;
	const struct profile_filter *filter;
	int64_t image;
	double all;
	const struct profile_ranges *ranges;
	const struct calc_events *events;
	bool edges;
	const struct image_code *code;
	bool offsets_are_addresses;
};

/**
 * calc_profile_load() - read samples and edges of an image
 * @ret: out; freed by calc_profile_deinit()
 *
 * A period is the mean of the epochs', weighted by samples; of the event of time, that of all
 * images. Where epochs have different ones, samples are scaled to it. Branches that leave the
 * image go to UINT64_MAX. Edges are not kept by process: all are read.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int calc_profile_load(struct calc_profile *ret, const struct calc_profile_wanted *wanted,
		      struct error *err);

void calc_profile_deinit(struct calc_profile *profile);

#endif
