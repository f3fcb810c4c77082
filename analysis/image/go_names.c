// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/go_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/elf_segments.h"
#include "analysis/image/image_memory.h"
#include "lib/bounded_reader.h"
#include "lib/cleanup.h"
#include "lib/file_read.h"

CLEANUP_DEFINE(image_memory, struct image_memory *, image_memory_close)

/* Magic numbers of the table, by the Go release that introduced the format. */
enum go_format {
	GO_1_2 = 0xfffffffb,
	GO_1_16 = 0xfffffffa,
	GO_1_18 = 0xfffffff0,
	GO_1_20 = 0xfffffff1,
};

#define FUNCTIONS_MAX (1U << 24)

/*
 * struct code_reader - reads a file at ascending offsets, with a system call for many functions; a
 * program may have some hundred thousand
 * @fd: -1: nothing is read
 */
struct code_reader {
	int fd;
	uint64_t file_bytes;
	uint64_t offset;
	size_t bytes;
	uint8_t buffer[1 << 16];
};

/*
 * struct go_table - offsets are from the first byte of the table
 * @names:     names, terminated by NUL, up to the last NUL of the table at @names_end
 * @functions: entries of two words, @entry_bytes each: the address of a function, and the offset
 *             from @details of its record
 * @base:      added to the addresses in entries
 */
struct go_table {
	const uint8_t *data;
	size_t bytes;
	uint64_t address;
	enum go_format format;
	uint8_t word_bytes;
	uint64_t count;
	uint64_t names;
	uint64_t names_end;
	uint64_t functions;
	uint64_t details;
	uint8_t entry_bytes;
	uint64_t base;
};

/* Read a number of 4 or 8 bytes at an offset. Return: true if it is inside the table. */
static bool read_at(const struct go_table *table, uint64_t offset, uint8_t bytes, uint64_t *ret)
{
	struct bounded_reader reader;

	if (offset > table->bytes || table->bytes - offset < bytes)
		return false;
	bounded_reader_init(&reader, table->data + offset, bytes);
	*ret = bytes == 4 ? bounded_reader_u32(&reader) : bounded_reader_u64(&reader);
	return true;
}

/* Read word @index after the first 8 bytes of the header. */
static bool read_word(const struct go_table *table, unsigned int index, uint64_t *ret)
{
	return read_at(table, 8 + (uint64_t)index * table->word_bytes, table->word_bytes, ret);
}

/*
 * Return the address of the text. In position-independent programs it may be only in a relocation.
 */
static uint64_t text_start(const struct go_table *table, const struct elf_file *file,
			   uint64_t in_table)
{
	_cleanup_(cleanup_image_memory) struct image_memory *memory = NULL;
	uint64_t relocated;
	GElf_Shdr header;

	if (in_table != 0)
		return in_table;
	if (image_memory_open(&memory, file) == 0 &&
	    image_memory_initial(memory, table->address + 8 + 2ULL * table->word_bytes,
				 &relocated) == 0 &&
	    elf_segments_is_code(file, relocated, 1))
		return relocated;
	return elf_file_section(file, ".text", &header) != NULL ? header.sh_addr : 0;
}

static bool read_new_header(struct go_table *table, const struct elf_file *file)
{
	unsigned int word = table->format == GO_1_16 ? 2 : 3; /* before the offset of names */
	uint64_t text = 0;

	if (!read_word(table, 0, &table->count) || !read_word(table, word, &table->names) ||
	    !read_word(table, word + 4, &table->functions))
		return false;
	table->details = table->functions;
	table->entry_bytes = table->word_bytes;
	if (table->format == GO_1_16)
		return true;
	table->entry_bytes = 4;
	if (!read_word(table, 2, &text))
		return false;
	table->base = text_start(table, file, text);
	return table->base != 0;
}

