/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The compact form of edges, and of counted ranges: sorted (from, to, count) triples as bytes.
 *
 * Layout:
 *	version  1 byte, EDGE_BLOB_VERSION
 *	shift    1 byte, low zero bits that all offsets have in common
 *	edges    varint, number of edges
 *	total    varint, sum of the counts
 *	first    varint, first from >> shift            (if there are edges)
 *	blocks   a bit stream, least significant bit first, zero-padded
 *	crc      4 bytes, little endian, CRC-32 of the key and all of the above
 *
 * A block has up to EDGE_BLOB_BLOCK edges. It begins with the orders kf, kt, kn and kc, 5 bits
 * each. Then each edge has three Exp-Golomb codes (db/bits.h):
 *
 * - the difference of its "from" to that of the previous edge, order kf (the very first edge has
 *   none);
 * - if that difference is 0: the difference of its "to" to that of the previous edge, minus one,
 *   order kn; otherwise its "to" minus its "from", as zigzag, order kt;
 * - its count minus one, order kc.
 */
#ifndef DCPI_EDGE_BLOB_H
#define DCPI_EDGE_BLOB_H

#include "db/profile.h"
#include "db/profile_blob.h"

#define EDGE_BLOB_VERSION 1
#define EDGE_BLOB_BLOCK 64

/** struct edge_list - a growable array of edges, and their sum; zero-initialised is empty. */
struct edge_list {
	struct profile_edge *edges;
	size_t count;
	size_t capacity;
	uint64_t total;
};

void edge_list_deinit(struct edge_list *list);

/** edge_blob_key() - the key that binds a blob to its row; differs for other kinds of blobs */
uint32_t edge_blob_key(int64_t epoch, int64_t image, int64_t to_image, int64_t kind);

/* Used instead of to_image in the table of exact counts. No image has this number. */
#define EDGE_BLOB_COUNTS 0

/**
 * edge_blob_encode() - write edges
 * @blob:  out: its contents are replaced, its memory is reused
 * @edges: strictly ascending by from, then to; offsets up to
 *         PROFILE_EDGE_OFFSET_MAX, counts > 0
 *
 * O(@count).
 *
 * Return: the sum of the counts in @total and 0; -EINVAL edges out of order, an
 * offset too large or a count of zero; -EOVERFLOW sum over
 * PROFILE_BLOB_TOTAL_MAX; -ENOMEM.
 */
int edge_blob_encode(struct profile_blob *blob, uint32_t key, const struct profile_edge *edges,
		     size_t count, uint64_t *total);

/**
 * edge_blob_decode() - read edges
 * @list: out: replaced, its memory is reused; undefined on failure
 * @data: not trusted
 *
 * O(@bytes), and at most 96 bytes of memory for each of @bytes.
 *
 * Return: 0; -EBADMSG damaged; -EPROTO unknown version; -ENOMEM.
 */
int edge_blob_decode(struct edge_list *list, uint32_t key, const void *data, size_t bytes);

/**
 * edge_list_merge() - add two sorted runs of edges
 * @sum: out: replaced; counts of equal edges are added
 *
 * Return: 0; -EOVERFLOW; -ENOMEM.
 */
int edge_list_merge(struct edge_list *sum, const struct edge_list *a, const struct profile_edge *b,
		    size_t b_count);

#endif
