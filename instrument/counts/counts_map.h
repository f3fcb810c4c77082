/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The meaning of the counters of a rewritten image: for each instrumented procedure its nodes and
 * edges (count_graph.h), and which edges have counters. The map is stored in the rewritten file, in
 * a section that the program does not use. It is sufficient to derive counts of instructions and
 * edges from the counters.
 *
 * Decoded data is not trusted.
 */
#ifndef DCPI_INSTRUMENT_COUNTS_MAP_H
#define DCPI_INSTRUMENT_COUNTS_MAP_H

#include "instrument/mode/count_graph.h"

struct error;
struct image_code;

#define COUNTS_MAP_SECTION ".dcpix.counts"

/** struct counts_node - @insns instructions that execute equally often; @bytes 0: none. */
struct counts_node {
	uint64_t address;
	uint64_t bytes;
	uint32_t insns;
};

/**
 * struct counts_edge - @from, @to: nodes, or COUNT_OUTSIDE
 * @counter: number in the image, or COUNT_NONE
 * @source:  address of the instruction at the end of @from; 0: none, or several
 * @target:  target address; 0: unknown
 */
struct counts_edge {
	uint32_t from;
	uint32_t to;
	uint32_t counter;
	enum count_edge_kind kind;
	uint64_t source;
	uint64_t target;
};

/** struct counts_procedure - its nodes and edges begin at @first_node and @first_edge of the map */
struct counts_procedure {
	uint64_t address;
	const char *name;
	uint32_t first_node;
	uint32_t node_count;
	uint32_t first_edge;
	uint32_t edge_count;
};

/**
 * struct counts_map - zero-initialised is empty; freed by counts_map_deinit()
 * @image:    number that is also in the rewritten file's profiles
 * @path, @build_id: of the original file; the build-id in hexadecimal
 * @counters: number of counters of the image
 */
struct counts_map {
	uint64_t image;
	char *path;
	char *build_id;
	uint32_t counters;
	struct counts_procedure *procedures;
	size_t procedure_count;
	size_t procedure_capacity;
	struct counts_node *nodes;
	size_t node_count;
	size_t node_capacity;
	struct counts_edge *edges;
	size_t edge_count;
	size_t edge_capacity;
};

void counts_map_deinit(struct counts_map *map);

/**
 * counts_map_add() - add a procedure
 * @graph: its counters are numbered from @first_counter on
 *
 * Return: 0 or -ENOMEM; then the map can only be freed.
 */
int counts_map_add(struct counts_map *map, const char *name, uint64_t address,
		   const struct count_graph *graph, uint32_t first_counter);

/** counts_map_node() - return the stored data of a graph's node. */
struct counts_node counts_map_node(const struct count_graph *graph, uint32_t index);

/** counts_map_encode() - encode a map. @ret: out, malloc'd. Return: 0 or -ENOMEM. */
int counts_map_encode(const struct counts_map *map, uint8_t **ret, size_t *bytes);

/** counts_map_decode() - decode. Return: 0; -EBADMSG damaged; -EPROTO newer version; -ENOMEM. */
int counts_map_decode(struct counts_map *ret, const uint8_t *data, size_t bytes);

/**
 * counts_map_read() - decode the map of a rewritten file. Return: as counts_map_decode(); -ENODATA
 * the file has none.
 */
int counts_map_read(struct counts_map *ret, const char *path, struct error *err);

/**
 * counts_map_solve() - compute the counts of all nodes and edges of a procedure
 * @counters: all counters of the image
 * @nodes:    out, @procedure->node_count of them
 * @edges:    out, @procedure->edge_count of them
 *
 * If a process was ended by a signal in the middle of a procedure, but not in a call, a count of
 * zero may be computed as -1; it is then set to 0.
 *
 * O(edges). Return: 0; -EBADMSG the map has a cycle without counters; -ENOMEM.
 */
int counts_map_solve(const struct counts_map *map, const struct counts_procedure *procedure,
		     const uint64_t *counters, uint64_t *nodes, uint64_t *edges);

#endif
