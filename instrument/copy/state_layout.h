/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is behind the runtime's state in a rewritten image, in memory only: the guard's
 * page, and what stands for a thread before a static program has one. Offsets from the state.
 */
#ifndef DCPI_INSTRUMENT_STATE_LAYOUT_H
#define DCPI_INSTRUMENT_STATE_LAYOUT_H

#include "instrument/elf/elf_image.h"
#include "instrument/profile/profile_layout.h"

static inline uint64_t state_layout_guard(void)
{
	return elf_image_round_up(sizeof(struct profile_layout_state), ELF_IMAGE_PAGE);
}

/** state_layout_dummy() - once the slot is known. */
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
