// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/plt_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/name_pool.h"
#include "lib/array.h"
#include "lib/u64_map.h"

#define STUB_BYTES 16
#define NAME_BYTES_MAX 8192

/* struct plt_jump - code that looks like a stub, and the slot it jumps through. */
struct plt_jump {
	uint64_t address;
	uint64_t bytes;
	uint64_t slot;
};

struct plt_reader {
	const struct elf_file *elf;
	struct name_pool *pool;
	struct u64_map slots; /* address of a slot -> name (a pointer), 0: none */
	struct plt_stub *stubs;
	size_t count;
	size_t capacity;
	struct plt_jump *jumps; /* without a name so far */
	size_t jump_count;
	size_t jump_capacity;
};

static uint32_t little_u32(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* Decode [endbr64] [bnd] jmp *slot(%rip). Return: the slot's address, 0: no such stub. */
static uint64_t slot_x86_64(const uint8_t *code, size_t bytes, uint64_t address)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = 0;

	if (bytes >= 4 && memcmp(code, endbr64, 4) == 0)
		at = 4;
	if (at < bytes && code[at] == 0xf2)
		at++;
	if (bytes < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	return address + at + 6 + (uint64_t)(int64_t)(int32_t)little_u32(code + at + 2);
}

/* Decode adrp x16, page; ldr x17, [x16, #offset] */
static uint64_t slot_aarch64(const uint8_t *code, size_t bytes, uint64_t address)
{
	uint32_t adrp, ldr;
	int64_t page;

	if (bytes < 8)
		return 0;
	adrp = little_u32(code);
	ldr = little_u32(code + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	/* 21 bits, signed, in pages */
	page = (int64_t)((uint64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 43) >> 31;
	return (address & ~0xfffULL) + (uint64_t)page + (ldr >> 7 & 0x7ff8);
}

/* Record the names of the slots that a section's relocations set. */
static int read_relocations(struct plt_reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Scn *symbol_section = elf_getscn(reader->elf->elf, header->sh_link);
	Elf_Data *data = elf_getdata(section, NULL), *symbols;
	size_t entry = gelf_fsize(reader->elf->elf, ELF_T_RELA, 1, EV_CURRENT);
	GElf_Shdr symbol_header;

	if (symbol_section == NULL || gelf_getshdr(symbol_section, &symbol_header) == NULL ||
	    symbol_header.sh_type != SHT_DYNSYM || data == NULL || entry == 0)
		return 0;
	symbols = elf_getdata(symbol_section, NULL);
	for (size_t i = 0; i < data->d_size / entry; i++) {
		const char *name;
		uint64_t *slot;
		GElf_Rela rela;
		GElf_Sym symbol;

		if (gelf_getrela(data, (int)i, &rela) == NULL || GELF_R_SYM(rela.r_info) == 0 ||
		    gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &symbol) == NULL)
			continue;
		name = elf_strptr(reader->elf->elf, symbol_header.sh_link, symbol.st_name);
		if (name == NULL || *name == '\0' || rela.r_addend != 0 ||
		    strnlen(name, NAME_BYTES_MAX) == NAME_BYTES_MAX)
			continue;
		slot = u64_map_insert(&reader->slots, rela.r_offset);
		if (slot == NULL)
			return -ENOMEM;
		*slot = (uint64_t)(uintptr_t)name;
	}
	return 0;
}

/* Record a stub and its slot, if it has one; see name_stubs(). */
static int add_jump(struct plt_reader *reader, uint64_t address, uint64_t bytes, uint64_t slot)
{
	if (slot == 0)
		return 0;
	if (array_reserve(&reader->jumps, &reader->jump_capacity, reader->jump_count + 1,
			  sizeof(*reader->jumps)) < 0)
		return -ENOMEM;
	reader->jumps[reader->jump_count++] = (struct plt_jump){address, bytes, slot};
	return 0;
}

static int read_stubs(struct plt_reader *reader, const uint8_t *code, size_t bytes,
		      uint64_t address, size_t stub_bytes)
{
	for (size_t at = 0; at + stub_bytes <= bytes; at += stub_bytes) {
		int r = add_jump(reader, address + at, stub_bytes,
				 slot_x86_64(code + at, stub_bytes, address + at));

		if (r < 0)
			return r;
	}
	return 0;
}

/* The table begins with other code, and stubs with BTI are longer: so try every word. */
static int read_stubs_aarch64(struct plt_reader *reader, const uint8_t *code, size_t bytes,
			      uint64_t address)
{
	for (size_t at = 0; at + STUB_BYTES <= bytes; at += 4) {
		int r = add_jump(reader, address + at, STUB_BYTES,
				 slot_aarch64(code + at, STUB_BYTES, address + at));

		if (r < 0)
			return r;
	}
	return 0;
}

static int read_jumps(struct plt_reader *reader, GElf_Half machine)
{
	static const char *const names[] = {".plt", ".plt.got", ".plt.sec"};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(*names); i++) {
		GElf_Shdr header;
		Elf_Scn *section = elf_file_section(reader->elf, names[i], &header);
		Elf_Data *data = NULL;

		if (section != NULL && header.sh_type == SHT_PROGBITS)
			data = elf_rawdata(section, NULL);
		if (data == NULL || data->d_buf == NULL)
			continue;
		if (machine == EM_AARCH64)
			r = read_stubs_aarch64(reader, data->d_buf, data->d_size, header.sh_addr);
		else
			r = read_stubs(reader, data->d_buf, data->d_size, header.sh_addr,
				       header.sh_entsize == 8 ? 8 : STUB_BYTES);
	}
	return r;
}

static int add_stub(struct plt_reader *reader, const struct plt_jump *jump, const char *name)
{
	struct plt_stub stub = {.address = jump->address, .bytes = jump->bytes};

	stub.name = name_pool_format(reader->pool, "%s@plt", name);
	if (stub.name == NULL ||
	    array_reserve(&reader->stubs, &reader->capacity, reader->count + 1, sizeof(stub)) < 0)
		return -ENOMEM;
	reader->stubs[reader->count++] = stub;
	return 0;
}

/* Convert jumps with a known slot to stubs; the others wait for more relocations. */
static int name_stubs(struct plt_reader *reader)
{
	size_t left = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < reader->jump_count; i++) {
		const uint64_t *name = u64_map_find(&reader->slots, reader->jumps[i].slot);

		if (name == NULL)
			reader->jumps[left++] = reader->jumps[i];
		else
			r = add_stub(reader, &reader->jumps[i], (const char *)(uintptr_t)*name);
	}
	reader->jump_count = left;
	return r;
}

