/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for the samples of an image of a database, of any kind: the procedures of its file, or the
 * symbols stored with the profile. The last entry stands for all other code, and gives the reason
 * if the file cannot be used.
 */
#ifndef DCPI_IMAGE_SYMBOLS_H
#define DCPI_IMAGE_SYMBOLS_H

#include <stdbool.h>

#include "analysis/image/image_lines.h"
#include "db/profile_read.h"

struct error;
struct image_symbols;
struct procedure_names;

/**
 * image_symbols_open() - get the procedures of an image
 * @id:    its number
 * @image: its description
 * @ret:   out; freed by image_symbols_close()
 *
 * A file that cannot be used is not an error.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int image_symbols_open(struct image_symbols **ret, struct profile_reader *reader, int64_t id,
		       const struct profile_image *image, const struct debug_file_options *options,
		       struct error *err);

/** image_symbols_close() - free; @symbols may be NULL */
void image_symbols_close(struct image_symbols *symbols);

/** image_symbols_count() - number of procedures, plus one for all other bytes */
size_t image_symbols_count(const struct image_symbols *symbols);

/** image_symbols_find() - find the entry of a byte: 0 .. count - 1, O(log n) */
size_t image_symbols_find(const struct image_symbols *symbols, uint64_t offset);

/**
 * image_symbols_name() - return the name of an entry
 * @address:     out: its start
 * @has_address: out: false for the entry of bytes without a name
 *
 * Return: malloc'd; "<image changed>" or another reason for the last entry. NULL if out of memory.
 */
char *image_symbols_name(const struct image_symbols *symbols, size_t index, bool demangle_names,
			 uint64_t *address, bool *has_address);

/**
 * image_symbols_names() - get all names of an entry
 * @ret: out: freed by procedure_names_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int image_symbols_names(const struct image_symbols *symbols, size_t index, bool demangle_names,
			struct procedure_names *ret);

/**
 * image_symbols_start() - get the start of an entry
 * @offset:  out: in the image
 * @address: out: its ELF virtual address; for symbols stored with the profile: the offset
 *
 * Return: false for the last entry, which has no start.
 */
bool image_symbols_start(const struct image_symbols *symbols, size_t index, uint64_t *offset,
			 uint64_t *address);

/**
 * image_symbols_lineless() - return the text for a line that image_symbols_line() does not know:
 * "<no line>", or the reason why there are no names
 */
const char *image_symbols_lineless(const struct image_symbols *symbols);

/**
 * image_symbols_line() - find the source line of a byte
 * @offset: in the image
 * @file:   out: valid until @symbols are closed
 *
 * Return: 0; -ENOENT: not known; -ENOMEM.
 */
int image_symbols_line(struct image_symbols *symbols, uint64_t offset, const char **file,
		       unsigned int *line);

/**
 * image_symbols_inlines() - find the inlined functions that contain a byte
 * @offset: in the image
 * @names:  out: as linkers see them, outermost first; valid until @symbols are closed
 * @count:  out
 *
 * Return: 0, also if none are known; -ENOMEM.
 */
int image_symbols_inlines(struct image_symbols *symbols, uint64_t offset,
			  const char *names[IMAGE_LINES_INLINES_MAX], size_t *count);

#endif
