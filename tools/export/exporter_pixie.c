// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of basic blocks, as in pixie: the contents of its .Addrs and .Counts files, combined as
 * text, with a line for each block.
 */
#include <inttypes.h>

#include "tools/export/execution_profile.h"
#include "tools/export/exporter.h"

static int write_pixie(FILE *file, const struct execution_profile *profile, struct error *err)
{
	(void)err;
	fputs("# address instructions executions\n", file);
	for (size_t i = 0; i < profile->block_count; i++) {
		const struct execution_block *block = &profile->blocks[i];

		fprintf(file, "0x%" PRIx64 " %" PRIu32 " %" PRIu64 "\n", block->first,
			block->instructions, block->count);
	}
	return 0;
}

const struct exporter exporter_pixie = {
	.name = "pixie",
	.summary = "counts of basic blocks, of one program",
	.write_flow = write_pixie,
};
