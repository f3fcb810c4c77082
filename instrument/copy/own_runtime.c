// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/own_runtime.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

static const char *why_of(const char *symbol)
{
	static const struct {
		const char *symbol;
		const char *why;
	} runtimes[] = {
		{"__morestack", "its stack is split, and calls return behind where they would"},
		{"__tsan_init", "the thread sanitizer takes the addresses that are needed"},
		{"__msan_init", "the memory sanitizer takes the addresses that are needed"},
	};

	for (size_t i = 0; symbol != NULL && i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if (strcmp(runtimes[i].symbol, symbol) == 0)
			return runtimes[i].why;
	return NULL;
}

/* A symbol that may be missing says only that the program looks whether it is there. */
static bool is_optional(const GElf_Sym *symbol)
{
	return symbol->st_shndx == SHN_UNDEF && GELF_ST_BIND(symbol->st_info) == STB_WEAK;
}

static const char *find_symbol(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *why = NULL;
	GElf_Sym symbol;

	for (int i = 0; why == NULL && data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++)
		if (!is_optional(&symbol))
			why = why_of(elf_strptr(elf, header->sh_link, symbol.st_name));
	return why;
}

const char *own_runtime_find(const struct elf_file *file)
{
	const char *why = NULL;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	if (elf_file_section(file, ".dcpix.text", &header) != NULL)
		return "dcpix has rewritten it already";
	if (elf_file_section(file, "xray_instr_map", &header) != NULL)
		return "XRay changes its code while it runs";
	while (why == NULL && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &header) != NULL &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			why = find_symbol(file->elf, scn, &header);
	}
	return why;
}
