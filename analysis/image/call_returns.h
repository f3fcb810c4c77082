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

/** call_returns_create() - @text: stays the caller's. Return: 0 or -ENOMEM. */
int call_returns_create(struct call_returns **ret, struct image_text *text);

/** call_returns_destroy() - free. NULL is fine. */
void call_returns_destroy(struct call_returns *returns);

/** call_returns_ask() - whether a call may return. */
bool call_returns_ask(struct call_returns *returns, const struct insn *call);

#endif
