/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the footprints of an image's instructions (analysis/machine/data_footprint.h). */
#ifndef DCPI_CALC_FOOTPRINTS_H
#define DCPI_CALC_FOOTPRINTS_H

#include <stddef.h>

#include "analysis/machine/data_footprint.h"

struct calc_profile_wanted;
struct error;
struct profile_filter;

/** struct calc_footprints - zero-initialised is empty; @list is by address, freed by free() */
struct calc_footprints {
	struct data_footprint *list;
	size_t count;
	size_t capacity;
	struct data_caches caches;
};

/**
 * calc_footprints_read() - read the footprints of an image
 * @filter: the image and the epochs
 *
 * If an instruction has footprints in several epochs, the one with the most samples is used: equal
 * addresses of two epochs need not be the same data.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int calc_footprints_read(struct calc_footprints *ret, const struct calc_profile_wanted *wanted,
			 const struct profile_filter *filter, struct error *err);

#endif
