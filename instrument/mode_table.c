// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/mode_table.h"

#include <string.h>

#include "instrument/bursts/bursts_mode.h"
#include "instrument/calls/calls_mode.h"
#include "instrument/counts/counts_mode.h"
#include "instrument/flow/flow_mode.h"
#include "instrument/paths/paths_mode.h"
#include "instrument/variation/variation_mode.h"

/* The first is the default. */
static const struct instrument_mode *const modes[] = {
	&counts_mode, &paths_mode,  &calls_mode,     &context_mode,
	&flow_mode,   &bursts_mode, &variation_mode,
};

#define MODES (sizeof(modes) / sizeof(modes[0]))

const struct instrument_mode *mode_table_get(size_t index)
{
	return index < MODES ? modes[index] : NULL;
}

const struct instrument_mode *mode_table_find(const char *name)
{
	for (size_t i = 0; i < MODES; i++) {
		if (name == NULL || strcmp(modes[i]->name, name) == 0)
			return modes[i];
	}
	return NULL;
}
