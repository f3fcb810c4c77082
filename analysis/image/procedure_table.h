/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The procedures of an image, by file offset.
 *
 * Every byte of code belongs to at most one procedure, found from the best source that covers it. A
 * name is never extended to bytes that its source does not assign to it:
 *
 * 1. symbols with a size cover that number of bytes. Where symbols overlap, a byte belongs to the
 *    innermost one (which begins last). Where symbols begin together, functions come before labels,
 *    global before weak before local; then symbol_name_prefer() decides. Functions that begin
 *    together extend as far as the longest of them. The other symbols are aliases of the best one.
 * 2. symbols without a size (assembly) extend to the next symbol, to the place where unwinding
 *    information ends or begins another procedure, or to the end of the section. Symbols without a
 *    size inside a symbol with a size are labels, not procedures.
 * 3. the table of functions that Go's runtime uses
 * 4. stubs of the procedure linkage table: "memcpy@plt"
 * 5. unwinding information: "proc_0x1a2b0", named after the ELF virtual address, unless a symbol
 *    begins there.
 * 6. procedures that are called when the image is initialised or finalised (.init_array,
 *    .fini_array), named in the same way, up to the next procedure
 * 7. the rest of a section: "[.text]"
 *
 * Parts that compilers split off ("main.cold") are procedures of their own.
 */
#ifndef DCPI_PROCEDURE_TABLE_H
#define DCPI_PROCEDURE_TABLE_H

#include <stdbool.h>

#include "analysis/image/debug_file.h"
#include "db/profile.h"

struct error;
struct image_elf;
struct landing_pads;
struct procedure_table;

/** enum procedure_source - evidence of a procedure; best first. */
enum procedure_source {
	PROCEDURE_SYMBOL,  /* a symbol with a size */
	PROCEDURE_LABEL,   /* a symbol without a size */
	PROCEDURE_PLT,	   /* a stub */
	PROCEDURE_UNWIND,  /* only unwinding information, or calls */
	PROCEDURE_SECTION, /* only its section is known */
};

/**
 * struct procedure - a procedure
 * @offset:  of its first byte, in the image (see db/profile.h)
 * @bytes:   its extent; others may lie inside
 * @address: ELF virtual address; for symbols from a database, the offset
 * @name:    as in the file, without a symbol version
 * @version: "@V1" or "@@V2" if the name alone is ambiguous; else NULL
 * @file:    the source file of a local symbol, if the linker has recorded it and other procedures
 *           have the same name; else NULL
 * @alias_first, @alias_count: see procedure_table_alias()
 * @inside:  for PROCEDURE_UNWIND: it begins inside a frame, because a compiler has split it off
 *           another procedure (".cold")
 */
struct procedure {
	uint64_t offset;
	uint64_t bytes;
	uint64_t address;
	const char *name;
	const char *version;
	const char *file;
	size_t alias_first;
	size_t alias_count;
	enum procedure_source source;
	bool inside;
};

/**
 * procedure_table_open() - read the procedures of an image's file
 * @image: of kind PROFILE_IMAGE_FILE
 * @ret:   out; freed by procedure_table_destroy()
 *
 * Return: 0; errors of image_lookup_open().
 */
int procedure_table_open(struct procedure_table **ret, const struct profile_image *image,
			 const struct debug_file_options *options, struct error *err);

/**
 * procedure_table_from_symbols() - make a table from the symbols in a database
 * @symbols: in any order of offsets; the first symbol of an offset is preferred. A symbol without a
 *           size extends to the next one, the last to the end of the image. Names are copied.
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_table_from_symbols(struct procedure_table **ret, const struct profile_symbol *symbols,
				 size_t count, struct error *err);

/** procedure_table_destroy() - free. NULL is fine. */
void procedure_table_destroy(struct procedure_table *table);

/** procedure_table_image() - return its file; NULL for a table made from symbols or an index. */
const struct image_elf *procedure_table_image(const struct procedure_table *table);

/**
 * procedure_table_debug_file() - return the separate file of its symbols; NULL if none was used.
 */
const struct elf_file *procedure_table_debug_file(const struct procedure_table *table);

/** procedure_table_pads() - return the image's landing pads; empty for symbols from a database. */
const struct landing_pads *procedure_table_pads(const struct procedure_table *table);

/** procedure_table_count() - return the number of procedures. */
size_t procedure_table_count(const struct procedure_table *table);

/** procedure_table_get() - return a procedure, 0 .. count - 1, ordered by offset. */
const struct procedure *procedure_table_get(const struct procedure_table *table, size_t index);

/**
 * procedure_table_alias() - return the name of another symbol at the beginning of a procedure
 * @alias: 0 .. alias_count - 1 of the procedure, in alphabetical order
 *
 * Return: its name as in the file, with "@VERSION" if it is ambiguous without.
 */
const char *procedure_table_alias(const struct procedure_table *table, size_t index, size_t alias);

/**
 * procedure_table_find() - find the procedure that a byte belongs to, O(log procedures)
 *
 * Return: its index, or -ENOENT.
 */
long procedure_table_find(const struct procedure_table *table, uint64_t offset);

/**
 * procedure_table_visit() - visit the bytes that belong to a procedure
 * @visit: called for each run of offsets [@start, @end), ascending; a result < 0 ends the iteration
 *
 * O(log procedures + runs inside its extent). Return: 0, or the result of @visit.
 */
int procedure_table_visit(const struct procedure_table *table, size_t index,
			  int (*visit)(void *context, uint64_t start, uint64_t end), void *context);

#endif
