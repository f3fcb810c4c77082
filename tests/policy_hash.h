/* SPDX-License-Identifier: GPL-2.0-only */
/* Hash functions that the policy simulator tries. */
#ifndef DCPI_TESTS_POLICY_HASH_H
#define DCPI_TESTS_POLICY_HASH_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct policy_hash - a function of a sample's key
 * @name:         for tables
 * @what:         in words
 * @instructions: that it takes on x86-64, loading its constants included
 * @hash:         of a program counter and dcpi_tag(); the remainder of the
 *                division by the number of sets says which one
 */
struct policy_hash {
	const char *name;
	const char *what;
	unsigned int instructions;
	uint32_t (*hash)(uint64_t pc, uint64_t tag);
};

/* The first is that of kmod/core/sample_store.c. */
extern const struct policy_hash policy_hashes[];
extern const size_t policy_hash_count;

#endif
