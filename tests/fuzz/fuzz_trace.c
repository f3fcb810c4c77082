// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the decoder of a trace's blocks. The length and the checksum, which a fuzzer would not find,
 * are set to the correct values. Accepted input must encode to the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "daemon/source/trace.h"
#include "tests/fuzz/fuzz.h"

static void seal(uint8_t *data, size_t bytes)
{
	uint64_t checksum;
	size_t i;

	for (i = 0; i < 4; i++)
		data[8 + i] = (uint8_t)((bytes - TRACE_BLOCK_HEADER_BYTES) >> 8 * i);
	checksum = XXH3_64bits_withSeed(data + 8, bytes - 8, 0);
	for (i = 0; i < 8; i++)
		data[i] = (uint8_t)(checksum >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct trace_block block;
	static uint8_t again[TRACE_BLOCK_BYTES_MAX];
	uint8_t *copy;

	if (bytes < TRACE_BLOCK_HEADER_BYTES)
		return 0;
	copy = malloc(bytes);
	require(copy != NULL);
	memcpy(copy, data, bytes);
	seal(copy, bytes);
	if (trace_block_decode(&block, copy, bytes, 0) == 0) {
		require(trace_block_bytes(copy) == bytes);
		require(trace_block_encode(again, &block, 0) == bytes);
		require(memcmp(again, copy, bytes) == 0);
	}
	free(copy);
	return 0;
}
