// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the decoders of samples, symbols, edges, code and recordings.
 *
 * The first byte chooses the decoder. The last four bytes of the input are replaced by the correct
 * checksum, which a fuzzer would not find. Accepted input must encode and decode to itself.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "db/code_blob.h"
#include "db/edge_blob.h"
#include "db/profile_blob.h"
#include "db/profile_read.h"
#include "db/recording_blob.h"
#include "db/symbol_blob.h"
#include "tests/fuzz/fuzz.h"

#define IMAGE 7
#define CODE_OFFSET 4096

static void seal(uint8_t *data, size_t bytes, uint32_t key)
{
	uint32_t crc = (uint32_t)crc32_z(key, data, bytes - 4);
	size_t i;

	for (i = 0; i < 4; i++)
		data[bytes - 4 + i] = (uint8_t)(crc >> 8 * i);
}

static void try_samples(uint8_t *data, size_t bytes)
{
	struct profile_range middle = {1U << 12, 1U << 20};
	struct profile_ranges ranges = {&middle, 1};
	struct profile_pairs pairs = {0}, again = {0};
	struct profile_blob blob = {0};
	uint64_t total, offsets;
	bool good;

	seal(data, bytes, 0);
	good = profile_blob_decode(&pairs, 0, data, bytes) == 0;
	require((profile_blob_decode_in(&again, 0, &ranges, data, bytes, &offsets) == 0) == good);
	if (good) {
		require(again.total == pairs.total && again.count <= pairs.count);
		require(offsets == pairs.count);
		require(profile_blob_encode(&blob, 0, pairs.samples, pairs.count, &total) == 0);
		require(total == pairs.total);
		require(profile_blob_decode(&again, 0, blob.data, blob.bytes) == 0);
		require(again.count == pairs.count);
		require(pairs.count == 0 || memcmp(again.samples, pairs.samples,
						   pairs.count * sizeof(*pairs.samples)) == 0);
	}
	profile_pairs_deinit(&pairs);
	profile_pairs_deinit(&again);
	profile_blob_deinit(&blob);
}

static void try_symbols(uint8_t *data, size_t bytes)
{
	struct profile_symbols symbols = {0}, again = {0};
	struct profile_blob blob = {0};
	size_t i;

	seal(data, bytes, profile_blob_key(0, IMAGE, 0, 0));
	if (symbol_blob_decode(&symbols, IMAGE, data, bytes) == 0) {
		require(symbol_blob_encode(&blob, IMAGE, symbols.symbols, symbols.count) == 0);
		require(symbol_blob_decode(&again, IMAGE, blob.data, blob.bytes) == 0);
		require(again.count == symbols.count);
		for (i = 0; i < symbols.count; i++)
			require(strcmp(again.symbols[i].name, symbols.symbols[i].name) == 0);
	}
	profile_symbols_deinit(&symbols);
	profile_symbols_deinit(&again);
	profile_blob_deinit(&blob);
}

static void try_edges(uint8_t *data, size_t bytes)
{
	struct edge_list list = {0}, again = {0};
	struct profile_blob blob = {0};
	uint64_t total;

	seal(data, bytes, 0);
	if (edge_blob_decode(&list, 0, data, bytes) == 0) {
		require(edge_blob_encode(&blob, 0, list.edges, list.count, &total) == 0);
		require(total == list.total);
		require(edge_blob_decode(&again, 0, blob.data, blob.bytes) == 0);
		require(again.count == list.count);
		require(list.count == 0 ||
			memcmp(again.edges, list.edges, list.count * sizeof(*list.edges)) == 0);
	}
	edge_list_deinit(&list);
	edge_list_deinit(&again);
	profile_blob_deinit(&blob);
}

/* The key of code is the checksum of an image and an offset, which a fuzzer does not find. */
static void try_code(uint8_t *data, size_t bytes)
{
	struct profile_code code = {0}, again = {0};
	struct profile_blob blob = {0};

	seal(data, bytes, profile_blob_key(0, IMAGE, CODE_OFFSET, 0));
	if (code_blob_decode(&code, IMAGE, CODE_OFFSET, data, bytes) == 0) {
		require(code_blob_encode(&blob, IMAGE, &code) == 0);
		require(code_blob_decode(&again, IMAGE, CODE_OFFSET, blob.data, blob.bytes) == 0);
		require(again.bytes == code.bytes && again.machine == code.machine);
		require(memcmp(again.data, code.data, code.bytes) == 0);
		free((void *)(uintptr_t)code.data);
		free((void *)(uintptr_t)again.data);
	}
	profile_blob_deinit(&blob);
}

static void require_same(const struct profile_recording *a, const struct profile_recording *b)
{
	require(a->table_count == b->table_count && a->text_count == b->text_count);
	for (size_t i = 0; i < a->text_count; i++)
		require(strcmp(a->texts[i], b->texts[i]) == 0);
	for (unsigned int i = 0; i < a->table_count; i++) {
		const struct profile_recording_table *x = &a->tables[i], *y = &b->tables[i];

		require(x->columns == y->columns && x->rows == y->rows);
		require(x->rows == 0 || memcmp(x->values, y->values,
					       x->rows * x->columns * sizeof(*x->values)) == 0);
	}
}

static void try_recording(uint8_t *data, size_t bytes)
{
	struct recording_content content = {0}, again = {0};
	struct profile_blob blob = {0};
	uint64_t rows;

	seal(data, bytes, 0);
	if (recording_blob_decode(&content, 0, data, bytes) == 0) {
		require(recording_blob_encode(&blob, 0, &content.recording, &rows) == 0);
		require(recording_blob_decode(&again, 0, blob.data, blob.bytes) == 0);
		require_same(&content.recording, &again.recording);
	}
	recording_content_deinit(&content);
	recording_content_deinit(&again);
	profile_blob_deinit(&blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy;

	if (bytes < 1 + 4)
		return 0;
	copy = malloc(bytes - 1);
	require(copy != NULL);
	memcpy(copy, data + 1, bytes - 1);
	switch (data[0] % 5) {
	case 0:
		try_samples(copy, bytes - 1);
		break;
	case 1:
		try_symbols(copy, bytes - 1);
		break;
	case 2:
		try_edges(copy, bytes - 1);
		break;
	case 3:
		try_recording(copy, bytes - 1);
		break;
	default:
		try_code(copy, bytes - 1);
	}
	free(copy);
	return 0;
}
