// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/unwind/unwind_rule.h"
#include "lib/cleanup.h"
#include "lib/file_read.h"

#define SECTIONS_MAX 65536
#define NAMES_BYTES_MAX (1U << 20)

#ifndef SHT_X86_64_UNWIND
#define SHT_X86_64_UNWIND 0x70000001
#endif

static int bytes_read(const struct unwind_file *file, void *to, size_t bytes, uint64_t offset)
{
	if (file->data == NULL)
		return file_read_exactly(file->fd, to, bytes, offset);
	if (offset > file->bytes || bytes > file->bytes - offset)
		return -EIO;
	memcpy(to, file->data + offset, bytes);
	return 0;
}

int unwind_elf_block_read(const struct unwind_file *file, uint8_t **ret, uint64_t bytes, size_t max,
			  uint64_t offset)
{
	_cleanup_free_ uint8_t *data = NULL;
	int r;

	if (bytes > max)
		return -EFBIG;
	data = malloc((size_t)bytes + 1);
	if (data == NULL)
		return -ENOMEM;
	r = bytes_read(file, data, (size_t)bytes, offset);
	if (r == 0)
		*ret = take_ptr(data);
	return r;
}

static int header_read(struct unwind_elf *elf, const struct unwind_file *file, Elf64_Ehdr *header)
{
	int r = bytes_read(file, header, sizeof(*header), 0);

	if (r < 0)
		return r == -EIO ? -ENOEXEC : r;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOEXEC;
	elf->machine = unwind_machine_of(header->e_machine);
	elf->entry = header->e_entry;
	return elf->machine != NULL ? 0 : -ENOEXEC;
}

static int segments_read(struct unwind_elf *elf, const struct unwind_file *file,
			 const Elf64_Ehdr *header)
{
	for (size_t i = 0; i < header->e_phnum && elf->segment_count < UNWIND_SEGMENTS_MAX; i++) {
		Elf64_Phdr segment;
		int r;

		if (header->e_phoff > INT64_MAX)
			return -EIO;
		r = bytes_read(file, &segment, sizeof(segment),
			       header->e_phoff + i * sizeof(segment));
		if (r < 0)
			return r;
		if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0 ||
		    segment.p_filesz > UINT64_MAX - segment.p_vaddr)
			continue;
		elf->segments[elf->segment_count++] = (struct unwind_segment){
			segment.p_vaddr, segment.p_vaddr + segment.p_filesz, segment.p_offset};
	}
	return 0;
}

static int section_take(struct unwind_section *section, const struct unwind_file *file,
			const Elf64_Shdr *header)
{
	int r;

	if (section->data != NULL || (header->sh_flags & SHF_COMPRESSED) != 0)
		return 0;
	r = unwind_elf_block_read(file, &section->data, header->sh_size, UNWIND_SECTION_BYTES_MAX,
				  header->sh_offset);
	section->bytes = header->sh_size;
	section->address = header->sh_addr;
	return r;
}

/* @names: of sections, with a NUL at the end of @names_bytes */
static int sections_take(struct unwind_elf *elf, const struct unwind_file *file,
			 const Elf64_Shdr *headers, size_t count, const char *names,
			 size_t names_bytes)
{
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const char *name = names + headers[i].sh_name;

		if (headers[i].sh_name >= names_bytes ||
		    (headers[i].sh_type != SHT_PROGBITS && headers[i].sh_type != SHT_X86_64_UNWIND))
			continue;
		if (strcmp(name, ".eh_frame") == 0)
			r = section_take(&elf->eh_frame, file, &headers[i]);
		else if (strcmp(name, ".debug_frame") == 0)
			r = section_take(&elf->debug_frame, file, &headers[i]);
	}
	return r;
}

int unwind_elf_headers_read(Elf64_Shdr **ret, size_t *count, const struct unwind_file *file)
{
	struct unwind_elf unused = {.machine = NULL};
	Elf64_Ehdr header;
	uint8_t *headers = NULL;
	int r = header_read(&unused, file, &header);

	*ret = NULL;
	*count = 0;
	if (r < 0 || header.e_shnum == 0 || header.e_shentsize != sizeof(**ret))
		return r;
	r = unwind_elf_block_read(file, &headers, (uint64_t)header.e_shnum * sizeof(**ret),
				  SECTIONS_MAX * sizeof(**ret), header.e_shoff);
	if (r < 0)
		return r;
	*ret = (void *)headers;
	*count = header.e_shnum;
	return 0;
}

static int sections_read(struct unwind_elf *elf, const struct unwind_file *file,
			 const Elf64_Ehdr *header)
{
	_cleanup_free_ Elf64_Shdr *headers = NULL;
	_cleanup_free_ uint8_t *names = NULL;
	const Elf64_Shdr *strings;
	size_t count;
	int r = unwind_elf_headers_read(&headers, &count, file);

	if (r < 0 || header->e_shstrndx >= count)
		return r;
	strings = &headers[header->e_shstrndx];
	r = unwind_elf_block_read(file, &names, strings->sh_size, NAMES_BYTES_MAX,
				  strings->sh_offset);
	if (r < 0)
		return r;
	names[strings->sh_size] = '\0';
	return sections_take(elf, file, headers, count, (const char *)names, strings->sh_size);
}

int unwind_elf_code_read(struct unwind_elf *elf, const struct unwind_file *file)
{
	Elf64_Ehdr header;
	int r = header_read(elf, file, &header);

	return r < 0 ? r : segments_read(elf, file, &header);
}

int unwind_elf_read(struct unwind_elf *elf, const struct unwind_file *file)
{
	Elf64_Ehdr header;
	int r = header_read(elf, file, &header);

	if (r == 0)
		r = segments_read(elf, file, &header);
	if (r == 0)
		r = sections_read(elf, file, &header);
	return r;
}

void unwind_elf_deinit(struct unwind_elf *elf)
{
	free(elf->eh_frame.data);
	free(elf->debug_frame.data);
	*elf = (struct unwind_elf){.machine = NULL};
}

bool unwind_elf_offset(const struct unwind_elf *elf, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < elf->segment_count; i++) {
		const struct unwind_segment *segment = &elf->segments[i];

		if (address >= segment->start && address < segment->end) {
			*offset = address - segment->start + segment->offset;
			return true;
		}
	}
	return false;
}
