/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of a profiled image, checked by its identity, with its code sections and the
 * mapping between addresses and file offsets.
 *
 * Offsets are those of the profiled image, also in a separate debug file. objcopy(1) changes
 * the offsets in a debug file's program headers. They are computed again from the segments'
 * addresses and sizes, as linkers do: each segment follows the previous one at the lowest offset
 * that is congruent to its address.
 */
#ifndef DCPI_IMAGE_ELF_H
#define DCPI_IMAGE_ELF_H

#include "analysis/image/elf_file.h"
#include "db/profile.h"

struct debug_file_options;
struct image_elf;

/**
 * struct image_section - a section that contains code
 * @address: ELF virtual address
 * @bytes:   length
 * @index:   in the section header table; 0 if the file has no section headers
 * @name:    ".text"; ".segment" for an executable segment of a file without section headers
 * @empty:   the file has symbols of this code, but not its bytes (SHT_NOBITS)
 */
struct image_section {
	uint64_t address;
	uint64_t bytes;
	size_t index;
	const char *name;
	bool empty;
};

/** enum image_elf_origin - location of a file, and hence the users that may have put it there */
enum image_elf_origin {
	/* At or next to the image's path: all users with write permission for that directory. */
	IMAGE_ELF_PATH,
	/* In the image store. Its writer has compared all contents. */
	IMAGE_ELF_STORE,
	/* In a debug directory, or from a server: the administrator. */
	IMAGE_ELF_SYSTEM,
};

/**
 * image_elf_open() - open one file as the file of an image
 * @image:   its identity and, for messages and separate debug files, its path
 * @path:    the file; ownership is transferred. NULL: out of memory
 * @origin:  where the file was found
 * @options: the users whose files are trusted; NULL: all users
 * @ret:     out; freed by image_elf_close()
 *
 * Only image_lookup_open() calls this function, because it chooses the file.
 *
 * For an image with PROFILE_IDENTITY_BUILD_ID or PROFILE_IDENTITY_DIGEST, only trusted users may be
 * able to write the file at its path, since others could copy the build-id. For an image with
 * PROFILE_IDENTITY_CONTENT, the contents of a file with code are compared.
 *
 * Return: 0.
 * Return: -ESTALE: the file has another identity, or an untrusted user may have written it.
 * Return: -ENOEXEC: not ELF. -EBADF: a damaged or truncated ELF file.
 * Return: -ENOTSUP: ELF, but no executable or shared object.
 * Return: -ENOENT, -EACCES and other errors of open(2). -ENOMEM.
 */
int image_elf_open(struct image_elf **ret, const struct profile_image *image, char *path,
		   enum image_elf_origin origin, const struct debug_file_options *options,
		   struct error *err);

/**
 * image_elf_plain_path() - return the path of a profiled image
 *
 * " (deleted)" at its end is removed if a build-id can identify the file that is there now, and so
 * is PROFILE_UNVERIFIED_SUFFIX.
 *
 * Return: malloc'd; NULL: out of memory.
 */
char *image_elf_plain_path(const struct profile_image *image);

/** image_elf_close() - free. NULL is fine. */
void image_elf_close(struct image_elf *file);

/** image_elf_file() - return the open file. */
const struct elf_file *image_elf_file(const struct image_elf *file);

/** image_elf_path() - return the path of the opened file. */
const char *image_elf_path(const struct image_elf *file);

/**
 * image_elf_profiled_path() - return the image's path when it was profiled, without "(deleted)".
 */
const char *image_elf_profiled_path(const struct image_elf *file);

/**
 * image_elf_has_code() - return false for a separate debug file
 *
 * A debug file has the sections' addresses, symbols and lines, but no bytes of code.
 */
bool image_elf_has_code(const struct image_elf *file);

/**
 * image_elf_offset() - convert an address of code to a file offset
 * @address: ELF virtual address
 * @offset:  out
 *
 * Return: bytes from there to the end of the executable segment's part that is in the file; 0 if no
 * segment contains the address.
 */
uint64_t image_elf_offset(const struct image_elf *file, uint64_t address, uint64_t *offset);

/**
 * image_elf_address() - convert a file offset of code to an ELF virtual address
 * @offset:  in the file
 * @address: out
 *
 * Return: bytes from there to the end of the executable segment's part that is in the file; 0 if no
 * segment contains the offset.
 */
uint64_t image_elf_address(const struct image_elf *file, uint64_t offset, uint64_t *address);

/** image_elf_sections() - return the sections that contain code, by address. */
const struct image_section *image_elf_sections(const struct image_elf *file, size_t *count);

/**
 * image_elf_section_at() - find the code section that contains an address
 *
 * O(log sections). Return: NULL if there is none.
 */
const struct image_section *image_elf_section_at(const struct image_elf *file, uint64_t address);

#endif
