// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/profile/report_text.h"

#include "analysis/image/demangle.h"
#include "lib/cleanup.h"
#include "lib/printable.h"

void report_text_name(FILE *out, const char *name, bool csv)
{
	if (csv)
		putc('"', out);
	while (*name != '\0') {
		size_t bytes = printable_bytes(name);

		if (csv && *name == '"')
			putc('"', out);
		if (bytes == 0)
			putc('?', out);
		else
			fwrite(name, 1, bytes, out);
		name += bytes > 0 ? bytes : 1;
	}
	if (csv)
		putc('"', out);
}

void report_text_procedure(FILE *out, const char *name, bool csv)
{
	_cleanup_free_ char *readable = csv ? NULL : demangle(name);

	report_text_name(out, readable != NULL ? readable : name, csv);
}
