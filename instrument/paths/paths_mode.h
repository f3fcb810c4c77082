/* SPDX-License-Identifier: GPL-2.0-only */
/* Acyclic paths, and what they cost (Ammons, Ball and Larus, PLDI 1997). */
#ifndef DCPI_INSTRUMENT_PATHS_MODE_H
#define DCPI_INSTRUMENT_PATHS_MODE_H

#include "instrument/mode/mode.h"

extern const struct instrument_mode paths_mode;

#endif
