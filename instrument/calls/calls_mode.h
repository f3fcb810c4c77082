/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The modes that record call contexts (runtime/call_automaton.h), and for each context calls,
 * cycles or instructions. Their code is at entries, returns and tail calls, where exceptions are
 * caught, and after calls that may return twice. If instructions are counted, there is also code at
 * the start of each node.
 */
#ifndef DCPI_INSTRUMENT_CALLS_MODE_H
#define DCPI_INSTRUMENT_CALLS_MODE_H

#include "instrument/mode/mode.h"

/** calls_mode - Spivey's contexts: callers and callees, with correct costs under recursion. */
extern const struct instrument_mode calls_mode;

/** context_mode - a calling context tree. */
extern const struct instrument_mode context_mode;

#endif
