// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/image_elf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/image/debug_file.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/content_digest.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/file_digest.h"
#include "lib/file_identity.h"
#include "lib/parse_guard.h"
#include "lib/partition_point.h"

/* Longest build-id in the kernel's mmap events. */
#define KERNEL_BUILD_ID_BYTES 20

struct segment {
	uint64_t address;
	uint64_t bytes;
	uint64_t offset;
};

struct image_elf {
	struct elf_file elf;
	char *path;
	char *profiled_path;
	bool codeless;		  /* a separate debug file */
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

/* Linkers place a segment after the previous one, congruent to its address. */
static uint64_t linked_offset(const GElf_Phdr *header, uint64_t end)
{
	uint64_t align = header->p_align > 0 ? header->p_align : 1;

	return end + (header->p_vaddr - end) % align;
}

static int add_segment(struct image_elf *file, size_t *capacity, const GElf_Phdr *header,
		       uint64_t offset, uint64_t bytes)
{
	if (bytes > UINT64_MAX - header->p_vaddr || bytes > UINT64_MAX - offset)
		return 0;
	if (!file->codeless && offset + bytes > file->elf.bytes)
		return -EBADF;
	if (array_reserve(&file->segments, capacity, file->segment_count + 1,
			  sizeof(*file->segments)) < 0)
		return -ENOMEM;
	file->segments[file->segment_count++] =
		(struct segment){.address = header->p_vaddr, .bytes = bytes, .offset = offset};
	return 0;
}

static int image_elf_read_segments(struct image_elf *file)
{
	size_t capacity = 0, count;
	uint64_t end = 0;
	GElf_Phdr header;

	if (elf_getphdrnum(file->elf.elf, &count) != 0)
		return -EBADF;
	for (size_t i = 0; i < count; i++) {
		uint64_t offset, bytes;
		int r = 0;

		if (gelf_getphdr(file->elf.elf, (int)i, &header) == NULL)
			return -EBADF;
		if (header.p_type != PT_LOAD)
			continue;
		offset = header.p_offset;
		bytes = file->codeless ? header.p_memsz : header.p_filesz;
		/*
		 * elfutils keeps the image's headers in debug files; objcopy shrinks the segments.
		 */
		if (file->codeless && header.p_filesz != header.p_memsz)
			offset = linked_offset(&header, end);
		end = offset + bytes;
		if ((header.p_flags & PF_X) && bytes > 0)
			r = add_segment(file, &capacity, &header, offset, bytes);
		if (r < 0)
			return r;
	}
	if (file->segment_count == 0)
		return -EBADF;
	qsort(file->segments, file->segment_count, sizeof(*file->segments), segment_compare);
	return 0;
}

static int add_section(struct image_elf *file, size_t *capacity,
		       const struct image_section *section)
{
	if (section->bytes == 0 || section->bytes > UINT64_MAX - section->address)
		return 0;
	if (array_reserve(&file->sections, capacity, file->section_count + 1,
			  sizeof(*file->sections)) < 0)
		return -ENOMEM;
	file->sections[file->section_count++] = *section;
	return 0;
}

static bool is_code(const GElf_Shdr *header)
{
	return (header->sh_flags & SHF_EXECINSTR) != 0 && (header->sh_flags & SHF_ALLOC) != 0;
}

static bool is_codeless(const struct elf_file *file)
{
	Elf_Scn *section = NULL;
	bool any = false;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL || !is_code(&header))
			continue;
		if (header.sh_type != SHT_NOBITS)
			return false;
		any = true;
	}
	return any;
}

static int read_sections(struct image_elf *file)
{
	Elf_Scn *section = NULL;
	size_t capacity = 0;
	GElf_Shdr header;
	int r = 0;

	while (r == 0 && (section = elf_nextscn(file->elf.elf, section)) != NULL) {
		if (gelf_getshdr(section, &header) == NULL || !is_code(&header))
			continue;
		r = add_section(file, &capacity,
				&(struct image_section){
					.address = header.sh_addr,
					.bytes = header.sh_size,
					.index = elf_ndxscn(section),
					.name = elf_file_section_name(&file->elf, &header),
					.empty = header.sh_type == SHT_NOBITS,
				});
	}
	for (size_t i = 0; r == 0 && !elf_file_has_sections(&file->elf) && i < file->segment_count;
	     i++)
		r = add_section(file, &capacity,
				&(struct image_section){.address = file->segments[i].address,
							.bytes = file->segments[i].bytes,
							.name = ".segment"});
	if (file->section_count > 0)
		qsort(file->sections, file->section_count, sizeof(*file->sections),
		      section_compare);
	return r;
}

