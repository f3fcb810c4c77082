// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/elf_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/image/elf_segments.h"
#include "lib/symbol_name.h"

/* struct code_section - address range of a section */
struct code_section {
	uint64_t address;
	uint64_t bytes; /* 0: not code */
};

/* Version numbers have 15 bits; bit 15 marks hidden symbols. */
#define VERSION_COUNT 0x8000

/*
 * struct version_table - the versions of a dynamic symbol table
 * @numbers: one for each symbol
 * @names:   by number, VERSION_COUNT elements; NULL: the file has no versions
 */
struct version_table {
	Elf_Data *numbers;
	const char **names;
};

/*
 * struct symbol_table - an open symbol table
 * @segments: the file has no section headers: names are in @found, code in segments
 */
struct symbol_table {
	Elf_Data *symbols;
	Elf_Data *extended; /* section numbers too large for a symbol */
	size_t count;
	size_t strings;
	struct code_section *sections;
	size_t section_count;
	struct version_table versions;
	const char *file; /* the last STT_FILE symbol */
	bool segments;
	struct elf_segments_symbols found;
};

static Elf_Scn *find_table(const struct elf_file *file, unsigned int type, GElf_Shdr *header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		if (gelf_getshdr(section, header) != NULL && header->sh_type == type)
			return section;
	}
	return NULL;
}

static Elf_Data *find_extended(const struct elf_file *file, size_t table)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_SYMTAB_SHNDX &&
		    header.sh_link == table)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

static void read_definitions(struct version_table *versions, const struct elf_file *file,
			     Elf_Data *data, size_t strings)
{
	GElf_Verdef definition;
	GElf_Verdaux name;
	size_t at = 0;

	/* Offsets only grow, so that a damaged list terminates. */
	while (at < data->d_size && at <= INT32_MAX &&
	       gelf_getverdef(data, (int)at, &definition) != NULL) {
		if (definition.vd_ndx < VERSION_COUNT && !(definition.vd_flags & VER_FLG_BASE) &&
		    definition.vd_aux <= INT32_MAX - at &&
		    gelf_getverdaux(data, (int)(at + definition.vd_aux), &name) != NULL)
			versions->names[definition.vd_ndx] =
				elf_strptr(file->elf, strings, name.vda_name);
		if (definition.vd_next == 0)
			break;
		at += definition.vd_next;
	}
}

static bool open_versions(struct version_table *versions, const struct elf_file *file)
{
	GElf_Shdr header;
	Elf_Scn *numbers = find_table(file, SHT_GNU_versym, &header);
	Elf_Scn *definitions = find_table(file, SHT_GNU_verdef, &header);
	Elf_Data *data = elf_getdata(definitions, NULL); /* NULL for a missing section */

	if (numbers == NULL || data == NULL)
		return true;
	versions->numbers = elf_getdata(numbers, NULL);
	versions->names = calloc(VERSION_COUNT, sizeof(*versions->names));
	if (versions->names == NULL)
		return false;
	read_definitions(versions, file, data, header.sh_link);
	return true;
}

static void read_version(const struct symbol_table *table, int i, struct elf_symbol *ret)
{
	GElf_Versym number;

	ret->version = NULL;
	ret->hidden = false;
	if (table->versions.numbers == NULL || table->versions.names == NULL ||
	    gelf_getversym(table->versions.numbers, i, &number) == NULL)
		return;
	ret->version = table->versions.names[number % VERSION_COUNT];
	ret->hidden = number >= VERSION_COUNT;
}

static bool read_code_sections(struct symbol_table *table, const struct elf_file *file)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	if (elf_getshdrnum(file->elf, &table->section_count) != 0 || table->section_count == 0)
		return false;
	table->sections = calloc(table->section_count, sizeof(*table->sections));
	if (table->sections == NULL)
		return false;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		size_t index = elf_ndxscn(section);

		if (index >= table->section_count || gelf_getshdr(section, &header) == NULL ||
		    !(header.sh_flags & SHF_EXECINSTR) || !(header.sh_flags & SHF_ALLOC))
			continue;
		table->sections[index].address = header.sh_addr;
		table->sections[index].bytes = header.sh_size;
	}
	return true;
}

static bool open_segments(struct symbol_table *table, const struct elf_file *file)
{
	if (!elf_segments_symbols_find(&table->found, file))
		return false;
	table->symbols = table->found.symbols;
	table->count = table->found.count;
	table->segments = true;
	return true;
}

static bool open_table(struct symbol_table *table, const struct elf_file *file, unsigned int type)
{
	GElf_Shdr header;
	Elf_Scn *section = find_table(file, type, &header);
	size_t entry = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);

	*table = (struct symbol_table){0};
	if (type == SHT_DYNSYM && !elf_file_has_sections(file))
		return open_segments(table, file);
	if (section == NULL || header.sh_type == SHT_NOBITS || entry == 0)
		return false;
	table->symbols = elf_getdata(section, NULL);
	if (table->symbols == NULL || table->symbols->d_buf == NULL)
		return false;
	table->extended = find_extended(file, elf_ndxscn(section));
	table->count = table->symbols->d_size / entry;
	table->strings = header.sh_link;
	if (type == SHT_DYNSYM && !open_versions(&table->versions, file))
		return false;
	return read_code_sections(table, file);
}

