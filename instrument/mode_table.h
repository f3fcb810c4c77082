/* SPDX-License-Identifier: GPL-2.0-only */
/* All modes. To add a mode, write it (mode.h) and add it to mode_table.c. */
#ifndef DCPI_INSTRUMENT_MODE_TABLE_H
#define DCPI_INSTRUMENT_MODE_TABLE_H

#include "instrument/mode/mode.h"

/** mode_table_find() - find a mode by name; NULL: the default. Return: NULL without such a mode. */
const struct instrument_mode *mode_table_find(const char *name);

/** mode_table_get() - return the mode at an index. Return: NULL after the last one. */
const struct instrument_mode *mode_table_get(size_t index);

#endif
