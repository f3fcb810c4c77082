/* SPDX-License-Identifier: GPL-2.0-only */
/* Take samples out of one CPU's store and give them to the reader. */
#ifndef DCPI_DRAIN_H
#define DCPI_DRAIN_H

#include "uapi/dcpi_uapi.h"

struct sampler_cpu;

/**
 * drain_cpu() - DCPI_IOC_DRAIN on one CPU
 * @sampled: state of the CPU, with allocated memory
 * @request: already checked: capacity is large enough
 * @count:   user address for the number of entries delivered
 *
 * The caller holds the sampler's mutex. Sleeps on the reader's page faults.
 *
 * Return: 0; -EFAULT; -EINTR if the caller was killed while it waited for a handler that does not
 * end. After an error, samples that were already taken out are counted as DCPI_LOSS_READER_GONE,
 * and all others remain in the store.
 */
int drain_cpu(struct sampler_cpu *sampled, const struct dcpi_drain *request, u32 __user *count);

/**
 * drain_take() - DCPI_IOC_TAKE on one CPU
 * @sampled: state of the CPU, with allocated memory
 * @take:    out: first and count if a buffer is full; otherwise unchanged
 */
void drain_take(struct sampler_cpu *sampled, struct dcpi_take *take);

/**
 * drain_release() - DCPI_IOC_RELEASE on one CPU
 *
 * Return: 0, or -EAGAIN if no buffer is taken.
 */
int drain_release(struct sampler_cpu *sampled);

#endif
