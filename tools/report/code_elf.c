// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/code_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/partition_point.h"

/* Each procedure has a section and a segment, and ELF counts these in 16 bits. */
#define PROCEDURES_MAX 60000
#define CODE_ALIGNMENT 16
/* In addition to the ranges' sections: the null section, .symtab, .strtab, .shstrtab. */
#define SECTIONS_MORE 4
/* Between two pieces of code, and at both ends, text of the kernel may be not stored. */
#define TEXT_PROCEDURES_MAX (PROCEDURES_MAX / 2 - 1)
#define PAGE_BYTES 4096

/* @max: limit of @count */
struct code_list {
	struct profile_code *codes;
	size_t count;
	size_t capacity;
	size_t max;
};

static void code_list_deinit(struct code_list *list)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		free((void *)(uintptr_t)list->codes[i].data);
	free(list->codes);
}

/*
 * Add a procedure. If the image has code of two architectures, which no real program has, use the
 * first.
 */
static int code_elf_take(void *context, const struct profile_code *code)
{
	struct code_list *list = context;
	uint8_t *data;

	if (list->count == list->max ||
	    (list->count > 0 && code->machine != list->codes[0].machine))
		return 0;
	data = malloc(code->bytes);
	if (data == NULL || array_reserve(&list->codes, &list->capacity, list->count + 1,
					  sizeof(list->codes[0])) < 0) {
		free(data);
		return -ENOMEM;
	}
	memcpy(data, code->data, code->bytes);
	list->codes[list->count] = *code;
	list->codes[list->count++].data = data;
	return 0;
}

/* A growing buffer; the file is composed in it and written in one piece. */
struct buffer {
	uint8_t *data;
	size_t bytes;
	size_t capacity;
};

/* Return: the position in the file; 0 if out of memory. */
static size_t code_elf_append(struct buffer *buffer, const void *data, size_t bytes,
			      size_t alignment)
{
	size_t at = (buffer->bytes + alignment - 1) / alignment * alignment;

	if (array_reserve(&buffer->data, &buffer->capacity, at + bytes, 1) < 0)
		return 0;
	memset(buffer->data + buffer->bytes, 0, at - buffer->bytes);
	if (data != NULL)
		memcpy(buffer->data + at, data, bytes);
	else
		memset(buffer->data + at, 0, bytes);
	buffer->bytes = at + bytes;
	return at;
}

static const char *code_elf_name_of(const struct profile_symbols *symbols, uint64_t offset)
{
	size_t low = partition_point(0, symbols->count, i, symbols->symbols[i].offset < offset);

	return low < symbols->count && symbols->symbols[low].offset == offset
		       ? symbols->symbols[low].name
		       : "";
}

/*
 * struct range - addresses of one section and segment
 * @code: NULL: the text is not stored
 */
struct range {
	uint64_t start;
	uint64_t end;
	const struct profile_code *code;
};

/*
 * The file under construction: symbols and names are separate until the end.
 *
 * @gaps:       text that is not stored begins in the file here, at the position of address 0
 * @file_bytes: length of the file, including text that is not stored, which takes no memory
 */
struct maker {
	const struct code_list *list;
	const struct profile_symbols *symbols;
	struct range *ranges;
	size_t range_count;
	struct buffer file;
	struct buffer names;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	Elf64_Sym *table;
	size_t symbol_count;
	size_t gaps;
	size_t file_bytes;
};

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

enum section_name {
	NAME_TEXT = 1,
	NAME_SYMTAB = 7,
	NAME_STRTAB = 15,
	NAME_SHSTRTAB = 23,
};

static void add_range(struct maker *maker, uint64_t start, uint64_t end,
		      const struct profile_code *code)
{
	if (end > start)
		maker->ranges[maker->range_count++] = (struct range){start, end, code};
}

/* Return the first address after an image in one piece, according to its symbols. */
static uint64_t text_end(const struct maker *maker)
{
	const struct profile_symbol *last;

	if (maker->symbols->count == 0)
		return 0;
	last = &maker->symbols->symbols[maker->symbols->count - 1];
	return last->bytes < UINT64_MAX - last->offset ? last->offset + last->bytes : last->offset;
}

