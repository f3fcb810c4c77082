// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the time to find classes, by graph size. It is linear if the time per block is constant.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/graph/frequency_class.h"
#include "tests/eval/bench/bench.h"

/* Make loops around an if-else, one after another, inside one outer loop: 4 blocks each. */
static struct cfg make_graph(uint32_t loops)
{
	struct cfg cfg = {.block_count = 4 * loops};
	uint32_t n = 0;

	cfg.edges = calloc(6 * (size_t)loops + 3, sizeof(*cfg.edges));
	if (cfg.edges == NULL)
		abort();
	for (uint32_t k = 0; k < loops; k++) {
		uint32_t b = 4 * k;

		cfg.edges[n++] = (struct cfg_edge){.from = b, .to = b + 1};
		cfg.edges[n++] = (struct cfg_edge){.from = b, .to = b + 2};
		cfg.edges[n++] = (struct cfg_edge){.from = b + 1, .to = b + 3};
		cfg.edges[n++] = (struct cfg_edge){.from = b + 2, .to = b + 3};
		cfg.edges[n++] = (struct cfg_edge){.from = b + 3, .to = b};
		cfg.edges[n++] =
			(struct cfg_edge){.from = b + 3, .to = k + 1 < loops ? b + 4 : CFG_EXIT};
	}
	cfg.edges[n++] = (struct cfg_edge){.from = 4 * loops - 1, .to = 0};
	cfg.edges[n++] = (struct cfg_edge){.from = CFG_ENTRY, .to = 0};
	cfg.edge_count = n;
	return cfg;
}

int main(void)
{
	for (uint32_t loops = 250; loops <= 250000; loops *= 10) {
		struct cfg cfg = make_graph(loops);
		char workload[64];
		double best = 1e18;

		for (int round = 0; round < 5; round++) {
			struct frequency_classes classes;
			double start = bench_now_ns();

			if (frequency_classes_find(&classes, &cfg) < 0)
				return 1;
			if (bench_now_ns() - start < best)
				best = bench_now_ns() - start;
			frequency_classes_deinit(&classes);
		}
		snprintf(workload, sizeof(workload), "%u_blocks", cfg.block_count);
		bench_report("find_ns_per_block", "frequency_class", workload,
			     best / cfg.block_count, "ns");
		free(cfg.edges);
	}
	return 0;
}
