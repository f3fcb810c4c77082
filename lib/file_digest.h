/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A digest that identifies files without a build-id. Programs that link this file need the
 * pkg-config module libxxhash.
 */
#ifndef DCPI_FILE_DIGEST_H
#define DCPI_FILE_DIGEST_H

#include <stdint.h>

#define FILE_DIGEST_BYTES 16

/**
 * file_digest() - a digest of a file's contents
 * @fd:    open for reading, a regular file; its position does not matter
 * @bytes: its size
 *
 * XXH3-128, canonical, over the size (64 bits, little endian) and the contents; for files over 8
 * MiB, the first and the last 4 MiB. It distinguishes files that were not made equal on purpose,
 * which is all that a build-id does. Stored in databases: never to be changed. Holes are not read,
 * so that a sparse file takes little time; the position of @fd changes.
 *
 * Return: 0, -EIO if the file has become shorter, -ENOMEM, or the error of
 * pread(2).
 */
int file_digest(uint8_t digest[FILE_DIGEST_BYTES], int fd, uint64_t bytes);

#endif
