/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A procedure table as bytes that are read again faster than the image: its procedures,
 * which has which bytes, and the files that it was made from, so that it is not used when
 * these have changed. For this machine only.
 *
 * The bytes are from outside: a checksum finds what is damaged, and nothing in them is
 * trusted beyond that.
 */
#ifndef DCPI_PROCEDURE_INDEX_H
#define DCPI_PROCEDURE_INDEX_H

#include "analysis/image/file_stamps.h"
#include "analysis/image/procedure_table.h"

/**
 * procedure_index_make() - write a table
 * @stamps: the files that it was made from
 * @key:    what else it depends on
 * @ret:    out: malloc'd, @bytes of it
 *
 * Return: 0; -E2BIG; -ENOMEM.
 */
int procedure_index_make(const struct procedure_table *table, const struct file_stamps *stamps,
			 const char *key, void **ret, size_t *bytes);

/**
 * procedure_index_open() - read one
 * @memory: malloc'd; taken over, also on failure
 * @ret:    out: without a file, see procedure_table_image()
 *
 * Return: 0; -ESTALE it was made with another @key, or a file has changed; -EBADMSG it is
 * damaged, or of another version; -ENOMEM.
 */
int procedure_index_open(struct procedure_table **ret, void *memory, size_t bytes, const char *key);

/** procedure_index_checksum() - of bytes; for tests, which make damage look right. */
uint64_t procedure_index_checksum(const void *bytes, size_t count);

#endif
