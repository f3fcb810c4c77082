/* SPDX-License-Identifier: GPL-2.0-only */
/* BLAKE2b (RFC 7693) without a key: a cryptographic hash that is fast in plain C. */
#ifndef DCPI_BLAKE2B_H
#define DCPI_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

#define BLAKE2B_BLOCK_BYTES 128
#define BLAKE2B_DIGEST_BYTES_MAX 64

/** struct blake2b - a hash in progress; private */
struct blake2b {
	uint64_t state[8];
	uint64_t counter;
	size_t used;
	size_t digest_bytes;
	uint8_t block[BLAKE2B_BLOCK_BYTES];
};

/** blake2b_init() - begin a hash. @digest_bytes: 1 .. BLAKE2B_DIGEST_BYTES_MAX */
void blake2b_init(struct blake2b *hash, size_t digest_bytes);

/** blake2b_update() - add bytes to a hash. */
void blake2b_update(struct blake2b *hash, const void *data, size_t bytes);

/** blake2b_final() - end a hash. @digest: out, as many bytes as blake2b_init() was given */
void blake2b_final(struct blake2b *hash, uint8_t *digest);

#endif
