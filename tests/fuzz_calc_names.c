// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any symbol, and behind a line's end any name that a user gave for it: names of C++, Rust,
 * Fortran and OCaml are made readable and compared, whatever they are.
 */
#include "analysis/image/demangle.h"
#include "tests/fuzz.h"
#include "tools/calc/calc_names.h"

static bool means(const char *wanted, const char *symbol)
{
	struct calc_name made = calc_name_make(wanted);

	return calc_name_means(&made, symbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	char *symbol = malloc(bytes + 1), *readable, *given;

	require(symbol != NULL);
	memcpy(symbol, data, bytes);
	symbol[bytes] = '\0';
	given = strchr(symbol, '\n');
	if (given != NULL)
		*given++ = '\0';

	readable = demangle(symbol);
	require(readable == NULL || demangle_is_mangled(symbol));
	/* It need not mean the symbol: "S::id const" and "typeinfo for int" are no procedures. */
	if (readable != NULL)
		means(readable, symbol);
	if (given != NULL)
		means(given, symbol);
	free(readable);
	free(symbol);
	return 0;
}
