/* SPDX-License-Identifier: GPL-2.0-only */
/* The frame descriptions (FDEs) of a section of call frame information, which is untrusted. */
#ifndef DCPI_UNWIND_FRAMES_H
#define DCPI_UNWIND_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/unwind/unwind_elf.h"
#include "daemon/unwind/unwind_program.h"

/**
 * struct unwind_frame - a frame description
 * @start, @end: range of code, addresses
 * @cie:         index in unwind_frames.cies
 * @program, @program_bytes: instructions; @place: their address
 */
struct unwind_frame {
	uint64_t start;
	uint64_t end;
	uint64_t place;
	const uint8_t *program;
	uint32_t program_bytes;
	uint32_t cie;
};

/** struct unwind_frames - zero-initialised is empty; freed by unwind_frames_deinit() */
struct unwind_frames {
	struct unwind_frame *frames;
	size_t count;
	size_t capacity;
	struct unwind_cie *cies;
	size_t cie_count;
	size_t cie_capacity;
	uint64_t skipped;
};

/**
 * unwind_frames_add() - add the frame descriptions of a section
 * @section:  must stay valid
 * @is_debug: the format of .debug_frame
 *
 * Descriptions that are malformed or of an unknown form are counted in @skipped.
 *
 * Return: 0 or -ENOMEM.
 */
int unwind_frames_add(struct unwind_frames *frames, const struct unwind_machine *machine,
		      const struct unwind_section *section, bool is_debug);

/** unwind_frames_sort() - sort by address, in the order in which they were added if equal */
void unwind_frames_sort(struct unwind_frames *frames);

void unwind_frames_deinit(struct unwind_frames *frames);

#endif
