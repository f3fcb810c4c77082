/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of an image, ready for analysis: its procedures with all their parts, their bytes, the
 * constants that their jumps use, and source lines.
 *
 * Opening reads headers and symbols; code and line tables are read on demand. Nothing in the file
 * is trusted. Any function except open and close may be called by several threads at once.
 */
#ifndef DCPI_IMAGE_CODE_H
#define DCPI_IMAGE_CODE_H

#include "analysis/image/call_returns.h"
#include "analysis/image/procedure_parts.h"

struct image_code;

/**
 * image_code_open() - open the code of an image
 * @image: of kind PROFILE_IMAGE_FILE
 * @ret:   out; freed by image_code_close()
 *
 * Return: 0; errors of image_lookup_open(); -ENOTSUP if there is no decoder for its architecture
 * (the message names it); -ENODATA if only a debug file without code was found.
 */
int image_code_open(struct image_code **ret, const struct profile_image *image,
		    const struct debug_file_options *options, struct error *err);

/**
 * image_code_open_names() - open the procedures and lines of an image, also without its code
 *
 * Like image_code_open(), but succeeds where that returns -ENOTSUP or -ENODATA. In these cases
 * image_code_decoder() is NULL, no address has bytes, and only procedures, their parts, offsets and
 * lines are available.
 */
int image_code_open_names(struct image_code **ret, const struct profile_image *image,
			  const struct debug_file_options *options, struct error *err);

/**
 * image_code_open_same() - open the code of a file if it is unchanged
 * @build_id:  expected build-id
 * @directory: directory of separate debug files, or NULL
 *
 * Return: NULL if the file has changed or cannot be read.
 */
struct image_code *image_code_open_same(const char *path, const char *build_id,
					const char *directory);

/** image_code_close() - free. NULL is fine. */
void image_code_close(struct image_code *code);

/**
 * image_code_decoder() - return the decoder; NULL without decodable code: image_code_open_names().
 */
const struct insn_decoder *image_code_decoder(const struct image_code *code);
const struct procedure_table *image_code_procedures(const struct image_code *code);

/**
 * image_code_is_kernel() - return true for code of a kernel: the file says that it needs no system
 *
 * There, execution may continue after x86's ud2, which marks a place that prints a warning.
 */
bool image_code_is_kernel(const struct image_code *code);

/** image_code_file() - return the file, open until the image is closed; never the debug file. */
const struct elf_file *image_code_file(const struct image_code *code);

/** image_code_build_id() - return the build-id in hexadecimal, "" if it has none. */
const char *image_code_build_id(const struct image_code *code);

/**
 * image_code_parts() - find the ranges that make up a procedure
 * @index: in image_code_procedures()
 * @parts: out: the procedure itself first, then the parts that the compiler split off ("NAME.cold",
 *         "NAME.cold.1"). In stripped files, parts are recognised by unwinding information that
 *         begins inside a frame and a jump back into the procedure; without one of these, a part is
 *         a separate procedure
 *
 * Return: the number of ranges, 1 .. PROCEDURE_PARTS_MAX; 0: it is itself a part of another
 * procedure (@parent: out, its index).
 */
size_t image_code_parts(const struct image_code *code, size_t index,
			struct image_range parts[PROCEDURE_PARTS_MAX], size_t *parent);

/**
 * image_code_bytes() - return the bytes at an address of code
 * @available: out: bytes from there to the end of the section, at most 1 MiB: call again for the
 *             following ones
 *
 * Return: valid until the image is closed; NULL if there is no code there.
 */
const uint8_t *image_code_bytes(struct image_code *code, uint64_t address, size_t *available);

/**
 * image_code_data() - read the initial contents of memory that is not written: read-only segments,
 * and .data.rel.ro with its relative relocations applied
 *
 * Return: 0; -ENOENT if the contents are unknown before the program runs.
 */
int image_code_data(struct image_code *code, uint64_t address, void *buffer, size_t bytes);

/**
 * image_code_pointers() - find addresses that constant data contain
 * @visit: called for each address in [@start, @end), ascending, some more than once
 *
 * Only values that the dynamic loader relocates are known to be addresses: nothing is found in
 * executables of a fixed address.
 */
void image_code_pointers(struct image_code *code, uint64_t start, uint64_t end,
			 void (*visit)(void *context, uint64_t target), void *context);

/**
 * image_code_landing_pads() - find the landing pads of frames that begin in [@start, @end)
 * @visit: called for each address, some more than once; they may be outside
 */
void image_code_landing_pads(const struct image_code *code, uint64_t start, uint64_t end,
			     void (*visit)(void *context, uint64_t address), void *context);

/**
 * image_code_initial() - read a pointer that may change later, as in the file: slots of the linkage
 * table point to their stub before they are bound
 *
 * Return: 0; -ENOENT if the file does not contain it.
 */
int image_code_initial(struct image_code *code, uint64_t address, uint64_t *pointer);

/**
 * image_code_next_start() - find the data that begin after an address: a bound for the size of the
 * table there
 * @bytes: size of the table's entries, a divisor of the distance
 * @next:  out: UINT64_MAX if there is no such instruction (see table_starts.h)
 *
 * The first call decodes all code of the image. Return: 0 or -ENOMEM.
 */
int image_code_next_start(struct image_code *code, uint64_t address, uint32_t bytes,
			  uint64_t *next);

/**
 * struct code_reference - an instruction that refers to code
 * @target:     address that it calls, jumps to or computes
 * @from:       the instruction
 * @is_address: it computes the address
 */
struct code_reference {
	uint64_t target;
	uint64_t from;
	bool is_address;
};

/**
 * image_code_callers() - find the calls of a procedure, and the jumps to it from other procedures
 * @procedure: all of its code
 * @ret:       out: @count references, by target; valid until the image is closed
 *
 * The first call decodes all code of the image.
 *
 * Return: 1; 0: no caller is known, or others are possible, because the address of the procedure is
 * used or it is visible to other images; -ENOMEM.
 */
int image_code_callers(struct image_code *code, const struct image_range *procedure,
		       const struct code_reference **ret, size_t *count);

/** image_code_find() - find the procedure of an address. Return: its index, or -ENOENT. */
long image_code_find(const struct image_code *code, uint64_t address);

/** image_code_slot_name() - find the symbol of a GOT slot. Return: NULL: none. */
const char *image_code_slot_name(struct image_code *code, uint64_t address);

/** image_code_offset() - convert an address to a file offset. Return: 0 or -ENOENT. */
int image_code_offset(const struct image_code *code, uint64_t address, uint64_t *offset);

/** image_code_address() - convert a file offset to an ELF virtual address. Return: 0 or -ENOENT. */
int image_code_address(const struct image_code *code, uint64_t offset, uint64_t *address);

/**
 * image_code_span() - convert a file offset to an address. Return: number of bytes for which
 * addresses and offsets have the same distance; 0: it has no address.
 */
uint64_t image_code_span(const struct image_code *code, uint64_t offset, uint64_t *address);

/**
 * image_code_call_returns() - return true if a call may return, from names and from the called code
 * (see call_returns.h; results are cached)
 * @call:     direct or indirect
 * @argument: of the call
 */
bool image_code_call_returns(struct image_code *code, const struct insn *call,
			     enum call_argument argument);

/**
 * image_code_line() - find the source line of an address
 * @file: out: valid until the image is closed
 * @line: out: >= 1
 *
 * Return: 0; -ENOENT if unknown.
 */
int image_code_line(struct image_code *code, uint64_t address, const char **file,
		    unsigned int *line);

#endif
