// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/epoch_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

static bool parse_number(const char *text, const char **end, int64_t *value)
{
	char *stop;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoll(text, &stop, 10);
	*end = stop;
	return errno == 0 && *value > 0;
}

static bool parse_range(const char *text, struct epoch_range *range)
{
	const char *end;

	if (!parse_number(text, &end, &range->first))
		return false;
	range->last = range->first;
	if (*end == '-' && !parse_number(end + 1, &end, &range->last))
		return false;
	return *end == '\0' && range->first <= range->last;
}

int epoch_list_parse(struct epoch_list *list, const char *text, struct error *err)
{
	_cleanup_free_ char *copy = strdup(text);
	char *rest = copy, *item;

	list->ranges = calloc(strlen(text) + 1, sizeof(*list->ranges));
	if (copy == NULL || list->ranges == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	while ((item = strsep(&rest, ",")) != NULL) {
		if (strcmp(item, "last") == 0)
			list->latest = true;
		else if (!parse_range(item, &list->ranges[list->count++]))
			return error_set(err, EINVAL,
					 "'%s' is not a valid list of epochs: use 7, 2-5, last, or "
					 "several separated by commas",
					 text);
	}
	return 0;
}

void epoch_list_deinit(struct epoch_list *list)
{
	free(list->ranges);
	*list = (struct epoch_list){0};
}

bool epoch_list_empty(const struct epoch_list *list)
{
	return list->count == 0 && !list->latest;
}

bool epoch_list_selects(const struct epoch_list *list, int64_t id, bool latest)
{
	if (epoch_list_empty(list) || (latest && list->latest))
		return true;
	for (size_t i = 0; i < list->count; i++) {
		if (id >= list->ranges[i].first && id <= list->ranges[i].last)
			return true;
	}
	return false;
}