/* Return: 0 if the build-id is that of the image. */
static int check_build_id(const struct image_elf *file, const struct profile_image *image)
{
	const uint8_t *id = NULL, *wanted;
	size_t bytes = elf_file_build_id(&file->elf, &id), wanted_bytes;

	wanted = profile_image_build_id(image, &wanted_bytes);
	if (bytes > KERNEL_BUILD_ID_BYTES && wanted_bytes == KERNEL_BUILD_ID_BYTES)
		bytes = KERNEL_BUILD_ID_BYTES;
	if (bytes != wanted_bytes || (bytes > 0 && memcmp(id, wanted, bytes) != 0))
		return -ESTALE;
	return 0;
}

static int check_digest(const struct image_elf *file, const struct profile_image *image)
{
	uint8_t digest[FILE_DIGEST_BYTES];
	int r = file_digest(digest, file->elf.fd, file->elf.bytes);

	if (r < 0)
		return r;
	return image->identity_bytes == sizeof(digest) &&
			       memcmp(digest, image->identity, sizeof(digest)) == 0
		       ? 0
		       : -ESTALE;
}

static bool is_trusted(const struct file_writers *writers, const struct debug_file_options *options)
{
	return options == NULL || !options->checks_owner || file_writers_only(writers, geteuid()) ||
	       file_writers_only(writers, options->owner);
}

static bool is_content(const struct profile_image *image,
		       const uint8_t content[CONTENT_DIGEST_BYTES],
		       const struct file_writers *writers)
{
	uint8_t identity[FILE_IDENTITY_BYTES];

	file_identity_content(identity, content, writers);
	return memcmp(identity, image->identity, sizeof(identity)) == 0;
}

/* A file with the same contents is accepted, even if its owner is now the superuser. */
static int check_content(const struct image_elf *file, const struct profile_image *image,
			 const struct file_writers *writers)
{
	static const struct file_writers superuser = {.owner = 0};
	uint8_t content[CONTENT_DIGEST_BYTES];
	int r = content_digest(content, file->elf.fd, file->elf.bytes, NULL, NULL);

	if (r < 0)
		return r;
	return is_content(image, content, writers) || is_content(image, content, &superuser)
		       ? 0
		       : -ESTALE;
}

static int check_status(const struct profile_image *image, const struct stat *status)
{
	uint8_t identity[FILE_IDENTITY_BYTES];

	file_identity_status(identity, status);
	return memcmp(identity, image->identity, sizeof(identity)) == 0 ? 0 : -ESTALE;
}

/* Return: 0 unless another user may have put the file there. */
static int check_origin(const struct image_elf *file, const struct profile_image *image,
			enum image_elf_origin origin, const struct debug_file_options *options)
{
	struct file_writers writers;
	struct stat status;

	if (origin == IMAGE_ELF_STORE)
		return 0;
	if (fstat(file->elf.fd, &status) < 0)
		return -errno;
	writers = file_writers_get(file->elf.fd, &status);
	switch (image->identity_kind) {
	case PROFILE_IDENTITY_BUILD_ID:
	case PROFILE_IDENTITY_DIGEST:
		return origin == IMAGE_ELF_SYSTEM || is_trusted(&writers, options) ? 0 : -ESTALE;
	case PROFILE_IDENTITY_CONTENT:
		if (!file->codeless)
			return check_content(file, image, &writers);
		break;
	case PROFILE_IDENTITY_FILE:
		if (!file->codeless)
			return check_status(image, &status);
		break;
	case PROFILE_IDENTITY_NONE:
		return 0;
	}
	return origin == IMAGE_ELF_SYSTEM || is_trusted(&writers, options) ? 0 : -ESTALE;
}

/* Return true if the daemon had not read the build-id of the file, only its status. */
static bool is_unnamed(const struct profile_image *image)
{
	size_t bytes;

	return image->identity_kind == PROFILE_IDENTITY_FILE &&
	       profile_image_build_id(image, &bytes) == NULL;
}

