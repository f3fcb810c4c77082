/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a program directly after loading, as far as the file determines it and it does not
 * change. It consists of code, constants, and pointers that the dynamic loader sets once
 * (relocations relative to the image, as if it were loaded at the addresses of its headers).
 *
 * Safe to be called by several threads at once. Little-endian ELF64 only.
 */
#ifndef DCPI_IMAGE_MEMORY_H
#define DCPI_IMAGE_MEMORY_H

#include <stdbool.h>

#include "analysis/image/elf_file.h"

struct image_memory;

/**
 * image_memory_open() - open the memory of a file
 * @file: owned by the caller; must stay open
 * @ret:  out; freed by image_memory_close()
 *
 * Return: 0; -ENOEXEC if segments cannot be read; -ENOMEM.
 */
int image_memory_open(struct image_memory **ret, const struct elf_file *file);

/** image_memory_close() - free. NULL is fine. */
void image_memory_close(struct image_memory *memory);

/**
 * image_memory_code() - return bytes of an executable segment
 *
 * Return: valid until image_memory_close(); NULL if some are missing.
 */
const uint8_t *image_memory_code(struct image_memory *memory, uint64_t address, uint64_t bytes);

/**
 * image_memory_read() - copy bytes that do not change while the program runs
 *
 * Return: 0; -ENOENT if they change, or are unknown before the program runs.
 */
int image_memory_read(struct image_memory *memory, uint64_t address, void *buffer, size_t bytes);

/**
 * image_memory_initial() - read the initial value of a pointer that may change later
 *
 * Return: 0 or -ENOENT.
 */
int image_memory_initial(struct image_memory *memory, uint64_t address, uint64_t *pointer);

/** image_memory_slot_name() - find the symbol that a pointer is bound to. Return: NULL: none. */
const char *image_memory_slot_name(struct image_memory *memory, uint64_t address);

/**
 * image_memory_pointers() - find the targets of constant pointers
 * @visit: called for each target in [@start, @end), ascending, some more than once
 */
void image_memory_pointers(struct image_memory *memory, uint64_t start, uint64_t end,
			   void (*visit)(void *context, uint64_t target), void *context);

#endif
