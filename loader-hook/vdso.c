// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/vdso.h"

#include <errno.h>
#include <gelf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#include "lib/cleanup.h"

CLEANUP_DEFINE(elf, Elf *, elf_end)

/* The vDSO of this process; its header can be trusted, because the kernel made it. */
static const ElfW(Ehdr) * own_vdso(void)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);

	return (const void *)address;
}

int vdso_build_id(struct build_id *ret)
{
	const ElfW(Ehdr) *header = own_vdso();
	const ElfW(Phdr) * segments;
	size_t i;

	if (header == NULL)
		return -ENOENT;
	segments = (const void *)((const uint8_t *)header + header->e_phoff);
	for (i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_NOTE &&
		    build_id_from_notes(ret, (const uint8_t *)header + segments[i].p_offset,
					segments[i].p_filesz, segments[i].p_align) == 0)
			return 0;
	}
	return -ENOENT;
}

/* The section headers are at the end of the vDSO. */
static size_t file_bytes(const ElfW(Ehdr) * header)
{
	return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

const uint8_t *vdso_file(size_t *bytes)
{
	const ElfW(Ehdr) *header = own_vdso();

	*bytes = header != NULL ? file_bytes(header) : 0;
	return (const uint8_t *)header;
}

static Elf *open_elf(const ElfW(Ehdr) * header, void **copy)
{
	size_t bytes = file_bytes(header);

	*copy = malloc(bytes);
	if (*copy == NULL)
		return NULL;
	memcpy(*copy, header, bytes);
	elf_version(EV_CURRENT);
	return elf_memory(*copy, bytes);
}

static int visit_section(Elf *elf, Elf_Scn *section, vdso_symbol_fn visit, void *context)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;
	int i;

	if (data == NULL || gelf_getshdr(section, &header) == NULL)
		return -ENOEXEC;
	for (i = 0; gelf_getsym(data, i, &symbol) != NULL; i++) {
		const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);

		if (name == NULL || *name == '\0' || symbol.st_shndx == SHN_UNDEF ||
		    symbol.st_shndx == SHN_ABS)
			continue;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
			visit(context, name, symbol.st_value, symbol.st_size,
			      GELF_ST_BIND(symbol.st_info) == STB_GLOBAL);
	}
	return 0;
}

int vdso_symbols(vdso_symbol_fn visit, void *context)
{
	const ElfW(Ehdr) *header = own_vdso();
	_cleanup_free_ void *copy = NULL;
	_cleanup_(cleanup_elf) Elf *elf = NULL;
	Elf_Scn *section = NULL;

	if (header == NULL)
		return -ENOENT;
	elf = open_elf(header, &copy);
	if (elf == NULL)
		return copy != NULL ? -ENOEXEC : -ENOMEM;
	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr section_header;
		int result;

		if (gelf_getshdr(section, &section_header) == NULL)
			return -ENOEXEC;
		if (section_header.sh_type != SHT_DYNSYM)
			continue;
		result = visit_section(elf, section, visit, context);
		if (result < 0)
			return result;
	}
	return 0;
}
