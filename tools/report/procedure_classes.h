/* SPDX-License-Identifier: GPL-2.0-only */
/* Classifies the samples of an image by their procedures (profiler_class.h). */
#ifndef DCPI_PROCEDURE_CLASSES_H
#define DCPI_PROCEDURE_CLASSES_H

#include "tools/report/profiler_class.h"

struct image_symbols;

/** struct procedure_classes - of an image; zero-initialised: all samples are PROFILER_NONE */
struct procedure_classes {
	/* private */
	const struct image_symbols *symbols;
	const struct profile_image *image;
	enum profiler_probes probes;
	unsigned char *known;
};

/**
 * procedure_classes_init() - prepare to classify
 * @ret:     out; freed by procedure_classes_deinit()
 * @symbols: of @image; both stay the caller's
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_classes_init(struct procedure_classes *ret, const struct image_symbols *symbols,
			   const struct profile_image *image, enum profiler_probes probes);

void procedure_classes_deinit(struct procedure_classes *classes);

/** procedure_classes_of() - return the enum profiler_class of a sample at an offset, or -ENOMEM */
int procedure_classes_of(const struct procedure_classes *classes, uint64_t offset);

/**
 * procedure_classes_sum() - add up the samples of a profile by enum profiler_class
 * @sums: increased
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_classes_sum(const struct procedure_classes *classes, const struct profile *profile,
			  uint64_t sums[PROFILER_CLASSES]);

#endif
