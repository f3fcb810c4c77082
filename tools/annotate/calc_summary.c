// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_summary.h"

#include <math.h>
#include <stdbool.h>

#define RULE "-----------------------------------------"
#define RULE_MORE "---------------------"

/* struct sheet - summaries printed next to each other */
struct sheet {
	FILE *stream;
	const struct stall_summary *const *list;
	size_t count;
};

typedef double (*value_fn)(const struct stall_summary *summary, unsigned int index);

static double calc_summary_percent(const struct stall_summary *summary, double samples)
{
	double value = summary->tallied > 0 ? 100 * samples / summary->tallied : 0;

	return fabs(value) < 0.05 ? 0 : value; /* no "-0.0%" */
}

static double low_of(const struct stall_summary *summary, unsigned int index)
{
	return summary->low[index];
}

static double high_of(const struct stall_summary *summary, unsigned int index)
{
	return summary->high[index];
}

static double gain_of(const struct stall_summary *summary, unsigned int index)
{
	(void)index;
	return summary->gain;
}

static double dynamic_of(const struct stall_summary *summary, unsigned int index)
{
	(void)index;
	return summary->dynamic + summary->gain;
}

static double calc_summary_kind_of(const struct stall_summary *summary, unsigned int index)
{
	return summary->stalls[index];
}

static double static_of(const struct stall_summary *summary, unsigned int index)
{
	double sum = 0;

	(void)index;
	for (unsigned int i = 0; i < STALL_KINDS; i++)
		sum += summary->stalls[i];
	return sum;
}

static double stall_of(const struct stall_summary *summary, unsigned int index)
{
	return dynamic_of(summary, index) + static_of(summary, index);
}

static double execution_of(const struct stall_summary *summary, unsigned int index)
{
	(void)index;
	return summary->execution;
}

static double error_of(const struct stall_summary *summary, unsigned int index)
{
	(void)index;
	return summary->sampling_error;
}

static double tallied_of(const struct stall_summary *summary, unsigned int index)
{
	return summary->execution + stall_of(summary, index) + summary->sampling_error;
}

static void print_range(const struct sheet *sheet, const char *name, value_fn low, value_fn high,
			unsigned int index)
{
	fprintf(sheet->stream, "*** %-21s", name);
	for (size_t i = 0; i < sheet->count; i++)
		fprintf(sheet->stream, "%s %6.1f%% to %6.1f%%", i > 0 ? "  " : "",
			calc_summary_percent(sheet->list[i], low(sheet->list[i], index)),
			calc_summary_percent(sheet->list[i], high(sheet->list[i], index)));
	fputc('\n', sheet->stream);
}

static void print_share(const struct sheet *sheet, const char *name, unsigned int index)
{
	fprintf(sheet->stream, "*** %-21s", name);
	for (size_t i = 0; i < sheet->count; i++)
		fprintf(sheet->stream, "%*s %6.1f%%", i > 0 ? 13 : 0, "",
			calc_summary_percent(sheet->list[i],
					     calc_summary_kind_of(sheet->list[i], index)));
	fputc('\n', sheet->stream);
}

/* Print a sum, in a column to the right of its items. */
static void print_sum(const struct sheet *sheet, const char *name, value_fn value)
{
	fprintf(sheet->stream, "*** %-21s", name);
	for (size_t i = 0; i < sheet->count; i++)
		fprintf(sheet->stream, "%*s %6.1f%%", i > 0 ? 13 : 11, "",
			calc_summary_percent(sheet->list[i], value(sheet->list[i], 0)));
	fputc('\n', sheet->stream);
}

static void print_rule(const struct sheet *sheet)
{
	fputs("*** " RULE, sheet->stream);
	for (size_t i = 1; i < sheet->count; i++)
		fputs(RULE_MORE, sheet->stream);
	fputc('\n', sheet->stream);
}

static void print_cpi(FILE *stream, const char *name, double cycles, double instructions)
{
	fprintf(stream, "*** %s %.0f/%.0f = ", name, cycles, instructions);
	if (instructions > 0)
		fprintf(stream, "%.2fCPI", cycles / instructions);
	else
		fputs("?", stream);
}

static bool has_cause(const struct sheet *sheet, enum culprit_cause cause)
{
	for (size_t i = 0; i < sheet->count; i++)
		if (sheet->list[i]->high[cause] > 0)
			return true;
	return false;
}

