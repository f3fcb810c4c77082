/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write unwind information for clones of procedures. Unwind rules stay the same; the addresses at
 * which they change are new. All of it is put into one new section with a new index (.eh_frame_hdr)
 * over old and new frames.
 */
#ifndef DCPI_INSTRUMENT_UNWIND_WRITER_H
#define DCPI_INSTRUMENT_UNWIND_WRITER_H

#include "instrument/elf/unwind_frames.h"

/**
 * struct unwind_writer - the new section under construction
 * @address: of the section; FDEs begin after the tables
 * @tables:  size of the tables of handlers, which come first
 * @index:   (address of code, address of its FDE) for each frame
 */
struct unwind_writer {
	uint64_t address;
	size_t tables;
	uint8_t *data;
	size_t bytes;
	size_t capacity;
	uint64_t (*index)[2];
	size_t index_count;
	size_t index_capacity;
	uint32_t *cies; /* offset + 1 of each CIE that was written */
	const struct unwind_frames *frames;
	bool failed;
};

/**
 * struct unwind_row - a range of new code, up to the next row
 * @address: start of the range
 * @old:     address in the original frame that has the same unwind rules
 * @depth:   number of bytes by which the stack pointer is lower than at @old
 */
struct unwind_row {
	uint64_t address;
	uint64_t old;
	uint32_t depth;
};

/** unwind_writer_init() - @address: a multiple of 8. Return: 0 or -ENOMEM. */
int unwind_writer_init(struct unwind_writer *writer, const struct unwind_frames *frames,
		       uint64_t address);

void unwind_writer_deinit(struct unwind_writer *writer);

/**
 * unwind_writer_add_table() - write a frame's table of handlers for a part of its clone
 *
 * To be called for all frames with a table, before the first unwind_writer_add(), with the same
 * @rows. Each row must be entirely inside or outside of a call-site record.
 *
 * Return: address of the table; 0 if the frame has none or the writer has failed.
 */
uint64_t unwind_writer_add_table(struct unwind_writer *writer, const struct unwind_frame *frame,
				 const struct unwind_row *rows, size_t count, uint64_t end);

/**
 * unwind_writer_add() - describe a part of a frame's clone
 * @rows:  @count rows with ascending @address and non-descending @old
 * @end:   end of the new code
 * @table: address of the table of handlers, or 0
 */
void unwind_writer_add(struct unwind_writer *writer, const struct unwind_frame *frame,
		       const struct unwind_row *rows, size_t count, uint64_t end, uint64_t table);

/**
 * unwind_writer_add_plain() - describe code up to @end whose frame consists of the return address
 * and @depth bytes
 * @rows: as for unwind_writer_add(), all with the same @old, which is in no frame
 *
 * Has no effect unless the file has a CIE with the initial rules that all compilers use.
 */
void unwind_writer_add_plain(struct unwind_writer *writer, const struct unwind_row *rows,
			     size_t count, uint64_t end);

/**
 * unwind_writer_add_linked() - describe code by the unwind information that a linker wrote for it
 * @frames: an .eh_frame section of @bytes bytes, with relative addresses of 32 bits
 * @code:   current address of the code
 * @distance: from the code to the section, when they were linked
 */
void unwind_writer_add_linked(struct unwind_writer *writer, const uint8_t *frames, size_t bytes,
			      uint64_t code, uint64_t distance);

/**
 * unwind_writer_end() - finish the section and append its index
 * @index: out: address of the index
 * @index_bytes: out
 *
 * Return: 0; -ERANGE if a distance exceeds 32 bits; -ENOMEM.
 */
int unwind_writer_end(struct unwind_writer *writer, uint64_t *index, size_t *index_bytes);

#endif
