// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/image_elf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/file_digest.h"
#include "lib/image_store.h"

/* Longest build-id that comes with the kernel's mmap events. */
#define KERNEL_BUILD_ID_BYTES 20

struct segment {
	uint64_t address;
	uint64_t bytes;
	uint64_t offset;
};

struct image_elf {
	struct elf_file elf;
	char *path;
	struct segment *segments; /* executable, by address */
	size_t segment_count;
	struct image_section *sections;
	size_t section_count;
};

CLEANUP_DEFINE(image_elf, struct image_elf *, image_elf_close)

static int segment_compare(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int section_compare(const void *a, const void *b)
{
	const struct image_section *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int read_segments(struct image_elf *file)
{
	size_t capacity = 0, count;
	GElf_Phdr header;

	if (elf_getphdrnum(file->elf.elf, &count) != 0)
		return -ENOEXEC;
	for (size_t i = 0; i < count; i++) {
		if (gelf_getphdr(file->elf.elf, (int)i, &header) == NULL)
			return -ENOEXEC;
		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X) || header.p_filesz == 0)
			continue;
		if (header.p_filesz > UINT64_MAX - header.p_vaddr ||
		    header.p_filesz > UINT64_MAX - header.p_offset)
			continue;
		if (header.p_offset + header.p_filesz > file->elf.bytes)
			return -ENOEXEC; /* cut off */
		if (array_reserve(&file->segments, &capacity, file->segment_count + 1,
				  sizeof(*file->segments)) < 0)
			return -ENOMEM;
		file->segments[file->segment_count++] = (struct segment){
			.address = header.p_vaddr,
			.bytes = header.p_filesz,
			.offset = header.p_offset,
		};
	}
	if (file->segment_count == 0)
		return -ENOEXEC;
	qsort(file->segments, file->segment_count, sizeof(*file->segments), segment_compare);
	return 0;
}

static int read_sections(struct image_elf *file)
{
	Elf_Scn *section = NULL;
	size_t capacity = 0;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf.elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL || header.sh_type == SHT_NOBITS)
			continue;
		if (!(header.sh_flags & SHF_EXECINSTR) || !(header.sh_flags & SHF_ALLOC) ||
		    header.sh_size == 0 || header.sh_size > UINT64_MAX - header.sh_addr)
			continue;
		if (array_reserve(&file->sections, &capacity, file->section_count + 1,
				  sizeof(*file->sections)) < 0)
			return -ENOMEM;
		file->sections[file->section_count++] = (struct image_section){
			.address = header.sh_addr,
			.bytes = header.sh_size,
			.index = elf_ndxscn(section),
			.name = elf_file_section_name(&file->elf, &header),
		};
	}
	if (file->section_count > 0)
		qsort(file->sections, file->section_count, sizeof(*file->sections),
		      section_compare);
	return 0;
}

/* What the profile says of the file: 0 if it may be this one. */
static int check_identity(const struct image_elf *file, const struct profile_image *image)
{
	const uint8_t *id = NULL;
	size_t bytes = elf_file_build_id(&file->elf, &id);
	uint8_t digest[FILE_DIGEST_BYTES];
	int r;

	switch (image->identity_kind) {
	case PROFILE_IDENTITY_BUILD_ID:
		if (bytes > KERNEL_BUILD_ID_BYTES && image->identity_bytes == KERNEL_BUILD_ID_BYTES)
			bytes = KERNEL_BUILD_ID_BYTES;
		if (bytes != image->identity_bytes || memcmp(id, image->identity, bytes) != 0)
			return -ESTALE;
		return 0;
	case PROFILE_IDENTITY_DIGEST:
		r = file_digest(digest, file->elf.fd, file->elf.bytes);
		if (r < 0)
			return r;
		if (image->identity_bytes != sizeof(digest) ||
		    memcmp(digest, image->identity, sizeof(digest)) != 0)
			return -ESTALE;
		return 0;
	case PROFILE_IDENTITY_NONE:
		return 0;
	}
	return -ESTALE;
}

static char *path_without_deleted(const struct profile_image *image)
{
	static const char suffix[] = " (deleted)";
	size_t length = strlen(image->path);

	if (image->identity_kind == PROFILE_IDENTITY_BUILD_ID && length >= sizeof(suffix) &&
	    strcmp(image->path + length - (sizeof(suffix) - 1), suffix) == 0)
		length -= sizeof(suffix) - 1;
	return strndup(image->path, length);
}

