// SPDX-License-Identifier: GPL-2.0-only
#include "loader-hook/hook_losses.h"

#include "lib/clock.h"

unsigned int hook_losses_look(struct hook_losses *losses, const struct hook_counts *counts,
			      uint64_t began_ns, uint64_t now_ns, image_event_fn handle,
			      void *context)
{
	const struct image_event lost = {
		.type = IMAGE_EVENT_LOST,
		.time_ns = losses->looked_ns,
		.until_ns = now_ns,
	};
	bool anybody =
		counts->unnamed != losses->counts.unnamed || counts->runs != losses->counts.runs;
	unsigned int read = counts->records != losses->counts.records ? HOOK_LOSSES_NAMED : 0;

	losses->counts = *counts;
	losses->looked_ns = began_ns;
	if (anybody) {
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
