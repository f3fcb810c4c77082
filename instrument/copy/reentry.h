/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who calls whom in an image that is being rewritten, as far as it matters to code that
 * keeps something for a procedure while it runs: whether a call may come back into the
 * procedure that it is made from before it returns, and whether it may return twice.
 *
 * Indirect calls and calls of other images may lead to all procedures whose address is
 * known there: taken other than by the program's beginning (which takes main's), or
 * exported. Some of libc's functions, by name, call nobody back, unless the image has one of these.
 */
#ifndef DCPI_INSTRUMENT_REENTRY_H
#define DCPI_INSTRUMENT_REENTRY_H

#include "instrument/copy/candidate.h"

/**
 * struct reentry - zero-initialised is empty; freed by reentry_deinit()
 * @first, @targets: of each candidate, and behind them of the world outside, whom it calls:
 *             targets[first[n]] .. targets[first[n + 1] - 1]
 * @component: of each likewise: those with the same number can reach each other
 * @known:     likewise: the world outside may call it
 * @interposes: the image exports some of libc's functions itself
 */
struct reentry {
	const struct candidates *candidates;
	uint32_t *first;
	uint32_t *targets;
	uint32_t *component;
	bool *known;
	bool interposes;
};

/**
 * reentry_find() - find it
 * Return: 0 or -ENOMEM.
 */
int reentry_find(struct reentry *ret, const struct candidates *candidates);

void reentry_deinit(struct reentry *graph);

/**
 * reentry_is_possible() - whether a call may lead back to where it is made
 * @candidate: number of the procedure that it is in
 */
bool reentry_is_possible(const struct reentry *graph, size_t candidate, const struct insn *call);

/** reentry_calls_nobody() - whether a call, while it runs, leads to none of the image's procedures.
 */
bool reentry_calls_nobody(const struct reentry *graph, const struct insn *call);

/** reentry_returns_twice() - setjmp, vfork and their kin, by name. */
bool reentry_returns_twice(const struct reentry *graph, const struct insn *call);

#endif
