// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/zstd_sections.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "lib/cleanup.h"
#include "lib/file_read.h"

#define COPY_BYTES_MAX (UINT64_C(1) << 30)
#define ALIGNMENT 16
/* <elf.h> of glibc before 2.37 lacks this constant. */
#define COMPRESSION_ZSTD 2

/* struct copy - the file, followed by the decompressed sections */
struct copy {
	uint8_t *memory;
	uint64_t bytes;
};

static void copy_deinit(struct copy *copy)
{
	free(copy->memory);
}

/*
 * Return: true and the decompressed size if this file must decompress @section instead of libelf.
 */
static bool is_zstd(Elf_Scn *section, uint64_t *bytes)
{
	GElf_Shdr header;
	GElf_Chdr compression;

	if (gelf_getshdr(section, &header) == NULL || (header.sh_flags & SHF_COMPRESSED) == 0 ||
	    header.sh_type == SHT_NOBITS || gelf_getchdr(section, &compression) == NULL ||
	    compression.ch_type != COMPRESSION_ZSTD)
		return false;
	*bytes = compression.ch_size;
	return true;
}

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Return: 0; -ENOENT if no section is compressed with Zstandard; -EFBIG. */
static int copy_size(const struct elf_file *file, uint64_t *ret)
{
	Elf_Scn *section = NULL;
	uint64_t bytes, sum = 0;
	bool any = false;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		if (!is_zstd(section, &bytes))
			continue;
		any = true;
		if (bytes > COPY_BYTES_MAX || sum > COPY_BYTES_MAX)
			return -EFBIG;
		sum += aligned(bytes);
	}
	if (!any)
		return -ENOENT;
	if (file->bytes > COPY_BYTES_MAX || sum > COPY_BYTES_MAX - file->bytes)
		return -EFBIG;
	*ret = aligned(file->bytes) + sum;
	return 0;
}

/* Update the section header in the copy with the new location. */
static bool patch_header(const struct copy *copy, const struct elf_file *file, size_t index,
			 uint64_t offset, uint64_t bytes)
{
	GElf_Ehdr elf;
	uint64_t at;

	if (gelf_getehdr(file->elf, &elf) == NULL || elf.e_shoff > file->bytes ||
	    index >= (file->bytes - elf.e_shoff) / (elf.e_shentsize > 0 ? elf.e_shentsize : 1))
		return false;
	at = elf.e_shoff + index * elf.e_shentsize;
	if (elf.e_ident[EI_CLASS] == ELFCLASS64 && elf.e_shentsize == sizeof(Elf64_Shdr)) {
		Elf64_Shdr header;

		memcpy(&header, copy->memory + at, sizeof(header));
		header.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
		header.sh_offset = offset;
		header.sh_size = bytes;
		memcpy(copy->memory + at, &header, sizeof(header));
		return true;
	}
	if (elf.e_ident[EI_CLASS] == ELFCLASS32 && elf.e_shentsize == sizeof(Elf32_Shdr)) {
		Elf32_Shdr header;

		memcpy(&header, copy->memory + at, sizeof(header));
		header.sh_flags &= ~(uint32_t)SHF_COMPRESSED;
		header.sh_offset = (uint32_t)offset;
		header.sh_size = (uint32_t)bytes;
		memcpy(copy->memory + at, &header, sizeof(header));
		return true;
	}
	return false;
}

static void expand_section(const struct copy *copy, const struct elf_file *file, Elf_Scn *section,
			   uint64_t offset, uint64_t bytes)
{
	size_t header = gelf_fsize(file->elf, ELF_T_CHDR, 1, EV_CURRENT);
	Elf_Data *data = elf_rawdata(section, NULL);

	if (data == NULL || data->d_buf == NULL || header == 0 || data->d_size < header ||
	    ZSTD_decompress(copy->memory + offset, bytes, (const char *)data->d_buf + header,
			    data->d_size - header) != bytes)
		return;
	patch_header(copy, file, elf_ndxscn(section), offset, bytes);
}

int zstd_sections_expand(struct elf_file *ret, const struct elf_file *file)
{
	_cleanup_(copy_deinit) struct copy copy = {0};
	const char *ident = elf_getident(file->elf, NULL);
	uint64_t bytes, offset = aligned(file->bytes);
	Elf_Scn *section = NULL;
	int r;

	if (file->fd < 0 || ident == NULL || ident[EI_DATA] != ELFDATA2LSB)
		return -ENOENT;
	r = copy_size(file, &copy.bytes);
	if (r < 0)
		return r;
	copy.memory = calloc(1, copy.bytes);
	if (copy.memory == NULL)
		return -ENOMEM;
	r = file_read_exactly(file->fd, copy.memory, file->bytes, 0);
	if (r < 0)
		return r;
	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		if (!is_zstd(section, &bytes) || bytes > copy.bytes - offset)
			continue;
		expand_section(&copy, file, section, offset, bytes);
		offset += aligned(bytes);
	}
	return elf_file_from_memory(ret, take_ptr(copy.memory), copy.bytes);
}
