/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The branch records in samples (perf record -b), as edges of an epoch: PROFILE_EDGE_RECORD and, if
 * all taken branches were recorded, PROFILE_EDGE_RANGE with its weight and cycles.
 */
#ifndef DCPI_IMPORT_BRANCHES_H
#define DCPI_IMPORT_BRANCHES_H

#include "daemon/import/perfdata_event.h"
#include "daemon/import/perfdata_stack.h"

struct counter_set;
struct error;
struct import_branches;
struct import_images;
struct merge;
struct merge_result;

/** import_branches_create() - @images stay the caller's */
int import_branches_create(struct import_branches **ret, struct import_images *images,
			   struct error *err);
void import_branches_destroy(struct import_branches *branches);

/**
 * import_branches_add() - add the records of a sample, before any later record is processed
 * @event:   of the sample
 * @records: NULL: they could not be parsed
 */
void import_branches_add(struct import_branches *branches, const struct perfdata_event *event,
			 const struct perfdata_sample *sample,
			 const struct perfdata_words *records);

/** import_branches_full() - return true if they should be merged, before memory runs out */
bool import_branches_full(const struct import_branches *branches);

/** import_branches_merge() - write all edges in memory, and drop them */
int import_branches_merge(struct import_branches *branches, struct merge *merge,
			  struct merge_result *result, struct error *err);

/**
 * import_branches_counters() - set "stat" counters
 *
 * edges_handed = edges in the database + edges_unknown + edges_memory. branch_stacks are samples
 * with records; branch_damaged those that could not be parsed. Records that were not used:
 * branch_invalid contradict each other, branch_speculative never retired.
 */
void import_branches_counters(const struct import_branches *branches, struct counter_set *tally);

#endif
