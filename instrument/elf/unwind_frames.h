/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinding information (.eh_frame) of an image: what exceptions, cancellation and
 * backtraces need to go through its frames; unwind_writer.h tells it of copies.
 */
#ifndef DCPI_INSTRUMENT_UNWIND_FRAMES_H
#define DCPI_INSTRUMENT_UNWIND_FRAMES_H

#include "instrument/elf/unwind_frame.h"

struct elf_file;
struct error;
struct unwind_cie;

/**
 * struct unwind_frames - zero-initialised has none
 * @all:    by @start
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
 * unwind_frames_read() - read those of a file
 * @file: must stay open as long as they are used
 *
 * What is damaged or not understood is left out. Return: 0 or -ENOMEM.
 */
int unwind_frames_read(struct unwind_frames *ret, const struct elf_file *file);

void unwind_frames_deinit(struct unwind_frames *frames);

/** unwind_frames_first() - the first that begins at or behind an address. */
size_t unwind_frames_first(const struct unwind_frames *frames, uint64_t address);

/**
 * unwind_frame_cuts() - the addresses at which a frame changes, or what its calls do
 * @visit: called for each, in any order
 *
 * Return: 0; -ENOTSUP it says something that cannot be said of a copy; -ENOMEM.
 */
int unwind_frame_cuts(const struct unwind_frames *frames, const struct unwind_frame *frame,
		      void (*visit)(void *context, uint64_t address), void *context);

#endif
