/* SPDX-License-Identifier: GPL-2.0-only */
/* State shared by the rewriter's files: rewriter.c clones procedures, rewriter_write.c writes. */
#ifndef DCPI_INSTRUMENT_REWRITER_INTERNAL_H
#define DCPI_INSTRUMENT_REWRITER_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "instrument/clone/candidate.h"
#include "instrument/clone/stubs.h"
#include "instrument/clone/recursion.h"
#include "instrument/clone/rewriter.h"
#include "instrument/clone/shared_object.h"
#include "instrument/clone/state_layout.h"
#include "instrument/elf/elf_image.h"
#include "instrument/elf/unwind_frames.h"
#include "instrument/elf/unwind_writer.h"
#include "instrument/mode/mode.h"
#include "instrument/profile/profile_layout.h"

struct rewriter {
	const struct rewriter_options *options;
	struct elf_image image;
	struct shared_object shared; /* for a shared object */
	struct image_code *code;
	struct candidates candidates;
	struct recursion recursion;
	uint8_t *checked; /* for each candidate, with two clones: enum burst_switch_entry */
	struct unwind_frames frames;
	struct unwind_writer unwind;
	uint64_t unwind_offset; /* in the added code */
	const struct instrument_mode *mode;
	struct mode_image recorded;
	char *path; /* absolute */
	struct profile_layout_state state;
	struct runtime_code runtime;
	struct stubs stubs;
	uint64_t stubs_offset;
	uint64_t code_bytes;
	const struct candidate *written; /* the procedure being written */
	bool records;			 /* its recording clone is being written */
	uint8_t *out;
	struct rewriter_report *report;
};

/**
 * rewriter_write() - write the new file from the clones and plans
 *
 * The positions of all parts have been decided. Return: 0; errors of the mode's encode(),
 * elf_image_write(); -ERANGE, -ENOMEM.
 */
int rewriter_write(struct rewriter *rewriter, struct error *err);

#endif
