/* SPDX-License-Identifier: GPL-2.0-only */
/* Slow paths of the modes calls and context (calls_mode.h). */
#ifndef DCPI_INSTRUMENT_RUNTIME_CALL_SLOW_H
#define DCPI_INSTRUMENT_RUNTIME_CALL_SLOW_H

#include "instrument/runtime/runtime_frame.h"

/** call_slow_begin() - begin a thread, or the child of a fork, without known frames. */
void call_slow_begin(const struct profile_layout_state *state, const struct runtime_memory *memory);

/** call_slow() - perform an enum call_operation at a point; its argument is the procedure. */
void call_slow(const struct runtime_memory *memory, const struct runtime_frame *frame);

#endif
