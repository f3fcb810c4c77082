/* SPDX-License-Identifier: GPL-2.0-only */
/* Hash functions compared by the policy simulator. */
#ifndef DCPI_TESTS_POLICY_HASH_H
#define DCPI_TESTS_POLICY_HASH_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct policy_hash - a function of a sample's key
 * @name:         for tables
 * @what:         description
 * @instructions: number of instructions on x86-64, including loads of constants
 * @hash:         hash of a program counter and dcpi_tag(); the set is its remainder modulo
 *                the number of sets
 */
struct policy_hash {
	const char *name;
	const char *what;
	unsigned int instructions;
	uint32_t (*hash)(uint64_t pc, uint64_t tag);
};

/* The first one is the hash of kmod/core/sample_store.c. */
extern const struct policy_hash policy_hashes[];
extern const size_t policy_hash_count;

#endif
