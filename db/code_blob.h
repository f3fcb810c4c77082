/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compact form of a procedure's code, for code that is in no file.
 *
 * Layout:
 *	version  1 byte, CODE_BLOB_VERSION
 *	machine  varint, architecture, as in ELF files
 *	bytes    varint, length of the code
 *	code     zlib stream
 *	crc      4 bytes, little endian, CRC-32 of the image, the offset and all of the above
 */
#ifndef DCPI_CODE_BLOB_H
#define DCPI_CODE_BLOB_H

#include "db/profile.h"
#include "db/profile_blob.h"

#define CODE_BLOB_VERSION 1
#define CODE_BYTES_MAX (1U << 20)

/**
 * code_blob_encode() - write code
 * @blob: out: its contents are replaced, its memory is reused
 *
 * Return: 0; -EINVAL no code, or more than CODE_BYTES_MAX; -ENOMEM.
 */
int code_blob_encode(struct profile_blob *blob, int64_t image, const struct profile_code *code);

/**
 * code_blob_decode() - read code
 * @code: out: all fields; data is malloc'd
 * @data: not trusted
 *
 * Return: 0; -EBADMSG damaged; -EPROTO a version not known; -ENOMEM.
 */
int code_blob_decode(struct profile_code *code, int64_t image, uint64_t offset, const void *data,
		     size_t bytes);

#endif
