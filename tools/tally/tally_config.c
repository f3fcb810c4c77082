// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/tally_config.h"

const char *tally_by_name(enum tally_by by)
{
	static const char *const names[] = {
		[TALLY_BY_PROCEDURE] = "procedure",
		[TALLY_BY_IMAGE] = "image",
		[TALLY_BY_INSTRUCTION] = "instruction",
		[TALLY_BY_LINE] = "line",
		[TALLY_BY_FILE] = "file",
	};

	return names[by];
}