static bool go_read_header(struct go_table *table, const struct elf_file *file)
{
	const uint8_t *last;
	uint64_t format;

	if (!read_at(table, 0, 4, &format) || table->bytes < 8 || table->data[4] != 0 ||
	    table->data[5] != 0)
		return false;
	table->format = (enum go_format)format;
	table->word_bytes = table->data[7];
	if (table->word_bytes != 4 && table->word_bytes != 8)
		return false;
	switch (table->format) {
	case GO_1_2:
		table->functions = 8 + table->word_bytes;
		table->entry_bytes = table->word_bytes;
		if (!read_word(table, 0, &table->count))
			return false;
		break;
	case GO_1_16:
	case GO_1_18:
	case GO_1_20:
		if (!read_new_header(table, file))
			return false;
		break;
	default:
		return false;
	}
	last = memrchr(table->data, '\0', table->bytes);
	table->names_end = last != NULL ? (uint64_t)(last - table->data) : 0;
	return table->count > 0 && table->count <= FUNCTIONS_MAX && table->functions < table->bytes;
}

static bool open_at(struct go_table *table, const struct elf_file *file, Elf_Data *data,
		    uint64_t address)
{
	if (data == NULL || data->d_buf == NULL)
		return false;
	*table = (struct go_table){.data = data->d_buf, .bytes = data->d_size, .address = address};
	return go_read_header(table, file);
}

/*
 * Find the magic number of a table in a segment, aligned as by linkers. Return: its offset, or -1.
 */
static ssize_t find_magic(const uint8_t *data, size_t bytes)
{
	for (size_t at = 0; at + 8 <= bytes; at += 8) {
		if (data[at + 1] == 0xff && data[at + 2] == 0xff && data[at + 3] == 0xff &&
		    data[at + 4] == 0 && data[at + 5] == 0 &&
		    strchr("\xf0\xf1\xfa\xfb", data[at]) &&
		    (data[at + 6] == 1 || data[at + 6] == 4) &&
		    (data[at + 7] == 4 || data[at + 7] == 8))
			return (ssize_t)at;
	}
	return -1;
}

static bool find_in_segments(struct go_table *table, const struct elf_file *file)
{
	size_t count;
	GElf_Phdr header;

	if (elf_getphdrnum(file->elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		Elf_Data *data;
		ssize_t at;

		if (gelf_getphdr(file->elf, (int)i, &header) == NULL || header.p_type != PT_LOAD ||
		    (header.p_flags & PF_X) != 0)
			continue;
		data = elf_segments_data(file, header.p_vaddr, UINT64_MAX, ELF_T_BYTE);
		at = data != NULL && data->d_buf != NULL ? find_magic(data->d_buf, data->d_size)
							 : -1;
		if (at >= 0)
			return open_at(table, file,
				       elf_segments_data(file, header.p_vaddr + (uint64_t)at,
							 UINT64_MAX, ELF_T_BYTE),
				       header.p_vaddr + (uint64_t)at);
	}
	return false;
}

static bool find_table(struct go_table *table, const struct elf_file *file)
{
	static const char *const sections[] = {".gopclntab", ".data.rel.ro.gopclntab"};
	uint64_t address = 0;
	GElf_Shdr header;

	if (!elf_file_has_sections(file))
		return find_in_segments(table, file);
	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		Elf_Data *data = elf_file_contents(file, sections[i], &address);

		if (open_at(table, file, data, address))
			return true;
	}
	/* GNU ld puts the table of a position-independent program into .data.rel.ro. */
	return elf_file_section(file, ".go.buildinfo", &header) != NULL &&
	       find_in_segments(table, file);
}

/* Return: NULL if the entry refers outside of the table. */
static const char *go_name_of(const struct go_table *table, uint64_t detail)
{
	uint8_t address_bytes =
		table->format == GO_1_2 || table->format == GO_1_16 ? table->word_bytes : 4;
	uint64_t name;

	if (detail > table->bytes || table->details > table->bytes ||
	    !read_at(table, table->details + detail + address_bytes, 4, &name) ||
	    table->names > table->bytes)
		return NULL;
	name += table->names;
	return name < table->names_end ? (const char *)table->data + name : NULL;
}

