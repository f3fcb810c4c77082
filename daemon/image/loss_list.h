/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times at which image events were lost: information from before such a time is invalid after it.
 * For times long past only the bounds are stored, which errs towards a loss.
 */
#ifndef DCPI_LOSS_LIST_H
#define DCPI_LOSS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOSSES_MAX 32

/** struct loss_list - zeroed: none; needs no freeing */
struct loss_list {
	size_t count;
	struct loss {
		uint64_t from_ns;
		uint64_t to_ns;
	} loss[LOSSES_MAX];
};

/** loss_list_add() - record that events were lost between @from_ns and @to_ns */
void loss_list_add(struct loss_list *list, uint64_t from_ns, uint64_t to_ns);

/* loss_list_between() for a list that is not empty */
bool loss_list_search(const struct loss_list *list, uint64_t one_ns, uint64_t other_ns);

/** loss_list_between() - return true if events were lost between two times, in either order */
static inline bool loss_list_between(const struct loss_list *list, uint64_t one_ns,
				     uint64_t other_ns)
{
	return list->count > 0 && loss_list_search(list, one_ns, other_ns);
}

#endif
