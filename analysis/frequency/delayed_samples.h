/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Samples that are no evidence of how often their block ran, because most of their time was spent
 * elsewhere: with interrupts disabled, in the kernel, or in a hypervisor. They are taken where this
 * time ends.
 */
#ifndef DCPI_DELAYED_SAMPLES_H
#define DCPI_DELAYED_SAMPLES_H

#include "analysis/frequency/procedure_profile.h"

/** delayed_samples_block() - return true if most samples of a block may be such samples */
bool delayed_samples_block(const struct procedure_profile *profile, const struct cfg *cfg,
			   uint32_t block);

/** delayed_samples_most() - return true if most samples of a procedure are in such blocks */
bool delayed_samples_most(const struct procedure_profile *profile, const struct cfg *cfg);

#endif
