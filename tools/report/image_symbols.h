/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for the samples of an image of a database, whatever its kind: the
 * procedures of its file, or the symbols kept with the profile, or else one
 * entry that says why there are no names.
 */
#ifndef DCPI_IMAGE_SYMBOLS_H
#define DCPI_IMAGE_SYMBOLS_H

#include <stdbool.h>

#include "analysis/image/debug_file.h"
#include "db/profile_read.h"

struct error;
struct image_symbols;
struct procedure_names;

/**
 * image_symbols_open() - get the procedures of an image
 * @id:    its number
 * @image: what it is
 * @ret:   out; freed by image_symbols_close()
 *
 * A file that cannot be used is no failure.
 *
 * Return: 0, -ENOMEM, or the reader's error.
 */
int image_symbols_open(struct image_symbols **ret, struct profile_reader *reader, int64_t id,
		       const struct profile_image *image, const struct debug_file_options *options,
		       struct error *err);

/** image_symbols_close() - free. NULL is fine. */
void image_symbols_close(struct image_symbols *symbols);

/** image_symbols_count() - procedures, and one more for all other bytes. */
size_t image_symbols_count(const struct image_symbols *symbols);

/** image_symbols_find() - what a byte belongs to: 0 .. count - 1, O(log n). */
size_t image_symbols_find(const struct image_symbols *symbols, uint64_t offset);

/**
 * image_symbols_name() - the name of an entry
 * @address:     out: where it begins
 * @has_address: out: 0 for the bytes that have no name
 *
 * Return: malloc'd; "<image changed>" and such for the last entry. NULL if out
 * of memory.
 */
char *image_symbols_name(const struct image_symbols *symbols, size_t index, bool demangle_names,
			 uint64_t *address, bool *has_address);

/**
 * image_symbols_names() - all names of an entry
 * @ret: out: freed by procedure_names_deinit()
 *
 * Return: 0 or -ENOMEM.
 */
int image_symbols_names(const struct image_symbols *symbols, size_t index, bool demangle_names,
			struct procedure_names *ret);

/**
 * image_symbols_start() - where an entry begins
 * @offset:  out: in the image
 * @address: out: its ELF virtual address; of kept symbols, the offset
 *
 * Return: false for the last entry, which begins nowhere.
 */
bool image_symbols_start(const struct image_symbols *symbols, size_t index, uint64_t *offset,
			 uint64_t *address);

/**
 * image_symbols_lineless() - what stands for the line where image_symbols_line() knows none:
 * "<no line>", or why there are no names
 */
const char *image_symbols_lineless(const struct image_symbols *symbols);

/**
 * image_symbols_line() - the source line of a byte
 * @offset: in the image
 * @file:   out: valid until @symbols are closed
 *
 * Return: 0; -ENOENT not known; -ENOMEM.
 */
int image_symbols_line(struct image_symbols *symbols, uint64_t offset, const char **file,
		       unsigned int *line);

#endif
