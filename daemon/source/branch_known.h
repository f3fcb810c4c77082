/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was seen of branches so far, and so which of them to probe next (branch_probes.h).
 *
 * Not safe for several threads at once.
 */
#ifndef DCPI_BRANCH_KNOWN_H
#define DCPI_BRANCH_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/u64_map.h"

/**
 * struct branch_known - fields are private
 * @random: state of period_random(), not 0
 * @eagerness: a branch that has had no more turns is always worth one; at least 1
 */
struct branch_known {
	struct u64_map past;
	uint32_t random;
	uint32_t eagerness;
};

/** branch_known_key() - of a branch: addresses are below 2^47, so no two are alike */
static inline uint64_t branch_known_key(uint32_t pid, uint64_t address)
{
	return address ^ (uint64_t)pid << 47;
}

void branch_known_deinit(struct branch_known *known);

/** branch_known_random() - a number in [0, n) */
uint32_t branch_known_random(struct branch_known *known, uint32_t n);

/** branch_known_seen() - it went this way in a window */
void branch_known_seen(struct branch_known *known, uint32_t pid, uint64_t address, uint64_t to);

/**
 * branch_known_level() - how frequent it was when it was probed last
 *
 * Return: 0: not known; else 1 + the logarithm of its executions a second to the base of 2.
 */
int branch_known_level(const struct branch_known *known, uint32_t pid, uint64_t address);

/** branch_known_rate() - it was executed so often in so much of the program's time, > 0 */
void branch_known_rate(struct branch_known *known, uint32_t pid, uint64_t address,
		       uint64_t executions, uint64_t ns);

/** branch_known_look() - it was probed where frequent ones were not in its way */
void branch_known_look(struct branch_known *known, uint32_t pid, uint64_t address);

/** branch_known_is_looked_at() - whether it ever was */
bool branch_known_is_looked_at(const struct branch_known *known, uint32_t pid, uint64_t address);

/** branch_known_be_frequent() - a window was full of its executions, among others */
void branch_known_be_frequent(struct branch_known *known, uint32_t pid, uint64_t address);

/** branch_known_is_frequent() - whether there was ever such a one */
bool branch_known_is_frequent(const struct branch_known *known, uint32_t pid, uint64_t address);

/** branch_known_idle() - there is time left for more probes, or there is not: from now on */
void branch_known_idle(struct branch_known *known, bool idle);

/** branch_known_is_worth() - whether to probe it, by chance: the less, the more was seen */
bool branch_known_is_worth(struct branch_known *known, uint32_t pid, uint64_t address);

#endif
