/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who called whom how often, and what it cost, from the contexts that threads recorded
 * (call_thread.h, CALL_POLICY_CALLS). Nothing is apportioned: the metric of a context is
 * that of its last procedure's self, and of all that were active, each once. Where a
 * procedure was active more than once, what counts is who called it last, and whom that
 * activation called. So the metrics of a procedure's callers add up to its own, as do
 * those of what it called to its children's, in circles of recursion too.
 *
 * After J. M. Spivey, "Fast, accurate call graph profiling", 2004.
 */
#ifndef DCPI_INSTRUMENT_CALL_PROFILE_H
#define DCPI_INSTRUMENT_CALL_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "instrument/calls/call_layout.h"
#include "lib/u64_map.h"

struct call_thread;

/* Nodes behind those of the image's procedures. */
enum call_profile_node {
	CALL_PROFILE_ROOT,   /* calls what was not called by a rewritten procedure */
	CALL_PROFILE_SIGNAL, /* calls handlers of signals */
	CALL_PROFILE_OTHER,  /* contexts that there was no room for */
	CALL_PROFILE_NODES,
};

/**
 * struct call_node - a procedure
 * @calls:     of it, but those it made itself
 * @recursive: calls it made of itself
 * @self:      metric while it was running
 * @children:  while it was active, and another one running
 */
struct call_node {
	uint64_t calls;
	uint64_t recursive;
	uint64_t self;
	uint64_t children;
};

/**
 * struct call_arc - @caller called @callee
 * @callee_self, @callee_children: @callee's metrics, while its last activation was called
 *               by @caller
 * @caller_self, @caller_children: likewise, while @caller's last activation called @callee:
 *               a part of @caller's children. The same but under recursion.
 */
struct call_arc {
	uint32_t caller;
	uint32_t callee;
	uint64_t calls;
	uint64_t callee_self;
	uint64_t callee_children;
	uint64_t caller_self;
	uint64_t caller_children;
};

/**
 * struct call_profile - freed by call_profile_deinit()
 * @nodes:    @procedures of them, and CALL_PROFILE_NODES
 * @arcs:     in no order
 * @metric:   of all threads
 * @total:    of the metric
 * @contexts: of all threads
 * @shared:   threads that are not in it, for want of room; set by who reads
 */
struct call_profile {
	uint32_t procedures;
	struct call_node *nodes;
	struct call_arc *arcs;
	size_t arc_count;
	size_t arc_capacity;
	struct u64_map index;
	enum call_metric metric;
	uint64_t total;
	uint64_t contexts;
	uint64_t threads;
	uint64_t shared;
	uint64_t losses[CALL_LOSSES];
};

/** call_profile_init() - an empty one. Return: 0 or -ENOMEM. */
int call_profile_init(struct call_profile *profile, uint32_t procedures);

void call_profile_deinit(struct call_profile *profile);

/**
 * call_profile_add() - add what a thread recorded
 *
 * O(length of its histories). Return: 0; -EBADMSG it is of another policy, or metric than
 * those before; -ENOMEM.
 */
int call_profile_add(struct call_profile *profile, const struct call_thread *thread);

/** call_profile_add_arc() - add to the metrics and calls of an arc between two nodes. 0; -ENOMEM.
 */
int call_profile_add_arc(struct call_profile *profile, const struct call_arc *more);

/** call_profile_find() - the arc between two nodes. Return: NULL: there is none. */
const struct call_arc *call_profile_find(const struct call_profile *profile, uint32_t caller,
					 uint32_t callee);

#endif
