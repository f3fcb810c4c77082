/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access to a file by its program headers, as the kernel and the dynamic loader do: for files
 * without section headers (sstrip, strip --strip-section-headers). Little-endian files only.
 */
#ifndef DCPI_ELF_SEGMENTS_H
#define DCPI_ELF_SEGMENTS_H

#include "analysis/image/elf_file.h"

/**
 * elf_segments_offset() - find the file offset of an address in a PT_LOAD segment
 * @offset: out
 *
 * Return: bytes from there to the end of the segment's part that is in the file; 0: no segment
 * contains it.
 */
uint64_t elf_segments_offset(const struct elf_file *file, uint64_t address, uint64_t *offset);

/**
 * elf_segments_data() - return the bytes of a PT_LOAD segment at an address
 * @bytes_max: limit on the bytes returned; the result is shorter if the segment ends before
 * @type:      the type of the result; ELF_T_BYTE: bytes as in the file
 *
 * Return: owned by libelf, valid while the file is open; NULL: the file has no bytes there.
 */
Elf_Data *elf_segments_data(const struct elf_file *file, uint64_t address, uint64_t bytes_max,
			    Elf_Type type);

/** elf_segments_is_code() - return true if [@address, @address + @bytes) is executable. */
bool elf_segments_is_code(const struct elf_file *file, uint64_t address, uint64_t bytes);

/**
 * elf_segments_eh_frame() - find unwinding information by PT_GNU_EH_FRAME
 * @address: out: of its first byte
 *
 * Return: like elf_segments_data(). Other contents of the segment may follow its end mark.
 */
Elf_Data *elf_segments_eh_frame(const struct elf_file *file, uint64_t *address);

/**
 * struct elf_segments_symbols - the dynamic symbol table; memory owned by libelf
 * @strings: @string_bytes bytes of names, the last one a NUL
 */
struct elf_segments_symbols {
	Elf_Data *symbols;
	size_t count;
	const char *strings;
	size_t string_bytes;
};

/** elf_segments_symbols_find() - find the table by PT_DYNAMIC. Return: false if there is none. */
bool elf_segments_symbols_find(struct elf_segments_symbols *ret, const struct elf_file *file);

#endif
