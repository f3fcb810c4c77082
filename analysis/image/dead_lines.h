/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lines of functions that a linker has left out (--gc-sections, folded ones): their line
 * programs stay in .debug_line, at address 0, and where code begins at low addresses, as in
 * position-independent programs, they lie over those of functions that are there.
 */
#ifndef DCPI_DEAD_LINES_H
#define DCPI_DEAD_LINES_H

#include "analysis/image/elf_file.h"

/** struct dead_lines - a section with other contents; zero-initialised: none has been changed */
struct dead_lines {
	Elf_Data *data;
	void *old;
	uint8_t *changed;
};

/**
 * dead_lines_move() - move them to where no code is
 * @file: libdw must not have read .debug_line before; it must be closed before
 *        dead_lines_restore()
 *
 * Return: 0 or -ENOMEM.
 */
int dead_lines_move(struct dead_lines *lines, const struct elf_file *file);

/** dead_lines_restore() - give the section its contents back, and free. */
void dead_lines_restore(struct dead_lines *lines);

#endif
