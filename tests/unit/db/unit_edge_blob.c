// SPDX-License-Identifier: GPL-2.0-only
/* The codec of edges: round trips, damage, limits, merging. */
#include "tests/lib/unit.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "db/edge_blob.h"

#define KEY 0x7654321U
#define EDGES_MAX 1000

static uint64_t random_length(uint64_t *state, unsigned int bits_max)
{
	unsigned int bits = (unsigned int)(unit_random(state) % (bits_max + 1));

	return bits == 0 ? 0 : unit_random(state) >> (64 - bits);
}

/* Return an offset near @from, or an arbitrary one. */
static uint64_t random_target(uint64_t *state, uint64_t from, unsigned int bits, unsigned int shift)
{
	uint64_t distance = random_length(state, bits) << shift;
	uint64_t to = unit_random(state) % 2 ? from + distance : from - distance;

	return to & PROFILE_EDGE_OFFSET_MAX & ~0ULL << shift;
}

static int by_edge(const void *a, const void *b)
{
	const struct profile_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Make random edges: near and far, one or many per source, of any alignment. */
static size_t random_edges(uint64_t *state, struct profile_edge *edges, size_t max)
{
	size_t wanted = unit_random(state) % (max + 1), count = 0, i;
	unsigned int step_bits = (unsigned int)(unit_random(state) % 50);
	unsigned int to_bits = (unsigned int)(unit_random(state) % 64);
	unsigned int count_bits = (unsigned int)(unit_random(state) % 53);
	unsigned int shift = (unsigned int)(unit_random(state) % 4);
	uint64_t from = random_length(state, 62) << shift & PROFILE_EDGE_OFFSET_MAX;

	for (i = 0; i < wanted; i++) {
		edges[i].from = from;
		edges[i].to = random_target(state, from, to_bits, shift);
		edges[i].count = random_length(state, count_bits) + 1;
		if (unit_random(state) % 2)
			from = (from + (random_length(state, step_bits) << shift)) &
			       PROFILE_EDGE_OFFSET_MAX;
	}
	if (wanted > 0)
		qsort(edges, wanted, sizeof(*edges), by_edge);
	for (i = 0; i < wanted; i++) {
		if (count == 0 || by_edge(&edges[count - 1], &edges[i]) != 0)
			edges[count++] = edges[i];
	}
	return count;
}

static void assert_same(const struct edge_list *list, const struct profile_edge *edges,
			size_t count)
{
	uint64_t total = 0;
	size_t i;

	assert_int_equal(list->count, count);
	for (i = 0; i < count; i++) {
		assert_int_equal(list->edges[i].from, edges[i].from);
		assert_int_equal(list->edges[i].to, edges[i].to);
		assert_int_equal(list->edges[i].count, edges[i].count);
		total += edges[i].count;
	}
	assert_int_equal(list->total, total);
}

/* Decode from memory of exactly that size, so that ASan detects a read past the end. */
static int decode_exact(struct edge_list *list, uint32_t key, const uint8_t *data, size_t bytes)
{
	uint8_t *copy = malloc(bytes > 0 ? bytes : 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, data, bytes);
	r = edge_blob_decode(list, key, copy, bytes);
	free(copy);
	return r;
}

static void encode(struct profile_blob *blob, const struct profile_edge *edges, size_t count)
{
	uint64_t total, sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += edges[i].count;
	assert_int_equal(edge_blob_encode(blob, KEY, edges, count, &total), 0);
	assert_int_equal(total, sum);
}

static void test_round_trip(void **state)
{
	static struct profile_edge edges[EDGES_MAX];
	struct profile_blob blob = {0};
	struct edge_list list = {0};
	uint64_t seed = 1;
	size_t count;
	int round;

	(void)state;
	for (round = 0; round < 3000; round++) {
		count = random_edges(&seed, edges, round % 10 == 0 ? EDGES_MAX : 200);
		encode(&blob, edges, count);
		assert_int_equal(decode_exact(&list, KEY, blob.data, blob.bytes), 0);
		assert_same(&list, edges, count);
	}
	edge_list_deinit(&list);
	profile_blob_deinit(&blob);
}

static void test_extremes(void **state)
{
	static const uint64_t top = PROFILE_EDGE_OFFSET_MAX;
	static const struct profile_edge cases[][3] = {
		{{0, 0, 1}, {0, top, INT64_MAX - 2}, {top, 0, 1}},
		{{0, top, 1}, {1, 0, 1}, {top, top, 1}},
		{{top - 1, top - 1, 1}, {top - 1, top, 1}, {top, top - 1, 1}},
		{{1ULL << 62, 0, 1}, {1ULL << 62, 1ULL << 62, 2}, {3ULL << 61, 1ULL << 62, 3}},
	};
	struct profile_blob blob = {0};
	struct edge_list list = {0};
	size_t i, count;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (count = 0; count <= 3; count++) {
			encode(&blob, cases[i], count);
			assert_int_equal(decode_exact(&list, KEY, blob.data, blob.bytes), 0);
			assert_same(&list, cases[i], count);
		}
	}
	edge_list_deinit(&list);
	profile_blob_deinit(&blob);
}

