// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/collect/keyed_hash.h"

#include <sys/random.h>
#include <time.h>

#include <xxhash.h>

void keyed_hash_renew(uint64_t *key)
{
	struct timespec now;

	if (getrandom(key, sizeof(*key), GRND_NONBLOCK) == sizeof(*key))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	*key ^= (uint64_t)now.tv_nsec * UINT64_C(0x9e3779b97f4a7c15);
}

uint64_t keyed_hash(uint64_t key, uint64_t a, uint64_t b)
{
	const uint64_t words[2] = {a, b};

	return XXH3_64bits_withSeed(words, sizeof(words), key);
}