/* Each stored piece is a range; with @gaps, so is the text between them. Overlaps are left out. */
static void list_ranges(struct maker *maker, bool gaps)
{
	uint64_t at = 0;

	for (size_t i = 0; i < maker->list->count; i++) {
		const struct profile_code *code = &maker->list->codes[i];

		if (code->offset < at || code->bytes > INT64_MAX - code->offset)
			continue;
		if (gaps)
			add_range(maker, at, code->offset, NULL);
		at = code->offset + code->bytes;
		add_range(maker, code->offset, at, code);
	}
	if (gaps)
		add_range(maker, at, text_end(maker), NULL);
}

/* Append the bytes of a range, if there are any. Return: the position in the file; 0: no memory. */
static size_t range_position(struct maker *maker, const struct range *range)
{
	size_t bytes = (size_t)(range->end - range->start);

	if (range->code != NULL)
		return code_elf_append(&maker->file, range->code->data, bytes, CODE_ALIGNMENT);
	if (range->end > SIZE_MAX / 2 - maker->gaps)
		return 0;
	if (maker->gaps + range->end > maker->file_bytes)
		maker->file_bytes = maker->gaps + (size_t)range->end;
	return maker->gaps + (size_t)range->start;
}

static int add_section(struct maker *maker, size_t i)
{
	const struct range *range = &maker->ranges[i];
	size_t at = range_position(maker, range);

	if (at == 0)
		return -ENOMEM;
	maker->segments[i] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = at,
		.p_vaddr = range->start,
		.p_paddr = range->start,
		.p_filesz = range->end - range->start,
		.p_memsz = range->end - range->start,
		.p_align = 1,
	};
	maker->sections[1 + i] = (Elf64_Shdr){
		.sh_name = NAME_TEXT,
		.sh_type = range->code != NULL ? SHT_PROGBITS : SHT_NOBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = range->start,
		.sh_offset = at,
		.sh_size = range->end - range->start,
		.sh_addralign = 1,
	};
	return 0;
}

/* If several symbols have one address, the first has the best name. */
static int add_symbol(struct maker *maker, const char *name, uint64_t start, uint64_t bytes,
		      size_t range)
{
	size_t name_at = code_elf_append(&maker->names, name, strlen(name) + 1, 1);
	const Elf64_Sym *last = &maker->table[maker->symbol_count];
	bool again = maker->symbol_count > 0 && last->st_value == start;

	if (name_at == 0)
		return -ENOMEM;
	maker->table[++maker->symbol_count] = (Elf64_Sym){
		.st_name = (Elf64_Word)name_at,
		.st_info = ELF64_ST_INFO(again ? STB_LOCAL : STB_GLOBAL, STT_FUNC),
		.st_shndx = (Elf64_Section)(1 + range),
		.st_value = start,
		.st_size = bytes,
	};
	return 0;
}

/* A procedure of an image in pieces has a name if there is a symbol at its beginning. */
static int code_elf_add_procedures(struct maker *maker)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < maker->range_count; i++) {
		const struct range *range = &maker->ranges[i];

		r = add_symbol(maker, code_elf_name_of(maker->symbols, range->start), range->start,
			       range->end - range->start, i);
	}
	return r;
}

/* A symbol of an image in one piece extends to the next symbol, within its range. */
static int add_all_symbols(struct maker *maker)
{
	const struct profile_symbol *symbols = maker->symbols->symbols;
	size_t count = maker->symbols->count, range = 0, next = 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		uint64_t start = symbols[i].offset, end;

		while (next < count && symbols[next].offset <= start)
			next++;
		while (range < maker->range_count && maker->ranges[range].end <= start)
			range++;
		if (range == maker->range_count)
			break;
		if (maker->ranges[range].start > start)
			continue;
		end = maker->ranges[range].end;
		if (next < count && symbols[next].offset < end)
			end = symbols[next].offset;
		if (symbols[i].bytes > 0 && symbols[i].bytes < end - start)
			end = start + symbols[i].bytes;
		r = add_symbol(maker, symbols[i].name, start, end - start, range);
	}
	return r;
}

