/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of functions that the linker dropped (--gc-sections) or folded. Their line programs stay in
 * .debug_line at address 0. Where code begins at low addresses, as in position-independent
 * programs, they overlap those of existing functions.
 */
#ifndef DCPI_DEAD_LINES_H
#define DCPI_DEAD_LINES_H

#include "analysis/image/elf_file.h"

/** struct dead_lines - a section with modified contents; zero-initialised: not modified */
struct dead_lines {
	Elf_Data *data;
	void *old;
	uint8_t *changed;
};

/**
 * dead_lines_move() - move such lines to addresses without code
 * @file: libdw must not have read .debug_line yet; close it before dead_lines_restore()
 *
 * Return: 0 or -ENOMEM.
 */
int dead_lines_move(struct dead_lines *lines, const struct elf_file *file);

/** dead_lines_restore() - restore the section's contents, and free. */
void dead_lines_restore(struct dead_lines *lines);

#endif