/* Return: 0 if the file may be the profiled file. */
static int check_identity(const struct image_elf *file, const struct profile_image *image,
			  enum image_elf_origin origin, const struct debug_file_options *options)
{
	int r = 0;

	if (image->identity_kind == PROFILE_IDENTITY_DIGEST)
		r = check_digest(file, image);
	else if (image->identity_kind != PROFILE_IDENTITY_NONE && !is_unnamed(image))
		r = check_build_id(file, image);
	return r == 0 ? check_origin(file, image, origin, options) : r;
}

/* Return: the length of @path without @suffix at its end. */
static size_t length_without(const char *path, size_t length, const char *suffix)
{
	size_t bytes = strlen(suffix);

	return length > bytes && memcmp(path + length - bytes, suffix, bytes) == 0 ? length - bytes
										   : length;
}

char *image_elf_plain_path(const struct profile_image *image)
{
	size_t length = strlen(image->path), bytes;

	if (image->identity_kind == PROFILE_IDENTITY_FILE)
		length = length_without(image->path, length, PROFILE_UNVERIFIED_SUFFIX);
	if (profile_image_build_id(image, &bytes) != NULL)
		length = length_without(image->path, length, " (deleted)");
	return strndup(image->path, length);
}

static int read_headers(struct image_elf *file, const struct profile_image *image,
			enum image_elf_origin origin, const struct debug_file_options *options,
			struct error *err)
{
	GElf_Ehdr header;
	int r;

	file->codeless = is_codeless(&file->elf);
	r = check_identity(file, image, origin, options);
	if (r == -ESTALE)
		return error_set(err, ESTALE, "'%s' is not the file that was profiled", file->path);
	if (r < 0)
		return error_set(err, -r, ERROR_READ, file->path);
	if (gelf_getehdr(file->elf.elf, &header) == NULL)
		return error_set(err, EBADF, "'%s' is damaged: no ELF header", file->path);
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return error_set(err, ENOTSUP, "'%s' is not an executable or shared object",
				 file->path);
	if (header.e_shoff > file->elf.bytes ||
	    (uint64_t)header.e_shnum * header.e_shentsize > file->elf.bytes - header.e_shoff)
		return error_set(err, EBADF, "'%s' is truncated", file->path);
	r = image_elf_read_segments(file);
	if (r == 0)
		r = read_sections(file);
	if (r < 0)
		return error_set(err, -r, "cannot read the headers of '%s'", file->path);
	return 0;
}

static int image_elf_load(struct image_elf *file, const struct profile_image *image,
			  enum image_elf_origin origin, const struct debug_file_options *options,
			  struct error *err)
{
	const char *previous;
	int r = elf_file_open(&file->elf, file->path, err);

	if (r < 0)
		return r;
	previous = parse_guard_begin(file->elf.subject);
	r = read_headers(file, image, origin, options, err);
	parse_guard_end(previous, r);
	return r;
}

int image_elf_open(struct image_elf **ret, const struct profile_image *image, char *path,
		   enum image_elf_origin origin, const struct debug_file_options *options,
		   struct error *err)
{
	_cleanup_(cleanup_image_elf) struct image_elf *file = calloc(1, sizeof(*file));
	int r;

	if (file == NULL || path == NULL) {
		free(path);
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	file->path = path;
	file->profiled_path = image_elf_plain_path(image);
	if (file->profiled_path == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	r = image_elf_load(file, image, origin, options, err);
	if (r < 0)
		return r;
	*ret = take_ptr(file);
	return 0;
}

void image_elf_close(struct image_elf *file)
{
	if (file == NULL)
		return;
	elf_file_close(&file->elf);
	free(file->path);
	free(file->profiled_path);
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

const char *image_elf_profiled_path(const struct image_elf *file)
{
	return file->profiled_path;
}

bool image_elf_has_code(const struct image_elf *file)
{
	return !file->codeless;
}

uint64_t image_elf_offset(const struct image_elf *file, uint64_t address, uint64_t *offset)
{
	size_t low =
		partition_point(0, file->segment_count, i, file->segments[i].address <= address);
	const struct segment *segment;

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
	size_t low =
		partition_point(0, file->section_count, i, file->sections[i].address <= address);

	if (low == 0 || address - file->sections[low - 1].address >= file->sections[low - 1].bytes)
		return NULL;
	return &file->sections[low - 1];
}
