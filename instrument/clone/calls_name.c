// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/calls_name.h"

#include <string.h>

/* Names of stubs have a suffix: "swapcontext@plt". */
static bool is_name(const char *name, const char *wanted)
{
	size_t bytes = strlen(wanted);

	return strncmp(name, wanted, bytes) == 0 && (name[bytes] == '\0' || name[bytes] == '@');
}

bool calls_name(const struct image_code *code, const struct cfg *cfg, const char *const *names,
		size_t count)
{
	for (uint32_t c = 0; c < cfg->call_count; c++) {
		uint64_t target = cfg->calls[c].target;
		long index = target != 0 ? image_code_find(code, target) : -1;
		const struct procedure *procedure;

		if (index < 0)
			continue;
		procedure = procedure_table_get(image_code_procedures(code), (size_t)index);
		for (size_t i = 0; i < count; i++) {
			if (is_name(procedure->name, names[i]))
				return true;
		}
	}
	return false;
}
