/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The procedures of an image: from file offsets to names.
 *
 * Every byte of code has at most one procedure, found from the best source
 * that covers it; a name is never stretched over bytes that the source does
 * not give it:
 *
 *  1. symbols with a size cover that many bytes. Where symbols overlap, the
 *     innermost (which begins last) has the byte. Where symbols begin together,
 *     functions come before labels, global before weak before local; then
 *     elf_symbols_prefer() decides. Functions that begin together reach as far
 *     as the longest of them. The other symbols are aliases of the best one.
 *  2. symbols without a size (assembly) reach to the next symbol, to where
 *     unwinding information ends or begins another procedure, or to the end of
 *     the section. Those inside a symbol with a size are labels, not procedures.
 *  3. the table of functions that Go's runtime uses
 *  4. stubs of the procedure linkage table: "memcpy@plt"
 *  5. unwinding information: "proc_0x1a2b0", named after the ELF virtual
 *     address. Not where a symbol already begins that procedure.
 *  6. procedures that are called as the image begins and ends (.init_array, .fini_array), named
 *     in the same way, up to the next procedure
 *  7. the rest of a section: "[.text]"
 *
 * Compilers' separated parts ("main.cold") are procedures of their own.
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

/** enum procedure_source - how a procedure is known; better ones first. */
enum procedure_source {
	PROCEDURE_SYMBOL,  /* a symbol with a size */
	PROCEDURE_LABEL,   /* a symbol without one */
	PROCEDURE_PLT,	   /* a stub */
	PROCEDURE_UNWIND,  /* unwinding information only, or that it is called */
	PROCEDURE_SECTION, /* code that nothing is known of but its section */
};

/**
 * struct procedure - a procedure
 * @offset:  of its first byte, in the image (see db/profile.h)
 * @bytes:   its extent; others may lie inside
 * @address: ELF virtual address; of kept symbols, the offset
 * @name:    as in the file, without a symbol version
 * @version: "@V1" or "@@V2", where the name alone is not clear; else NULL
 * @file:    the source file of a local symbol, as far as the linker has recorded it, where
 *           other procedures have the same name; else NULL
 * @alias_first, @alias_count: see procedure_table_alias()
 * @inside:  of PROCEDURE_UNWIND: it begins inside a frame: a compiler has split it off
 *           another one (".cold")
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
 * Return: 0; errors as of image_lookup_open().
 */
int procedure_table_open(struct procedure_table **ret, const struct profile_image *image,
			 const struct debug_file_options *options, struct error *err);

/**
 * procedure_table_from_symbols() - make a table of symbols kept in a database
 * @symbols: in any order of offsets; the first of the symbols with one offset is the
 *           preferred one. A symbol without a size reaches to the next one, the
 *           last to the end of the image. Names are copied.
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_table_from_symbols(struct procedure_table **ret, const struct profile_symbol *symbols,
				 size_t count, struct error *err);

/** procedure_table_destroy() - free. NULL is fine. */
void procedure_table_destroy(struct procedure_table *table);

/** procedure_table_image() - the file it was read from; NULL: made of symbols, or an index. */
const struct image_elf *procedure_table_image(const struct procedure_table *table);

/** procedure_table_debug_file() - the separate symbols that were used; NULL: none were. */
const struct elf_file *procedure_table_debug_file(const struct procedure_table *table);

/** procedure_table_pads() - where exceptions lead to in the image; none of kept symbols. */
const struct landing_pads *procedure_table_pads(const struct procedure_table *table);

/** procedure_table_count() - number of procedures. */
size_t procedure_table_count(const struct procedure_table *table);

/** procedure_table_get() - a procedure, 0 .. count - 1, ordered by offset. */
const struct procedure *procedure_table_get(const struct procedure_table *table, size_t index);

/**
 * procedure_table_alias() - another symbol at the beginning of a procedure
 * @alias: 0 .. alias_count - 1 of the procedure, in alphabetical order
 *
 * Return: its name as in the file, with "@VERSION" where that is not clear without.
 */
const char *procedure_table_alias(const struct procedure_table *table, size_t index, size_t alias);

/**
 * procedure_table_find() - the procedure a byte belongs to, O(log procedures)
 *
 * Return: its index, or -ENOENT.
 */
long procedure_table_find(const struct procedure_table *table, uint64_t offset);

/**
 * procedure_table_visit() - the bytes that belong to a procedure and to no other one
 * @visit: called for each run of offsets [@start, @end), ascending; ends the walk by < 0
 *
 * O(log procedures + runs inside its extent). Return: 0, or what @visit returned.
 */
int procedure_table_visit(const struct procedure_table *table, size_t index,
			  int (*visit)(void *context, uint64_t start, uint64_t end), void *context);

#endif
