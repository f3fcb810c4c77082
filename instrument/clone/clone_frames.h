/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write unwind information for clones of procedures, and for code that an image contains once.
 * Internal to the rewriter.
 */
#ifndef DCPI_INSTRUMENT_FRAME_COPIES_H
#define DCPI_INSTRUMENT_FRAME_COPIES_H

#include "instrument/clone/candidate.h"
#include "instrument/clone/stubs.h"
#include "instrument/elf/unwind_writer.h"

/**
 * struct clone_frames - the code that is described, and the writer
 * @code: address of the added code, which begins with the runtime
 * @stubs_offset: offset of @stubs from @code
 */
struct clone_frames {
	struct unwind_writer *writer;
	const struct unwind_frames *frames;
	const struct candidates *candidates;
	const struct stubs *stubs;
	uint64_t code;
	uint64_t stubs_offset;
};

/** clone_frames_write() - write tables of handlers, then frames. Return: 0 or -ENOMEM. */
int clone_frames_write(const struct clone_frames *info);

#endif
