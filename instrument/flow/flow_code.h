/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The code that counts a path in the context of the procedure that executes it. The context is the
 * state of the last frame (calls/call_code.h).
 *
 * After Ammons, Ball, Larus 1997, whose call records have an array or a hash table of paths. Here
 * all contexts of a thread share one hash table.
 */
#ifndef DCPI_INSTRUMENT_FLOW_CODE_H
#define DCPI_INSTRUMENT_FLOW_CODE_H

#include "instrument/paths/paths_code.h"

/** flow_code_end() - emit code that counts a path at its end, or before */
void flow_code_end(struct machine_code *code, const struct point *point,
		   const struct paths_places *places, const struct path_edge *path_edge);

#endif
