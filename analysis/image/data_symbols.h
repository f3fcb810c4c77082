/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The static data of an image, by position. A position is an ELF virtual address, less the constant
 * by which addresses and offsets of the image's code differ: data has no offset of its own if the
 * file does not contain it (.bss).
 */
#ifndef DCPI_DATA_SYMBOLS_H
#define DCPI_DATA_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct data_symbols;
struct debug_file_options;
struct error;
struct profile_image;

/** struct data_symbol - a variable; if no symbol of it is known, its section */
struct data_symbol {
	uint64_t address;
	uint64_t bytes;
	const char *name;
};

/**
 * data_symbols_open() - read the symbols of data of an image
 * @ret: out; freed by data_symbols_close()
 *
 * The symbols are those of .symtab in the file or in its debug file, else of .dynsym.
 *
 * Return: 0; errors of procedure_table_open().
 */
int data_symbols_open(struct data_symbols **ret, const struct profile_image *image,
		      const struct debug_file_options *options, struct error *err);

/** data_symbols_close() - free; @symbols may be NULL */
void data_symbols_close(struct data_symbols *symbols);

/**
 * data_symbols_find() - find the symbol that contains a position, or else the section
 *
 * O(log symbols). Return: owned by @symbols; NULL: the image has no data there.
 */
const struct data_symbol *data_symbols_find(const struct data_symbols *symbols, int64_t position);

#endif
