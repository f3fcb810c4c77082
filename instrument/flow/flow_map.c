// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/flow/flow_map.h"

#include <errno.h>

#include "lib/error.h"
#include "lib/error_text.h"

/* Return true if the procedures have the same numbers as in the map of paths. */
static bool is_like(const struct call_map *map, const struct paths_map *paths)
{
	if (paths->procedure_count != map->procedure_count || paths->contexts != map->flow_at)
		return false;
	for (size_t i = 0; i < map->procedure_count; i++) {
		if (paths->procedures[i].address != map->procedures[i].address)
			return false;
	}
	return true;
}

int flow_map_decode(struct paths_map *ret, const struct call_map *map, struct error *err)
{
	int r;

	if (map->flow_at == 0)
		return error_set(err, ENODATA,
				 "'%s' was not rewritten by dcpix --mode context-paths", map->path);
	r = paths_map_decode(ret, map->flow, map->flow_bytes);
	if (r == 0 && !is_like(map, ret)) {
		paths_map_deinit(ret);
		r = -EBADMSG;
	}
	if (r == -ENOMEM)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return r < 0 ? error_set(err, EBADMSG, "the path graphs of '%s' are damaged", map->path)
		     : 0;
}
