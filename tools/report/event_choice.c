// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/event_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/error.h"
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

int event_choice_unknown(const char *const *names, size_t count, const char *name,
			 struct error *err)
{
	char list[256] = "";
	size_t length = 0;

	for (size_t i = 0; i < count && length < sizeof(list); i++)
		length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s",
					   i > 0 ? ", " : "", names[i]);
	return error_set(err, EINVAL, "there is no event \"%s\"; there are: %s", name, list);
}

int event_choice_make(struct event_choice *ret, const struct report_header *header,
		      const struct cli *cli, struct error *err)
{
	size_t kept = 0;

	ret->names = calloc(header->event_count + cli->event_count + 1, sizeof(*ret->names));
	if (ret->names == NULL)
		return error_set(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < header->event_count; i++) {
		const char *name = header->events[i].name;

		if (!has_event(ret, ret->count, name))
			ret->names[ret->count++] = name;
	}
	for (size_t i = 0; i < cli->event_count; i++) {
		if (!has_event(ret, ret->count, cli->events[i]))
			return event_choice_unknown(ret->names, ret->count, cli->events[i], err);
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
