/* SPDX-License-Identifier: GPL-2.0-only */
/* A frame, as unwinding information (.eh_frame) describes it. */
#ifndef DCPI_INSTRUMENT_UNWIND_FRAME_H
#define DCPI_INSTRUMENT_UNWIND_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct unwind_frame - what one description (FDE) is about
 * @entry: its own address; 0: another frame's description tells of it, too
 * @handlers: address of its table of handlers (handler_table.h); 0: it has none
 */
struct unwind_frame {
	uint64_t start;
	uint64_t bytes;
	uint64_t entry;
	const uint8_t *program;
	size_t program_bytes;
	uint32_t cie;
	uint64_t handlers;
};

#endif
