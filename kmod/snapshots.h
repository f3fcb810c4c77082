/* SPDX-License-Identifier: GPL-2.0-only */
/* The memory of a CPU's ring of snapshots, and its reader. */
#ifndef DCPI_SNAPSHOTS_H
#define DCPI_SNAPSHOTS_H

#include <linux/types.h>

struct dcpi_snapshots;
struct sampler_cpu;

/**
 * snapshots_allocate() - give a CPU a ring, which has none
 *
 * Sleeps. The caller holds the sampler's mutex. Return: 0 or -ENOMEM.
 */
int snapshots_allocate(unsigned int cpu, struct sampler_cpu *sampled);

/**
 * snapshots_release() - free the ring, if there is one
 *
 * No handler may be running. The caller holds the sampler's mutex.
 */
void snapshots_release(struct sampler_cpu *sampled);

/**
 * snapshots_read() - DCPI_IOC_SNAPSHOTS: move a CPU's snapshots to the reader
 * @request: as read from the caller; count and counts are set
 *
 * The caller holds the sampler's mutex. Return: 0; -EFAULT: snapshots copied so far are read.
 */
int snapshots_read(struct sampler_cpu *sampled, struct dcpi_snapshots *request);

#endif