/* Add the three tables after the code. */
static int add_tables(struct maker *maker)
{
	size_t count = maker->range_count, symtab, strtab, shstrtab;
	Elf64_Shdr *tables = maker->sections + 1 + count;

	symtab = code_elf_append(&maker->file, maker->table,
				 (maker->symbol_count + 1) * sizeof(Elf64_Sym), 8);
	strtab = code_elf_append(&maker->file, maker->names.data, maker->names.bytes, 1);
	shstrtab = code_elf_append(&maker->file, section_names, sizeof(section_names), 1);
	if (symtab == 0 || strtab == 0 || shstrtab == 0)
		return -ENOMEM;
	tables[0] = (Elf64_Shdr){
		.sh_name = NAME_SYMTAB,
		.sh_type = SHT_SYMTAB,
		.sh_offset = symtab,
		.sh_size = (maker->symbol_count + 1) * sizeof(Elf64_Sym),
		.sh_link = (Elf64_Word)(2 + count),
		.sh_info = 1,
		.sh_addralign = 8,
		.sh_entsize = sizeof(Elf64_Sym),
	};
	tables[1] = (Elf64_Shdr){
		.sh_name = NAME_STRTAB,
		.sh_type = SHT_STRTAB,
		.sh_offset = strtab,
		.sh_size = maker->names.bytes,
		.sh_addralign = 1,
	};
	tables[2] = (Elf64_Shdr){
		.sh_name = NAME_SHSTRTAB,
		.sh_type = SHT_STRTAB,
		.sh_offset = shstrtab,
		.sh_size = sizeof(section_names),
		.sh_addralign = 1,
	};
	return 0;
}

static void write_header(struct maker *maker, size_t sections_at, enum profile_image_kind kind)
{
	size_t count = maker->range_count, sections = count + SECTIONS_MORE;
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = maker->list->codes[0].machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_shoff = sections_at,
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)count,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)sections,
		.e_shstrndx = (Elf64_Half)(sections - 1),
	};

	if (kind == PROFILE_IMAGE_KERNEL || kind == PROFILE_IMAGE_MODULE)
		header.e_ident[EI_OSABI] = ELFOSABI_STANDALONE;
	memcpy(maker->file.data, &header, sizeof(header));
	memcpy(maker->file.data + sizeof(header), maker->segments, count * sizeof(Elf64_Phdr));
}

