/* SPDX-License-Identifier: GPL-2.0-only */
/* Find calls of procedures that are known by name, also through the PLT. */
#ifndef DCPI_INSTRUMENT_CALLS_NAME_H
#define DCPI_INSTRUMENT_CALLS_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/graph/cfg.h"
#include "analysis/image/image_code.h"

/** calls_name() - true if @cfg has a direct call of one of @count procedures, or a jump to it */
bool calls_name(const struct image_code *code, const struct cfg *cfg, const char *const *names,
		size_t count);

#endif
