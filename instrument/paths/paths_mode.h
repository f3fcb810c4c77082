/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Acyclic paths, and their costs (Ammons, Ball and Larus, PLDI 1997). The paper reads the metric at
 * the beginning and the end of each path, which takes longer than most paths. Here, unless complete
 * measurement is requested, all paths are counted, but measured only in bursts (Arnold and Ryder,
 * 2001; Hirzel and Chilimbi, 2001). The metric of a path is extrapolated from its measured
 * executions to all of its executions.
 */
#ifndef DCPI_INSTRUMENT_PATHS_MODE_H
#define DCPI_INSTRUMENT_PATHS_MODE_H

#include "instrument/mode/mode.h"

extern const struct instrument_mode paths_mode;

#endif
