// SPDX-License-Identifier: GPL-2.0-only
#include "lib/file_digest.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "lib/cleanup.h"
#include "lib/file_read.h"

#define END_BYTES ((uint64_t)4 << 20)
#define CHUNK_BYTES (64U << 10)
/* Alternating holes and data in one range. */
#define PIECES_MAX 64

CLEANUP_DEFINE(xxh3, XXH3_state_t *, XXH3_freeState)

/*
 * Return the end of the hole at @offset, or @offset if data is there. File systems that do not
 * report holes report data everywhere.
 */
static uint64_t hole_end(int fd, uint64_t offset, uint64_t end)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);

	if (data < 0)
		return errno == ENXIO ? end : offset;
	return (uint64_t)data < end ? (uint64_t)data : end;
}

/* A hole has the digest of zeros, without a page of them being allocated by a read. */
static void add_zeros(XXH3_state_t *state, uint64_t bytes)
{
	static const uint8_t zeros[CHUNK_BYTES];

	while (bytes > 0) {
		size_t n = bytes < sizeof(zeros) ? bytes : sizeof(zeros);

		XXH3_128bits_update(state, zeros, n);
		bytes -= n;
	}
}

static int add_data(XXH3_state_t *state, uint8_t *chunk, int fd, uint64_t offset, uint64_t bytes)
{
	while (bytes > 0) {
		size_t wanted = bytes < CHUNK_BYTES ? bytes : CHUNK_BYTES;
		int r = file_read_exactly(fd, chunk, wanted, offset);

		if (r < 0)
			return r;
		XXH3_128bits_update(state, chunk, wanted);
		offset += wanted;
		bytes -= wanted;
	}
	return 0;
}

/* Return the end of the data at @offset. */
static uint64_t data_end(int fd, uint64_t offset, uint64_t end)
{
	off_t hole = lseek(fd, (off_t)offset, SEEK_HOLE);

	return hole > (off_t)offset && (uint64_t)hole < end ? (uint64_t)hole : end;
}

static int add_range(XXH3_state_t *state, uint8_t *chunk, int fd, uint64_t offset, uint64_t bytes)
{
	uint64_t end = offset + bytes, next;
	unsigned int pieces = 0;
	int r;

	for (; offset < end; offset = next, pieces++) {
		/* Finding more of the holes would cost more than it saves. */
		next = pieces < PIECES_MAX ? hole_end(fd, offset, end) : offset;
		add_zeros(state, next - offset);
		offset = next;
		next = pieces < PIECES_MAX ? data_end(fd, offset, end) : end;
		r = add_data(state, chunk, fd, offset, next - offset);
		if (r < 0)
			return r;
	}
	/* The end of a file that has become shorter looks like a hole. */
	return bytes > 0 ? file_read_exactly(fd, chunk, 1, end - 1) : 0;
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