/* Return an upper bound of the bytes that the file has before text that is not stored. */
static size_t bytes_before_gaps(const struct maker *maker)
{
	size_t bytes = sizeof(Elf64_Ehdr) + sizeof(section_names) + PAGE_BYTES;

	bytes += (maker->range_count + SECTIONS_MORE) * (sizeof(Elf64_Phdr) + sizeof(Elf64_Shdr));
	bytes += (maker->symbols->count + maker->range_count + 1) * sizeof(Elf64_Sym);
	for (size_t i = 0; i < maker->list->count; i++)
		bytes += maker->list->codes[i].bytes + CODE_ALIGNMENT;
	for (size_t i = 0; i < maker->symbols->count; i++)
		bytes += strlen(maker->symbols->symbols[i].name) + 1;
	return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static int code_elf_do_make(struct maker *maker, enum profile_image_kind kind)
{
	size_t count = maker->range_count, at;
	int r = 0;

	maker->gaps = bytes_before_gaps(maker);
	code_elf_append(&maker->file, NULL, sizeof(Elf64_Ehdr), 1);
	if (code_elf_append(&maker->file, NULL, count * sizeof(Elf64_Phdr), 1) == 0 ||
	    code_elf_append(&maker->names, "", 1, 1) != 0)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_section(maker, i);
	if (r == 0)
		r = kind == PROFILE_IMAGE_JIT ? code_elf_add_procedures(maker)
					      : add_all_symbols(maker);
	if (r == 0)
		r = add_tables(maker);
	if (r < 0)
		return r;
	at = code_elf_append(&maker->file, maker->sections,
			     (count + SECTIONS_MORE) * sizeof(Elf64_Shdr), 8);
	if (at == 0)
		return -ENOMEM;
	write_header(maker, at, kind);
	if (maker->file_bytes < maker->file.bytes)
		maker->file_bytes = maker->file.bytes;
	return 0;
}

/* Write the file to memory. Return: a descriptor, or the error. */
static int write_out(const void *data, size_t bytes, size_t file_bytes, struct error *err)
{
	_cleanup_close_ int fd = memfd_create("code", MFD_CLOEXEC);
	size_t written = 0;

	if (fd < 0)
		return error_set_errno(err, "cannot create a file in memory");
	while (written < bytes) {
		ssize_t n = write(fd, (const uint8_t *)data + written, bytes - written);

		if (n < 0)
			return error_set_errno(err, "cannot write to a file in memory");
		written += (size_t)n;
	}
	if (file_bytes > bytes && ftruncate(fd, (off_t)file_bytes) < 0)
		return error_set_errno(err, "cannot create a file in memory");
	return take_fd(fd);
}

static int make_from(const struct code_list *list, const struct profile_symbols *symbols,
		     enum profile_image_kind kind, struct error *err)
{
	bool in_pieces = kind == PROFILE_IMAGE_JIT;
	size_t ranges = in_pieces ? list->count : 2 * list->count + 1;
	struct maker maker = {
		.list = list,
		.symbols = symbols,
		.ranges = calloc(ranges, sizeof(struct range)),
		.segments = calloc(ranges, sizeof(Elf64_Phdr)),
		.sections = calloc(ranges + SECTIONS_MORE, sizeof(Elf64_Shdr)),
		.table = calloc(ranges + symbols->count + 1, sizeof(Elf64_Sym)),
	};
	int r = -ENOMEM;

	if (maker.ranges != NULL && maker.segments != NULL && maker.sections != NULL &&
	    maker.table != NULL) {
		list_ranges(&maker, !in_pieces);
		r = code_elf_do_make(&maker, kind);
	}
	r = r < 0 ? error_set(err, ENOMEM, ERROR_NO_MEMORY)
		  : write_out(maker.file.data, maker.file.bytes, maker.file_bytes, err);
	free(maker.ranges);
	free(maker.segments);
	free(maker.sections);
	free(maker.table);
	free(maker.file.data);
	free(maker.names.data);
	return r;
}

static bool is_elf_file(const struct profile_code *code)
{
	return code->offset == 0 && code->bytes >= sizeof(Elf64_Ehdr) &&
	       memcmp(code->data, ELFMAG, SELFMAG) == 0;
}

int code_elf_make(int *fd, struct profile_reader *reader, int64_t image,
		  enum profile_image_kind kind, struct error *err)
{
	_cleanup_(code_list_deinit) struct code_list list = {
		.max = kind == PROFILE_IMAGE_JIT ? PROCEDURES_MAX : TEXT_PROCEDURES_MAX,
	};
	struct profile_symbols symbols;
	int r = profile_reader_code(reader, image, code_elf_take, &list, err);

	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (r == 0 && list.count == 0)
		return error_set(err, ENOTSUP, "no code is stored for image %lld",
				 (long long)image);
	if (r == 0 && kind == PROFILE_IMAGE_VDSO && is_elf_file(&list.codes[0])) {
		r = write_out(list.codes[0].data, list.codes[0].bytes, list.codes[0].bytes, err);
	} else if (r == 0) {
		r = profile_reader_symbols(reader, image, &symbols, err);
		if (r < 0)
			return r;
		r = make_from(&list, &symbols, kind, err);
		profile_symbols_deinit(&symbols);
	}
	if (r < 0)
		return r;
	*fd = r;
	return 0;
}
