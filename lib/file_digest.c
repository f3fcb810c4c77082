// SPDX-License-Identifier: GPL-2.0-only
#include "lib/file_digest.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "lib/cleanup.h"
#include "lib/file_read.h"

#define END_BYTES ((uint64_t)4 << 20)
#define CHUNK_BYTES (64U << 10)

CLEANUP_DEFINE(xxh3, XXH3_state_t *, XXH3_freeState)

static int add_range(XXH3_state_t *state, uint8_t *chunk, int fd, uint64_t offset, uint64_t bytes)
{
	while (bytes > 0) {
		size_t wanted = bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
		int rc = file_read_exactly(fd, chunk, wanted, offset);

		if (rc < 0)
			return rc;
		XXH3_128bits_update(state, chunk, wanted);
		offset += wanted;
		bytes -= wanted;
	}
	return 0;
}

int file_digest(uint8_t digest[FILE_DIGEST_BYTES], int fd, uint64_t bytes)
{
	_cleanup_free_ uint8_t *chunk = malloc(CHUNK_BYTES);
	_cleanup_(cleanup_xxh3) XXH3_state_t *state = XXH3_createState();
	const uint64_t size = htole64(bytes);
	XXH128_canonical_t canonical;
	int r;

	if (chunk == NULL || state == NULL)
		return -ENOMEM;
	if (bytes > INT64_MAX)
		return -EIO;
	XXH3_128bits_reset(state);
	XXH3_128bits_update(state, &size, sizeof(size));
	r = add_range(state, chunk, fd, 0, bytes <= 2 * END_BYTES ? bytes : END_BYTES);
	if (r == 0 && bytes > 2 * END_BYTES)
		r = add_range(state, chunk, fd, bytes - END_BYTES, END_BYTES);
	if (r < 0)
		return r;
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
	memcpy(digest, canonical.digest, FILE_DIGEST_BYTES);
	return 0;
}
