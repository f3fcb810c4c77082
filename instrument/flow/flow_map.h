/* SPDX-License-Identifier: GPL-2.0-only */
/* The map of the paths in contexts, which is part of the call map (calls/call_map.h). */
#ifndef DCPI_INSTRUMENT_FLOW_MAP_H
#define DCPI_INSTRUMENT_FLOW_MAP_H

#include "instrument/calls/call_map.h"
#include "instrument/paths/paths_map.h"

/**
 * flow_map_decode() - decode the map of paths
 * @ret: out; freed by paths_map_deinit(). Its procedures are numbered as in @calls
 *
 * Return: 0; -ENODATA the program does not record paths; -EBADMSG damaged; -ENOMEM.
 */
int flow_map_decode(struct paths_map *ret, const struct call_map *calls, struct error *err);

#endif
