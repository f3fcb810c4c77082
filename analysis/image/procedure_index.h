/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A serialised procedure table, which is faster to read than the image. It contains procedures,
 * their bytes, and the states of all source files, so that it is not used after one of them has
 * changed. For the same machine only.
 *
 * The bytes are untrusted input: a checksum detects damage, and everything else is validated.
 */
#ifndef DCPI_PROCEDURE_INDEX_H
#define DCPI_PROCEDURE_INDEX_H

#include "analysis/image/file_stamps.h"
#include "analysis/image/procedure_table.h"

/**
 * procedure_index_make() - serialise a table
 * @stamps: states of its source files
 * @key:    other parameters that the table depends on
 * @ret:    out: malloc'd, @bytes bytes
 *
 * Return: 0; -E2BIG; -ENOMEM.
 */
int procedure_index_make(const struct procedure_table *table, const struct file_stamps *stamps,
			 const char *key, void **ret, size_t *bytes);

/**
 * procedure_index_open() - read a serialised table
 * @memory: malloc'd; ownership is transferred, also on failure
 * @ret:    out: without a file, see procedure_table_image()
 *
 * Return: 0; -ESTALE if @key differs or a file has changed; -EBADMSG if it is damaged or of another
 * version; -ENOMEM.
 */
int procedure_index_open(struct procedure_table **ret, void *memory, size_t bytes, const char *key);

/**
 * procedure_index_checksum() - compute the checksum; for tests that make damaged data look valid.
 */
uint64_t procedure_index_checksum(const void *bytes, size_t count);

#endif
