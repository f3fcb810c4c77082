/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The branch history: observations of branches so far, which determine the branches to probe next
 * (branch_probes.h).
 *
 * Not thread-safe.
 */
#ifndef DCPI_BRANCH_HISTORY_H
#define DCPI_BRANCH_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/u64_map.h"

/**
 * struct branch_history - fields are private
 * @random:    state of period_random(), not 0
 * @eagerness: a branch whose weight is at most this is always worth a probe; at least 1
 */
struct branch_history {
	struct u64_map past;
	uint32_t random;
	uint32_t eagerness;
};

/** branch_history_key() - return a unique key of a branch: addresses are below 2^47 */
static inline uint64_t branch_history_key(uint32_t pid, uint64_t address)
{
	return address ^ (uint64_t)pid << 47;
}

void branch_history_deinit(struct branch_history *history);

/** branch_history_random() - return a random number in [0, n) */
uint32_t branch_history_random(struct branch_history *history, uint32_t n);

/** branch_history_seen() - record that a branch went to this target in a measured interval */
void branch_history_seen(struct branch_history *history, uint32_t pid, uint64_t address,
			 uint64_t to);

/**
 * branch_history_level() - return the frequency of a branch when it was last probed
 *
 * Return: 0 if unknown; otherwise 1 + the base-2 logarithm of its executions per second.
 */
int branch_history_level(const struct branch_history *history, uint32_t pid, uint64_t address);

/**
 * branch_history_rate() - record the executions of a branch during @ns of the program's own time, >
 * 0
 */
void branch_history_rate(struct branch_history *history, uint32_t pid, uint64_t address,
			 uint64_t executions, uint64_t ns);

/**
 * branch_history_set_checked() - record that a branch was probed without frequent branches delaying
 * the program
 */
void branch_history_set_checked(struct branch_history *history, uint32_t pid, uint64_t address);

/**
 * branch_history_is_checked() - return true if branch_history_set_checked() was called for the
 * branch
 */
bool branch_history_is_checked(const struct branch_history *history, uint32_t pid,
			       uint64_t address);

/**
 * branch_history_set_frequent() - record that a measured interval was full of executions of this
 * branch and others
 */
void branch_history_set_frequent(struct branch_history *history, uint32_t pid, uint64_t address);

/**
 * branch_history_is_frequent() - return true if branch_history_set_frequent() was called for the
 * branch
 */
bool branch_history_is_frequent(const struct branch_history *history, uint32_t pid,
				uint64_t address);

/** branch_history_idle() - adjust the eagerness; @idle: there was time left for more probes */
void branch_history_idle(struct branch_history *history, bool idle);

/**
 * branch_history_should_probe() - decide at random whether to probe a branch; less likely with more
 * observations
 */
bool branch_history_should_probe(struct branch_history *history, uint32_t pid, uint64_t address);

#endif
