// SPDX-License-Identifier: GPL-2.0-only
/* Which mode's slow paths are called: by a switch, since pointers would need relocating. */
#include "instrument/runtime/runtime_mode.h"

#include "instrument/runtime/call_slow.h"
#include "instrument/runtime/variation_slow.h"

/* Of 32 bits, the golden ratio's: multiples of it are spread evenly. */
#define SPREAD 0x9e3779b9U

/*
 * In the block of a thread that has ended bursts are numbered on. How far that one was from the
 * next is not known any more; so one place after the other is taken, and threads that are
 * too short for a burst have some, together.
 */
static void begin_turns(const struct profile_layout_state *state, struct profile_layout_turns *own)
{
	if (state->turns.burst == 0)
		return;
	if (own->burst == 0) {
		*own = state->turns;
		return;
	}
	own->place += SPREAD;
	own->checks = (int32_t)((uint64_t)own->place * (uint32_t)state->turns.checks >> 32);
}

void runtime_mode_begin(const struct profile_layout_state *state,
			const struct runtime_memory *memory)
{
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
