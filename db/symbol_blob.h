/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compact form of an image's symbols.
 *
 * Layout:
 *	version     1 byte, SYMBOL_BLOB_VERSION
 *	symbols     varint, number of symbols
 *	name_bytes  varint, all names with their NULs
 *	body_bytes  varint, length of the body before compression
 *	body        zlib stream: the varints of all offsets (each minus the previous
 *	            one), the varints of all sizes, all names, NUL-terminated
 *	crc         4 bytes, little endian, CRC-32 of the image and all of the above
 *
 * deflate works best if similar data is contiguous. Version 1, which is still read, had a body of
 * records: offset, bytes, length of the prefix shared with the previous name, length of the rest
 * (varints), and the rest of the name.
 */
#ifndef DCPI_SYMBOL_BLOB_H
#define DCPI_SYMBOL_BLOB_H

#include "db/profile.h"
#include "db/profile_blob.h"

#define SYMBOL_BLOB_VERSION 2
#define SYMBOL_NAME_BYTES_MAX 65535
#define SYMBOL_NAMES_BYTES_MAX (256U << 20)

struct profile_symbols;

/**
 * symbol_blob_encode() - write symbols
 * @symbols: sorted by offset; names up to SYMBOL_NAME_BYTES_MAX
 *
 * Return: 0; -EINVAL not sorted, a name too long; -E2BIG all names together
 * exceed SYMBOL_NAMES_BYTES_MAX; -ENOMEM.
 */
int symbol_blob_encode(struct profile_blob *blob, int64_t image,
		       const struct profile_symbol *symbols, size_t count);

/**
 * symbol_blob_decode() - read symbols
 * @ret:  out; freed by profile_symbols_deinit()
 * @data: not trusted
 *
 * Return: 0; -EBADMSG damaged; -EPROTO unknown version; -ENOMEM.
 */
int symbol_blob_decode(struct profile_symbols *ret, int64_t image, const void *data, size_t bytes);

#endif
