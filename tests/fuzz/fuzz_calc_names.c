// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzz the demangler with a symbol and, after the end of the line, a user's name for it. Names of
 * C++, Rust, Fortran and OCaml are demangled and compared; any input is allowed.
 */
#include "analysis/image/demangle.h"
#include "tests/fuzz/fuzz.h"
#include "tools/annotate/calc_names.h"

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
	/*
	 * The name need not mean the symbol: "S::id const" and "typeinfo for int" are not
	 * procedures.
	 */
	if (readable != NULL)
		means(readable, symbol);
	if (given != NULL)
		means(given, symbol);
	free(readable);
	free(symbol);
	return 0;
}
