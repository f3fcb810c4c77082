// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/jit_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "db/profile_read.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"

/* Each procedure has a section and a segment, and ELF counts these in 16 bits. */
#define PROCEDURES_MAX 60000
#define CODE_ALIGNMENT 16
/* In addition to the procedures' sections: the null section, .symtab, .strtab, .shstrtab. */
#define SECTIONS_MORE 4

struct code_list {
	struct profile_code *codes;
	size_t count;
	size_t capacity;
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
static int jit_elf_take(void *context, const struct profile_code *code)
{
	struct code_list *list = context;
	uint8_t *data;

	if (list->count == PROCEDURES_MAX ||
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
static size_t jit_elf_append(struct buffer *buffer, const void *data, size_t bytes,
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

static const char *jit_elf_name_of(const struct profile_symbols *symbols, uint64_t offset)
{
	size_t low = 0, high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->symbols[middle].offset < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < symbols->count && symbols->symbols[low].offset == offset
		       ? symbols->symbols[low].name
		       : "";
}

/* The file under construction: headers by number; symbols and names are separate until the end. */
struct maker {
	const struct code_list *list;
	const struct profile_symbols *symbols;
	struct buffer file;
	struct buffer names;
	Elf64_Phdr *segments;
	Elf64_Shdr *sections;
	Elf64_Sym *table;
};

static const char section_names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";

enum section_name {
	NAME_TEXT = 1,
	NAME_SYMTAB = 7,
	NAME_STRTAB = 15,
	NAME_SHSTRTAB = 23,
};

static int jit_elf_add_procedure(struct maker *maker, size_t i)
{
	const struct profile_code *code = &maker->list->codes[i];
	const char *name = jit_elf_name_of(maker->symbols, code->offset);
	size_t at = jit_elf_append(&maker->file, code->data, code->bytes, CODE_ALIGNMENT);
	size_t name_at = jit_elf_append(&maker->names, name, strlen(name) + 1, 1);

	if (at == 0 || name_at == 0)
		return -ENOMEM;
	maker->segments[i] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_offset = at,
		.p_vaddr = code->offset,
		.p_paddr = code->offset,
		.p_filesz = code->bytes,
		.p_memsz = code->bytes,
		.p_align = 1,
	};
	maker->sections[1 + i] = (Elf64_Shdr){
		.sh_name = NAME_TEXT,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = code->offset,
		.sh_offset = at,
		.sh_size = code->bytes,
		.sh_addralign = 1,
	};
	maker->table[1 + i] = (Elf64_Sym){
		.st_name = (Elf64_Word)name_at,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = (Elf64_Section)(1 + i),
		.st_value = code->offset,
		.st_size = code->bytes,
	};
	return 0;
}

/* Add the three tables after the code. */
static int add_tables(struct maker *maker)
{
	size_t count = maker->list->count, symtab, strtab, shstrtab;
	Elf64_Shdr *tables = maker->sections + 1 + count;

	symtab = jit_elf_append(&maker->file, maker->table, (count + 1) * sizeof(Elf64_Sym), 8);
	strtab = jit_elf_append(&maker->file, maker->names.data, maker->names.bytes, 1);
	shstrtab = jit_elf_append(&maker->file, section_names, sizeof(section_names), 1);
	if (symtab == 0 || strtab == 0 || shstrtab == 0)
		return -ENOMEM;
	tables[0] = (Elf64_Shdr){
		.sh_name = NAME_SYMTAB,
		.sh_type = SHT_SYMTAB,
		.sh_offset = symtab,
		.sh_size = (count + 1) * sizeof(Elf64_Sym),
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

static int jit_elf_do_make(struct maker *maker)
{
	size_t count = maker->list->count, sections = count + SECTIONS_MORE, i, at;
	Elf64_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_DYN,
		.e_machine = maker->list->codes[0].machine,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)count,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)sections,
		.e_shstrndx = (Elf64_Half)(sections - 1),
	};

	jit_elf_append(&maker->file, NULL, sizeof(header), 1);
	if (jit_elf_append(&maker->file, NULL, count * sizeof(Elf64_Phdr), 1) == 0 ||
	    jit_elf_append(&maker->names, "", 1, 1) != 0)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		if (jit_elf_add_procedure(maker, i) < 0)
			return -ENOMEM;
	}
	if (add_tables(maker) < 0)
		return -ENOMEM;
	at = jit_elf_append(&maker->file, maker->sections, sections * sizeof(Elf64_Shdr), 8);
	if (at == 0)
		return -ENOMEM;
	header.e_shoff = at;
	memcpy(maker->file.data, &header, sizeof(header));
	memcpy(maker->file.data + sizeof(header), maker->segments, count * sizeof(Elf64_Phdr));
	return 0;
}

/* Write the file to memory. Return: a descriptor, or the error. */
static int write_out(const struct buffer *file, struct error *err)
{
	_cleanup_close_ int fd = memfd_create("jit", MFD_CLOEXEC);
	size_t written = 0;

	if (fd < 0)
		return error_set_errno(err, "cannot make a file in memory");
	while (written < file->bytes) {
		ssize_t n = write(fd, file->data + written, file->bytes - written);

		if (n < 0)
			return error_set_errno(err, "cannot write to memory");
		written += (size_t)n;
	}
	return take_fd(fd);
}

static int make_from(const struct code_list *list, const struct profile_symbols *symbols,
		     struct error *err)
{
	struct maker maker = {
		.list = list,
		.symbols = symbols,
		.segments = calloc(list->count, sizeof(Elf64_Phdr)),
		.sections = calloc(list->count + SECTIONS_MORE, sizeof(Elf64_Shdr)),
		.table = calloc(list->count + 1, sizeof(Elf64_Sym)),
	};
	int r = -ENOMEM;

	if (maker.segments != NULL && maker.sections != NULL && maker.table != NULL)
		r = jit_elf_do_make(&maker);
	r = r < 0 ? error_set(err, ENOMEM, "out of memory") : write_out(&maker.file, err);
	free(maker.segments);
	free(maker.sections);
	free(maker.table);
	free(maker.file.data);
	free(maker.names.data);
	return r;
}

int jit_elf_make(int *fd, struct profile_reader *reader, int64_t image, struct error *err)
{
	_cleanup_(code_list_deinit) struct code_list list = {.count = 0};
	struct profile_symbols symbols;
	int r = profile_reader_code(reader, image, jit_elf_take, &list, err);

	if (r == -ENOMEM)
		return error_set(err, ENOMEM, "out of memory");
	if (r == 0 && list.count == 0)
		return error_set(err, ENOTSUP, "no code is kept of image %lld", (long long)image);
	if (r == 0)
		r = profile_reader_symbols(reader, image, &symbols, err);
	if (r < 0)
		return r;
	r = make_from(&list, &symbols, err);
	profile_symbols_deinit(&symbols);
	if (r < 0)
		return r;
	*fd = r;
	return 0;
}
