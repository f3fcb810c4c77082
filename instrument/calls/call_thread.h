/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call data that a thread of a rewritten program has recorded, read from the profile's file and
 * checked: numbers are in range, histories and parents exist. The file may be read while the
 * program runs: data that is being added is left out.
 */
#ifndef DCPI_INSTRUMENT_CALL_THREAD_H
#define DCPI_INSTRUMENT_CALL_THREAD_H

#include <stddef.h>

#include "instrument/calls/call_layout.h"

struct call_path;

/**
 * struct call_thread - zero-initialised is empty; freed by call_thread_deinit()
 * @states:      contexts, at least CALL_LAYOUT_ROOT and CALL_LAYOUT_OTHER unless there are
 *               no calls; metrics include everything that the file shows
 * @transitions: from a state to a state, each once
 * @history:     procedures below @procedures or CALL_LAYOUT_SIGNAL, and marks
 * @paths:       used entries of the table of paths in contexts, not checked
 */
struct call_thread {
	enum call_policy policy;
	enum call_metric metric;
	struct call_state *states;
	size_t state_count;
	struct call_transition *transitions;
	size_t transition_count;
	uint32_t *history;
	size_t history_count;
	struct call_path *paths;
	size_t path_count;
	uint64_t losses[CALL_LOSSES];
};

/**
 * call_thread_read() - read a thread's area
 * @offset:     offset of its struct call_area in the file
 * @procedures: number of procedures of the image
 * @flow_at:    offset of the table of paths in contexts in the area; 0: there is none
 *
 * Return: 0; -EBADMSG damaged; errors of pread(2); -ENOMEM.
 */
int call_thread_read(struct call_thread *ret, int fd, uint64_t offset, uint32_t procedures,
		     uint32_t flow_at);

void call_thread_deinit(struct call_thread *thread);

#endif
