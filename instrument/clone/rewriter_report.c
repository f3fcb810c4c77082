// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/rewriter_report.h"

#include <string.h>

#include "instrument/clone/candidate.h"

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
		ret->cloned++;
		ret->cloned_bytes += candidate->bytes;
		ret->blocks += candidate->graph.node_count;
	}
}

/* Report contiguous instructions together. */
static void report_left(const struct candidate *candidate, rewriter_report_left_fn *left,
			void *context)
{
	const struct cfg *cfg = candidate->cfg;
	uint32_t first = 0;

	for (uint32_t i = 0; cfg != NULL && i < cfg->insn_count; i++) {
		uint64_t end = cfg->insns[i].address + cfg->insns[i].bytes;

		if (i + 1 < cfg->insn_count && cfg->insns[i + 1].address <= end)
			continue;
		left(context, candidate->procedure->name, cfg->insns[first].address, end,
		     candidate->why);
		first = i + 1;
	}
}

void rewriter_report_left(const struct candidates *candidates, rewriter_report_left_fn *left,
			  void *context)
{
	for (size_t c = 0; c < candidates->count; c++) {
		if (candidates->all[c].kept)
			report_left(&candidates->all[c], left, context);
	}
}

void rewriter_report_print(FILE *out, const struct rewriter_report *report)
{
	fprintf(out,
		"%zu of %zu procedures, %.1f%% of %.1f KiB of code; %llu counters for %llu blocks; "
		"%.1f KiB of new code\n",
		report->cloned, report->procedures,
		report->bytes ? 100.0 * (double)report->cloned_bytes / (double)report->bytes : 0.0,
		(double)report->bytes / 1024, (unsigned long long)report->counters,
		(unsigned long long)report->blocks, (double)report->new_bytes / 1024);
	for (size_t i = 0; i < report->reason_count; i++)
		fprintf(out, "not rewritten: %4zu procedures, %7.1f KiB: %s\n",
			report->reasons[i].procedures, (double)report->reasons[i].bytes / 1024,
			report->reasons[i].text);
}

char *rewriter_report_text(const struct rewriter_report *report)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (stream == NULL)
		return NULL;
	rewriter_report_print(stream, report);
	fclose(stream);
	return text;
}
