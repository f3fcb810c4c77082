/* SPDX-License-Identifier: GPL-2.0-only */
/* Definitions shared by the reader and the writer of unwind information. Internal to unwind_*.c. */
#ifndef DCPI_INSTRUMENT_UNWIND_CIE_H
#define DCPI_INSTRUMENT_UNWIND_CIE_H

#include "instrument/elf/handler_table.h"
#include "instrument/elf/unwind_frames.h"

/**
 * struct unwind_cie - common part of several frames' descriptions (CIE)
 * @personality: address of the personality routine, or of a pointer to it; 0: none
 * @bad:         the CIE is not understood
 */
struct unwind_cie {
	const uint8_t *program;
	size_t program_bytes;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint64_t personality;
	uint8_t personality_encoding;
	uint8_t address_encoding;
	uint8_t handler_encoding;
	bool augmented;
	bool signal;
	bool bad;
};

/** unwind_frame_table() - parse a frame's table of handlers. Return: 0; -ENOENT if the frame has
 * none; errors of handler_table_parse(). */
int unwind_frame_table(struct handler_table *table, const struct unwind_frames *frames,
		       const struct unwind_frame *frame);

#endif
