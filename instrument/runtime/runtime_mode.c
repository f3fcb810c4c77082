// SPDX-License-Identifier: GPL-2.0-only
/* Select the slow paths of the mode: by a switch, since pointers would need relocation. */
#include "instrument/runtime/runtime_mode.h"

#include "instrument/runtime/call_slow.h"
#include "instrument/runtime/paths_slow.h"
#include "instrument/runtime/variation_slow.h"

/* 2^32 divided by the golden ratio: its multiples are evenly spread. */
#define SPREAD 0x9e3779b9U

/*
 * In the block of an ended thread, the numbering of bursts continues. The thread's distance from
 * its next burst is not known. Therefore each thread starts at another position between two bursts,
 * so that threads that are too short for a burst still contribute bursts in total.
 */
static void begin_bursts(const struct profile_layout_state *state,
			 struct profile_layout_switch *own)
{
	if (state->bursts.burst == 0)
		return;
	if (own->burst == 0) {
		*own = state->bursts;
		return;
	}
	own->place += SPREAD;
	own->checks = (int32_t)((uint64_t)own->place * (uint32_t)state->bursts.checks >> 32);
}

void runtime_mode_begin(const struct profile_layout_state *state,
			const struct runtime_memory *memory)
{
	begin_bursts(state, memory->area);
	switch ((enum profile_layout_mode)state->mode) {
	case PROFILE_LAYOUT_COUNTS:
	case PROFILE_LAYOUT_BURSTS:
		break;
	case PROFILE_LAYOUT_PATHS:
		paths_slow_begin(state, memory);
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
