// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calls/call_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/demangle.h"
#include "instrument/calls/call_map.h"
#include "instrument/calls/call_profile.h"
#include "lib/cleanup.h"
#include "tools/base/text.h"

static const char *const others[CALL_PROFILE_NODES] = {
	[CALL_PROFILE_ROOT] = "<spontaneous>",
	[CALL_PROFILE_SIGNAL] = "<signal>",
	[CALL_PROFILE_OTHER] = "<no room>",
};

static char *call_names_name_of(const char *name, bool demangle_names)
{
	_cleanup_free_ char *readable = demangle_names ? demangle(name) : NULL;

	return text_clean(readable != NULL ? readable : name);
}

int call_names_make(struct call_names *ret, const struct call_map *map, bool demangle_names)
{
	size_t count = map->procedure_count + CALL_PROFILE_NODES;

	*ret = (struct call_names){.names = calloc(count, sizeof(*ret->names)), .count = count};
	if (ret->names == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		ret->names[i] =
			i < map->procedure_count
				? call_names_name_of(map->procedures[i].name, demangle_names)
				: strdup(others[i - map->procedure_count]);
		if (ret->names[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

void call_names_deinit(struct call_names *names)
{
	for (size_t i = 0; names->names != NULL && i < names->count; i++)
		free(names->names[i]);
	free(names->names);
	*names = (struct call_names){0};
}