static void print_dynamic(const struct sheet *sheet)
{
	bool in_order = false, out_of_order = false;

	for (size_t i = 0; i < sheet->count; i++) {
		in_order |= sheet->list[i]->in_order;
		out_of_order |= sheet->list[i]->out_of_order;
	}
	for (unsigned int i = 0; i < CULPRIT_CAUSES; i++) {
		enum culprit_cause cause = (enum culprit_cause)i;

		if (culprit_is_modern(cause) && !out_of_order)
			continue;
		/* In Figure 4 there is no line for it: DCPI's interrupts had the highest priority.
		 */
		if (cause == CULPRIT_INTERRUPTS && !has_cause(sheet, cause))
			continue;
		if (cause == CULPRIT_BRANCH)
			fputs("***\n", sheet->stream);
		print_range(sheet,
			    out_of_order && !in_order ? culprit_modern_name(cause)
						      : culprit_name(cause),
			    low_of, high_of, i);
	}
	fputs("***\n", sheet->stream);
	print_range(sheet, culprit_name(CULPRIT_UNEXPLAINED), low_of, high_of, CULPRIT_UNEXPLAINED);
	print_range(sheet, "Unexplained gain", gain_of, gain_of, 0);
	print_rule(sheet);
	print_sum(sheet, "Subtotal dynamic", dynamic_of);
	fputs("***\n", sheet->stream);
}

/* Figure 4 has no line for latency, because its machine executes in order. */
static bool has_latency(const struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->count; i++)
		if (sheet->list[i]->stalls[STALL_LATENCY] > 0)
			return true;
	return false;
}

static void print_static(const struct sheet *sheet)
{
	for (unsigned int i = 0; i < STALL_KINDS; i++)
		if (i != STALL_LATENCY || has_latency(sheet))
			print_share(sheet, stall_kind_name((enum stall_kind)i), i);
	print_rule(sheet);
	print_sum(sheet, "Subtotal static", static_of);
	print_rule(sheet);
}

/* Print all lines except those of cycles and samples. */
static void print_causes(const struct sheet *sheet)
{
	fputs("***\n", sheet->stream);
	print_dynamic(sheet);
	print_static(sheet);
	print_sum(sheet, "Total stall", stall_of);
	print_sum(sheet, "Execution", execution_of);
	print_sum(sheet, "Net sampling error", error_of);
	print_rule(sheet);
	print_sum(sheet, "Total tallied", tallied_of);
}

static double tallied_percent(const struct stall_summary *summary, double samples)
{
	return samples > 0 ? 100 * summary->tallied / samples : 0;
}

/* Print intervals of the CPI and of the sampling error; the paper has no such line. */
static void print_intervals(FILE *stream, const struct stall_summary *summary)
{
	double low, high;

	if (summary->published || !(summary->instructions > 0))
		return;
	stall_summary_cpi(summary, &low, &high);
	if (isfinite(high))
		fprintf(stream, "*** Interval  %.2f to %.2fCPI", low, high);
	else
		fprintf(stream, "*** Interval  %.2fCPI or more", low);
	fprintf(stream, "; sampling error at most +-%.1f%%\n",
		calc_summary_percent(summary, stall_summary_noise(summary)));
}

void calc_summary_print(FILE *stream, const struct stall_summary *summary, double all_samples)
{
	const struct sheet sheet = {stream, &summary, 1};

	print_cpi(stream, "Best-case", summary->best_cycles, summary->instructions);
	fputs(",\n", stream);
	print_cpi(stream, "Actual   ", summary->actual_cycles, summary->instructions);
	fputc('\n', stream);
	print_intervals(stream, summary);
	print_causes(&sheet);
	if (all_samples > 0)
		fprintf(stream, "*** (%.0f, %.1f%% of all samples)\n", summary->tallied,
			tallied_percent(summary, all_samples));
	else
		fprintf(stream, "*** (%.0f samples)\n", summary->tallied);
}

static void print_cpis(const struct sheet *sheet, const char *name, bool best)
{
	fprintf(sheet->stream, "*** %-21s", name);
	for (size_t i = 0; i < sheet->count; i++) {
		const struct stall_summary *summary = sheet->list[i];
		double cycles = best ? summary->best_cycles : summary->actual_cycles;

		fprintf(sheet->stream, "%*s", i > 0 ? 2 : 0, "");
		if (summary->instructions > 0)
			fprintf(sheet->stream, "%16.2fCPI", cycles / summary->instructions);
		else
			fprintf(sheet->stream, "%19s", "?");
	}
	fputc('\n', sheet->stream);
}

static void print_texts(const struct sheet *sheet, const char *name, const char *const texts[2])
{
	fprintf(sheet->stream, "*** %-21s", name);
	for (size_t i = 0; i < sheet->count; i++)
		fprintf(sheet->stream, "%*s%19s", i > 0 ? 2 : 0, "", texts[i]);
	fputc('\n', sheet->stream);
}

void calc_summary_compare(FILE *stream, const char *const headings[2],
			  const struct stall_summary *const summaries[2])
{
	const struct sheet sheet = {stream, summaries, 2};
	char tallied[2][40];
	const char *const texts[2] = {tallied[0], tallied[1]};

	for (size_t i = 0; i < 2; i++)
		snprintf(tallied[i], sizeof(tallied[i]), "(%.0f, %.1f%%)", summaries[i]->tallied,
			 tallied_percent(summaries[i], summaries[i]->samples));
	print_texts(&sheet, "", headings);
	print_cpis(&sheet, "Best-case", true);
	print_cpis(&sheet, "Actual", false);
	print_causes(&sheet);
	print_texts(&sheet, "Samples", texts);
}
