/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code of an image as in its file: procedures by symbols, bytes, a decoder. image_code.h adds
 * the results of following that code.
 *
 * Internal to image_code.c. Any function except open and close may be called by several threads at
 * once.
 */
#ifndef DCPI_IMAGE_TEXT_H
#define DCPI_IMAGE_TEXT_H

#include "analysis/image/procedure_table.h"
#include "analysis/insn/insn.h"

struct image_elf;
struct image_memory;

/** struct image_range - code bytes [@start, @end), ELF virtual addresses. */
struct image_range {
	uint64_t start;
	uint64_t end;
};

/**
 * struct image_text - read-only; @image: owned by the table
 *
 * @decoder and @memory are NULL if the code cannot be decoded. @kernel: see image_code_is_kernel()
 */
struct image_text {
	const struct insn_decoder *decoder;
	struct procedure_table *procedures;
	const struct image_elf *image;
	struct image_memory *memory;
	bool kernel;
};

/** image_text_open() - see image_code_open(); with @names, see image_code_open_names(). */
int image_text_open(struct image_text **ret, const struct profile_image *image,
		    const struct debug_file_options *options, bool names, struct error *err);

/** image_text_close() - free. NULL is fine. */
void image_text_close(struct image_text *text);

/** image_text_bytes() - see image_code_bytes(). */
const uint8_t *image_text_bytes(struct image_text *text, uint64_t address, size_t *available);

/** image_text_find() - see image_code_find(). */
long image_text_find(const struct image_text *text, uint64_t address);

/**
 * image_text_never_returns() - return true if a call of this address is known not to return (exit,
 * abort, __stack_chk_fail, ... by the names of symbols and PLT stubs)
 */
bool image_text_never_returns(const struct image_text *text, uint64_t address);

#endif
