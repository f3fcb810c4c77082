/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inlined functions that contain an address, from the DWARF of a compilation unit.
 *
 * The functions of a unit are found once. A look-up reads only the blocks of one function that
 * contain the address. The DWARF is untrusted: each step goes forward, and depths are limited.
 */
#ifndef DCPI_UNIT_INLINES_H
#define DCPI_UNIT_INLINES_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

/* Inlined functions within each other; more are left out. */
#define UNIT_INLINES_MAX 64

struct unit_inlines;

/** unit_inlines_create() - Return: NULL if out of memory. Freed by unit_inlines_destroy(). */
struct unit_inlines *unit_inlines_create(void);
void unit_inlines_destroy(struct unit_inlines *inlines);

/**
 * unit_inlines_find() - find the inlined functions at an address
 * @unit:  offset of a unit's entry in @dwarf, which is always the same one
 * @names: out: as linkers see them, outermost first; valid until @dwarf is closed
 * @count: out
 *
 * Functions within functions, as of Fortran and Ada, are not searched.
 *
 * Return: 0, also without inlined functions; -ENOMEM.
 */
int unit_inlines_find(struct unit_inlines *inlines, Dwarf *dwarf, Dwarf_Off unit, uint64_t address,
		      const char *names[UNIT_INLINES_MAX], size_t *count);

#endif
