/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses at which data begin, as the code of an image uses them. They are the constant part of
 * an operand with an index and without a base register, and targets of constant pointers. Addresses
 * relative to the program counter are taken if they are computed, not accessed. A jump table ends
 * where other data begin. Operands that access a constant address are left out, since vector
 * instructions may access the middle of a table.
 *
 * Addresses that arm64 and Alpha compute by several instructions are not found.
 *
 * Internal to image_code.c.
 */
#ifndef DCPI_TABLE_STARTS_H
#define DCPI_TABLE_STARTS_H

#include "analysis/image/image_text.h"

struct table_starts;

/**
 * table_starts_create() - prepare the search; the code is decoded when it is used first
 * @text: must outlive it
 * @ret:  out; freed by table_starts_destroy()
 *
 * Return: 0 or -ENOMEM.
 */
int table_starts_create(struct table_starts **ret, struct image_text *text);

/** table_starts_destroy() - free. NULL is fine. */
void table_starts_destroy(struct table_starts *starts);

/** table_starts_next() - see image_code_next_start(); may be called by several threads at once. */
int table_starts_next(struct table_starts *starts, uint64_t address, uint32_t bytes,
		      uint64_t *next);

#endif
