/* SPDX-License-Identifier: GPL-2.0-only */
/* The snapshots of dcpi.ko (DCPI_IOC_SNAPSHOTS), and the register pairs derived from them. */
#ifndef DCPI_KMOD_SNAPSHOTS_H
#define DCPI_KMOD_SNAPSHOTS_H

#include <stdint.h>

#include "daemon/source/register_pairs.h"
#include "daemon/source/source.h"

struct error;

/** struct kmod_snapshots - fields are private */
struct kmod_snapshots {
	int fd;
	struct register_pairs *pairs;
	struct dcpi_snapshot *batch;
};

/**
 * kmod_snapshots_open() - allocate memory
 * @fd: of the module; remains the caller's
 *
 * Return: 0 or -ENOMEM; kmod_snapshots_close() in both cases.
 */
int kmod_snapshots_open(struct kmod_snapshots *snapshots, int fd, struct error *err);

/** kmod_snapshots_close() - free everything; @snapshots may be zero-initialised */
void kmod_snapshots_close(struct kmod_snapshots *snapshots);

/**
 * kmod_snapshots_drain() - pass on the pairs of a CPU
 * @sync: called after snapshots were taken and before their pairs are passed on
 *
 * Return: 0 or the error of the module.
 */
int kmod_snapshots_drain(struct kmod_snapshots *snapshots, uint32_t cpu, source_sync_fn sync,
			 void *sync_context, const struct source_sink *sink, struct error *err);

/** kmod_snapshots_add() - add a CPU's counts since the module was started */
void kmod_snapshots_add(const struct kmod_snapshots *snapshots, uint32_t cpu,
			struct pair_outcomes *sum);

/** kmod_snapshots_report() - visit the counts. @sum: of all CPUs, since the first start */
void kmod_snapshots_report(const struct kmod_snapshots *snapshots, const struct pair_outcomes *sum,
			   source_counter_fn visit, void *context);

#endif
