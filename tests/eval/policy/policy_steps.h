/* SPDX-License-Identifier: GPL-2.0-only */
/* Instruction counts of the store, measured by single-stepping. */
#ifndef DCPI_TESTS_POLICY_STEPS_H
#define DCPI_TESTS_POLICY_STEPS_H

#include <stdint.h>

#include "kmod/core/sample_store.h"

/**
 * struct policy_steps - instructions of sample_store_count(), including the call
 * @hit:   an entry at this place of its set
 * @free:  a miss that takes this free place
 * @evict: a miss that evicts an entry
 */
struct policy_steps {
	uint32_t hit[SAMPLE_WAYS];
	uint32_t free[SAMPLE_WAYS];
	uint32_t evict;
};

/**
 * policy_steps_measure() - single-step a child process by ptrace(2)
 *
 * Return: 0; -EIO if the child behaved unexpectedly; errors of fork(2) and ptrace(2).
 */
int policy_steps_measure(struct policy_steps *steps);

#endif
