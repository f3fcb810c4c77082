// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/calls/call_profile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "instrument/calls/call_thread.h"
#include "lib/array.h"

int call_profile_init(struct call_profile *profile, uint32_t procedures)
{
	*profile = (struct call_profile){.procedures = procedures};
	profile->nodes = calloc(procedures + (size_t)CALL_PROFILE_NODES, sizeof(*profile->nodes));
	return profile->nodes == NULL ? -ENOMEM : 0;
}

void call_profile_deinit(struct call_profile *profile)
{
	free(profile->nodes);
	free(profile->arcs);
	u64_map_deinit(&profile->index);
	*profile = (struct call_profile){0};
}

static uint64_t key_of(uint32_t caller, uint32_t callee)
{
	return (uint64_t)caller << 32 | callee;
}

const struct call_arc *call_profile_find(const struct call_profile *profile, uint32_t caller,
					 uint32_t callee)
{
	const uint64_t *at = u64_map_find(&profile->index, key_of(caller, callee));

	return at != NULL ? &profile->arcs[*at - 1] : NULL;
}

/* Find or add an arc. Return: NULL: no memory. */
static struct call_arc *arc_of(struct call_profile *profile, uint32_t caller, uint32_t callee)
{
	uint64_t *at = u64_map_insert(&profile->index, key_of(caller, callee));

	if (at == NULL)
		return NULL;
	if (*at == 0) {
		if (array_reserve(&profile->arcs, &profile->arc_capacity, profile->arc_count + 1,
				  sizeof(*profile->arcs)) < 0) {
			u64_map_remove(&profile->index, key_of(caller, callee));
			return NULL;
		}
		profile->arcs[profile->arc_count++] =
			(struct call_arc){.caller = caller, .callee = callee};
		*at = profile->arc_count;
	}
	return &profile->arcs[*at - 1];
}

int call_profile_add_arc(struct call_profile *profile, const struct call_arc *more)
{
	struct call_arc *arc = arc_of(profile, more->caller, more->callee);

	if (arc == NULL)
		return -ENOMEM;
	arc->calls += more->calls;
	arc->callee_self += more->callee_self;
	arc->callee_children += more->callee_children;
	arc->caller_self += more->caller_self;
	arc->caller_children += more->caller_children;
	return 0;
}

static uint32_t call_profile_node_of(const struct call_profile *profile, uint32_t entry)
{
	uint32_t procedure = entry & ~CALL_LAYOUT_MARK;

	return procedure == CALL_LAYOUT_SIGNAL ? profile->procedures + CALL_PROFILE_SIGNAL
					       : procedure;
}

static bool is_last_activation(uint32_t entry)
{
	return (entry & CALL_LAYOUT_MARK) == 0;
}

/* Add the metric of a state to an active procedure and its arcs; @at: its index in the history. */
static int add_metric(struct call_profile *profile, const uint32_t *history, uint32_t length,
		      uint32_t at, uint64_t metric)
{
	uint32_t node = call_profile_node_of(profile, history[at]),
		 running = call_profile_node_of(profile, history[length - 1]);
	uint32_t caller = at > 0 ? call_profile_node_of(profile, history[at - 1])
				 : profile->procedures + CALL_PROFILE_ROOT;
	struct call_arc *arc;

	if (node != profile->procedures + CALL_PROFILE_SIGNAL) {
		arc = arc_of(profile, caller, node);
		if (arc == NULL)
			return -ENOMEM;
		*(node == running ? &arc->callee_self : &arc->callee_children) += metric;
	}
	if (at + 1 == length)
		return 0;
	profile->nodes[node].children += metric;
	arc = arc_of(profile, node, call_profile_node_of(profile, history[at + 1]));
	if (arc == NULL)
		return -ENOMEM;
	*(arc->callee == running ? &arc->caller_self : &arc->caller_children) += metric;
	return 0;
}

/* The root is always active, except while a signal is handled. */
static int add_root(struct call_profile *profile, const struct call_thread *thread,
		    const struct call_state *state)
{
	uint32_t root = profile->procedures + CALL_PROFILE_ROOT;
	uint32_t called = call_profile_node_of(profile, thread->history[state->first]);
	struct call_arc *arc;

	if (called >= profile->procedures)
		return 0;
	arc = arc_of(profile, root, called);
	if (arc == NULL)
		return -ENOMEM;
	profile->nodes[root].children += state->metric;
	*(called == state->procedure ? &arc->caller_self : &arc->caller_children) += state->metric;
	return 0;
}

static int add_state(struct call_profile *profile, const struct call_thread *thread, size_t index)
{
	const struct call_state *state = &thread->states[index];
	const uint32_t *history = thread->history + state->first;
	uint32_t root = profile->procedures + CALL_PROFILE_ROOT;
	int r = 0;

	profile->total += state->metric;
	if (index <= CALL_LAYOUT_OTHER) {
		profile->nodes[index == CALL_LAYOUT_ROOT ? root
							 : profile->procedures + CALL_PROFILE_OTHER]
			.self += state->metric;
		return 0;
	}
	profile->contexts++;
	profile->nodes[call_profile_node_of(profile, state->procedure)].self += state->metric;
	for (uint32_t at = 0; r == 0 && state->metric > 0 && at < state->length; at++) {
		if (is_last_activation(history[at]))
			r = add_metric(profile, history, state->length, at, state->metric);
	}
	return r == 0 && state->metric > 0 ? add_root(profile, thread, state) : r;
}

static int add_calls(struct call_profile *profile, const struct call_thread *thread,
		     const struct call_transition *transition)
{
	uint32_t callee = call_profile_node_of(profile, transition->procedure), caller;
	struct call_arc *arc;

	if (callee >= profile->procedures)
		return 0; /* the arrival of a signal; the call is that of its handler */
	if (transition->from == CALL_LAYOUT_ROOT)
		caller = profile->procedures + CALL_PROFILE_ROOT;
	else if (transition->from == CALL_LAYOUT_OTHER)
		caller = profile->procedures + CALL_PROFILE_OTHER;
	else
		caller = call_profile_node_of(profile, thread->states[transition->from].procedure);
	if (caller == callee) {
		profile->nodes[callee].recursive += transition->calls;
		return 0;
	}
	arc = arc_of(profile, caller, callee);
	if (arc == NULL)
		return -ENOMEM;
	arc->calls += transition->calls;
	profile->nodes[callee].calls += transition->calls;
	return 0;
}

int call_profile_add(struct call_profile *profile, const struct call_thread *thread)
{
	int r = 0;

	if (thread->state_count == 0)
		return 0;
	if (thread->policy != CALL_POLICY_CALLS ||
	    (profile->threads > 0 && thread->metric != profile->metric))
		return -EBADMSG;
	profile->metric = thread->metric;
	profile->threads++;
	for (size_t i = 0; i < CALL_LOSSES; i++)
		profile->losses[i] += thread->losses[i];
	for (size_t i = 0; r == 0 && i < thread->state_count; i++)
		r = add_state(profile, thread, i);
	for (size_t i = 0; r == 0 && i < thread->transition_count; i++)
		r = add_calls(profile, thread, &thread->transitions[i]);
	return r;
}
