/* SPDX-License-Identifier: GPL-2.0-only */
/* Reproducible pseudo-random samples for the instructions of an image. */
#ifndef DCPI_TESTS_MADE_UP_SAMPLES_H
#define DCPI_TESTS_MADE_UP_SAMPLES_H

#include "analysis/image_samples.h"

#define COUNTS_MAX 100000

/** allocate() - calloc(), or abort */
void *allocate(size_t count, size_t bytes);

/** struct made_up - samples of time and of data-cache misses, at most COUNTS_MAX of each */
struct made_up {
	struct address_count *time;
	struct address_count *misses;
	struct image_samples samples;
};

/**
 * make_up() - make samples for one in @one_in procedures, chosen at random
 * @made_up: out; freed by forget()
 */
void make_up(struct made_up *made_up, struct image_code *code, unsigned int one_in);

void forget(struct made_up *made_up);

#endif
