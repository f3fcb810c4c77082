/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a program finds in memory right after it was loaded, as far as the file
 * tells and nobody changes it: code, constants, and pointers that the dynamic
 * loader fills in once (relocations relative to the image, as if it were loaded
 * where its headers say).
 *
 * Safe to be called by several threads at once. Little-endian ELF64 only.
 */
#ifndef DCPI_IMAGE_MEMORY_H
#define DCPI_IMAGE_MEMORY_H

#include <stdbool.h>

#include "analysis/image/elf_file.h"

struct image_memory;

/**
 * image_memory_open() - over a file
 * @file: stays the caller's, and open
 * @ret:  out; freed by image_memory_close()
 *
 * Return: 0; -ENOEXEC segments cannot be read; -ENOMEM.
 */
int image_memory_open(struct image_memory **ret, const struct elf_file *file);

/** image_memory_close() - free. NULL is fine. */
void image_memory_close(struct image_memory *memory);

/**
 * image_memory_code() - bytes of an executable segment
 *
 * Return: valid until it is closed; NULL if they are not all there.
 */
const uint8_t *image_memory_code(struct image_memory *memory, uint64_t address, uint64_t bytes);

/**
 * image_memory_read() - copy bytes that do not change while the program runs
 *
 * Return: 0; -ENOENT they do, or are not known before it runs.
 */
int image_memory_read(struct image_memory *memory, uint64_t address, void *buffer, size_t bytes);

/**
 * image_memory_initial() - the same for memory that may change later: a pointer as the
 * loader leaves it there at first
 *
 * Return: 0 or -ENOENT.
 */
int image_memory_initial(struct image_memory *memory, uint64_t address, uint64_t *pointer);

/** image_memory_slot_name() - the symbol that a pointer is bound to. Return: NULL: to none. */
const char *image_memory_slot_name(struct image_memory *memory, uint64_t address);

/**
 * image_memory_pointers() - the places that constant pointers lead to
 * @visit: called for each in [@start, @end), ascending, some more than once
 */
void image_memory_pointers(struct image_memory *memory, uint64_t start, uint64_t end,
			   void (*visit)(void *context, uint64_t target), void *context);

#endif