static void test_bad_edges(void **state)
{
	static const struct {
		struct profile_edge edges[2];
		int result;
	} cases[] = {
		{{{5, 6, 1}, {5, 6, 1}}, -EINVAL},
		{{{5, 6, 1}, {5, 5, 1}}, -EINVAL},
		{{{5, 6, 1}, {4, 7, 1}}, -EINVAL},
		{{{5, 6, 1}, {5, 7, 0}}, -EINVAL},
		{{{5, 6, 1}, {5, PROFILE_EDGE_OFFSET_MAX + 1, 1}}, -EINVAL},
		{{{5, 6, 1}, {PROFILE_EDGE_OFFSET_MAX + 1, 6, 1}}, -EINVAL},
		{{{5, 6, INT64_MAX}, {5, 7, 1}}, -EOVERFLOW},
		{{{5, 6, UINT64_MAX}, {5, 7, 2}}, -EOVERFLOW},
	};
	struct profile_blob blob = {0};
	uint64_t total;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(edge_blob_encode(&blob, KEY, cases[i].edges, 2, &total),
				 cases[i].result);
	profile_blob_deinit(&blob);
}

static void test_damage(void **state)
{
	static struct profile_edge edges[300];
	struct profile_blob blob = {0};
	struct edge_list list = {0};
	uint64_t seed = 2;
	size_t count, i;
	int bit;

	(void)state;
	do
		count = random_edges(&seed, edges, 300);
	while (count < 100);
	encode(&blob, edges, count);
	for (i = 0; i < blob.bytes; i++) {
		assert_int_equal(decode_exact(&list, KEY, blob.data, i), -EBADMSG);
		for (bit = 0; bit < 8; bit++) {
			blob.data[i] ^= (uint8_t)(1 << bit);
			assert_int_equal(decode_exact(&list, KEY, blob.data, blob.bytes), -EBADMSG);
			blob.data[i] ^= (uint8_t)(1 << bit);
		}
	}
	assert_int_equal(decode_exact(&list, KEY + 1, blob.data, blob.bytes), -EBADMSG);
	assert_int_equal(decode_exact(&list, KEY, blob.data, blob.bytes), 0);
	edge_list_deinit(&list);
	profile_blob_deinit(&blob);
}

/* Keys differ if one word differs, if two words are exchanged, and from the keys of profiles. */
static void test_keys_differ(void **state)
{
	uint32_t key = edge_blob_key(1, 2, 3, 0);

	(void)state;
	assert_int_not_equal(key, edge_blob_key(2, 2, 3, 0));
	assert_int_not_equal(key, edge_blob_key(1, 3, 2, 0));
	assert_int_not_equal(key, edge_blob_key(1, 2, 4, 0));
	assert_int_not_equal(key, edge_blob_key(1, 2, 3, 1));
	assert_int_not_equal(key, profile_blob_key(1, 2, 3, 0));
	assert_int_not_equal(key, profile_blob_key(1, 2, 0, 3));
}

static void seal(uint8_t *data, size_t bytes)
{
	uint32_t crc = (uint32_t)crc32(KEY, data, (uInt)(bytes - 4));
	size_t i;

	for (i = 0; i < 4; i++)
		data[bytes - 4 + i] = (uint8_t)(crc >> 8 * i);
}

/*
 * For damage that the checksum does not detect, the decoder may accept the input or not. Accepted
 * edges are valid, and encode and decode to themselves.
 */
