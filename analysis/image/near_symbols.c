// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/near_symbols.h"

#include <string.h>

#include "analysis/image/demangle.h"
#include "lib/cleanup.h"
#include "lib/near_names.h"

/* Return the part of a wanted name that a mangled name would contain literally. */
static const char *identifier(const char *wanted)
{
	const char *colon = strrchr(wanted, ':');

	return colon != NULL && colon[1] != '\0' ? colon + 1 : wanted;
}

void near_symbols_add(struct near_names *near, const char *symbol)
{
	_cleanup_free_ char *source = NULL;

	if (demangle_is_mangled(symbol) && strcasestr(symbol, identifier(near->wanted)) != NULL)
		source = demangle(symbol);
	near_names_add(near, source != NULL ? source : symbol);
}
