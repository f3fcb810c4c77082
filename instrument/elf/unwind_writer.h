/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinding information of copies of procedures. How frames look is what it was; where in
 * the code it changes is told anew, and all is put into one new section with a new index
 * (.eh_frame_hdr) over old and new frames.
 */
#ifndef DCPI_INSTRUMENT_UNWIND_WRITER_H
#define DCPI_INSTRUMENT_UNWIND_WRITER_H

#include "instrument/elf/unwind_frames.h"

/**
 * struct unwind_writer - the new section, being made
 * @address: where it is going to be; entries begin there after the tables
 * @tables:  of handlers, which come first
 * @index:   (address of code, address of its description) of all frames
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
	uint32_t *cies; /* offset + 1 of each that is there already */
	const struct unwind_frames *frames;
	bool failed;
};

/**
 * struct unwind_row - new code, up to the next row's
 * @address: where it begins
 * @old:     it is run as if at that address of the frame
 * @depth:   the stack pointer is so many bytes below where it was there
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
 * unwind_writer_add_table() - write a frame's table of handlers for a part of its copy
 *
 * For all frames that have one, before the first unwind_writer_add(), which has the same @rows;
 * each is all of some calls, or of none. Return: its address; 0: the frame has none, or the
 * writer has failed.
 */
uint64_t unwind_writer_add_table(struct unwind_writer *writer, const struct unwind_frame *frame,
				 const struct unwind_row *rows, size_t count, uint64_t end);

/**
 * unwind_writer_add() - describe code that is a part of a frame's copy
 * @rows:  @count of them, with ascending @address, and @old nowhere descending
 * @end:   of the new code
 * @table: address of its table of handlers, or 0
 */
void unwind_writer_add(struct unwind_writer *writer, const struct unwind_frame *frame,
		       const struct unwind_row *rows, size_t count, uint64_t end, uint64_t table);

/**
 * unwind_writer_add_plain() - describe code up to @end that has nothing on the stack but return
 * address and @depth
 * @rows: as for unwind_writer_add(), all with the same @old, which is of no frame
 *
 * Not where the file has no frame that begins so, which compilers' all do.
 */
void unwind_writer_add_plain(struct unwind_writer *writer, const struct unwind_row *rows,
			     size_t count, uint64_t end);

/**
 * unwind_writer_add_linked() - describe code by what a linker wrote for it
 * @frames: an .eh_frame section of @bytes, its addresses relative, and of 32 bits
 * @code:   where the code begins now
 * @distance: from where it began to where the section did
 */
void unwind_writer_add_linked(struct unwind_writer *writer, const uint8_t *frames, size_t bytes,
			      uint64_t code, uint64_t distance);

/**
 * unwind_writer_end() - end the section and add its index behind it
 * @index: out: the index' address
 * @index_bytes: out
 *
 * Return: 0; -ERANGE something is too far away; -ENOMEM.
 */
int unwind_writer_end(struct unwind_writer *writer, uint64_t *index, size_t *index_bytes);

#endif
