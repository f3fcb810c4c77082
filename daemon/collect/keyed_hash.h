/* SPDX-License-Identifier: GPL-2.0-only */
/* Hashes of data addresses with a secret key, so that stored hashes do not reveal addresses. */
#ifndef DCPI_KEYED_HASH_H
#define DCPI_KEYED_HASH_H

#include <stdint.h>

/**
 * keyed_hash_renew() - replace a key by a random one
 * @key: in and out. Early in the boot, when the kernel has no random numbers yet, the old key and
 *       the time determine the new one
 */
void keyed_hash_renew(uint64_t *key);

/** keyed_hash() - return the hash of a pair of numbers */
uint64_t keyed_hash(uint64_t key, uint64_t a, uint64_t b);

#endif