static void test_forgeries(void **state)
{
	static struct profile_edge edges[200];
	struct profile_blob blob = {0}, copy = {0};
	struct edge_list list = {0}, again = {0};
	size_t count, accepted = 0, refused = 0;
	uint64_t seed = 3;
	int round;

	(void)state;
	for (round = 0; round < 20000; round++) {
		count = random_edges(&seed, edges, 200);
		encode(&blob, edges, count);
		blob.data[unit_random(&seed) % blob.bytes] ^=
			(uint8_t)(1 << unit_random(&seed) % 8);
		if (round % 3 == 0)
			blob.bytes -= unit_random(&seed) % (blob.bytes - 4);
		seal(blob.data, blob.bytes);
		if (decode_exact(&list, KEY, blob.data, blob.bytes) < 0) {
			refused++;
			continue;
		}
		accepted++;
		encode(&copy, list.edges, list.count);
		assert_int_equal(decode_exact(&again, KEY, copy.data, copy.bytes), 0);
		assert_same(&again, list.edges, list.count);
	}
	assert_true(accepted > 0 && refused > 0);
	edge_list_deinit(&list);
	edge_list_deinit(&again);
	profile_blob_deinit(&blob);
	profile_blob_deinit(&copy);
}

/* A newer version is reported as such; the memory allocated for a few bytes is bounded. */
static void test_foreign_headers(void **state)
{
	uint8_t newer[] = {EDGE_BLOB_VERSION + 1, 1, 2, 3, 0, 0, 0, 0};
	uint8_t absurd[] = {EDGE_BLOB_VERSION, 0, 0xff, 0xff, 0xff, 0x7f, 1, 1, 0, 0, 0, 0};
	struct edge_list list = {0};

	(void)state;
	seal(newer, sizeof(newer));
	assert_int_equal(decode_exact(&list, KEY, newer, sizeof(newer)), -EPROTO);
	seal(absurd, sizeof(absurd));
	assert_int_equal(decode_exact(&list, KEY, absurd, sizeof(absurd)), -EBADMSG);
	assert_int_equal(list.capacity, 0);
	edge_list_deinit(&list);
}

/* Model of a merge: all edges in one array, sorted, with equal edges added up. */
static size_t merge_model(struct profile_edge *all, size_t count)
{
	size_t kept = 0, i;

	if (count > 0)
		qsort(all, count, sizeof(*all), by_edge);
	for (i = 0; i < count; i++) {
		if (kept > 0 && by_edge(&all[kept - 1], &all[i]) == 0)
			all[kept - 1].count += all[i].count;
		else
			all[kept++] = all[i];
	}
	return kept;
}

/* Make edges among few places, so that many edges are in both sets. */
static size_t few_places(uint64_t *state, struct profile_edge *edges)
{
	size_t count = unit_random(state) % 60, i;

	for (i = 0; i < count; i++)
		edges[i] = (struct profile_edge){unit_random(state) % 8, unit_random(state) % 8,
						 unit_random(state) % 100 + 1};
	return merge_model(edges, count);
}

static void test_merge(void **state)
{
	static const struct profile_edge huge[] = {{0, 0, UINT64_MAX}};
	static struct profile_edge a[64], b[64], all[128];
	struct edge_list left = {.edges = a}, sum = {0};
	uint64_t seed = 4;
	size_t count;
	int round;

	(void)state;
	for (round = 0; round < 5000; round++) {
		left.count = few_places(&seed, a);
		count = few_places(&seed, b);
		memcpy(all, a, left.count * sizeof(*a));
		memcpy(all + left.count, b, count * sizeof(*b));
		assert_int_equal(edge_list_merge(&sum, &left, b, count), 0);
		assert_same(&sum, all, merge_model(all, left.count + count));
	}
	a[0] = (struct profile_edge){0, 0, 1};
	left.count = 1;
	assert_int_equal(edge_list_merge(&sum, &left, huge, 1), -EOVERFLOW);
	edge_list_deinit(&sum);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_bad_edges),   cmocka_unit_test(test_damage),
		cmocka_unit_test(test_keys_differ), cmocka_unit_test(test_forgeries),
		cmocka_unit_test(test_merge),	    cmocka_unit_test(test_foreign_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
