/* SPDX-License-Identifier: GPL-2.0-only */
/* The slow path of the mode variation, for a path that was timed (variation_layout.h). */
#ifndef DCPI_INSTRUMENT_RUNTIME_VARIATION_SLOW_H
#define DCPI_INSTRUMENT_RUNTIME_VARIATION_SLOW_H

#include "instrument/runtime/runtime_frame.h"

/** variation_slow_begin() - begin a thread: its first path is timed at a random check. */
void variation_slow_begin(const struct profile_layout_state *state,
			  const struct runtime_memory *memory);

/** variation_slow() - record the end of a path. */
void variation_slow(const struct profile_layout_state *state, const struct runtime_memory *memory,
		    const struct runtime_frame *frame);

#endif
