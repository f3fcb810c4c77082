/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slow paths of modes, in files of their own. They may run in any state of the program, also in a
 * signal handler that interrupts one of them in the same thread.
 */
#ifndef DCPI_INSTRUMENT_RUNTIME_MODE_H
#define DCPI_INSTRUMENT_RUNTIME_MODE_H

#include "instrument/runtime/runtime_frame.h"

/**
 * runtime_mode_begin() - begin a thread, or continue it in the child of a fork
 *
 * Private memory is zero in a new thread, and unchanged in a child. The area is zero, or that of an
 * ended thread.
 */
void runtime_mode_begin(const struct profile_layout_state *state,
			const struct runtime_memory *memory);

/** runtime_mode_slow() - run the slow path of the mode. */
void runtime_mode_slow(const struct profile_layout_state *state,
		       const struct runtime_memory *memory, struct runtime_frame *frame);

#endif
