// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measure the time to fit the frequencies of a procedure on an out-of-order machine, by graph size.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analysis/frequency/flow_fit.h"
#include "analysis/frequency/flow_spread.h"
#include "tests/eval/bench/bench.h"
#include "tests/fixtures/cfg_fixture.h"

static uint32_t seed = 1;

static double draw(void)
{
	seed = seed * 1664525U + 1013904223U;
	return (seed >> 8) / (double)(1U << 24);
}

/* Two of three blocks end in a branch to a block at most twenty blocks away. */
static struct cfg *make_graph(uint32_t blocks)
{
	struct cfg_fixture_edge *edges = calloc(2 * (size_t)blocks + 1, sizeof(*edges));
	uint32_t count = 0;
	struct cfg *cfg;

	if (edges == NULL)
		abort();
	edges[count++] = (struct cfg_fixture_edge){CFG_ENTRY, 0};
	for (uint32_t b = 0; b < blocks; b++) {
		uint32_t to = b + (uint32_t)(draw() * 40);

		edges[count++] = (struct cfg_fixture_edge){b, b + 1 < blocks ? b + 1 : CFG_EXIT};
		to = to < 20 ? 0 : to - 20;
		if (draw() < 0.67 && to < blocks)
			edges[count++] = (struct cfg_fixture_edge){b, to};
	}
	cfg = cfg_fixture_create(NULL, blocks, edges, count);
	free(edges);
	return cfg;
}

static double fit_ns(const struct cfg *cfg)
{
	struct flow_evidence evidence = {
		.blocks = calloc((size_t)cfg->block_count + 2, sizeof(*evidence.blocks)),
		.seen = calloc((size_t)cfg->edge_count + 1, sizeof(*evidence.seen)),
	};
	double start = bench_now_ns(), took;
	struct flow_chain *chain;
	struct flow_fit fit;

	if (evidence.blocks == NULL || evidence.seen == NULL || flow_chain_create(&chain, cfg) < 0)
		abort();
	for (uint32_t e = 0; e < cfg->edge_count; e++)
		evidence.seen[e] = 0.1 + 30 * draw();
	for (uint32_t b = 0; b < cfg->block_count; b++)
		evidence.blocks[b] = (struct flow_block_evidence){
			.samples = 1000 * draw() * draw(), .cycles = 3, .evenness = 0.5};
	if (flow_fit_create(&fit, chain, &evidence) < 0 ||
	    flow_spread_find(&fit, chain, &evidence) < 0)
		abort();
	took = bench_now_ns() - start;
	flow_fit_deinit(&fit);
	flow_chain_destroy(chain);
	free(evidence.blocks);
	free(evidence.seen);
	return took;
}

int main(void)
{
	for (uint32_t blocks = 10; blocks <= 10000; blocks *= 10) {
		struct cfg *cfg = make_graph(blocks);
		char workload[64];
		double best = 1e18;

		for (int round = 0; round < 5; round++) {
			double took = fit_ns(cfg);

			best = took < best ? took : best;
		}
		snprintf(workload, sizeof(workload), "%u_blocks", blocks);
		bench_report("fit_ms", "flow_fit", workload, best / 1e6, "ms");
		cfg_fixture_destroy(cfg);
	}
	return 0;
}
