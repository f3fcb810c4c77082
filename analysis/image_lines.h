/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source lines by address, from the DWARF of an image or of its debug file.
 * Safe to be called by several threads at once.
 */
#ifndef DCPI_IMAGE_LINES_H
#define DCPI_IMAGE_LINES_H

#include "analysis/elf_file.h"

struct image_lines;

/**
 * image_lines_create() - nothing is read before the first look-up
 * @file:  the image, or a debug file with its addresses: stays the caller's, and open
 * @ret:   out; freed by image_lines_destroy()
 *
 * Return: 0 or -ENOMEM.
 */
int image_lines_create(struct image_lines **ret, const struct elf_file *file);

/** image_lines_destroy() - free. NULL is fine. */
void image_lines_destroy(struct image_lines *lines);

/** image_lines_present() - whether a file has line tables at all. */
bool image_lines_present(const struct elf_file *file);

/**
 * image_lines_find() - the line of an address
 * @file: out: valid until @lines is destroyed
 * @line: out: >= 1
 *
 * Return: 0; -ENOENT not known.
 */
int image_lines_find(struct image_lines *lines, uint64_t address, const char **file,
		     unsigned int *line);

#endif
