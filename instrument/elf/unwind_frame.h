/* SPDX-License-Identifier: GPL-2.0-only */
/* A frame as described by unwind information (.eh_frame). */
#ifndef DCPI_INSTRUMENT_UNWIND_FRAME_H
#define DCPI_INSTRUMENT_UNWIND_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct unwind_frame - the code that one description (FDE) covers
 * @entry: address of the FDE; 0: the FDE of another frame covers this code, too
 * @handlers: address of the table of handlers (handler_table.h); 0: none
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
