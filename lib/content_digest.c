// SPDX-License-Identifier: GPL-2.0-only
#include "lib/content_digest.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/blake2b.h"
#include "lib/cleanup.h"
#include "lib/file_read.h"

#define BLOCK_BYTES ((uint64_t)64 << 10)

/* Return the start of the first block with data at or after @offset, @bytes if there is none. */
static uint64_t next_data(int fd, uint64_t offset, uint64_t bytes)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? bytes : offset; /* without SEEK_DATA, everything is data */
	return (uint64_t)data / BLOCK_BYTES * BLOCK_BYTES;
}

static bool is_zero(const uint8_t *block, size_t bytes)
{
	return block[0] == 0 && memcmp(block, block + 1, bytes - 1) == 0;
}

static void add_number(struct blake2b *hash, uint64_t number)
{
	const uint64_t little = htole64(number);

	blake2b_update(hash, &little, sizeof(little));
}

static int digest_block(struct blake2b *hash, uint8_t *block, int fd, uint64_t offset, size_t bytes)
{
	int r = file_read_exactly(fd, block, bytes, offset);

	if (r < 0 || is_zero(block, bytes))
		return r;
	add_number(hash, offset);
	blake2b_update(hash, block, bytes);
	return 0;
}

int content_digest(uint8_t digest[CONTENT_DIGEST_BYTES], int fd, uint64_t bytes,
		   content_digest_step_fn step, void *context)
{
	_cleanup_free_ uint8_t *block = malloc(BLOCK_BYTES);
	struct blake2b hash;
	uint64_t offset;
	int r = 0;

	if (block == NULL)
		return -ENOMEM;
	if (bytes > INT64_MAX)
		return -EIO;
	blake2b_init(&hash, CONTENT_DIGEST_BYTES);
	add_number(&hash, bytes);
	for (offset = next_data(fd, 0, bytes); r == 0 && offset < bytes;
	     offset = next_data(fd, offset + BLOCK_BYTES, bytes)) {
		uint64_t left = bytes - offset;
		size_t part = left < BLOCK_BYTES ? left : BLOCK_BYTES;

		r = step != NULL ? step(context, part) : 0;
		if (r == 0)
			r = digest_block(&hash, block, fd, offset, part);
	}
	if (r == 0)
		blake2b_final(&hash, digest);
	return r;
}
