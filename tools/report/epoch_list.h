/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of epochs as users write them: "7", "last", "2-5", "1,3-4,last". */
#ifndef DCPI_EPOCH_LIST_H
#define DCPI_EPOCH_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

/** struct epoch_range - epochs @first to @last */
struct epoch_range {
	int64_t first;
	int64_t last;
};

/** struct epoch_list - zero-initialised: all epochs */
struct epoch_list {
	struct epoch_range *ranges;
	size_t count;
	bool latest; /* "last" is in the list */
};

/**
 * epoch_list_parse() - parse a list
 * @list: out, empty before; freed by epoch_list_deinit(), also after a failure
 *
 * Return: 0, -EINVAL or -ENOMEM.
 */
int epoch_list_parse(struct epoch_list *list, const char *text, struct error *err);

void epoch_list_deinit(struct epoch_list *list);

/** epoch_list_empty() - return true if the list is empty and thus selects all epochs */
bool epoch_list_empty(const struct epoch_list *list);

/** epoch_list_selects() - return true if epoch @id is in the list; @latest: it is the last epoch */
bool epoch_list_selects(const struct epoch_list *list, int64_t id, bool latest);

#endif
