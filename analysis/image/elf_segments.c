// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/elf_segments.h"

#include <dwarf.h>
#include <string.h>

#include "lib/encoded_pointer.h"
#include "lib/bounded_reader.h"

#define SYMBOLS_MAX (1U << 24)

/* Addresses and sizes from PT_DYNAMIC; 0: absent. */
struct dynamic {
	uint64_t symbols;
	uint64_t strings;
	uint64_t string_bytes;
	uint64_t hash;
	uint64_t gnu_hash;
};

static bool next_header(const struct elf_file *file, size_t *index, GElf_Word type,
			GElf_Phdr *header)
{
	size_t count;

	if (elf_getphdrnum(file->elf, &count) != 0)
		return false;
	while (*index < count) {
		if (gelf_getphdr(file->elf, (int)(*index)++, header) == NULL)
			return false;
		if (header->p_type == type)
			return true;
	}
	return false;
}

static bool is_little_endian(const struct elf_file *file)
{
	const char *ident = elf_getident(file->elf, NULL);

	return ident != NULL && ident[EI_DATA] == ELFDATA2LSB;
}

static size_t word_bytes(const struct elf_file *file)
{
	return gelf_getclass(file->elf) == ELFCLASS32 ? 4 : 8;
}

uint64_t elf_segments_offset(const struct elf_file *file, uint64_t address, uint64_t *offset)
{
	GElf_Phdr header;
	size_t index = 0;

	while (next_header(file, &index, PT_LOAD, &header)) {
		uint64_t inside = address - header.p_vaddr;

		if (address < header.p_vaddr || inside >= header.p_filesz ||
		    header.p_offset > file->bytes ||
		    header.p_filesz > file->bytes - header.p_offset)
			continue;
		*offset = header.p_offset + inside;
		return header.p_filesz - inside;
	}
	return 0;
}

Elf_Data *elf_segments_data(const struct elf_file *file, uint64_t address, uint64_t bytes_max,
			    Elf_Type type)
{
	uint64_t offset, bytes = elf_segments_offset(file, address, &offset);

	if (bytes == 0)
		return NULL;
	return elf_getdata_rawchunk(file->elf, (int64_t)offset,
				    bytes < bytes_max ? bytes : bytes_max, type);
}

bool elf_segments_is_code(const struct elf_file *file, uint64_t address, uint64_t bytes)
{
	GElf_Phdr header;
	size_t index = 0;

	while (next_header(file, &index, PT_LOAD, &header)) {
		if ((header.p_flags & PF_X) != 0 && address >= header.p_vaddr &&
		    address - header.p_vaddr < header.p_memsz &&
		    bytes <= header.p_memsz - (address - header.p_vaddr))
			return true;
	}
	return false;
}

Elf_Data *elf_segments_eh_frame(const struct elf_file *file, uint64_t *address)
{
	struct bounded_reader reader;
	GElf_Phdr header;
	Elf_Data *data;
	size_t index = 0;
	uint8_t version, encoding;

	if (!is_little_endian(file) || !next_header(file, &index, PT_GNU_EH_FRAME, &header))
		return NULL;
	data = elf_segments_data(file, header.p_vaddr, header.p_filesz, ELF_T_BYTE);
	if (data == NULL || data->d_buf == NULL)
		return NULL;
	bounded_reader_init(&reader, data->d_buf, data->d_size);
	version = bounded_reader_u8(&reader);
	encoding = bounded_reader_u8(&reader);
	bounded_reader_bytes(&reader, 2); /* encodings of the search table */
	if (version != 1 ||
	    encoded_pointer_resolve(address, &reader, encoding, word_bytes(file),
				    header.p_vaddr + 4) < 0 ||
	    bounded_reader_failed(&reader))
		return NULL;
	return elf_segments_data(file, *address, UINT64_MAX, ELF_T_BYTE);
}

