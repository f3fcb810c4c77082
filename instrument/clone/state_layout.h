/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Layout of the zero-initialised memory after the runtime's state in a rewritten image: the guard's
 * page, and a temporary thread control block for the start of a static program. Offsets are
 * relative to the state.
 */
#ifndef DCPI_INSTRUMENT_STATE_LAYOUT_H
#define DCPI_INSTRUMENT_STATE_LAYOUT_H

#include "instrument/elf/elf_image.h"
#include "instrument/profile/profile_layout.h"

static inline uint64_t state_layout_guard(void)
{
	return elf_image_round_up(sizeof(struct profile_layout_state), ELF_IMAGE_PAGE);
}

/** state_layout_dummy() - return the offset of the temporary thread control block; needs the
 * slot. */
static inline uint64_t state_layout_dummy(const struct profile_layout_state *state)
{
	return elf_image_round_up(state_layout_guard() + ELF_IMAGE_PAGE - (uint64_t)state->slot,
				  ELF_IMAGE_ALIGN);
}

static inline uint64_t state_layout_end(const struct profile_layout_state *state)
{
	return state_layout_dummy(state) + ELF_IMAGE_PAGE;
}

#endif
