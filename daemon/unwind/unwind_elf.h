/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds and reads the call frame information of an ELF file.
 *
 * The file is untrusted, and may change meanwhile. Files are read with pread(2), never mapped, and
 * memory and reads are bounded regardless of the contents.
 */
#ifndef DCPI_UNWIND_ELF_H
#define DCPI_UNWIND_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct unwind_machine;

/* Largest section that is read: that of a program with some hundred MB of code. */
#define UNWIND_SECTION_BYTES_MAX ((size_t)64 << 20)
#define UNWIND_SEGMENTS_MAX 64

/** struct unwind_file - an ELF file: @fd, or with @data: @bytes in memory */
struct unwind_file {
	int fd;
	const uint8_t *data;
	size_t bytes;
};

/** struct unwind_segment - code: addresses @start .. @end - 1 are at @offset in the file */
struct unwind_segment {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
};

/** struct unwind_section - @bytes of @data; NULL: the file has no such section */
struct unwind_section {
	uint8_t *data;
	size_t bytes;
	uint64_t address;
};

/** struct unwind_elf - zero-initialised is empty; freed by unwind_elf_deinit(). @entry: address */
struct unwind_elf {
	const struct unwind_machine *machine;
	struct unwind_segment segments[UNWIND_SEGMENTS_MAX];
	size_t segment_count;
	uint64_t entry;
	struct unwind_section eh_frame;
	struct unwind_section debug_frame;
};

/**
 * unwind_elf_read() - read the sections
 *
 * Return: 0, also without call frame information; -ENOEXEC: not a 64-bit ELF file of a supported
 * machine; -EFBIG: a section is too large; -EIO: truncated; -ENOMEM; or the error of pread(2).
 */
int unwind_elf_read(struct unwind_elf *elf, const struct unwind_file *file);
void unwind_elf_deinit(struct unwind_elf *elf);

/** unwind_elf_code_read() - as unwind_elf_read(): read the machine, the entry point and segments */
int unwind_elf_code_read(struct unwind_elf *elf, const struct unwind_file *file);

/**
 * unwind_elf_headers_read() - read the section headers
 * @ret:   out: malloc'd; NULL: the file has none
 * @count: out
 */
int unwind_elf_headers_read(Elf64_Shdr **ret, size_t *count, const struct unwind_file *file);

/**
 * unwind_elf_block_read() - read a part of the file
 * @ret: out: malloc'd, with room for one more byte
 *
 * Return: 0; -EFBIG: @bytes exceeds @max; -EIO: truncated; -ENOMEM; or the error of pread(2).
 */
int unwind_elf_block_read(const struct unwind_file *file, uint8_t **ret, uint64_t bytes, size_t max,
			  uint64_t offset);

/** unwind_elf_offset() - convert an address of code to an offset. Return: false: not code. */
bool unwind_elf_offset(const struct unwind_elf *elf, uint64_t address, uint64_t *offset);

#endif
