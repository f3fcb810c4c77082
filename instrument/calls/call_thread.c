// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/calls/call_thread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "instrument/calls/call_paths.h"
#include "lib/file_read.h"

void call_thread_deinit(struct call_thread *thread)
{
	free(thread->states);
	free(thread->transitions);
	free(thread->history);
	free(thread->paths);
	*thread = (struct call_thread){0};
}

static bool is_procedure(uint32_t number, uint32_t procedures)
{
	return number < procedures || number == CALL_LAYOUT_SIGNAL;
}

static int read_array(void *ret, int fd, uint64_t offset, size_t count, size_t bytes)
{
	void *array = calloc(count + 1, bytes);

	*(void **)ret = array;
	return array == NULL ? -ENOMEM : file_read_exactly(fd, array, count * bytes, offset);
}

/* Parents come before their children, so the fields of the parent have been checked. */
static bool is_state(const struct call_thread *thread, size_t index, uint32_t procedures)
{
	const struct call_state *state = &thread->states[index];

	if (!is_procedure(state->procedure, procedures) || state->length == 0)
		return false;
	if (thread->policy == CALL_POLICY_CONTEXT)
		return state->first != CALL_LAYOUT_OTHER && state->first < index &&
		       state->length == thread->states[state->first].length + 1;
	return state->first <= thread->history_count &&
	       state->length <= thread->history_count - state->first &&
	       thread->history[state->first + state->length - 1] == state->procedure;
}

static int call_thread_check(struct call_thread *thread, uint32_t procedures)
{
	size_t kept = 0;

	for (size_t i = 0; i < thread->history_count; i++) {
		if (!is_procedure(thread->history[i] & ~CALL_LAYOUT_MARK, procedures))
			return -EBADMSG;
	}
	thread->states[CALL_LAYOUT_ROOT].length = 0;
	thread->states[CALL_LAYOUT_OTHER].length = 0;
	for (size_t i = CALL_LAYOUT_OTHER + 1; i < thread->state_count; i++) {
		if (!is_state(thread, i, procedures))
			return -EBADMSG;
	}
	for (size_t i = 0; i < thread->transition_count; i++) {
		const struct call_transition *at = &thread->transitions[i];

		if (at->to == 0 || at->from == CALL_LAYOUT_DIGEST ||
		    at->from >= thread->state_count || at->to >= thread->state_count)
			continue;
		if (!is_procedure(at->procedure, procedures))
			return -EBADMSG;
		thread->transitions[kept++] = *at;
	}
	thread->transition_count = kept;
	return 0;
}

/* Charge the metric since the last event to the current frame. */
static int charge_rest(struct call_thread *thread, const struct call_head *head, int fd,
		       uint64_t offset)
{
	int64_t at = (int64_t)head->depth - head->frames;
	struct call_frame frame;
	int r;

	if (head->metric != CALL_METRIC_INSTRUCTIONS || at < 0 ||
	    at >= (int64_t)(CALL_LAYOUT_FRAMES * sizeof(frame)))
		return 0;
	r = file_read_exactly(fd, &frame, sizeof(frame),
			      offset + offsetof(struct call_area, frames) + (uint64_t)at);
	if (r == 0 && frame.state < thread->state_count && head->instructions > head->clock)
		thread->states[frame.state].metric += head->instructions - head->clock;
	return r;
}

static void subtract(struct call_state *state, uint64_t events, uint64_t cycles)
{
	uint64_t all;

	if (__builtin_mul_overflow(events, cycles, &all) || all > state->metric)
		all = state->metric;
	state->metric -= all;
}

/*
 * Subtract the time of events: a call ends the caller's part of the metric, and the return that of
 * the procedure that was called.
 */
static void subtract_events(struct call_thread *thread, const struct call_head *head)
{
	if (head->metric != CALL_METRIC_CYCLES)
		return;
	for (size_t i = 0; i < thread->transition_count; i++) {
		const struct call_transition *at = &thread->transitions[i];

		subtract(&thread->states[at->from], at->calls, head->event_cycles);
		subtract(&thread->states[at->to], at->calls, head->event_cycles);
	}
}

static int read_tables(struct call_thread *thread, const struct call_head *head, int fd,
		       uint64_t offset)
{
	int r;

	/* Read transitions first: no transition refers to a state that is added meanwhile. */
	r = read_array(&thread->transitions, fd, offset + offsetof(struct call_area, transitions),
		       head->transition_count, sizeof(*thread->transitions));
	if (r == 0)
		r = read_array(&thread->states, fd, offset + offsetof(struct call_area, states),
			       thread->state_count, sizeof(*thread->states));
	if (r == 0)
		r = read_array(&thread->history, fd, offset + offsetof(struct call_area, history),
			       thread->history_count, sizeof(*thread->history));
	thread->transition_count = r == 0 ? head->transition_count : 0;
	return r;
}

/* Read the table of paths in contexts, without free entries. */
static int read_paths(struct call_thread *thread, int fd, uint64_t offset)
{
	int r = read_array(&thread->paths, fd, offset, CALL_PATHS_ENTRIES, sizeof(*thread->paths));

	for (size_t i = 0; r == 0 && i < CALL_PATHS_ENTRIES; i++) {
		if (thread->paths[i].key != 0)
			thread->paths[thread->path_count++] = thread->paths[i];
	}
	return r;
}

int call_thread_read(struct call_thread *ret, int fd, uint64_t offset, uint32_t procedures,
		     uint32_t flow_at)
{
	struct call_thread thread = {0};
	struct call_head head;
	int r = file_read_exactly(fd, &head, sizeof(head), offset);

	*ret = thread;
	if (r < 0 || head.magic == 0)
		return r;
	if (head.magic != CALL_LAYOUT_MAGIC || head.policy > CALL_POLICY_CONTEXT ||
	    head.metric > CALL_METRIC_INSTRUCTIONS ||
	    head.transition_count > CALL_LAYOUT_TRANSITIONS ||
	    head.state_count > CALL_LAYOUT_STATES || head.state_count <= CALL_LAYOUT_OTHER ||
	    head.history_count > CALL_LAYOUT_HISTORY)
		return -EBADMSG;
	thread.policy = head.policy;
	thread.metric = head.metric;
	thread.state_count = head.state_count;
	thread.history_count = head.history_count;
	for (size_t i = 0; i < CALL_LOSSES; i++)
		thread.losses[i] = head.losses[i];
	r = read_tables(&thread, &head, fd, offset);
	if (r == 0)
		r = call_thread_check(&thread, procedures);
	if (r == 0)
		r = charge_rest(&thread, &head, fd, offset);
	if (r == 0)
		subtract_events(&thread, &head);
	if (r == 0 && flow_at != 0)
		r = read_paths(&thread, fd, offset + flow_at);
	if (r < 0)
		call_thread_deinit(&thread);
	else
		*ret = thread;
	return r;
}
