/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which calls never return: those of procedures known by name, and of procedures
 * all of whose ways lead to such calls, traps or endless loops. Found when asked
 * for and remembered; in doubt (indirect jumps, recursion, much code) a call
 * returns.
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

/** call_returns_create() - @text: stays the caller's. Return: 0 or -ENOMEM. */
int call_returns_create(struct call_returns **ret, struct image_text *text);

/** call_returns_destroy() - free. NULL is fine. */
void call_returns_destroy(struct call_returns *returns);

/** enum call_argument - what is known of a call's first argument. */
enum call_argument {
	CALL_ARGUMENT_UNKNOWN,
	CALL_ARGUMENT_FAILURE, /* an integer other than 0: error(3) then exits */
};

/**
 * call_returns_argument() - what is known after an instruction, from what was before it
 *
 * Over instructions that are executed one after the other.
 */
enum call_argument call_returns_argument(const struct insn_decoder *decoder,
					 const struct insn *insn, enum call_argument before);

/** call_returns_ask() - whether a call may return. */
bool call_returns_ask(struct call_returns *returns, const struct insn *call,
		      enum call_argument argument);

#endif
