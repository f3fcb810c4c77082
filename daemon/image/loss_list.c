// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/image/loss_list.h"

#include <string.h>

void loss_list_add(struct loss_list *list, uint64_t from_ns, uint64_t to_ns)
{
	struct loss *last = list->count > 0 ? &list->loss[list->count - 1] : NULL;

	if (last != NULL && from_ns <= last->to_ns) {
		last->from_ns = from_ns < last->from_ns ? from_ns : last->from_ns;
		last->to_ns = to_ns > last->to_ns ? to_ns : last->to_ns;
		return;
	}
	if (list->count == LOSSES_MAX) {
		list->loss[1].from_ns = list->loss[0].from_ns;
		memmove(list->loss, list->loss + 1, --list->count * sizeof(list->loss[0]));
	}
	list->loss[list->count++] = (struct loss){.from_ns = from_ns, .to_ns = to_ns};
}

bool loss_list_search(const struct loss_list *list, uint64_t one_ns, uint64_t other_ns)
{
	uint64_t from = one_ns < other_ns ? one_ns : other_ns;
	uint64_t to = one_ns < other_ns ? other_ns : one_ns;
	size_t i;

	/* Queries are mostly about recent times. */
	for (i = list->count; i-- > 0 && list->loss[i].to_ns >= from;) {
		if (list->loss[i].from_ns <= to)
			return true;
	}
	return false;
}
