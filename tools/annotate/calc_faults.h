/* SPDX-License-Identifier: GPL-2.0-only */
/* Page faults of an image by address, from those of all images by offset. */
#ifndef DCPI_CALC_FAULTS_H
#define DCPI_CALC_FAULTS_H

#include "analysis/image_samples.h"

struct calc_profile_wanted;

/**
 * calc_faults_settle() - set the page faults of samples
 * @samples: their faults become an array that the caller frees
 *
 * Return: 0 or -ENOMEM.
 */
int calc_faults_settle(struct image_samples *samples, const struct calc_profile_wanted *wanted);

#endif
