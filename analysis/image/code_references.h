/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Places in an image's code and data that refer to code: direct calls, direct jumps out of a
 * procedure, computed addresses, and pointers that the dynamic loader sets.
 *
 * Internal to image_code.c.
 */
#ifndef DCPI_CODE_REFERENCES_H
#define DCPI_CODE_REFERENCES_H

#include "analysis/image/image_text.h"

struct code_reference;
struct code_references;

/**
 * code_references_create() - prepare the search; the code is decoded when it is used first
 * @text: must outlive it
 * @ret:  out; freed by code_references_destroy()
 *
 * Return: 0 or -ENOMEM.
 */
int code_references_create(struct code_references **ret, struct image_text *text);

/** code_references_destroy() - free. NULL is fine. */
void code_references_destroy(struct code_references *references);

/** code_references_find() - see image_code_callers(); may be called by several threads at once. */
int code_references_find(struct code_references *references, const struct image_range *procedure,
			 const struct code_reference **ret, size_t *count);

#endif
