/* SPDX-License-Identifier: GPL-2.0-only */
/* What the modes calls and context do when a rewritten program comes by (calls_mode.h). */
#ifndef DCPI_INSTRUMENT_RUNTIME_CALL_SLOW_H
#define DCPI_INSTRUMENT_RUNTIME_CALL_SLOW_H

#include "instrument/runtime/runtime_frame.h"

/** call_slow_begin() - a thread, or the child of a fork, whose frames are not known. */
void call_slow_begin(const struct profile_layout_state *state, const struct runtime_memory *memory);

/** call_slow() - an enum call_operation at a point; its argument is the procedure. */
void call_slow(const struct runtime_memory *memory, const struct runtime_frame *frame);

#endif
