/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slow paths of modes, in files of their own. They may run in any state of the program,
 * also in a signal's handler that interrupts one of them in its thread.
 */
#ifndef DCPI_INSTRUMENT_RUNTIME_MODE_H
#define DCPI_INSTRUMENT_RUNTIME_MODE_H

#include "instrument/runtime/runtime_frame.h"

/**
 * runtime_mode_begin() - a thread begins, or goes on in the child of a fork
 *
 * Private memory is zero in a new thread, and as it was in a child; the area is what an
 * ended thread left, or zero.
 */
void runtime_mode_begin(const struct profile_layout_state *state,
			const struct runtime_memory *memory);

/** runtime_mode_slow() - a slow path. */
void runtime_mode_slow(const struct profile_layout_state *state,
		       const struct runtime_memory *memory, struct runtime_frame *frame);

#endif
