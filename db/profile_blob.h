/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compact form of a profile: sorted (offset, count) pairs as bytes.
 *
 *	version  1 byte, PROFILE_BLOB_VERSION
 *	shift    1 byte, low zero bits that all offsets have in common
 *	pairs    varint, number of pairs
 *	total    varint, sum of the counts
 *	first    varint, first offset >> shift          (if there are pairs)
 *	blocks   a bit stream, least significant bit first, zero-padded
 *	crc      4 bytes, little endian, CRC-32 of the key and all of the above
 *
 * A block is up to PROFILE_BLOB_BLOCK pairs: 5 bits kd, 5 bits kc, then for
 * each pair (the very first has no delta) the distance from the offset before
 * it, less one, as Exp-Golomb code of order kd, and its count, less one, as
 * Exp-Golomb code of order kc (Teuhola 1978). The orders follow the data
 * block by block, so that hot loops and cold code both cost about their
 * entropy; a byte-oriented varint pair cannot be shorter than two bytes.
 */
#ifndef DCPI_PROFILE_BLOB_H
#define DCPI_PROFILE_BLOB_H

#include "db/profile.h"

struct bounded_reader;

#define PROFILE_BLOB_VERSION 1
#define PROFILE_BLOB_BLOCK 64

/** The sum of a profile's counts is at most this: it is a number in SQL too. */
#define PROFILE_BLOB_TOTAL_MAX ((uint64_t)INT64_MAX)

/** struct profile_blob - growing bytes; zero-initialised is empty. */
struct profile_blob {
	uint8_t *data;
	size_t bytes;
	size_t capacity;
};

/** struct profile_pairs - growing samples and their sum; zero-initialised is empty. */
struct profile_pairs {
	struct profile_sample *samples;
	size_t count;
	size_t capacity;
	uint64_t total;
};

void profile_blob_deinit(struct profile_blob *blob);
void profile_pairs_deinit(struct profile_pairs *pairs);

/**
 * profile_blob_key() - what binds a blob to its row
 *
 * Goes into the checksum: a blob found under another key does not verify.
 */
uint32_t profile_blob_key(int64_t epoch, int64_t image, uint32_t event, int64_t pid);

#define PROFILE_BLOB_CRC_BYTES 4

/**
 * profile_blob_seal() - append the checksum that all kinds of blobs end with
 *
 * There must be room for PROFILE_BLOB_CRC_BYTES more.
 */
void profile_blob_seal(struct profile_blob *blob, uint32_t key);

/**
 * profile_blob_open() - verify the checksum and read what stands before it
 * @reader: out
 *
 * Return: 0 or -EBADMSG.
 */
int profile_blob_open(struct bounded_reader *reader, uint32_t key, const void *data, size_t bytes);

/**
 * profile_blob_encode() - write samples
 * @blob:    out: its contents are replaced, its memory is used again
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
 * @pairs: out: replaced, its memory is used again; undefined on failure
 * @data:  not trusted
 *
 * O(@bytes), and at most 64 bytes of memory for each of @bytes.
 *
 * Return: 0; -EBADMSG damaged; -EPROTO a version not known; -ENOMEM.
 */
int profile_blob_decode(struct profile_pairs *pairs, uint32_t key, const void *data, size_t bytes);

/**
 * profile_blob_decode_in() - likewise, of samples at some offsets only
 * @pairs:   its total is that of all
 * @ranges:  which; NULL: all
 * @offsets: out: how many different ones there are in all
 *
 * As fast, with memory for what is wanted.
 */
int profile_blob_decode_in(struct profile_pairs *pairs, uint32_t key,
			   const struct profile_ranges *ranges, const void *data, size_t bytes,
			   uint64_t *offsets);

/**
 * profile_pairs_merge() - add two sorted runs of samples
 * @sum: out: replaced; counts of equal offsets are added
 * @a:   with its total
 *
 * O(@b_count), and little more than copying for @a.
 *
 * Return: 0; -EOVERFLOW; -ENOMEM.
 */
int profile_pairs_merge(struct profile_pairs *sum, const struct profile_pairs *a,
			const struct profile_sample *b, size_t b_count);

#endif
