/* SPDX-License-Identifier: GPL-2.0-only */
/* What reading and writing unwinding information share. Internal to unwind_*.c. */
#ifndef DCPI_INSTRUMENT_UNWIND_CIE_H
#define DCPI_INSTRUMENT_UNWIND_CIE_H

#include "instrument/elf/handler_table.h"
#include "instrument/elf/unwind_frames.h"

/**
 * struct unwind_cie - what frames have in common
 * @personality: address of it, or of a pointer to it; 0: none
 * @bad:         it is not understood
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

/** unwind_frame_table() - Return: 0; -ENOENT it has none; as of handler_table_parse(). */
int unwind_frame_table(struct handler_table *table, const struct unwind_frames *frames,
		       const struct unwind_frame *frame);

#endif
