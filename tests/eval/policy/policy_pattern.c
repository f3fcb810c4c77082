// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/policy/policy_pattern.h"

#include <stdlib.h>

#include "kmod/core/sample_store.h"

const struct policy_pattern policy_patterns[] = {
	{.name = "1 byte apart", .events = 1, .pcs = UINT32_MAX, .stride = 1},
	{.name = "4 bytes apart", .events = 1, .pcs = UINT32_MAX, .stride = 4},
	{.name = "16 bytes apart", .events = 1, .pcs = UINT32_MAX, .stride = 16},
	{.name = "1 page apart", .events = 1, .pcs = UINT32_MAX, .stride = 4096},
	{.name = "1 PC per process", .events = 1, .pcs = 1, .stride = 4, .pids = 1},
	{.name = "64 PCs per process", .events = 1, .pcs = 64, .stride = 4, .pids = 1},
	{.name = "512 PCs per process", .events = 1, .pcs = 512, .stride = 16, .pids = 7},
	{.name = "256 PCs per generation", .events = 1, .pcs = 256, .stride = 4, .generations = 1},
	{.name = "4 events per PC", .events = 4, .pcs = UINT32_MAX, .stride = 4},
	{.name = "8 events per PC", .events = 8, .pcs = UINT32_MAX, .stride = 4},
	{.name = "8 events, 256 PCs per process", .events = 8, .pcs = 256, .stride = 3, .pids = 1},
};

const size_t policy_pattern_count = sizeof(policy_patterns) / sizeof(policy_patterns[0]);

double policy_excess(const struct policy_hash *hash, uint32_t entries,
		     const struct policy_pattern *pattern)
{
	uint32_t sets = entries / SAMPLE_WAYS, count = entries / 2, i, n, more, excess = 0;
	uint32_t *keys = calloc(sets, sizeof(*keys));

	if (keys == NULL)
		abort();
	for (i = 0; i < count; i++) {
		n = i / pattern->events;
		more = n / pattern->pcs;
		excess += ++keys[hash->hash(0x7f0000400000 +
						    (uint64_t)(n % pattern->pcs) * pattern->stride,
					    dcpi_tag(1000 + more * pattern->pids,
						     1 + more * pattern->generations,
						     i % pattern->events)) %
				 sets] > SAMPLE_WAYS;
	}
	free(keys);
	return (double)excess / count;
}

bool policy_hash_fit(const struct policy_hash *hash, uint32_t entries)
{
	double excess, sum = 0;
	size_t i;

	for (i = 0; i < policy_pattern_count; i++) {
		excess = policy_excess(hash, entries, &policy_patterns[i]);
		if (excess > POLICY_EXCESS_MAX)
			return false;
		sum += excess;
	}
	return sum / (double)policy_pattern_count <= POLICY_EXCESS_MEAN;
}
