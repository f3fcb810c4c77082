/* SPDX-License-Identifier: GPL-2.0-only */
/* Taking samples out of one CPU's store and giving them to the reader. */
#ifndef DCPI_DRAIN_H
#define DCPI_DRAIN_H

#include "uapi/dcpi_uapi.h"

struct sampler_cpu;

/**
 * drain_cpu() - DCPI_IOC_DRAIN on one CPU
 * @sampled: its state; it has memory
 * @request: checked: capacity is large enough
 * @count:   user address for the number of entries delivered
 *
 * The caller holds the sampler's mutex. Sleeps on the reader's page faults.
 *
 * Return: 0, -EFAULT, or -EINTR for a caller that was killed while it waited for a handler that
 * does not end. Then what had been taken out is counted as
 * DCPI_LOSS_READER_GONE, and the rest is where it was.
 */
int drain_cpu(struct sampler_cpu *sampled, const struct dcpi_drain *request, u32 __user *count);

/**
 * drain_take() - DCPI_IOC_TAKE on one CPU
 * @sampled: its state; it has memory
 * @take:    out: first and count, if a buffer is full; else as it was
 */
void drain_take(struct sampler_cpu *sampled, struct dcpi_take *take);

/**
 * drain_release() - DCPI_IOC_RELEASE on one CPU
 *
 * Return: 0, or -EAGAIN if no buffer is taken.
 */
int drain_release(struct sampler_cpu *sampled);

#endif