static void close_table(struct symbol_table *table)
{
	free(table->sections);
	free((void *)table->versions.names);
}

static bool type_rank(const GElf_Sym *symbol, unsigned int *rank)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		*rank = 0;
		break;
	case STT_NOTYPE:
		*rank = ELF_SYMBOL_LABEL;
		break;
	default:
		return false;
	}
	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return true;
	case STB_WEAK:
		*rank += 1;
		return true;
	}
	*rank += 2;
	return true;
}

static bool in_code(const struct symbol_table *table, const GElf_Sym *symbol, Elf32_Word extended)
{
	size_t index = symbol->st_shndx == SHN_XINDEX ? extended : symbol->st_shndx;
	const struct code_section *section;

	if (index == SHN_UNDEF || index >= table->section_count ||
	    (symbol->st_shndx >= SHN_LORESERVE && symbol->st_shndx != SHN_XINDEX))
		return false;
	section = &table->sections[index];
	return symbol->st_value >= section->address &&
	       symbol->st_value - section->address < section->bytes &&
	       symbol->st_size <= section->bytes - (symbol->st_value - section->address);
}

/* Return: NULL if the name is not in the table. */
static const char *symbol_name(const struct symbol_table *table, const struct elf_file *file,
			       const GElf_Sym *symbol)
{
	if (!table->segments)
		return elf_strptr(file->elf, table->strings, symbol->st_name);
	return symbol->st_name < table->found.string_bytes ? table->found.strings + symbol->st_name
							   : NULL;
}

/* Return: true if entry @i is a code symbol. */
static bool read_symbol(struct symbol_table *table, const struct elf_file *file, int i,
			struct elf_symbol *ret)
{
	Elf32_Word extended = 0;
	GElf_Sym symbol;

	if (gelf_getsymshndx(table->symbols, table->extended, i, &symbol, &extended) == NULL)
		return false;
	if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
		table->file = symbol_name(table, file, &symbol);
	if (!type_rank(&symbol, &ret->rank))
		return false;
	if (table->segments ? symbol.st_shndx == SHN_UNDEF ||
				      !elf_segments_is_code(file, symbol.st_value, symbol.st_size)
			    : !in_code(table, &symbol, extended))
		return false;
	ret->file = NULL;
	/* After the symbols of the last file, linkers add a file symbol without a name. */
	if (GELF_ST_BIND(symbol.st_info) == STB_LOCAL && table->file != NULL &&
	    *table->file != '\0')
		ret->file = table->file;
	read_version(table, i, ret);
	ret->name = symbol_name(table, file, &symbol);
	ret->address = symbol.st_value;
	ret->bytes = symbol.st_size;
	return ret->name != NULL && !symbol_name_is_noise(ret->name);
}

int elf_symbols_visit(const struct elf_file *file, unsigned int type, elf_symbol_fn visit,
		      void *context)
{
	struct symbol_table table;
	int r = 0;

	if (open_table(&table, file, type)) {
		for (size_t i = 1; r == 0 && i < table.count; i++) {
			struct elf_symbol symbol;

			if (read_symbol(&table, file, (int)i, &symbol))
				r = visit(context, &symbol);
		}
	}
	close_table(&table);
	return r;
}

static bool data_symbol_read(struct symbol_table *table, const struct elf_file *file, int i,
			     struct elf_symbol *ret)
{
	GElf_Sym symbol;

	if (gelf_getsym(table->symbols, i, &symbol) == NULL ||
	    GELF_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF ||
	    symbol.st_size == 0 || symbol.st_value > UINT64_MAX - symbol.st_size)
		return false;
	*ret = (struct elf_symbol){
		.address = symbol.st_value,
		.bytes = symbol.st_size,
		.rank = GELF_ST_BIND(symbol.st_info) == STB_LOCAL,
		.name = symbol_name(table, file, &symbol),
	};
	return ret->name != NULL && ret->name[0] != '\0';
}

int elf_symbols_data(const struct elf_file *file, unsigned int type, elf_symbol_fn visit,
		     void *context)
{
	struct symbol_table table;
	int r = 0;

	if (open_table(&table, file, type) && !table.segments) {
		for (size_t i = 1; r == 0 && i < table.count; i++) {
			struct elf_symbol symbol;

			if (data_symbol_read(&table, file, (int)i, &symbol))
				r = visit(context, &symbol);
		}
	}
	close_table(&table);
	return r;
}

bool elf_symbols_present(const struct elf_file *file, unsigned int type)
{
	struct symbol_table table;
	bool present = open_table(&table, file, type) && table.count > 1;

	close_table(&table);
	return present;
}
