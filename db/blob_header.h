/* SPDX-License-Identifier: GPL-2.0-only */
/* The header of blobs of samples and of edges, before their bit stream. */
#ifndef DCPI_BLOB_HEADER_H
#define DCPI_BLOB_HEADER_H

#include <stddef.h>
#include <stdint.h>

struct bits_reader;
struct profile_blob;

/**
 * struct blob_header - in the order of the bytes, after one for the version
 * @shift: 1 byte, low zero bits that all offsets have in common
 * @count: varint, number of samples or edges
 * @total: varint, sum of their counts
 * @first: varint, the first offset >> shift; absent, and 0 here, if @count is 0
 */
struct blob_header {
	unsigned int shift;
	uint64_t count;
	uint64_t total;
	uint64_t first;
};

/**
 * blob_header_write() - begin a blob
 * @blob: its contents are replaced, its memory is reused
 *
 * Return: 0 or -ENOMEM.
 */
int blob_header_write(struct profile_blob *blob, uint8_t version, const struct blob_header *header);

/**
 * blob_header_read() - verify a blob's checksum, and read the header before the bit stream
 * @header: out; @first << @shift does not overflow, and memory for @count items is proportional to
 *          @bytes
 * @bits:   out: positioned at the bit stream
 * @data:   not trusted
 *
 * Return: 0; -EBADMSG damaged; -EPROTO not this version.
 */
int blob_header_read(struct blob_header *header, struct bits_reader *bits, uint8_t version,
		     uint32_t key, const void *data, size_t bytes);

#endif
