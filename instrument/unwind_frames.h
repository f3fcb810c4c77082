/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwinding information (.eh_frame) of an image, and of copies of its procedures: what
 * exceptions, cancellation and backtraces need to go through them. How frames look is
 * what it was; where in the code it changes is told anew, and all is put into one new
 * section with a new index (.eh_frame_hdr) over old and new frames.
 */
#ifndef DCPI_INSTRUMENT_UNWIND_FRAMES_H
#define DCPI_INSTRUMENT_UNWIND_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct error;
struct unwind_cie;

/**
 * struct unwind_frame - what one description (FDE) is about
 * @entry: its own address
 * @handlers: address of its table of handlers (handler_table.h); 0: it has none
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

/** unwind_writer_init() - @address: a multiple of 8. Return: 0 or -ENOMEM. */
int unwind_writer_init(struct unwind_writer *writer, const struct unwind_frames *frames,
		       uint64_t address);

void unwind_writer_deinit(struct unwind_writer *writer);

/**
 * unwind_writer_add_table() - write a frame's table of handlers for a copy
 *
 * For all frames that have one, before the first unwind_writer_add(). Return: its
 * address; 0: the frame has none, or the writer has failed.
 */
uint64_t unwind_writer_add_table(struct unwind_writer *writer, const struct unwind_frame *frame,
				 uint64_t start, uint64_t (*where)(void *context, uint64_t old),
				 void *context);

/**
 * unwind_writer_add() - describe a copy of a frame
 * @start, @end: the new code
 * @table: address of its table of handlers, or 0
 * @where: the new address of an old one that unwind_frame_cuts() told
 */
void unwind_writer_add(struct unwind_writer *writer, const struct unwind_frame *frame,
		       uint64_t start, uint64_t end, uint64_t table,
		       uint64_t (*where)(void *context, uint64_t old), void *context);

/**
 * unwind_writer_end() - end the section and add its index behind it
 * @index: out: the index' address
 * @index_bytes: out
 *
 * Return: 0; -ERANGE something is too far away; -ENOMEM.
 */
int unwind_writer_end(struct unwind_writer *writer, uint64_t *index, size_t *index_bytes);

#endif
