/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths and procedures as rows of a report, in order, with their classes. */
#ifndef DCPI_INSTRUMENT_PATHS_LISTING_H
#define DCPI_INSTRUMENT_PATHS_LISTING_H

#include "instrument/paths/paths_profile.h"

/** enum paths_class - see paths_report.h; PATHS_HOT only without a metric. */
enum paths_class {
	PATHS_COLD,
	PATHS_HOT,
	PATHS_DENSE,
	PATHS_SPARSE,
	PATHS_CLASSES,
};

/**
 * struct paths_row - a path that was executed
 * @nodes: of the map, in order; some may be without instructions
 * @insns: instructions in all executions of the path
 * @metric: of all executions, extrapolated from the measured ones
 * @next:  address where the next path began, 0: nowhere
 */
struct paths_row {
	const struct paths_sum *sum;
	const struct counts_node **nodes;
	size_t node_count;
	uint64_t insns;
	uint64_t metric;
	uint64_t next;
	enum paths_class class;
};

/** struct paths_procedure_row - a procedure with at least one executed path */
struct paths_procedure_row {
	uint32_t procedure;
	size_t paths;
	size_t hot;
	uint64_t count;
	uint64_t insns;
	uint64_t metric;
	enum paths_class class;
};

/**
 * struct paths_listing - all rows; freed by paths_listing_deinit()
 * @all:    sums
 * @hot_blocks: number of blocks on hot paths; @through: sum of the numbers of executed paths
 * through each, and @through_hot: of hot paths
 * @metric: a metric was measured
 */
struct paths_listing {
	const struct paths_map *map;
	const struct paths_profile *profile;
	struct paths_row *paths;
	size_t path_count;
	struct paths_procedure_row *procedures;
	size_t procedure_count;
	struct {
		uint64_t count;
		uint64_t insns;
		uint64_t metric;
		uint64_t timed;
		uint64_t untimed; /* instructions on paths without a measured execution */
	} all;
	uint64_t hot_blocks;
	uint64_t through;
	uint64_t through_hot;
	double threshold;
	bool metric;
};

/**
 * paths_listing_make() - list paths by metric, and procedures by number of hot paths
 * @threshold: minimum share of hot paths and procedures
 *
 * Return: 0; -ENOMEM; -EBADMSG a path does not exist.
 */
int paths_listing_make(struct paths_listing *ret, const struct paths_map *map,
		       const struct paths_profile *profile, double threshold);

struct paths_recorded;

/** paths_listing_make_recorded() - list paths of a database; @recorded must outlive the listing */
int paths_listing_make_recorded(struct paths_listing *ret, const struct paths_recorded *recorded,
				double threshold);

void paths_listing_deinit(struct paths_listing *listing);

/** paths_listing_share() - return the share of the metric, or of all instructions */
double paths_listing_share(const struct paths_listing *listing, uint64_t insns, uint64_t metric);

#endif
