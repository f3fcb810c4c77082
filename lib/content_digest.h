/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A cryptographic digest of all contents of a file. lib/file_digest.h is faster, but a hostile user
 * can make a file with a given digest.
 */
#ifndef DCPI_CONTENT_DIGEST_H
#define DCPI_CONTENT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define CONTENT_DIGEST_BYTES 32

/**
 * typedef content_digest_step_fn - called before each part of a file that is read
 * @bytes: length of the part
 *
 * Return: 0; another value ends content_digest(), which returns it.
 */
typedef int (*content_digest_step_fn)(void *context, size_t bytes);

/**
 * content_digest() - compute the digest of a file
 * @digest: out
 * @fd:     open for reading, a regular file; its position does not matter
 * @bytes:  its size
 * @step:   NULL: none
 *
 * BLAKE2b-256 over the size (64 bits, little endian) and over each block of 64 KiB that is not
 * all zeros, after the block's offset (64 bits, little endian). Holes are not read, and have the
 * digest of zeros. Stored in databases: never to be changed.
 *
 * Return: 0, -EIO if the file has become shorter, -ENOMEM, the error of pread(2), or the value
 * of @step.
 */
int content_digest(uint8_t digest[CONTENT_DIGEST_BYTES], int fd, uint64_t bytes,
		   content_digest_step_fn step, void *context);

#endif
