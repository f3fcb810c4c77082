// SPDX-License-Identifier: GPL-2.0-only
#include "db/edge_blob.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "db/bits.h"
#include "db/blob_header.h"
#include "lib/array.h"

#define CODES 3 /* codes of an edge */
#define ORDERS 4
#define BLOCK_BYTES_MAX (EDGE_BLOB_BLOCK * CODES * BITS_CODE_BYTES_MAX + 3 + BITS_SLACK_BYTES)
/* Keys of profiles are built from one word less. */
#define KEY_WORD 0x7365676465ULL

void edge_list_deinit(struct edge_list *list)
{
	free(list->edges);
	memset(list, 0, sizeof(*list));
}

uint32_t edge_blob_key(int64_t epoch, int64_t image, int64_t to_image, int64_t kind)
{
	uint64_t words[5] = {
		htole64((uint64_t)epoch), htole64((uint64_t)image), htole64((uint64_t)to_image),
		htole64((uint64_t)kind),  htole64(KEY_WORD),
	};

	return (uint32_t)crc32(0, (const Bytef *)words, sizeof(words));
}

static uint64_t zigzag(uint64_t distance)
{
	return distance << 1 ^ (0 - (distance >> 63));
}

static uint64_t unzigzag(uint64_t code)
{
	return code >> 1 ^ (0 - (code & 1));
}

/* The codes written for an edge. */
struct codes {
	uint64_t from;
	uint64_t to;
	uint64_t count;
};

/* No code is UINT64_MAX: offsets have 63 bits, and counts sum up to INT64_MAX. */
static struct codes codes_of(const struct profile_edge *edge, const struct profile_edge *previous,
			     unsigned int shift)
{
	struct codes codes = {.count = edge->count - 1};

	codes.from = previous != NULL ? (edge->from - previous->from) >> shift : 0;
	if (previous != NULL && codes.from == 0)
		codes.to = ((edge->to - previous->to) >> shift) - 1;
	else
		codes.to = zigzag((edge->to >> shift) - (edge->from >> shift));
	return codes;
}

/* @previous: the edge before the block, or NULL. */
static void put_block(struct bits_writer *result, const struct profile_edge *edges, size_t count,
		      const struct profile_edge *previous, unsigned int shift)
{
	unsigned int from_lengths[65] = {0}, count_lengths[65] = {0};
	unsigned int to_lengths[2][65] = {{0}}, tos[2] = {0};
	struct codes codes[EDGE_BLOB_BLOCK];
	bool again[EDGE_BLOB_BLOCK], first = previous == NULL;
	struct bits_writer writer = *result; /* in registers */
	unsigned int kf, kt[2], kc;
	size_t i;

	for (i = 0; i < count; previous = &edges[i++]) {
		codes[i] = codes_of(&edges[i], previous, shift);
		again[i] = previous != NULL && codes[i].from == 0;
		if (previous != NULL)
			from_lengths[bits_length(codes[i].from)]++;
		to_lengths[again[i]][bits_length(codes[i].to)]++;
		tos[again[i]]++;
		count_lengths[bits_length(codes[i].count)]++;
	}
	kf = bits_order(from_lengths, (unsigned int)count - first);
	kt[false] = bits_order(to_lengths[false], tos[false]);
	kt[true] = bits_order(to_lengths[true], tos[true]);
	kc = bits_order(count_lengths, (unsigned int)count);
	bits_put(&writer,
		 kf | kt[false] << BITS_ORDER_BITS | kt[true] << 2 * BITS_ORDER_BITS |
			 kc << 3 * BITS_ORDER_BITS,
		 ORDERS * BITS_ORDER_BITS);
	for (i = 0; i < count; i++) {
		if (i > 0 || !first)
			bits_put_code(&writer, codes[i].from, kf);
		bits_put_code(&writer, codes[i].to, kt[again[i]]);
		bits_put_code(&writer, codes[i].count, kc);
	}
	*result = writer;
}

/* Check the promises of the caller of encode, and determine the sum and the common alignment. */
static int edge_blob_measure(const struct profile_edge *edges, size_t count, uint64_t *total,
			     unsigned int *shift)
{
	uint64_t sum = 0, bits = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		if (edges[i].count == 0 ||
		    (i > 0 && profile_edge_compare(&edges[i - 1], &edges[i]) >= 0) ||
		    edges[i].from > PROFILE_EDGE_OFFSET_MAX ||
		    edges[i].to > PROFILE_EDGE_OFFSET_MAX)
			return -EINVAL;
		if (__builtin_add_overflow(sum, edges[i].count, &sum) ||
		    sum > PROFILE_BLOB_TOTAL_MAX)
			return -EOVERFLOW;
		bits |= edges[i].from | edges[i].to;
	}
	*total = sum;
	*shift = bits == 0 ? 0 : (unsigned int)__builtin_ctzll(bits);
	return 0;
}

static int put_blocks(struct profile_blob *blob, const struct profile_edge *edges, size_t count,
		      unsigned int shift)
{
	struct bits_writer writer = {0};
	size_t i, block;

	for (i = 0; i < count; i += block) {
		block = count - i < EDGE_BLOB_BLOCK ? count - i : EDGE_BLOB_BLOCK;
		if (array_reserve(&blob->data, &blob->capacity,
				  blob->bytes + BLOCK_BYTES_MAX + PROFILE_BLOB_CRC_BYTES, 1) < 0)
			return -ENOMEM;
		writer.position = blob->data + blob->bytes;
		put_block(&writer, edges + i, block, i == 0 ? NULL : &edges[i - 1], shift);
		blob->bytes = (size_t)(writer.position - blob->data);
	}
	if (count > 0)
		blob->bytes = (size_t)(bits_finish(&writer) - blob->data);
	return 0;
}

