/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads from an ELF file the symbols that contain given offsets.
 *
 * The names are those of analysis/image/procedure_table.h for symbols with and without a size: the
 * innermost symbol, and the preferred one of several that begin together. Names from other sources
 * (stubs, unwinding information) are not read.
 *
 * The file is untrusted, and may change meanwhile. Memory is bounded regardless of its contents.
 */
#ifndef DCPI_SYMBOL_READER_H
#define DCPI_SYMBOL_READER_H

#include <stddef.h>
#include <stdint.h>

struct unwind_file;

/* Symbols of a file with some hundred MB of code. */
#define SYMBOL_READER_SYMBOLS_MAX (4U << 20)
#define SYMBOL_READER_STRINGS_MAX (128U << 20)
/* Longer names are left out. */
#define SYMBOL_READER_NAME_BYTES_MAX 16384
/* All names of a call; further names are left out. */
#define SYMBOL_READER_NAMES_BYTES_MAX (4U << 20)

/**
 * struct symbol_extent - a range of offsets in the file, and its symbol
 * @start, @end:     all offsets from @start to @end - 1 have this symbol
 * @offset, @bytes:  of the symbol, which contains the range
 * @name:            position in the names; 0: the range has no symbol
 */
struct symbol_extent {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	uint64_t bytes;
	uint64_t name;
};

/**
 * struct symbol_extents - @count ranges, ascending and disjoint; freed by symbol_extents_deinit()
 * @names: strings, @names_bytes in total; the first is empty
 */
struct symbol_extents {
	struct symbol_extent *extents;
	size_t count;
	char *names;
	size_t names_bytes;
};

/**
 * symbol_reader_read() - find the symbols of offsets
 * @ret:     out: a range for each offset; several offsets may share one
 * @debug:   a file with more symbols of the same code; NULL: none
 * @offsets: ascending, @count of them; UINT64_MAX is ignored
 *
 * O(symbols log symbols + offsets).
 *
 * Return: 0, also if the file has no symbols; -ENOEXEC: not a 64-bit ELF file of a supported
 * machine; -EFBIG: too many symbols; -EIO: truncated; -ENOMEM; or the error of pread(2).
 */
int symbol_reader_read(struct symbol_extents *ret, const struct unwind_file *file,
		       const struct unwind_file *debug, const uint64_t *offsets, size_t count);

void symbol_extents_deinit(struct symbol_extents *extents);

#endif
