// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/elf_symbols.h"

#include <stdlib.h>
#include <string.h>

/* Of a name, when choosing: a hostile file can make comparing whole names slow. */
#define COMPARED_BYTES 256

/* Where symbols of a section may be. */
struct code_section {
	uint64_t address;
	uint64_t bytes; /* 0: not code */
};

struct symbol_table {
	Elf_Data *symbols;
	Elf_Data *extended; /* section numbers too big for a symbol */
	size_t count;
	size_t strings;
	struct code_section *sections;
	size_t section_count;
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

static bool open_table(struct symbol_table *table, const struct elf_file *file, unsigned int type)
{
	GElf_Shdr header;
	Elf_Scn *section = find_table(file, type, &header);
	size_t entry = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);

	*table = (struct symbol_table){0};
	if (section == NULL || header.sh_type == SHT_NOBITS || entry == 0)
		return false;
	table->symbols = elf_getdata(section, NULL);
	if (table->symbols == NULL || table->symbols->d_buf == NULL)
		return false;
	table->extended = find_extended(file, elf_ndxscn(section));
	table->count = table->symbols->d_size / entry;
	table->strings = header.sh_link;
	return read_code_sections(table, file);
}

static bool type_rank(const GElf_Sym *symbol, unsigned int *rank)
{
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		*rank = 0;
		break;
	case STT_NOTYPE:
		*rank = 3;
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

/* Labels that compilers and assemblers leave behind: ".L12", and "$x" on ARM. */
static bool is_noise(const char *name)
{
	if (name[0] == '\0' || (name[0] == '.' && name[1] == 'L'))
		return true;
	return name[0] == '$' && name[1] != '\0' && strchr("adtx", name[1]) != NULL &&
	       (name[2] == '\0' || name[2] == '.');
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

/* Return: whether entry @i is a code symbol. */
static bool read_symbol(const struct symbol_table *table, const struct elf_file *file, int i,
			struct elf_symbol *ret)
{
	Elf32_Word extended = 0;
	GElf_Sym symbol;

	if (gelf_getsymshndx(table->symbols, table->extended, i, &symbol, &extended) == NULL ||
	    !type_rank(&symbol, &ret->rank) || !in_code(table, &symbol, extended))
		return false;
	ret->name = elf_strptr(file->elf, table->strings, symbol.st_name);
	ret->address = symbol.st_value;
	ret->bytes = symbol.st_size;
	return ret->name != NULL && !is_noise(ret->name);
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
	free(table.sections);
	return r;
}

bool elf_symbols_present(const struct elf_file *file, unsigned int type)
{
	struct symbol_table table;
	bool present = open_table(&table, file, type) && table.count > 1;

	free(table.sections);
	return present;
}

static size_t underscores(const char *name)
{
	size_t count = 0;

	while (count < COMPARED_BYTES && name[count] == '_')
		count++;
	return count;
}

int elf_symbols_prefer(const char *a, const char *b)
{
	size_t underscores_a = underscores(a), underscores_b = underscores(b);
	size_t length_a, length_b;

	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? -1 : 1;
	length_a = strnlen(a, COMPARED_BYTES);
	length_b = strnlen(b, COMPARED_BYTES);
	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return strncmp(a, b, COMPARED_BYTES);
}