int edge_blob_encode(struct profile_blob *blob, uint32_t key, const struct profile_edge *edges,
		     size_t count, uint64_t *total)
{
	struct blob_header header = {.count = count};
	int r;

	r = edge_blob_measure(edges, count, total, &header.shift);
	if (r < 0)
		return r;
	header.total = *total;
	header.first = count > 0 ? edges[0].from >> header.shift : 0;
	r = blob_header_write(blob, EDGE_BLOB_VERSION, &header);
	if (r == 0)
		r = put_blocks(blob, edges, count, header.shift);
	if (r == 0)
		profile_blob_append_crc(blob, key);
	return r;
}

/* Upper bound of all offsets >> shift. */
static uint64_t limit_of(const struct blob_header *header)
{
	return PROFILE_EDGE_OFFSET_MAX >> header->shift;
}

/* @previous: the edge before the block (still shifted), or NULL. */
static bool edge_blob_take_block(struct bits_reader *result, struct profile_edge *edges,
				 size_t count, const struct profile_edge *previous,
				 const struct blob_header *header)
{
	struct bits_reader reader = *result; /* in registers */
	unsigned int kf = (unsigned int)bits_take(&reader, BITS_ORDER_BITS);
	unsigned int kt = (unsigned int)bits_take(&reader, BITS_ORDER_BITS);
	unsigned int kn = (unsigned int)bits_take(&reader, BITS_ORDER_BITS);
	unsigned int kc = (unsigned int)bits_take(&reader, BITS_ORDER_BITS);
	uint64_t limit = limit_of(header);
	size_t i;

	for (i = 0; i < count; previous = &edges[i++]) {
		struct profile_edge *edge = &edges[i];
		uint64_t distance, to, value;
		bool again;

		bits_refill(&reader);
		distance = previous != NULL ? bits_take_code(&reader, kf) : 0;
		again = previous != NULL && distance == 0;
		to = bits_take_code(&reader, again ? kn : kt);
		value = bits_take_code(&reader, kc);
		/* The sum of two numbers within the limit does not overflow. */
		if (reader.failed || distance > limit || (again && to >= limit) ||
		    value >= PROFILE_BLOB_TOTAL_MAX)
			return false;
		edge->from = previous != NULL ? previous->from + distance : header->first;
		edge->to = again ? previous->to + to + 1 : edge->from + unzigzag(to);
		edge->count = value + 1;
		if (edge->from > limit || edge->to > limit)
			return false;
	}
	*result = reader;
	return true;
}

static bool sum_up(struct edge_list *list, const struct blob_header *header)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < header->count; i++) {
		total += list->edges[i].count;
		if (total > PROFILE_BLOB_TOTAL_MAX)
			return false;
		list->edges[i].from <<= header->shift;
		list->edges[i].to <<= header->shift;
	}
	list->count = header->count;
	list->total = total;
	return total == header->total;
}

static int take_blocks(struct edge_list *list, struct bits_reader *bits,
		       const struct blob_header *header)
{
	const struct profile_edge *previous = NULL;
	size_t i, block;

	for (i = 0; i < header->count; i += block) {
		block = header->count - i < EDGE_BLOB_BLOCK ? header->count - i : EDGE_BLOB_BLOCK;
		if (!edge_blob_take_block(bits, list->edges + i, block, previous, header))
			return -EBADMSG;
		previous = &list->edges[i + block - 1];
	}
	return bits_at_end(bits) && sum_up(list, header) ? 0 : -EBADMSG;
}

int edge_blob_decode(struct edge_list *list, uint32_t key, const void *data, size_t bytes)
{
	struct bits_reader bits;
	struct blob_header header;
	int r = blob_header_read(&header, &bits, EDGE_BLOB_VERSION, key, data, bytes);

	if (r < 0)
		return r;
	if (header.first > limit_of(&header))
		return -EBADMSG;
	if (array_reserve(&list->edges, &list->capacity, header.count, sizeof(*list->edges)) < 0)
		return -ENOMEM;
	return take_blocks(list, &bits, &header);
}

int edge_list_merge(struct edge_list *sum, const struct edge_list *a, const struct profile_edge *b,
		    size_t b_count)
{
	size_t i = 0, j = 0, n = 0, needed;
	int order;

	if (__builtin_add_overflow(a->count, b_count, &needed) ||
	    array_reserve(&sum->edges, &sum->capacity, needed, sizeof(*sum->edges)) < 0)
		return -ENOMEM;
	sum->total = 0;
	while (i < a->count || j < b_count) {
		struct profile_edge *out = &sum->edges[n++];

		order = j == b_count	? -1
			: i == a->count ? 1
					: profile_edge_compare(&a->edges[i], &b[j]);
		*out = order <= 0 ? a->edges[i++] : b[j++];
		if (order == 0 && __builtin_add_overflow(out->count, b[j++].count, &out->count))
			return -EOVERFLOW;
		if (__builtin_add_overflow(sum->total, out->count, &sum->total))
			return -EOVERFLOW;
	}
	sum->count = n;
	return 0;
}
