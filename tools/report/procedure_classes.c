// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/procedure_classes.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "tools/report/image_symbols.h"

int procedure_classes_init(struct procedure_classes *ret, const struct image_symbols *symbols,
			   const struct profile_image *image, enum profiler_probes probes)
{
	*ret = (struct procedure_classes){.symbols = symbols, .image = image, .probes = probes};
	/* 1 + the class; 0: unknown */
	ret->known = calloc(image_symbols_count(symbols), sizeof(*ret->known));
	return ret->known != NULL ? 0 : -ENOMEM;
}

void procedure_classes_deinit(struct procedure_classes *classes)
{
	free(classes->known);
	*classes = (struct procedure_classes){.symbols = NULL};
}

int procedure_classes_of(const struct procedure_classes *classes, uint64_t offset)
{
	_cleanup_free_ char *name = NULL;
	uint64_t address;
	bool has_address;
	size_t index;

	if (classes->known == NULL)
		return PROFILER_NONE;
	index = image_symbols_find(classes->symbols, offset);
	if (classes->known[index] > 0)
		return classes->known[index] - 1;
	name = image_symbols_name(classes->symbols, index, false, &address, &has_address);
	if (name == NULL)
		return -ENOMEM;
	classes->known[index] =
		(unsigned char)(1 + profiler_class_of(classes->image, name, classes->probes));
	return classes->known[index] - 1;
}

int procedure_classes_sum(const struct procedure_classes *classes, const struct profile *profile,
			  uint64_t sums[PROFILER_CLASSES])
{
	for (size_t i = 0; i < profile->count; i++) {
		int class = procedure_classes_of(classes, profile->samples[i].offset);

		if (class < 0)
			return class;
		sums[class] += profile->samples[i].count;
	}
	return 0;
}
