/* SPDX-License-Identifier: GPL-2.0-only */
/* The start of a thread's trace (paths_trace.h). */
#ifndef DCPI_INSTRUMENT_PATHS_SLOW_H
#define DCPI_INSTRUMENT_PATHS_SLOW_H

#include "instrument/runtime/runtime_frame.h"

/** paths_slow_begin() - as runtime_mode_begin() */
void paths_slow_begin(const struct profile_layout_state *state,
		      const struct runtime_memory *memory);

#endif