/* Return @count bytes, valid until the next call; NULL: they cannot be read. */
static const uint8_t *code_at(struct code_reader *reader, uint64_t offset, size_t count)
{
	size_t bytes = sizeof(reader->buffer);

	if (count <= reader->bytes && offset >= reader->offset &&
	    offset - reader->offset <= reader->bytes - count)
		return reader->buffer + (offset - reader->offset);
	if (offset >= reader->file_bytes || reader->file_bytes - offset < count)
		return NULL;
	if (reader->file_bytes - offset < bytes)
		bytes = (size_t)(reader->file_bytes - offset);
	reader->bytes = 0;
	if (file_read_exactly(reader->fd, reader->buffer, bytes, offset) < 0)
		return NULL;
	reader->offset = offset;
	reader->bytes = bytes;
	return reader->buffer;
}

static bool is_x86(const struct elf_file *file)
{
	GElf_Ehdr header;

	return gelf_getehdr(file->elf, &header) != NULL &&
	       (header.e_machine == EM_X86_64 || header.e_machine == EM_386);
}

/* The table has only start addresses: on x86, remove the int3 padding before the next function. */
static uint64_t without_padding(struct code_reader *reader, const struct elf_file *file,
				uint64_t address, uint64_t bytes)
{
	enum {
		INT3 = 0xcc,
		PADDING_MAX = 64
	};
	size_t count = bytes < PADDING_MAX ? (size_t)bytes : PADDING_MAX, left = count;
	const uint8_t *code;
	uint64_t offset;

	if (reader->fd < 0 || elf_segments_offset(file, address + bytes - count, &offset) < count)
		return bytes;
	code = code_at(reader, offset, count);
	if (code == NULL)
		return bytes;
	while (left > 0 && code[left - 1] == INT3)
		left--;
	/* The displacement of a short jump may also be 0xcc. */
	if (left > 0 && left < count && (code[left - 1] == 0xeb || (code[left - 1] & 0xf0) == 0x70))
		left++;
	return left > 0 ? bytes - (count - left) : bytes;
}

static int visit_function(const struct go_table *table, struct code_reader *reader,
			  const struct elf_file *file, uint64_t index,
			  int (*visit)(void *context, uint64_t address, uint64_t bytes,
				       const char *name),
			  void *context)
{
	uint64_t at = table->functions + index * 2 * table->entry_bytes;
	uint64_t start, detail, end;
	const char *name;

	if (!read_at(table, at, table->entry_bytes, &start) ||
	    !read_at(table, at + table->entry_bytes, table->entry_bytes, &detail) ||
	    !read_at(table, at + 2ULL * table->entry_bytes, table->entry_bytes, &end) ||
	    end <= start)
		return 0;
	name = go_name_of(table, detail);
	if (name == NULL || *name == '\0' || start > UINT64_MAX - table->base)
		return 0;
	return visit(context, table->base + start,
		     without_padding(reader, file, table->base + start, end - start), name);
}

int go_names_visit(const struct elf_file *file,
		   int (*visit)(void *context, uint64_t address, uint64_t bytes, const char *name),
		   void *context)
{
	const char *ident = elf_getident(file->elf, NULL);
	_cleanup_free_ struct code_reader *reader = NULL;
	struct go_table table;
	int r = 0;

	if (ident == NULL || ident[EI_DATA] != ELFDATA2LSB || !find_table(&table, file))
		return 0;
	reader = malloc(sizeof(*reader));
	if (reader == NULL)
		return -ENOMEM;
	reader->offset = 0;
	reader->fd = is_x86(file) ? file->fd : -1;
	reader->file_bytes = file->bytes;
	reader->bytes = 0;
	for (uint64_t i = 0; r == 0 && i < table.count; i++)
		r = visit_function(&table, reader, file, i, visit, context);
	return r;
}
