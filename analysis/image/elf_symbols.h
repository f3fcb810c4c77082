/* SPDX-License-Identifier: GPL-2.0-only */
/* The symbols of code and of data in an ELF file's symbol tables. */
#ifndef DCPI_ELF_SYMBOLS_H
#define DCPI_ELF_SYMBOLS_H

#include "analysis/image/elf_file.h"

/** ELF_SYMBOL_LABEL - the lowest rank of symbols that are not functions */
#define ELF_SYMBOL_LABEL 3

/**
 * struct elf_symbol - a symbol in a section that holds code
 * @address: ELF virtual address
 * @bytes:   0 if the symbol has no size (assembly)
 * @rank:    lower is better: functions before labels (ELF_SYMBOL_LABEL); within each, global, weak,
 *           local
 * @name:    as in the file ("fopen@@GLIBC_2.2.5" in some files). All strings are valid while the
 *           file is open
 * @version: in SHT_DYNSYM: the symbol's version ("GLIBC_2.2.5"); NULL: none
 * @hidden:  new programs are not linked with this version ("name@VERSION")
 * @file:    for a local symbol: the source file that the linker recorded for it; NULL: unknown
 */
struct elf_symbol {
	uint64_t address;
	uint64_t bytes;
	unsigned int rank;
	const char *name;
	const char *version;
	bool hidden;
	const char *file;
};

typedef int (*elf_symbol_fn)(void *context, const struct elf_symbol *symbol);

/**
 * elf_symbols_visit() - visit all code symbols of a table, in the file's order
 * @type: SHT_SYMTAB or SHT_DYNSYM
 *
 * Sections without contents count as code by their flags, so that separate debug files work.
 *
 * Return: 0, also if there is no such table or its readable part ends early; else the result of
 * @visit.
 */
int elf_symbols_visit(const struct elf_file *file, unsigned int type, elf_symbol_fn visit,
		      void *context);

/**
 * elf_symbols_data() - visit all symbols of data with a size, in the file's order
 *
 * Thread-local variables are not among them: their values are offsets in a thread's block.
 *
 * Return: as elf_symbols_visit(). Nothing is visited if the file has no section headers.
 */
int elf_symbols_data(const struct elf_file *file, unsigned int type, elf_symbol_fn visit,
		     void *context);

/** elf_symbols_present() - return true if there is a non-empty table of a type. */
bool elf_symbols_present(const struct elf_file *file, unsigned int type);

#endif