static bool read_dynamic(struct dynamic *dynamic, const struct elf_file *file)
{
	size_t index = 0, entry = gelf_fsize(file->elf, ELF_T_DYN, 1, EV_CURRENT);
	GElf_Phdr header;
	Elf_Data *data;
	GElf_Dyn item;

	if (entry == 0 || !next_header(file, &index, PT_DYNAMIC, &header))
		return false;
	data = elf_segments_data(file, header.p_vaddr, header.p_filesz, ELF_T_DYN);
	for (size_t i = 0; data != NULL && i < data->d_size / entry; i++) {
		if (gelf_getdyn(data, (int)i, &item) == NULL || item.d_tag == DT_NULL)
			break;
		if (item.d_tag == DT_SYMTAB)
			dynamic->symbols = item.d_un.d_ptr;
		else if (item.d_tag == DT_STRTAB)
			dynamic->strings = item.d_un.d_ptr;
		else if (item.d_tag == DT_STRSZ)
			dynamic->string_bytes = item.d_un.d_val;
		else if (item.d_tag == DT_HASH)
			dynamic->hash = item.d_un.d_ptr;
		else if (item.d_tag == DT_GNU_HASH)
			dynamic->gnu_hash = item.d_un.d_ptr;
	}
	return dynamic->symbols != 0 && dynamic->strings != 0;
}

/* Open a reader of 32-bit words at an address. */
static bool read_words(struct bounded_reader *reader, const struct elf_file *file, uint64_t address)
{
	Elf_Data *data = elf_segments_data(file, address, UINT64_MAX, ELF_T_BYTE);

	if (data == NULL || data->d_buf == NULL)
		return false;
	bounded_reader_init(reader, data->d_buf, data->d_size);
	return true;
}

/* A chain's last word has bit 0 set. The table ends with the chain of its highest bucket. */
static size_t count_by_gnu_hash(const struct elf_file *file, uint64_t address)
{
	struct bounded_reader reader;
	uint32_t buckets, first, bloom, highest = 0, count;

	if (!read_words(&reader, file, address))
		return 0;
	buckets = bounded_reader_u32(&reader);
	first = bounded_reader_u32(&reader);
	bloom = bounded_reader_u32(&reader);
	bounded_reader_u32(&reader);
	bounded_reader_bytes(&reader, (size_t)bloom * word_bytes(file));
	for (uint32_t i = 0; i < buckets && !bounded_reader_failed(&reader); i++) {
		uint32_t bucket = bounded_reader_u32(&reader);

		highest = bucket > highest ? bucket : highest;
	}
	if (bounded_reader_failed(&reader) || highest < first)
		return first;
	bounded_reader_bytes(&reader, (size_t)(highest - first) * 4);
	count = highest;
	while (count < SYMBOLS_MAX && !bounded_reader_failed(&reader)) {
		count++;
		if ((bounded_reader_u32(&reader) & 1) != 0)
			break;
	}
	return count;
}

static size_t count_symbols(const struct elf_file *file, const struct dynamic *dynamic)
{
	struct bounded_reader reader;

	if (dynamic->hash != 0 && read_words(&reader, file, dynamic->hash)) {
		bounded_reader_u32(&reader);
		return bounded_reader_u32(&reader);
	}
	return dynamic->gnu_hash != 0 ? count_by_gnu_hash(file, dynamic->gnu_hash) : 0;
}

bool elf_segments_symbols_find(struct elf_segments_symbols *ret, const struct elf_file *file)
{
	size_t entry = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
	struct elf_segments_symbols found = {0};
	struct dynamic dynamic = {0};
	Elf_Data *strings;
	const char *last;

	if (entry == 0 || !is_little_endian(file) || !read_dynamic(&dynamic, file))
		return false;
	found.count = count_symbols(file, &dynamic);
	if (found.count > SYMBOLS_MAX)
		return false;
	found.symbols = elf_segments_data(file, dynamic.symbols, found.count * entry, ELF_T_SYM);
	strings = elf_segments_data(file, dynamic.strings, dynamic.string_bytes, ELF_T_BYTE);
	if (found.symbols == NULL || found.symbols->d_buf == NULL || strings == NULL ||
	    strings->d_buf == NULL)
		return false;
	found.strings = strings->d_buf;
	last = memrchr(found.strings, '\0', strings->d_size);
	if (last == NULL)
		return false;
	found.string_bytes = (size_t)(last - found.strings) + 1;
	found.count = found.symbols->d_size / entry;
	*ret = found;
	return true;
}
