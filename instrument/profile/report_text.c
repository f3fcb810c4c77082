// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/profile/report_text.h"

void report_text_name(FILE *out, const char *name, bool csv)
{
	if (csv)
		putc('"', out);
	for (; *name != '\0'; name++) {
		if (csv && *name == '"')
			putc('"', out);
		putc((unsigned char)*name < ' ' || *name == '\x7f' ? '?' : *name, out);
	}
	if (csv)
		putc('"', out);
}