static int load(struct image_elf *file, const struct profile_image *image, struct error *err)
{
	GElf_Ehdr header;
	int r;

	r = elf_file_open(&file->elf, file->path, err);
	if (r < 0)
		return r;
	r = check_identity(file, image);
	if (r == -ESTALE)
		return error_set(err, ESTALE, "%s is not the file that was profiled", file->path);
	if (r < 0)
		return error_set(err, -r, "cannot read %s", file->path);
	if (gelf_getehdr(file->elf.elf, &header) == NULL ||
	    (header.e_type != ET_EXEC && header.e_type != ET_DYN))
		return error_set(err, ENOEXEC, "%s is no executable or shared object", file->path);
	if (header.e_shoff > file->elf.bytes ||
	    (uint64_t)header.e_shnum * header.e_shentsize > file->elf.bytes - header.e_shoff)
		return error_set(err, ENOEXEC, "%s is cut off", file->path);
	r = read_segments(file);
	if (r == 0)
		r = read_sections(file);
	if (r < 0)
		return error_set(err, -r, "cannot read the headers of %s", file->path);
	return 0;
}

/* @path: becomes the file's; NULL: out of memory */
static int open_path(struct image_elf **ret, const struct profile_image *image, char *path,
		     struct error *err)
{
	_cleanup_(cleanup_image_elf) struct image_elf *file = calloc(1, sizeof(*file));
	int r;

	if (file == NULL || path == NULL) {
		free(path);
		return error_set(err, ENOMEM, "out of memory");
	}
	file->path = path;
	r = load(file, image, err);
	if (r < 0)
		return r;
	*ret = take_ptr(file);
	return 0;
}

static int open_copy(struct image_elf **ret, const struct profile_image *image, const char *copies)
{
	enum image_store_kind kind = image->identity_kind == PROFILE_IDENTITY_BUILD_ID
					     ? IMAGE_STORE_BUILD_ID
					     : IMAGE_STORE_DIGEST;
	char name[IMAGE_STORE_NAME_BYTES], *path;
	int r = -ENOENT;

	for (int owner = IMAGE_STORE_ROOT; r < 0 && owner <= IMAGE_STORE_USER; owner++) {
		if (image_store_name(name, kind, (enum image_store_owner)owner, image->identity,
				     image->identity_bytes) < 0 ||
		    asprintf(&path, "%s/%s", copies, name) < 0)
			return -ENOENT;
		r = open_path(ret, image, path, NULL);
	}
	return r;
}

int image_elf_open(struct image_elf **ret, const struct profile_image *image, const char *copies,
		   struct error *err)
{
	int r;

	if (image->kind != PROFILE_IMAGE_FILE || image->path == NULL)
		return error_set(err, EINVAL, "the image is in no file");
	r = open_path(ret, image, path_without_deleted(image), err);
	if (r == 0 || r == -ENOMEM || copies == NULL ||
	    image->identity_kind == PROFILE_IDENTITY_NONE)
		return r;
	return open_copy(ret, image, copies) == 0 ? 0 : r;
}

void image_elf_close(struct image_elf *file)
{
	if (file == NULL)
		return;
	elf_file_close(&file->elf);
	free(file->path);
	free(file->segments);
	free(file->sections);
	free(file);
}

const struct elf_file *image_elf_file(const struct image_elf *file)
{
	return &file->elf;
}

const char *image_elf_path(const struct image_elf *file)
{
	return file->path;
}

uint64_t image_elf_offset(const struct image_elf *file, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high = file->segment_count;
	const struct segment *segment;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->segments[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	segment = &file->segments[low - 1];
	if (address - segment->address >= segment->bytes)
		return 0;
	*offset = segment->offset + (address - segment->address);
	return segment->bytes - (address - segment->address);
}

uint64_t image_elf_address(const struct image_elf *file, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct segment *segment = &file->segments[i];

		if (offset < segment->offset || offset - segment->offset >= segment->bytes)
			continue;
		*address = segment->address + (offset - segment->offset);
		return segment->bytes - (offset - segment->offset);
	}
	return 0;
}

const struct image_section *image_elf_sections(const struct image_elf *file, size_t *count)
{
	*count = file->section_count;
	return file->sections;
}

const struct image_section *image_elf_section_at(const struct image_elf *file, uint64_t address)
{
	size_t low = 0, high = file->section_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->sections[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || address - file->sections[low - 1].address >= file->sections[low - 1].bytes)
		return NULL;
	return &file->sections[low - 1];
}
