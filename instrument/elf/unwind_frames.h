/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Read the unwind information (.eh_frame) of an image, by which exceptions, cancellation and
 * backtraces unwind its frames. unwind_writer.h writes it for clones.
 */
#ifndef DCPI_INSTRUMENT_UNWIND_FRAMES_H
#define DCPI_INSTRUMENT_UNWIND_FRAMES_H

#include "instrument/elf/unwind_frame.h"

struct elf_file;
struct error;
struct unwind_cie;

/**
 * struct unwind_frames - zero-initialised is empty
 * @all:    sorted by @start
 * @tables: of handlers, @table_bytes at @table_address
 */
struct unwind_frames {
	const uint8_t *tables;
	size_t table_bytes;
	uint64_t table_address;
	struct unwind_frame *all;
	size_t count;
	struct unwind_cie *cies;
	size_t cie_count;
};

/**
 * unwind_frames_read() - read the frames of a file
 * @file: must stay open as long as the frames are used
 *
 * Damaged or unknown descriptions are omitted. Return: 0 or -ENOMEM.
 */
int unwind_frames_read(struct unwind_frames *ret, const struct elf_file *file);

void unwind_frames_deinit(struct unwind_frames *frames);

/** unwind_frames_first() - return the index of the first frame that starts at or after an
 * address. */
size_t unwind_frames_first(const struct unwind_frames *frames, uint64_t address);

/**
 * unwind_frame_cuts() - visit the addresses at which a frame's unwind rules or call-site records
 * change
 * @visit: called for each address, in any order
 *
 * Return: 0; -ENOTSUP if the description cannot be translated for a clone; -ENOMEM.
 */
int unwind_frame_cuts(const struct unwind_frames *frames, const struct unwind_frame *frame,
		      void (*visit)(void *context, uint64_t address), void *context);

#endif
