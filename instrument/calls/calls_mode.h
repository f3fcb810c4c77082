/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The modes that record contexts of calls (runtime/call_automaton.h), and in them calls,
 * cycles or instructions. Code of theirs is at entries, returns and tail calls, where
 * exceptions are caught and calls that may come back twice do; and, if instructions are
 * counted, at the start of each node.
 */
#ifndef DCPI_INSTRUMENT_CALLS_MODE_H
#define DCPI_INSTRUMENT_CALLS_MODE_H

#include "instrument/mode/mode.h"

/** calls_mode - Spivey's contexts: who called whom, true costs under recursion. */
extern const struct instrument_mode calls_mode;

/** context_mode - a calling context tree. */
extern const struct instrument_mode context_mode;

#endif
