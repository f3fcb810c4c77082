/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call stacks of a recording's samples, as one tree.
 *
 * Each sample has a stack, and its innermost frame is the sample's address, so that the samples of
 * each procedure are the same with and without stacks. A stack that does not reach its outermost
 * frame has a reason (enum profile_stack_end). A call chain is complete if the call frame
 * information of its last address says so.
 *
 * Copied stacks are unwound as by dcpid. Tables are built from the files of this machine that have
 * the recorded build-ids, in a sandboxed process (daemon/collect/unwind_builder.h).
 */
#ifndef DCPI_IMPORT_STACKS_H
#define DCPI_IMPORT_STACKS_H

#include "daemon/collect/stack_store.h"

struct counter_set;
struct error;
struct import_images;
struct import_stacks;
struct perfdata_header;
struct perfdata_sample;
struct perfdata_stack;

/** import_stacks_create() - @header, @images: must outlive @ret. Return: 0; -ENOMEM */
int import_stacks_create(struct import_stacks **ret, const struct perfdata_header *header,
			 struct import_images *images, struct error *err);
void import_stacks_destroy(struct import_stacks *stacks);

/**
 * import_stacks_add() - add the stack of a sample, before any later record is processed
 * @recorded: NULL: it could not be parsed
 */
void import_stacks_add(struct import_stacks *stacks, const struct perfdata_sample *sample,
		       const struct perfdata_stack *recorded);

/** import_stacks_store() - return the tree; owned by @stacks */
const struct stack_store *import_stacks_store(const struct import_stacks *stacks);

/** import_stacks_counters() - set "stat" counters: stacks, and their number by reason */
void import_stacks_counters(const struct import_stacks *stacks, struct counter_set *tally);

#endif
