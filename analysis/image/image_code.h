/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of an image, ready to be analysed: its procedures with all their parts,
 * their bytes, the constants that their jumps look up, and source lines.
 *
 * Opening reads headers and symbols; code and line tables are read when they are
 * asked for. Nothing in the file is trusted. Any function but open and close may be
 * called by several threads at once.
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
 * Return: 0; errors as of image_lookup_open(); -ENOTSUP there is no decoder for its
 * architecture (the message names it); -ENODATA only a debug file is left, without code.
 */
int image_code_open(struct image_code **ret, const struct profile_image *image,
		    const struct debug_file_options *options, struct error *err);

/**
 * image_code_open_names() - open the procedures and lines of an image, also without its code
 *
 * As image_code_open(). Where that returns -ENOTSUP or -ENODATA, this succeeds:
 * image_code_decoder() is then NULL, no address has bytes, and only procedures, their parts,
 * offsets and lines may be asked for.
 */
int image_code_open_names(struct image_code **ret, const struct profile_image *image,
			  const struct debug_file_options *options, struct error *err);

/**
 * image_code_open_same() - open the code of a file if it still is what it was
 * @directory: where separate debug files may be, or NULL
 *
 * Return: NULL if it is not, or cannot be read.
 */
struct image_code *image_code_open_same(const char *path, const char *build_id,
					const char *directory);

/** image_code_close() - free. NULL is fine. */
void image_code_close(struct image_code *code);

/** image_code_decoder() - NULL without code that can be decoded: image_code_open_names(). */
const struct insn_decoder *image_code_decoder(const struct image_code *code);
const struct procedure_table *image_code_procedures(const struct image_code *code);

/** image_code_file() - the file, open as long as the image is; not where its debug data are. */
const struct elf_file *image_code_file(const struct image_code *code);

/** image_code_build_id() - in hexadecimal, "" if it has none. */
const char *image_code_build_id(const struct image_code *code);

/**
 * image_code_parts() - the ranges that make up a procedure
 * @index: in image_code_procedures()
 * @parts: out: the procedure itself first, then what the compiler split off it
 *         ("NAME.cold", "NAME.cold.1"; in stripped files, what begins inside a frame
 *         and jumps back into the procedure: a part without either stays apart)
 *
 * Return: how many, 1 .. PROCEDURE_PARTS_MAX; 0: it is itself a part of another
 * procedure (@parent: out, its index).
 */
size_t image_code_parts(const struct image_code *code, size_t index,
			struct image_range parts[PROCEDURE_PARTS_MAX], size_t *parent);

/**
 * image_code_bytes() - the bytes at an address of code
 * @available: out: bytes from there to the end of the section, but no more than 1 MiB:
 *             ask again for what follows
 *
 * Return: valid until the image is closed; NULL if there is no code there.
 */
const uint8_t *image_code_bytes(struct image_code *code, uint64_t address, size_t *available);

/**
 * image_code_data() - bytes that the file gives to memory that is not written:
 * read-only segments, and .data.rel.ro with its relative relocations applied
 *
 * Return: 0; -ENOENT that memory is not known before the program runs.
 */
int image_code_data(struct image_code *code, uint64_t address, void *buffer, size_t bytes);

/**
 * image_code_pointers() - places whose addresses are in constant data
 * @visit: called for each in [@start, @end), ascending, some more than once
 *
 * Only what the dynamic loader relocates is known to be an address: nothing is found in
 * executables of a fixed address.
 */
void image_code_pointers(struct image_code *code, uint64_t start, uint64_t end,
			 void (*visit)(void *context, uint64_t target), void *context);

/**
 * image_code_landing_pads() - where exceptions of the frames that begin in [@start, @end) lead
 * @visit: called for each place, some more than once; they may be outside
 */
void image_code_landing_pads(const struct image_code *code, uint64_t start, uint64_t end,
			     void (*visit)(void *context, uint64_t address), void *context);

/**
 * image_code_initial() - a pointer that may change later, as the file has it: slots of the
 * linkage table lead back to their stub before they are bound
 *
 * Return: 0; -ENOENT the file does not have it.
 */
int image_code_initial(struct image_code *code, uint64_t address, uint64_t *pointer);

/** image_code_find() - the procedure that has an address. Return: its index, or -ENOENT. */
long image_code_find(const struct image_code *code, uint64_t address);

/** image_code_slot_name() - the symbol that a GOT slot is bound to. Return: NULL: to none. */
const char *image_code_slot_name(struct image_code *code, uint64_t address);

/** image_code_offset() - the file offset of an address. Return: 0 or -ENOENT. */
int image_code_offset(const struct image_code *code, uint64_t address, uint64_t *offset);

/** image_code_address() - the ELF virtual address of a file offset. Return: 0 or -ENOENT. */
int image_code_address(const struct image_code *code, uint64_t offset, uint64_t *address);

/** image_code_span() - likewise. Return: for so many bytes on addresses go with offsets; 0: it has
 * none. */
uint64_t image_code_span(const struct image_code *code, uint64_t offset, uint64_t *address);

/**
 * image_code_never_returns() - whether a call of this address is known not to return
 * (exit, abort, __stack_chk_fail, ... by the names of symbols and PLT stubs)
 */
bool image_code_never_returns(const struct image_code *code, uint64_t address);

/**
 * image_code_call_returns() - whether a call may return, from names and from the code
 * that is called (see call_returns.h; what was found is remembered)
 * @call:     direct or indirect
 * @argument: of the call
 */
bool image_code_call_returns(struct image_code *code, const struct insn *call,
			     enum call_argument argument);

/**
 * image_code_line() - the source line of an address
 * @file: out: valid until the image is closed
 * @line: out: >= 1
 *
 * Return: 0; -ENOENT not known.
 */
int image_code_line(struct image_code *code, uint64_t address, const char **file,
		    unsigned int *line);

#endif
