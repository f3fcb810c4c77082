/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Procedures that are cold parts of others, split off by the compiler. They are found by name,
 * "NAME.cold", and by jumps between the procedures if several have the name. In files without
 * symbols, parts have unwinding information that begins inside a frame; the parent is the procedure
 * into whose middle the part jumps back.
 *
 * Internal to image_code.c.
 */
#ifndef DCPI_PROCEDURE_PARTS_H
#define DCPI_PROCEDURE_PARTS_H

#include "analysis/image/image_text.h"

#define PROCEDURE_PARTS_MAX 8

struct procedure_parts;

/**
 * procedure_parts_create() - find the parts of an image
 * @text: owned by the caller
 *
 * Return: 0 or -ENOMEM.
 */
int procedure_parts_create(struct procedure_parts **ret, struct image_text *text);

/** procedure_parts_destroy() - free. NULL is fine. */
void procedure_parts_destroy(struct procedure_parts *parts);

/** procedure_parts_get() - see image_code_parts(). */
size_t procedure_parts_get(const struct procedure_parts *parts, size_t index,
			   struct image_range ranges[PROCEDURE_PARTS_MAX], size_t *parent);

#endif
