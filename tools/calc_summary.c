// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calc_summary.h"

#include <math.h>

#define RULE "-----------------------------------------"

static double percent(const struct stall_summary *summary, double samples)
{
	double value = summary->tallied > 0 ? 100 * samples / summary->tallied : 0;

	return fabs(value) < 0.05 ? 0 : value; /* no "-0.0%" */
}

static void print_range(FILE *stream, const struct stall_summary *summary, const char *name,
			double low, double high)
{
	fprintf(stream, "*** %-21s %6.1f%% to %6.1f%%\n", name, percent(summary, low),
		percent(summary, high));
}

static void print_share(FILE *stream, const struct stall_summary *summary, const char *name,
			double samples)
{
	fprintf(stream, "*** %-21s %6.1f%%\n", name, percent(summary, samples));
}

/* Sums stand to the right of what they sum up. */
static void print_sum(FILE *stream, const struct stall_summary *summary, const char *name,
		      double samples)
{
	fprintf(stream, "*** %-32s %6.1f%%\n", name, percent(summary, samples));
}

static void print_rule(FILE *stream)
{
	fputs("*** " RULE "\n", stream);
}

static void print_cpi(FILE *stream, const char *name, double cycles, double instructions)
{
	fprintf(stream, "*** %s %.0f/%.0f = ", name, cycles, instructions);
	if (instructions > 0)
		fprintf(stream, "%.2fCPI", cycles / instructions);
	else
		fputs("?", stream);
}

static void print_dynamic(FILE *stream, const struct stall_summary *summary)
{
	for (unsigned int i = 0; i < CULPRIT_CAUSES; i++) {
		if (i == CULPRIT_BRANCH)
			fputs("***\n", stream);
		print_range(stream, summary, culprit_name((enum culprit_cause)i), summary->low[i],
			    summary->high[i]);
	}
	fputs("***\n", stream);
	print_range(stream, summary, culprit_name(CULPRIT_UNEXPLAINED),
		    summary->low[CULPRIT_UNEXPLAINED], summary->high[CULPRIT_UNEXPLAINED]);
	print_range(stream, summary, "Unexplained gain", summary->gain, summary->gain);
	print_rule(stream);
	print_sum(stream, summary, "Subtotal dynamic", summary->dynamic + summary->gain);
	fputs("***\n", stream);
}

static double print_static(FILE *stream, const struct stall_summary *summary)
{
	double sum = 0;

	for (unsigned int i = 0; i < STALL_KINDS; i++) {
		print_share(stream, summary, stall_kind_name((enum stall_kind)i),
			    summary->stalls[i]);
		sum += summary->stalls[i];
	}
	print_rule(stream);
	print_sum(stream, summary, "Subtotal static", sum);
	print_rule(stream);
	return sum;
}

void calc_summary_print(FILE *stream, const struct stall_summary *summary)
{
	double fixed;

	print_cpi(stream, "Best-case", summary->best_cycles, summary->instructions);
	fputs(",\n", stream);
	print_cpi(stream, "Actual   ", summary->actual_cycles, summary->instructions);
	fputs("\n***\n", stream);
	print_dynamic(stream, summary);
	fixed = print_static(stream, summary);
	print_sum(stream, summary, "Total stall", summary->dynamic + summary->gain + fixed);
	print_sum(stream, summary, "Execution", summary->execution);
	print_sum(stream, summary, "Net sampling error", summary->sampling_error);
	print_rule(stream);
	print_sum(stream, summary, "Total tallied",
		  summary->execution + fixed + summary->dynamic + summary->gain +
			  summary->sampling_error);
	fprintf(stream, "*** (%.0f, %.1f%% of all samples)\n", summary->tallied,
		summary->samples > 0 ? 100 * summary->tallied / summary->samples : 0);
}
