/* SPDX-License-Identifier: GPL-2.0-only */
/* All modes. To add one: write it (mode.h), and name it in mode_table.c. */
#ifndef DCPI_INSTRUMENT_MODE_TABLE_H
#define DCPI_INSTRUMENT_MODE_TABLE_H

#include "instrument/mode/mode.h"

/** mode_table_find() - by name; NULL: the default. Return: NULL if there is none. */
const struct instrument_mode *mode_table_find(const char *name);

/** mode_table_get() - one after the other, from 0 on. Return: NULL behind the last. */
const struct instrument_mode *mode_table_get(size_t index);

#endif
