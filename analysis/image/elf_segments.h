/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file through its program headers, as the kernel and the dynamic loader see it: for files
 * without section headers (sstrip, strip --strip-section-headers). Little-endian files only.
 */
#ifndef DCPI_ELF_SEGMENTS_H
#define DCPI_ELF_SEGMENTS_H

#include "analysis/image/elf_file.h"

/**
 * elf_segments_offset() - where a PT_LOAD segment has an address in the file
 * @offset: out
 *
 * Return: bytes from there to the end of the segment's part that is in the file; 0: no segment
 * has it.
 */
uint64_t elf_segments_offset(const struct elf_file *file, uint64_t address, uint64_t *offset);

/**
 * elf_segments_data() - bytes that a PT_LOAD segment has at an address
 * @bytes_max: no more than these; where the segment ends before, fewer
 * @type:      the type of the result; ELF_T_BYTE: bytes as in the file
 *
 * Return: libelf's, valid while the file is open; NULL: the file has no bytes there.
 */
Elf_Data *elf_segments_data(const struct elf_file *file, uint64_t address, uint64_t bytes_max,
			    Elf_Type type);

/** elf_segments_is_code() - return whether [@address, @address + @bytes) is executable. */
bool elf_segments_is_code(const struct elf_file *file, uint64_t address, uint64_t bytes);

/**
 * elf_segments_eh_frame() - unwinding information, found by PT_GNU_EH_FRAME
 * @address: out: of its first byte
 *
 * Return: as elf_segments_data(). Other contents of the segment may follow its end mark.
 */
Elf_Data *elf_segments_eh_frame(const struct elf_file *file, uint64_t *address);

/**
 * struct elf_segments_symbols - the dynamic symbol table; libelf's memory
 * @strings: names, @string_bytes of them, the last one a NUL
 */
struct elf_segments_symbols {
	Elf_Data *symbols;
	size_t count;
	const char *strings;
	size_t string_bytes;
};

/** elf_segments_symbols_find() - find it by PT_DYNAMIC. Return: whether there is one. */
bool elf_segments_symbols_find(struct elf_segments_symbols *ret, const struct elf_file *file);

#endif
