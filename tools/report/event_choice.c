// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/event_choice.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "tools/report/cli.h"
#include "tools/report/report_header.h"

static bool has_event(const struct event_choice *choice, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): @count names */
		if (strcmp(choice->names[i], name) == 0)
			return true;
	}
	return false;
}

int event_choice_make(struct event_choice *ret, const struct report_header *header,
		      const struct cli *cli, struct error *err)
{
	size_t kept = 0;

	ret->names = calloc(header->event_count + cli->event_count + 1, sizeof(*ret->names));
	if (ret->names == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < header->event_count; i++) {
		const char *name = header->events[i].name;

		if (!has_event(ret, ret->count, name))
			ret->names[ret->count++] = name;
	}
	for (size_t i = 0; i < cli->event_count; i++) {
		if (!has_event(ret, ret->count, cli->events[i]))
			return near_names_unknown(err, "event", cli->events[i], ret->names,
						  ret->count);
	}
	for (size_t i = 0; i < cli->event_count; i++) {
		if (!has_event(ret, kept, cli->events[i]))
			ret->names[kept++] = cli->events[i];
	}
	if (kept > 0)
		ret->count = kept;
	return 0;
}

void event_choice_deinit(struct event_choice *choice)
{
	free(choice->names);
	*choice = (struct event_choice){0};
}

int event_names_add(void *context, const struct profile_event *event)
{
	struct event_names *names = context;
	char *copy;

	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->list[i], event->name) == 0)
			return 0;
	}
	copy = strdup(event->name);
	if (copy == NULL || array_reserve(&names->list, &names->capacity, names->count + 1,
					  sizeof(*names->list)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	names->list[names->count++] = copy;
	return 0;
}

void event_names_deinit(struct event_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free((void *)(uintptr_t)names->list[i]);
	free(names->list);
	*names = (struct event_names){0};
}
