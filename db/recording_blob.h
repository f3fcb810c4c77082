/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compact form of data that rewritten programs recorded: tables of numbers, and texts.
 *
 * Layout:
 *	version  1 byte, RECORDING_BLOB_VERSION
 *	texts    varint, number of texts
 *	length   varint, bytes of all texts, each with a NUL at its end
 *	packed   varint, bytes of the zlib stream that follows: the texts
 *	tables   varint, number of tables
 *	shapes   for each table: varint columns, varint rows
 *	blocks   a bit stream, least significant bit first, zero-padded: the blocks of
 *	         each table with rows
 *	crc      4 bytes, little endian, CRC-32 of the key and all of the above
 *
 * A block has up to RECORDING_BLOB_BLOCK rows, column by column. A column begins with the order k,
 * 5 bits. Then each row has an Exp-Golomb code (db/bits.h) of order k of its difference to the
 * previous row (the first row's to 0), as zigzag. So columns that are sorted or constant cost
 * almost nothing, independent of their values.
 */
#ifndef DCPI_RECORDING_BLOB_H
#define DCPI_RECORDING_BLOB_H

#include "db/profile_blob.h"
#include "db/profile_recording.h"

#define RECORDING_BLOB_VERSION 1
#define RECORDING_BLOB_BLOCK 64
#define RECORDING_BLOB_TEXT_MAX (UINT64_C(1) << 28)

/**
 * struct recording_content - a decoded recording, and its memory
 *
 * Zero-initialised is empty; freed by recording_content_deinit(). The caller sets epoch, image,
 * mode and metric of @recording.
 */
struct recording_content {
	struct profile_recording recording;
	uint64_t *values[PROFILE_RECORDING_TABLES_MAX];
	const char **texts;
	char *text;
};

void recording_content_deinit(struct recording_content *content);

/** recording_blob_key() - the key that binds a blob to its row; differs for other kinds of blobs */
uint32_t recording_blob_key(int64_t epoch, int64_t image, int64_t mode);

/**
 * recording_blob_encode() - write tables and texts
 * @blob: out: its contents are replaced, its memory is reused
 * @rows: out: number of rows of all tables
 *
 * O(numbers). Return: 0; -EINVAL too many tables or columns, or none, or too much text;
 * -EOVERFLOW a number over PROFILE_RECORDING_VALUE_MAX; -ENOMEM.
 */
int recording_blob_encode(struct profile_blob *blob, uint32_t key,
			  const struct profile_recording *recording, uint64_t *rows);

/**
 * recording_blob_decode() - read tables and texts
 * @ret:  out: its old contents are freed; empty after a failure
 * @data: not trusted
 *
 * O(@bytes), and at most 64 bytes of memory for each of @bytes for numbers, 1,100 for texts.
 *
 * Return: 0; -EBADMSG damaged; -EPROTO unknown version; -ENOMEM.
 */
int recording_blob_decode(struct recording_content *ret, uint32_t key, const void *data,
			  size_t bytes);

#endif
