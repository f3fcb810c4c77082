/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mode that counts paths in contexts: the combination of flow-sensitive and context-sensitive
 * profiles (Ammons, Ball, Larus 1997, section 4). Its code is that of two other modes: contexts
 * (calls/calls_mode.h) without a metric, and paths (paths/paths_mode.h). A path is counted in the
 * state of the last frame (flow_code.h).
 */
#ifndef DCPI_INSTRUMENT_FLOW_MODE_H
#define DCPI_INSTRUMENT_FLOW_MODE_H

#include "instrument/mode/mode.h"

extern const struct instrument_mode flow_mode;

#endif