/*
 * Read only the first section of each name: a hostile file could have thousands. A library may have
 * megabytes of the second kind, which are read only if a stub's slot is still unknown.
 */
static int read_plt(struct plt_reader *reader, GElf_Half machine)
{
	static const char *const names[] = {".rela.plt", ".rela.dyn"};
	GElf_Shdr header;
	int r = read_jumps(reader, machine);

	for (size_t i = 0; r == 0 && i < sizeof(names) / sizeof(*names); i++) {
		Elf_Scn *section = NULL;

		if (reader->jump_count > 0)
			section = elf_file_section(reader->elf, names[i], &header);
		if (section == NULL || header.sh_type != SHT_RELA)
			continue;
		r = read_relocations(reader, section, &header);
		if (r == 0)
			r = name_stubs(reader);
	}
	return r;
}

int plt_names_read(struct plt_stub **ret, size_t *count, const struct elf_file *file,
		   struct name_pool *pool)
{
	struct plt_reader reader = {.elf = file, .pool = pool};
	GElf_Ehdr header;
	int r = 0;

	if (gelf_getehdr(reader.elf->elf, &header) != NULL &&
	    header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
	    (header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64))
		r = read_plt(&reader, header.e_machine);
	u64_map_deinit(&reader.slots);
	free(reader.jumps);
	if (r < 0) {
		free(reader.stubs);
		return r;
	}
	*ret = reader.stubs;
	*count = reader.count;
	return 0;
}
