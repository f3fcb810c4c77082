/* SPDX-License-Identifier: GPL-2.0-only */
/* How many instructions the store takes: it is stepped through. */
#ifndef DCPI_TESTS_POLICY_STEPS_H
#define DCPI_TESTS_POLICY_STEPS_H

#include <stdint.h>

#include "kmod/core/sample_store.h"

/**
 * struct policy_steps - instructions of sample_store_count(), call included
 * @hit:   an entry at this place of its set
 * @free:  a miss that takes this place
 * @evict: a miss that throws an entry out
 */
struct policy_steps {
	uint32_t hit[SAMPLE_WAYS];
	uint32_t free[SAMPLE_WAYS];
	uint32_t evict;
};

/**
 * policy_steps_measure() - step through a child, by ptrace(2)
 *
 * Return: 0; -EIO it did something else than it was told to; errors of
 * fork(2) and ptrace(2).
 */
int policy_steps_measure(struct policy_steps *steps);

#endif
