// SPDX-License-Identifier: GPL-2.0-only
/*
 * BOLT's pre-aggregated profile (perf2bolt -pa): "B FROM TO COUNT MISPREDICTED" for taken branches
 * and calls, "F FROM TO COUNT" for straight-line code between two instructions. Format:
 * bolt/include/bolt/Profile/DataAggregator.h.
 */
#include <inttypes.h>

#include "tools/export/execution_profile.h"
#include "tools/export/exporter.h"

static int write_bolt(FILE *file, const struct execution_profile *profile, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < profile->branches.count; i++) {
		const struct execution_edge *edge = &profile->branches.list[i];

		/* The number of mispredictions is unknown; BOLT does not depend on it. */
		fprintf(file, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " 0\n", edge->from, edge->to,
			edge->count);
	}
	for (size_t i = 0; i < profile->nexts.count; i++) {
		const struct execution_edge *edge = &profile->nexts.list[i];

		fprintf(file, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", edge->from, edge->to,
			edge->count);
	}
	return 0;
}

const struct exporter exporter_bolt = {
	.name = "bolt",
	.summary = "BOLT's pre-aggregated profile of one program (perf2bolt -pa)",
	.write_flow = write_bolt,
};
