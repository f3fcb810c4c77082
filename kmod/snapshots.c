// SPDX-License-Identifier: GPL-2.0-only
#include "snapshots.h"

#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include "sampler_cpu.h"
#include "uapi/dcpi_uapi.h"

int snapshots_allocate(unsigned int cpu, struct sampler_cpu *sampled)
{
	struct snapshot_ring *ring = &sampled->snapshots;

	ring->slots = kvzalloc_node(DCPI_SNAPSHOTS_MAX * sizeof(*ring->slots), GFP_KERNEL,
				    cpu_to_node((int)cpu));
	if (!ring->slots)
		return -ENOMEM;
	ring->capacity = DCPI_SNAPSHOTS_MAX;
	return 0;
}

void snapshots_release(struct sampler_cpu *sampled)
{
	kvfree(sampled->snapshots.slots);
	memset(&sampled->snapshots, 0, sizeof(sampled->snapshots));
}

static void counts_fill(const struct sampler_cpu *sampled, struct dcpi_snapshots *ret)
{
	struct examine_counts counts = examine_count(sampled);

	ret->waiting = counts.waiting;
	ret->begun = counts.begun;
	ret->ended = counts.ended;
	ret->expired = counts.expired;
	ret->missed = counts.missed + sampled->snapshots_gone;
	ret->missed_second = counts.missed_second;
}

int snapshots_read(struct sampler_cpu *sampled, struct dcpi_snapshots *request)
{
	struct dcpi_snapshot __user *to = u64_to_user_ptr(request->snapshots);
	struct snapshot_ring *ring = &sampled->snapshots;
	const struct dcpi_snapshot *first;
	u32 count;

	counts_fill(sampled, request);
	request->count = 0;
	while (request->count < request->capacity) {
		count = min(snapshot_ring_first(ring, &first), request->capacity - request->count);
		if (count == 0)
			break;
		if (copy_to_user(to + request->count, first, count * sizeof(*first)))
			return -EFAULT;
		snapshot_ring_release(ring, count);
		request->count += count;
	}
	return 0;
}
