// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/unsupported_runtime.h"

#include <gelf.h>
#include <stdbool.h>
#include <string.h>

static const char *why_of(const char *symbol)
{
	static const struct {
		const char *symbol;
		const char *why;
	} runtimes[] = {
		{"__morestack",
		 "its stack is split, and calls do not return to the next instruction"},
		{"__tsan_init", "the thread sanitizer uses the addresses that are needed"},
		{"__msan_init", "the memory sanitizer uses the addresses that are needed"},
	};

	for (size_t i = 0; symbol != NULL && i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if (strcmp(runtimes[i].symbol, symbol) == 0)
			return runtimes[i].why;
	return NULL;
}

/* V8 copies its compiled procedures and looks them up by address. */
static bool is_v8(const char *name, const GElf_Sym *symbol)
{
	static const char prefix[] = "_ZN2v88internal";

	return name != NULL && symbol->st_shndx != SHN_UNDEF &&
	       strncmp(name, prefix, sizeof(prefix) - 1) == 0;
}

/* An undefined weak symbol shows only that the program tests for its presence. */
static bool is_optional(const GElf_Sym *symbol)
{
	return symbol->st_shndx == SHN_UNDEF && GELF_ST_BIND(symbol->st_info) == STB_WEAK;
}

/* Programs linked with -pg call __monstartup() when they start. The C library only defines it. */
static bool is_monitored(const char *name, const GElf_Sym *symbol, bool dynamic)
{
	return name != NULL && strcmp(name, "__monstartup") == 0 &&
	       (symbol->st_shndx == SHN_UNDEF || !dynamic);
}

/* @dynamic: the file has a table of dynamic symbols */
static const char *find_symbol(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header, bool dynamic)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const char *why = NULL;
	GElf_Sym symbol;

	for (int i = 0; why == NULL && data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
		const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);

		if (is_v8(name, &symbol))
			why = "V8 copies its code and looks it up by address";
		else if (is_monitored(name, &symbol, dynamic))
			why = "gprof's profile (-pg) counts addresses";
		else if (!is_optional(&symbol))
			why = why_of(name);
	}
	return why;
}

const char *unsupported_runtime_find(const struct elf_file *file)
{
	const char *why = NULL;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	bool dynamic = elf_file_section(file, ".dynsym", &header) != NULL;

	if (elf_file_section(file, ".dcpix.text", &header) != NULL)
		return "dcpix has rewritten it already";
	if (elf_file_section(file, "xray_instr_map", &header) != NULL)
		return "XRay changes its code while it runs";
	while (why == NULL && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (gelf_getshdr(scn, &header) != NULL &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			why = find_symbol(file->elf, scn, &header, dynamic);
	}
	return why;
}

/*
 * __syscall_cp_asm of musl, for x86-64: load the thread's state, test it, jump if it is cancelled
 * (either form of the jump), then move the arguments of the system call. Static programs without
 * symbols have it, too.
 */
bool unsupported_runtime_is_fixed(const struct elf_image *image, uint64_t address)
{
	static const uint8_t test[] = {0x8b, 0x07, 0x85, 0xc0};
	static const uint8_t moves[] = {0x49, 0x89, 0xfb, 0x48, 0x89, 0xf0, 0x48, 0x89, 0xd7};
	static const uint8_t far_jump[] = {0x0f, 0x85};
	const uint8_t *code = elf_image_at(image, address, sizeof(test) + 6 + sizeof(moves));
	size_t jump_bytes;

	if (code == NULL || memcmp(code, test, sizeof(test)) != 0)
		return false;
	jump_bytes = memcmp(code + sizeof(test), far_jump, sizeof(far_jump)) == 0 ? 6 : 2;
	return memcmp(code + sizeof(test) + jump_bytes, moves, sizeof(moves)) == 0;
}
