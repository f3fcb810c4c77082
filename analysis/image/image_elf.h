/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of a profiled image: checked to be the one that was profiled, with
 * its code sections and the way between addresses and file offsets.
 */
#ifndef DCPI_IMAGE_ELF_H
#define DCPI_IMAGE_ELF_H

#include "analysis/image/elf_file.h"
#include "db/profile.h"

struct image_elf;

/**
 * struct image_section - a section that holds code
 * @address: ELF virtual address
 * @bytes:   length
 * @index:   in the section header table
 * @name:    ".text"
 */
struct image_section {
	uint64_t address;
	uint64_t bytes;
	size_t index;
	const char *name;
};

/**
 * image_elf_open() - open the file of an image
 * @image: kind PROFILE_IMAGE_FILE, with its path. " (deleted)" at the end of
 *         the path is ignored if a build-id can tell whether the file that is
 *         there now is the right one.
 * @copies: a store of copies (lib/image_store.h), or NULL: looked at if the file
 *         at the path is not the one that was profiled, or cannot be read
 * @ret:   out; freed by image_elf_close()
 *
 * Where there is no copy either, the error is that of the path.
 *
 * Return: 0; -ESTALE the file is not the one that was profiled; -ENOEXEC no
 * ELF executable or shared object, or damaged; -ENOENT, -EACCES and other
 * errors of open(2); -EINVAL the image's kind has no file; -ENOMEM.
 */
int image_elf_open(struct image_elf **ret, const struct profile_image *image, const char *copies,
		   struct error *err);

/** image_elf_close() - free. NULL is fine. */
void image_elf_close(struct image_elf *file);

/** image_elf_file() - the file, open. */
const struct elf_file *image_elf_file(const struct image_elf *file);

/** image_elf_path() - where it was opened. */
const char *image_elf_path(const struct image_elf *file);

/**
 * image_elf_offset() - where code is in the file
 * @address: ELF virtual address
 * @offset:  out
 *
 * Return: bytes from there to the end of the executable segment's part that
 * is in the file; 0 if the address is in none.
 */
uint64_t image_elf_offset(const struct image_elf *file, uint64_t address, uint64_t *offset);

/**
 * image_elf_address() - the ELF virtual address of code
 * @offset:  in the file
 * @address: out
 *
 * Return: bytes from there to the end of the executable segment's part that is in the file; 0
 * if the offset is in none.
 */
uint64_t image_elf_address(const struct image_elf *file, uint64_t offset, uint64_t *address);

/** image_elf_sections() - sections that hold code, by address. */
const struct image_section *image_elf_sections(const struct image_elf *file, size_t *count);

/**
 * image_elf_section_at() - the code section that holds an address
 *
 * O(log sections). Return: NULL if there is none.
 */
const struct image_section *image_elf_section_at(const struct image_elf *file, uint64_t address);

#endif
