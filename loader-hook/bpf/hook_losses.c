// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/bpf/hook_losses.h"

#include "lib/clock.h"

unsigned int hook_losses_check(struct hook_losses *losses, const struct hook_counts *counts,
			       uint64_t began_ns, uint64_t now_ns, image_event_fn handle,
			       void *context)
{
	const struct image_event lost = {
		.type = IMAGE_EVENT_LOST,
		.time_ns = losses->checked_ns,
		.until_ns = now_ns,
	};
	bool any_process =
		counts->unnamed != losses->counts.unnamed || counts->runs != losses->counts.runs;
	unsigned int read = 0;

	if (losses->named_left || counts->records != losses->counts.records)
		read |= HOOK_LOSSES_NAMED;
	if (!losses->named_left)
		losses->named_ns = losses->checked_ns;
	losses->counts = *counts;
	losses->checked_ns = began_ns;
	if (any_process) {
		losses->all_due = true;
		handle(context, &lost);
	}
	if (losses->all_due && now_ns >= losses->scanned_ns + NS_PER_SECOND) {
		losses->all_due = false;
		losses->scanned_ns = now_ns;
		read |= HOOK_LOSSES_ALL;
	}
	return read;
}

void hook_losses_named(struct hook_losses *losses, hook_losses_take_fn take,
		       hook_losses_read_fn read, void *context)
{
	uint32_t pid;
	int i;

	losses->named_left = true;
	for (i = 0; i < HOOK_LOSSES_NAMED_MAX; i++) {
		if (!take(context, &pid)) {
			losses->named_left = false;
			return;
		}
		read(context, pid, losses->named_ns);
	}
}
