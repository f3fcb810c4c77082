/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Acyclic paths, and what they cost (Ammons, Ball and Larus, PLDI 1997). They read the metric
 * where each path begins and ends, which takes longer than most paths. Here, unless all is asked
 * for, all paths are counted, but measured only in bursts (Arnold and Ryder, 2001; Hirzel and
 * Chilimbi, 2001): of a path that was gone so often, so many were, and it is as if the others had
 * cost as much.
 */
#ifndef DCPI_INSTRUMENT_PATHS_MODE_H
#define DCPI_INSTRUMENT_PATHS_MODE_H

#include "instrument/mode/mode.h"

extern const struct instrument_mode paths_mode;

#endif
