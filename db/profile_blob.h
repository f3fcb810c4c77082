/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compact form of a profile: sorted (offset, count) pairs as bytes.
 *
 * Layout:
 *	version  1 byte, PROFILE_BLOB_VERSION
 *	shift    1 byte, low zero bits that all offsets have in common
 *	pairs    varint, number of pairs
 *	total    varint, sum of the counts
 *	first    varint, first offset >> shift          (if there are pairs)
 *	blocks   a bit stream, least significant bit first, zero-padded
 *	crc      4 bytes, little endian, CRC-32 of the key and all of the above
 *
 * A block has up to PROFILE_BLOB_BLOCK pairs. It begins with the orders kd and kc, 5 bits each.
 * Then each pair has two Exp-Golomb codes (Teuhola 1978): the difference to the previous offset,
 * minus one, of order kd (the very first pair has none), and its count minus one, of order kc. The
 * orders follow the data block by block, so that hot loops and cold code both cost about their
 * entropy; a byte-oriented varint pair cannot be shorter than two bytes.
 */
#ifndef DCPI_PROFILE_BLOB_H
#define DCPI_PROFILE_BLOB_H

#include "db/profile_pairs.h"

struct bounded_reader;

#define PROFILE_BLOB_VERSION 1
#define PROFILE_BLOB_BLOCK 64

/** The sum of a profile's counts is at most this, because it is also an SQL integer. */
#define PROFILE_BLOB_TOTAL_MAX ((uint64_t)INT64_MAX)

/** struct profile_blob - a growable array of bytes; zero-initialised is empty. */
struct profile_blob {
	uint8_t *data;
	size_t bytes;
	size_t capacity;
};

void profile_blob_deinit(struct profile_blob *blob);

/**
 * profile_blob_key() - the key that binds a blob to its row
 *
 * The key is included in the checksum: a blob found under another key does not verify.
 */
uint32_t profile_blob_key(int64_t epoch, int64_t image, uint32_t event, int64_t pid);

/* The number of a slice in place of an epoch's, for profile_blob_key(): epochs are positive. */
#define PROFILE_BLOB_SLICE(slice) (-1 - (slice))

#define PROFILE_BLOB_CRC_BYTES 4

/**
 * profile_blob_append_crc() - append the checksum at the end of each kind of blob
 *
 * There must be room for PROFILE_BLOB_CRC_BYTES more bytes.
 */
void profile_blob_append_crc(struct profile_blob *blob, uint32_t key);

/**
 * profile_blob_open() - verify the checksum and read the data before it
 * @reader: out
 *
 * Return: 0 or -EBADMSG.
 */
int profile_blob_open(struct bounded_reader *reader, uint32_t key, const void *data, size_t bytes);

/**
 * profile_blob_encode() - write samples
 * @blob:    out: its contents are replaced, its memory is reused
 * @samples: strictly ascending offsets, counts > 0
 *
 * O(@count).
 *
 * Return: the sum of the counts in @total and 0; -EINVAL samples out of
 * order or a count of zero; -EOVERFLOW sum over PROFILE_BLOB_TOTAL_MAX;
 * -ENOMEM.
 */
int profile_blob_encode(struct profile_blob *blob, uint32_t key,
			const struct profile_sample *samples, size_t count, uint64_t *total);

/**
 * profile_blob_decode() - read samples
 * @pairs: out: replaced, its memory is reused; undefined on failure
 * @data:  not trusted
 *
 * O(@bytes), and at most 64 bytes of memory for each of @bytes.
 *
 * Return: 0; -EBADMSG damaged; -EPROTO unknown version; -ENOMEM.
 */
int profile_blob_decode(struct profile_pairs *pairs, uint32_t key, const void *data, size_t bytes);

/**
 * profile_blob_decode_in() - read only the samples in some ranges
 * @pairs:   out: its total is that of all samples
 * @ranges:  offsets of interest; NULL: all
 * @offsets: out: number of different offsets in the whole blob
 *
 * As fast as profile_blob_decode(), with memory only for the selected samples.
 */
int profile_blob_decode_in(struct profile_pairs *pairs, uint32_t key,
			   const struct profile_ranges *ranges, const void *data, size_t bytes,
			   uint64_t *offsets);

#endif
