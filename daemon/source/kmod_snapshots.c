// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/kmod_snapshots.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "lib/error.h"
#include "lib/error_text.h"

int kmod_snapshots_open(struct kmod_snapshots *snapshots, int fd, struct error *err)
{
	snapshots->fd = fd;
	snapshots->pairs = register_pairs_create();
	snapshots->batch = calloc(DCPI_SNAPSHOTS_MAX, sizeof(*snapshots->batch));
	if (snapshots->pairs == NULL || snapshots->batch == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

void kmod_snapshots_close(struct kmod_snapshots *snapshots)
{
	register_pairs_destroy(snapshots->pairs);
	free(snapshots->batch);
}

int kmod_snapshots_drain(struct kmod_snapshots *snapshots, uint32_t cpu, source_sync_fn sync,
			 void *sync_context, const struct source_sink *sink, struct error *err)
{
	struct dcpi_snapshots request = {
		.cpu = cpu,
		.capacity = DCPI_SNAPSHOTS_MAX,
		.snapshots = (uint64_t)(uintptr_t)snapshots->batch,
	};

	if (ioctl(snapshots->fd, DCPI_IOC_SNAPSHOTS, &request) < 0)
		return error_set_errno(err, "cannot read the snapshots of CPU %u", cpu);
	if (request.count > DCPI_SNAPSHOTS_MAX)
		return error_set(err, EPROTO, "dcpi.ko names snapshots beyond the array");
	if (request.count == 0 || sink->pair == NULL)
		return 0;
	sync(sync_context);
	for (uint32_t i = 0; i < request.count; i++)
		register_pairs_examined(snapshots->pairs, &snapshots->batch[i], sink->pair,
					sink->context);
	return 0;
}

void kmod_snapshots_add(const struct kmod_snapshots *snapshots, uint32_t cpu,
			struct pair_outcomes *sum)
{
	struct dcpi_snapshots counts = {.cpu = cpu};

	if (ioctl(snapshots->fd, DCPI_IOC_SNAPSHOTS, &counts) < 0)
		return;
	sum->begun += counts.begun;
	sum->waiting += counts.waiting;
	sum->ended += counts.ended;
	sum->expired += counts.expired;
	sum->missed += counts.missed_second;
	sum->snapshots_missed += counts.missed + counts.missed_second;
}

void kmod_snapshots_report(const struct kmod_snapshots *snapshots, const struct pair_outcomes *sum,
			   source_counter_fn visit, void *context)
{
	register_pairs_report(snapshots->pairs, sum, visit, context);
	visit(context, "stat", "snapshots_missed", sum->snapshots_missed);
}
