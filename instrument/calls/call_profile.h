/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callers of each procedure, the number of calls and their costs. With CALL_POLICY_CALLS, they
 * are derived from the contexts that threads recorded. Nothing is apportioned: the metric of a
 * context is added to the self metric of its last procedure, and to all active procedures, each
 * once. If a procedure was active more than once, only its last activation counts: its caller, and
 * its callee. So the metrics of the arcs from a procedure's callers add up to the procedure's
 * metric, and those of the arcs to its callees add up to its children's metric, even under
 * recursion.
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

/* Nodes after those of the image's procedures. */
enum call_profile_node {
	CALL_PROFILE_ROOT,   /* caller of procedures not called by a rewritten one */
	CALL_PROFILE_SIGNAL, /* caller of signal handlers */
	CALL_PROFILE_OTHER,  /* contexts for which there was no room */
	CALL_PROFILE_NODES,
};

/**
 * struct call_node - a procedure
 * @calls:     calls of it, except recursive ones
 * @recursive: recursive calls
 * @self:      metric while it was running
 * @children:  metric while it was active, and another one running
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
 * @caller_self, @caller_children: the same metrics, while @caller's last activation called @callee:
 *               a part of @caller's children. Differs from the former only under recursion
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
 * @arcs:     in no particular order
 * @metric:   metric of all threads
 * @total:    total of the metric
 * @contexts: number of contexts of all threads
 * @shared:   threads that are not included, for lack of room; set by the reader
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

/** call_profile_init() - initialize an empty profile. Return: 0 or -ENOMEM. */
int call_profile_init(struct call_profile *profile, uint32_t procedures);

void call_profile_deinit(struct call_profile *profile);

/**
 * call_profile_add() - add the data of a thread
 *
 * O(length of its histories). Return: 0; -EBADMSG its policy or metric differs from those of
 * previous threads; -ENOMEM.
 */
int call_profile_add(struct call_profile *profile, const struct call_thread *thread);

/**
 * call_profile_add_arc() - add to the metrics and calls of an arc between two nodes
 *
 * Return: 0 or -ENOMEM.
 */
int call_profile_add_arc(struct call_profile *profile, const struct call_arc *more);

/** call_profile_find() - find the arc between two nodes. Return: NULL: there is none. */
const struct call_arc *call_profile_find(const struct call_profile *profile, uint32_t caller,
					 uint32_t callee);

#endif
