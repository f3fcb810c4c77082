// SPDX-License-Identifier: GPL-2.0-only
/* Which mode's slow paths are called: by a switch, since pointers would need relocating. */
#include "instrument/runtime/call_slow.h"
#include "instrument/runtime/variation_slow.h"

/* The block of a thread that has ended goes on where that one was. */
static void begin_turns(const struct profile_layout_state *state, struct profile_layout_turns *own)
{
	if (state->turns.burst != 0 && own->burst == 0)
		*own = state->turns;
}

void runtime_mode_begin(const struct profile_layout_state *state,
			const struct runtime_memory *memory, enum runtime_begin why)
{
	(void)why;
	begin_turns(state, memory->area);
	switch ((enum profile_layout_mode)state->mode) {
	case PROFILE_LAYOUT_COUNTS:
	case PROFILE_LAYOUT_PATHS:
	case PROFILE_LAYOUT_BURSTS:
		break;
	case PROFILE_LAYOUT_CALLS:
		call_slow_begin(state, memory);
		break;
	case PROFILE_LAYOUT_VARIATION:
		variation_slow_begin(state, memory);
		break;
	}
}

void runtime_mode_slow(const struct profile_layout_state *state,
		       const struct runtime_memory *memory, struct runtime_frame *frame)
{
	switch ((enum profile_layout_mode)state->mode) {
	case PROFILE_LAYOUT_COUNTS:
	case PROFILE_LAYOUT_PATHS:
	case PROFILE_LAYOUT_BURSTS:
		break;
	case PROFILE_LAYOUT_CALLS:
		call_slow(memory, frame);
		break;
	case PROFILE_LAYOUT_VARIATION:
		variation_slow(state, memory, frame);
		break;
	}
}
