// SPDX-License-Identifier: GPL-2.0-only
/* Which mode's slow paths are called: by a switch, since pointers would need relocating. */
#include "instrument/runtime/runtime.h"

void runtime_mode_begin(const struct profile_layout_state *state,
			const struct runtime_memory *memory, enum runtime_begin why)
{
	(void)memory;
	(void)why;
	switch ((enum profile_layout_mode)state->mode) {
	case PROFILE_LAYOUT_COUNTS:
	case PROFILE_LAYOUT_PATHS:
		break;
	}
}

void runtime_mode_slow(const struct profile_layout_state *state,
		       const struct runtime_memory *memory, struct runtime_frame *frame)
{
	(void)memory;
	(void)frame;
	switch ((enum profile_layout_mode)state->mode) {
	case PROFILE_LAYOUT_COUNTS:
	case PROFILE_LAYOUT_PATHS:
		break;
	}
}
