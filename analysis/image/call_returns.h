/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Noreturn calls: calls of procedures known by name, and of procedures in which all paths lead to
 * such calls, traps or endless loops. Results are computed on demand and cached. In unclear cases
 * (indirect jumps, recursion, much code) a call is assumed to return.
 *
 * Internal to image_code.c. Safe to be called by several threads at once.
 */
#ifndef DCPI_CALL_RETURNS_H
#define DCPI_CALL_RETURNS_H

#include <stdbool.h>

struct call_returns;
struct image_text;
struct insn;
struct insn_decoder;

/** call_returns_create() - @text: owned by the caller. Return: 0 or -ENOMEM. */
int call_returns_create(struct call_returns **ret, struct image_text *text);

/** call_returns_destroy() - free. NULL is fine. */
void call_returns_destroy(struct call_returns *returns);

/** enum call_argument - knowledge about a call's first argument. */
enum call_argument {
	CALL_ARGUMENT_UNKNOWN,
	CALL_ARGUMENT_FAILURE, /* an integer other than 0: error(3) then exits */
};

/**
 * call_returns_argument() - update the knowledge about the argument after an instruction
 *
 * The instructions must be executed in sequence.
 */
enum call_argument call_returns_argument(const struct insn_decoder *decoder,
					 const struct insn *insn, enum call_argument before);

/** call_returns_query() - return true if a call may return. */
bool call_returns_query(struct call_returns *returns, const struct insn *call,
			enum call_argument argument);

#endif
