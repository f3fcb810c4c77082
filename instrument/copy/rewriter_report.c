// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/copy/rewriter_report.h"

#include <stdio.h>
#include <string.h>

#include "instrument/copy/candidate.h"

static void add_reason(struct rewriter_report *report, const struct candidate *candidate)
{
	size_t i = 0;

	while (i < report->reason_count && strcmp(report->reasons[i].text, candidate->why) != 0)
		i++;
	if (i == REWRITER_REASONS_MAX)
		i--;
	if (i == report->reason_count) {
		report->reason_count++;
		snprintf(report->reasons[i].text, sizeof(report->reasons[i].text), "%s",
			 candidate->why);
	}
	report->reasons[i].procedures++;
	report->reasons[i].bytes += candidate->bytes;
}

void rewriter_report_fill(struct rewriter_report *ret, const struct candidates *candidates)
{
	*ret = (struct rewriter_report){0};
	for (size_t c = 0; c < candidates->count; c++) {
		const struct candidate *candidate = &candidates->all[c];

		ret->procedures++;
		ret->bytes += candidate->bytes;
		if (candidate->kept) {
			add_reason(ret, candidate);
			continue;
		}
		ret->copied++;
		ret->copied_bytes += candidate->bytes;
		ret->blocks += candidate->graph.node_count;
	}
}
