/* SPDX-License-Identifier: GPL-2.0-only */
/* Call stacks of an image of the kernel, by address. */
#ifndef DCPI_CALC_STACKS_H
#define DCPI_CALC_STACKS_H

#include "analysis/image_samples.h"

struct calc_profile_wanted;

/**
 * calc_stacks_settle() - set the call stacks of samples, if the image is a part of the kernel
 *
 * The array belongs to the caller. Return: 0 or -ENOMEM.
 */
int calc_stacks_settle(struct image_samples *samples, const struct calc_profile_wanted *wanted);

#endif
