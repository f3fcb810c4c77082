/* SPDX-License-Identifier: GPL-2.0-only */
/* Code shared by the fuzz targets. */
#ifndef DCPI_TESTS_FUZZ_H
#define DCPI_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static inline void require(int condition)
{
	if (!condition)
		abort();
}

/*
 * try_MAP(data, bytes): check that an accepted map of a rewritten program encodes and decodes to
 * itself. @look: a function that reads the map, or (void).
 */
#define FUZZ_MAP(map_type, look)                                                                   \
	static void try_##map_type(const uint8_t *data, size_t bytes)                              \
	{                                                                                          \
		struct map_type map, again;                                                        \
		uint8_t *encoded, *second;                                                         \
		size_t encoded_bytes, second_bytes;                                                \
                                                                                                   \
		if (map_type##_decode(&map, data, bytes) < 0)                                      \
			return;                                                                    \
		require(map_type##_encode(&map, &encoded, &encoded_bytes) == 0);                   \
		require(map_type##_decode(&again, encoded, encoded_bytes) == 0);                   \
		require(map_type##_encode(&again, &second, &second_bytes) == 0);                   \
		require(second_bytes == encoded_bytes &&                                           \
			memcmp(encoded, second, second_bytes) == 0);                               \
		look(&map);                                                                        \
		map_type##_deinit(&map);                                                           \
		map_type##_deinit(&again);                                                         \
		free(encoded);                                                                     \
		free(second);                                                                      \
	}

#endif
