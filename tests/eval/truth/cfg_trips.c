// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check trip counts of loops against executed edges:
 *
 *	cfg_trips IMAGE EDGES [--list]
 *
 * EDGES is a file from image_edges.sh. Checks each executed loop whose trip count is known from the
 * code: the branch that leaves the loop must have been executed trip-count times for each exit.
 * Average trip counts may be off by one per cent. They may be off by more if the condition on which
 * the loop is entered depends on the same value as its trip count. Prints each violation in a line
 * (--list: all loops), then a JSON object of counts. Exit status 1: a trip count that is not an
 * average was wrong.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/cfg_create.h"
#include "analysis/graph/cfg_facts.h"
#include "analysis/image/image_code.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"

struct edge {
	uint64_t from;
	uint64_t to;
	uint64_t count;
};

struct edges {
	struct edge *list;
	size_t count;
	size_t capacity;
};

struct totals {
	uint64_t loops; /* loops with a known trip count */
	uint64_t ran;
	uint64_t wrong;
	uint64_t off;	   /* average trip counts that are off by more than one per cent */
	uint64_t branches; /* executions of all branches; @known: of the loops that ran */
	uint64_t known;
};

static int read_edges(struct edges *edges, const struct image_code *code, const char *path)
{
	_cleanup_file_ FILE *file = fopen(path, "re");
	struct edge edge;
	uint64_t from, to;
	char line[256];

	if (file == NULL)
		return -1;
	while (fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%*s %" SCNx64 " %" SCNx64 " %" SCNu64, &from, &to, &edge.count) !=
			    3 ||
		    image_code_address(code, from, &edge.from) < 0 ||
		    image_code_address(code, to, &edge.to) < 0)
			continue;
		if (array_reserve(&edges->list, &edges->capacity, edges->count + 1,
				  sizeof(*edges->list)) < 0)
			return -1;
		edges->list[edges->count++] = edge;
	}
	return 0;
}

static int compare_edges(const void *a, const void *b)
{
	const struct edge *first = a, *second = b;

	if (first->from != second->from)
		return first->from < second->from ? -1 : 1;
	return (first->to > second->to) - (first->to < second->to);
}

/* Return how often the branch at @from went to @to; *@all: to any address. */
static uint64_t count_of(const struct edges *edges, uint64_t from, uint64_t to, uint64_t *all)
{
	size_t low = 0, high = edges->count;
	uint64_t count = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (edges->list[middle].from < from)
			low = middle + 1;
		else
			high = middle;
	}
	for (*all = 0; low < edges->count && edges->list[low].from == from; low++) {
		*all += edges->list[low].count;
		if (edges->list[low].to == to)
			count += edges->list[low].count;
	}
	return count;
}

static uint64_t address_of(const struct cfg *cfg, uint32_t edge)
{
	uint32_t to = cfg->edges[edge].to;

	return to < cfg->block_count ? cfg->insns[cfg->blocks[to].first].address
				     : cfg->edges[edge].target;
}

static void check_loop(struct totals *totals, const struct cfg *cfg, const struct trip_count *trip,
		       const struct edges *edges, bool list)
{
	uint64_t from = cfg->insns[cfg->edges[trip->leave].insn].address, all;
	uint64_t left = count_of(edges, from, address_of(cfg, trip->leave), &all);
	double off = fabs((double)left * trip->trips - (double)all);
	bool wrong = !trip->varies && off > 0;
	bool vague = trip->varies && off > 0.01 * (double)all;

	totals->loops++;
	if (all == 0)
		return;
	totals->ran++;
	totals->wrong += wrong;
	totals->off += vague;
	totals->known += all;
	if (wrong || vague || list)
		printf("# %s 0x%" PRIx64 ": %g trips%s, %" PRIu64 " executions, %" PRIu64 " left\n",
		       wrong   ? "wrong"
		       : vague ? "off"
			       : "right",
		       from, trip->trips, trip->varies ? " on average" : "", all, left);
}

static int check_procedure(struct totals *totals, struct image_code *code, size_t index,
			   const struct edges *edges, bool list)
{
	struct cfg_facts facts;
	struct cfg *cfg = NULL;
	struct error err;
	int r = cfg_create(&cfg, code, index, NULL, &err);

	if (r < 0)
		return 0;
	r = cfg_facts_find(&facts, cfg);
	for (uint32_t i = 0; r == 0 && i < facts.trips.count; i++)
		check_loop(totals, cfg, &facts.trips.list[i], edges, list);
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		uint64_t all = 0;

		if (cfg->blocks[b].out_count == 2)
			count_of(edges, cfg->insns[cfg->edges[cfg->blocks[b].out].insn].address, 0,
				 &all);
		totals->branches += all;
	}
	cfg_facts_deinit(&facts);
	cfg_destroy(cfg);
	return r;
}

int main(int argc, char **argv)
{
	struct profile_image image = {.kind = PROFILE_IMAGE_FILE};
	static const struct debug_file_options options;
	struct image_code *code = NULL;
	struct edges edges = {0};
	struct totals totals = {0};
	struct error err;
	bool list;
	size_t count;
	int r;

	if (argc < 3) {
		fprintf(stderr, "usage: cfg_trips IMAGE EDGES [--list]\n");
		return 2;
	}
	image.path = argv[1];
	list = argc > 3;
	if (image_code_open(&code, &image, &options, &err) < 0) {
		fprintf(stderr, "cfg_trips: %s\n", err.message);
		return 2;
	}
	r = read_edges(&edges, code, argv[2]);
	if (edges.count > 0)
		qsort(edges.list, edges.count, sizeof(*edges.list), compare_edges);
	count = procedure_table_count(image_code_procedures(code));
	for (size_t i = 0; i < count && r == 0; i++)
		r = check_procedure(&totals, code, i, &edges, list);
	printf("{\"image\": \"%s\", \"loops\": %" PRIu64 ", \"ran\": %" PRIu64
	       ", \"wrong\": %" PRIu64 ", \"off\": %" PRIu64 ", \"branches\": %" PRIu64
	       ", \"known\": %" PRIu64 "}\n",
	       argv[1], totals.loops, totals.ran, totals.wrong, totals.off, totals.branches,
	       totals.known);
	free(edges.list);
	image_code_close(code);
	if (r < 0)
		return 2;
	return totals.wrong > 0;
}
