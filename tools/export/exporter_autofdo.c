// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts of a binary as read by compilers' converters, which then add symbols: executed ranges of
 * addresses with counts, and branches. AutoFDO's text format (create_llvm_prof --profiler=text,
 * create_gcov) has a list of single addresses between the two, which is empty here. The format of
 * llvm-profgen (--unsymbolized-profile) has no such list.
 */
#include <inttypes.h>

#include "tools/export/execution_profile.h"
#include "tools/export/exporter.h"

static void put_ranges(FILE *file, const struct execution_profile *profile)
{
	fprintf(file, "%zu\n", profile->block_count);
	for (size_t i = 0; i < profile->block_count; i++) {
		const struct execution_block *block = &profile->blocks[i];

		fprintf(file, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", block->first, block->last,
			block->count);
	}
}

static void put_branches(FILE *file, const struct execution_profile *profile)
{
	fprintf(file, "%zu\n", profile->branches.count);
	for (size_t i = 0; i < profile->branches.count; i++) {
		const struct execution_edge *edge = &profile->branches.list[i];

		fprintf(file, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n", edge->from, edge->to,
			edge->count);
	}
}

static int write_autofdo(FILE *file, const struct execution_profile *profile, struct error *err)
{
	(void)err;
	put_ranges(file, profile);
	fputs("0\n", file);
	put_branches(file, profile);
	return 0;
}

static int write_profgen(FILE *file, const struct execution_profile *profile, struct error *err)
{
	(void)err;
	put_ranges(file, profile);
	put_branches(file, profile);
	return 0;
}

const struct exporter exporter_autofdo = {
	.name = "autofdo",
	.summary = "AutoFDO's text, of one program (create_llvm_prof --profiler=text)",
	.write_flow = write_autofdo,
};

const struct exporter exporter_profgen = {
	.name = "profgen",
	.summary = "llvm-profgen's, of one program (--unsymbolized-profile), for clang",
	.write_flow = write_profgen,
};
