/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call graph of an image that is being rewritten, for inserted code that keeps state during an
 * activation of a procedure. It answers two questions: whether a call may enter the calling
 * procedure again before it returns, and whether it may return twice.
 *
 * Indirect calls and calls of other images may lead to all procedures whose address is exported or
 * taken, except by the program's start, which takes the address of main. Some functions of libc are
 * known by name to call no procedure of the image, unless the image exports one of them itself.
 */
#ifndef DCPI_INSTRUMENT_RECURSION_H
#define DCPI_INSTRUMENT_RECURSION_H

#include "instrument/clone/candidate.h"

/**
 * struct recursion - zero-initialised is empty; freed by recursion_deinit()
 * @first, @targets: callees of candidate n: targets[first[n]] .. targets[first[n + 1] - 1]; the
 *                   last node stands for all code outside the image
 * @component: for each node: its strong component; nodes of a component can reach each other
 * @known:     for each node: code outside the image may call it
 * @interposes: the image exports some of libc's functions itself
 */
struct recursion {
	const struct candidates *candidates;
	uint32_t *first;
	uint32_t *targets;
	uint32_t *component;
	bool *known;
	bool interposes;
};

/**
 * recursion_find() - build the call graph
 *
 * Return: 0 or -ENOMEM.
 */
int recursion_find(struct recursion *ret, const struct candidates *candidates);

void recursion_deinit(struct recursion *graph);

/**
 * recursion_is_possible() - return true if a call may enter the calling procedure again
 * @candidate: number of the calling procedure
 */
bool recursion_is_possible(const struct recursion *graph, size_t candidate,
			   const struct insn *call);

/** recursion_is_leaf_call() - return true if a call, while it runs, leads to no procedure of the
 * image. */
bool recursion_is_leaf_call(const struct recursion *graph, const struct insn *call);

/** recursion_returns_twice() - return true for calls of setjmp, vfork and similar functions, by
 * name. */
bool recursion_returns_twice(const struct recursion *graph, const struct insn *call);

#endif
