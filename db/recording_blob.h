/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compact form of what rewritten programs recorded: tables of numbers, and texts.
 *
 *	version  1 byte, RECORDING_BLOB_VERSION
 *	texts    varint, how many
 *	length   varint, bytes of all texts, each with a NUL behind it
 *	packed   varint, bytes of the zlib stream that follows: the texts
 *	tables   varint, how many
 *	of each  varint columns, varint rows
 *	blocks   a bit stream, least significant bit first, zero-padded: of each table
 *	         with rows its blocks
 *	crc      4 bytes, little endian, CRC-32 of the key and all of the above
 *
 * A block is up to RECORDING_BLOB_BLOCK rows, column by column: 5 bits k, then for each
 * row an Exp-Golomb code (db/bits.h) of order k of its distance from the row before (the
 * first row's from 0), as zigzag. Columns in order, or that are all the same, so cost next
 * to nothing, whatever they are.
 */
#ifndef DCPI_RECORDING_BLOB_H
#define DCPI_RECORDING_BLOB_H

#include "db/profile_blob.h"
#include "db/profile_recording.h"

#define RECORDING_BLOB_VERSION 1
#define RECORDING_BLOB_BLOCK 64
#define RECORDING_BLOB_TEXT_MAX (UINT64_C(1) << 28)

/**
 * struct recording_content - a recording that was decoded, and the memory it is in
 *
 * Zero-initialised is empty; freed by recording_content_deinit(). Of @recording, epoch,
 * image, mode and metric are the caller's business.
 */
struct recording_content {
	struct profile_recording recording;
	uint64_t *values[PROFILE_RECORDING_TABLES_MAX];
	const char **texts;
	char *text;
};

void recording_content_deinit(struct recording_content *content);

/** recording_blob_key() - what binds a blob to its row; never that of another kind of blob. */
uint32_t recording_blob_key(int64_t epoch, int64_t image, int64_t mode);

/**
 * recording_blob_encode() - write tables and texts
 * @blob: out: its contents are replaced, its memory is used again
 * @rows: out: of all tables
 *
 * O(numbers). Return: 0; -EINVAL too many tables or columns, or none, or too much text;
 * -EOVERFLOW a number over PROFILE_RECORDING_VALUE_MAX; -ENOMEM.
 */
int recording_blob_encode(struct profile_blob *blob, uint32_t key,
			  const struct profile_recording *recording, uint64_t *rows);

/**
 * recording_blob_decode() - read them
 * @ret:  out: freed before, and empty after a failure
 * @data: not trusted
 *
 * O(@bytes), and at most 64 bytes of memory for each of @bytes for numbers, 1,100 for texts.
 *
 * Return: 0; -EBADMSG damaged; -EPROTO a version not known; -ENOMEM.
 */
int recording_blob_decode(struct recording_content *ret, uint32_t key, const void *data,
			  size_t bytes);

#endif
