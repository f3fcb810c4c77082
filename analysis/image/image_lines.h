/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Source lines and inlined functions by address, from the DWARF of an image or of its debug file.
 * Safe to be called by several threads at once.
 */
#ifndef DCPI_IMAGE_LINES_H
#define DCPI_IMAGE_LINES_H

#include "analysis/image/debug_file.h"

/* Inlined functions within each other. */
#define IMAGE_LINES_INLINES_MAX 64

struct image_lines;
struct procedure_table;

/**
 * image_lines_open() - open the lines of an image: its own, else those of its debug file
 * @ret:        out; closed by image_lines_close(). NULL if there are no lines
 * @procedures: of the image's file; must outlive the lines
 *
 * Nothing is read before the first look-up.
 *
 * Return: 0 or -ENOMEM.
 */
int image_lines_open(struct image_lines **ret, const struct procedure_table *procedures,
		     const struct debug_file_options *options);

/** image_lines_close() - free. NULL is fine. */
void image_lines_close(struct image_lines *lines);

/**
 * image_lines_find() - find the line of an address
 * @file: out: valid until @lines is closed. Relative only if the compiler's directory is unknown;
 *        an absolute path has no "/./", "//" or "/../"
 * @line: out: >= 1
 *
 * Return: 0; -ENOENT if unknown; -ENOMEM.
 */
int image_lines_find(struct image_lines *lines, uint64_t address, const char **file,
		     unsigned int *line);

/**
 * image_lines_inlines() - find the inlined functions that contain an address
 * @names: out: as linkers see them, outermost first; valid until @lines is closed
 * @count: out
 *
 * Return: 0, also without inlined functions; -ENOMEM.
 */
int image_lines_inlines(struct image_lines *lines, uint64_t address,
			const char *names[IMAGE_LINES_INLINES_MAX], size_t *count);

#endif
