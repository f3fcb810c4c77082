// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_heading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image_analysis.h"
#include "lib/cleanup.h"
#include "tools/base/short_name.h"
#include "tools/annotate/calc_counts.h"
#include "tools/annotate/calc_events.h"
#include "tools/report/report_header.h"
#include "tools/stacks/stack_callers.h"

/* Callers beyond these are added up. */
#define CALLERS_SHOWN 4

#define ALIASES_SHOWN 8
#define LABEL_WIDTH 12

static void print_time(FILE *stream, const struct calc_events *events,
		       const struct image_samples *samples)
{
	fprintf(stream, "time        %s: a sample stands for %.0f cycles", events->time,
		samples->time.period);
	if (!events->clock) {
		fputc('\n', stream);
		return;
	}
	fprintf(stream, ", +-%.0f%%, at ", 100 * samples->period_error);
	if (events->clock_assumed)
		fprintf(stream, "%.1f to %.1f GHz, ASSUMED: the core's clock was not recorded\n",
			events->clock_low_ghz, events->clock_high_ghz);
	else if (events->clock_high_ghz - events->clock_low_ghz < 0.01)
		fprintf(stream, "%.2f GHz\n", events->clock_high_ghz);
	else
		fprintf(stream, "%.2f to %.2f GHz\n", events->clock_low_ghz,
			events->clock_high_ghz);
}

static void print_model(FILE *stream, const struct machine_model *model)
{
	fprintf(stream, "model       %s, ", model->name);
	if (model->in_order)
		fputs("in order\n", stream);
	else
		fprintf(stream,
			"out of order: a sample may be %u instruction%s late; causes of\n"
			"            stalls are inferred, not observed, and their cycles are "
			"ranges\n",
			model->skid_insns, model->skid_insns == 1 ? "" : "s");
}

void calc_heading_epochs(FILE *stream, const struct calc_events *events)
{
	if (events->mean_period > 0)
		fputs("            periods differ: samples are scaled to their mean\n", stream);
	if (events->epochs_without > 0)
		fprintf(stream, "            skipped %zu epoch%s without %s\n",
			events->epochs_without, events->epochs_without == 1 ? "" : "s",
			events->time);
}

void calc_heading_image(FILE *stream, const char *path, const struct image_code *code,
			const struct machine_model *model, const struct calc_events *events,
			const struct image_samples *samples)
{
	const char *build_id = image_code_build_id(code);

	fprintf(stream, "image       %s", path);
	if (*build_id != '\0')
		fprintf(stream, ", build-id %s", build_id);
	fputc('\n', stream);
	print_model(stream, model);
	print_time(stream, events, samples);
	calc_heading_epochs(stream, events);
}

void calc_heading_scale(FILE *stream, const struct exact_scale *scale)
{
	enum frequency_confidence confidence = frequency_scale_confidence(scale->low, scale->high);

	if (scale->samples <= 0) {
		fprintf(stream, "multiplied by %g (--scale)", scale->value);
		return;
	}
	fprintf(stream, "multiplied by %.3g (%.3g to %.3g%s)%s", scale->value, scale->low,
		scale->high, confidence == FREQUENCY_LOW ? ", low confidence" : "",
		scale->likely ? ", from the number of runs" : "");
	if (!scale->likely && scale->expected > 0)
		fprintf(stream, "; by the number of runs: %.3g", scale->expected);
}

void calc_heading_counts(FILE *stream, const struct calc_counts *counts)
{
	const struct exact_scale *scale = &counts->scale;

	if (counts->exact.range_count == 0)
		return;
	fprintf(stream, "counted     in %" PRIu64 " process%s, by dcpix; ", counts->processes,
		counts->processes == 1 ? "" : "es");
	calc_heading_scale(stream, scale);
	if (scale->samples > 0)
		fprintf(stream,
			";\n            counts and estimates then agree within a factor of 2 for "
			"%.0f%% of the samples",
			100 * scale->agree);
	fputc('\n', stream);
}

void calc_heading_aliases(FILE *stream, const struct procedure_names *names)
{
	for (size_t i = 0; i < names->alias_count && i < ALIASES_SHOWN; i++)
		fprintf(stream, "            also named %s\n", names->aliases[i]);
	if (names->alias_count > ALIASES_SHOWN)
		fprintf(stream, "            and %zu more names\n",
			names->alias_count - ALIASES_SHOWN);
}

/* Print the line of a procedure; a name wider than the terminal is shortened. */
static int print_procedure(FILE *stream, const struct calc_procedure *procedure, size_t width)
{
	const struct cfg *cfg = procedure->analysis->cfg;
	double samples = calc_procedure_samples(procedure);
	char share[32] = "";
	_cleanup_free_ char *name = NULL, *line = NULL;

	if (procedure->all_samples > 0)
		snprintf(share, sizeof(share), ", %.1f%% of all",
			 100 * samples / procedure->all_samples);
	name = width > LABEL_WIDTH ? short_name(procedure->names->name, width - LABEL_WIDTH)
				   : strdup(procedure->names->name);
	if (name == NULL || asprintf(&line,
				     "procedure   %s%s%s: %.0f samples%s; %" PRIu32
				     " instructions in %" PRIu32 " blocks",
				     name, procedure->names->note, procedure->mark, samples, share,
				     cfg->insn_count, cfg->block_count) < 0)
		return -ENOMEM;
	report_header_line(stream, line, width);
	return 0;
}

int calc_heading_procedure(FILE *stream, const struct calc_procedure *procedure, size_t width)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct cfg *cfg = analysis->cfg;

	if (print_procedure(stream, procedure, width) < 0)
		return -ENOMEM;
	calc_heading_aliases(stream, procedure->names);
	if (analysis->late)
		fputs("            samples fell on the instruction executed next, and were moved "
		      "back\n",
		      stream);
	if (cfg->unresolved_jumps > 0)
		fprintf(stream, "            %" PRIu32 " jump%s with an unknown target\n",
			cfg->unresolved_jumps, cfg->unresolved_jumps == 1 ? "" : "s");
	if (cfg->bad_bytes > 0)
		fprintf(stream, "            %" PRIu64 " bytes cannot be decoded\n",
			cfg->bad_bytes);
	if (analysis->profile.unmatched > 0)
		fprintf(stream, "            %.0f samples are not at the start of an instruction\n",
			analysis->profile.unmatched);
	return 0;
}

void calc_heading_callers(FILE *stream, const struct stack_callers *callers)
{
	double others = 0;

	if (callers->stacks == 0)
		return;
	for (size_t i = 0; i < callers->count; i++) {
		const struct stack_caller *caller = &callers->list[i];

		if (i >= CALLERS_SHOWN) {
			others += caller->share;
			continue;
		}
		fprintf(stream, "%s%s %.1f%% (%.1f to %.1f)", i == 0 ? "called by   " : "; ",
			caller->name, 100 * caller->share, 100 * caller->low, 100 * caller->high);
	}
	if (callers->count > CALLERS_SHOWN)
		fprintf(stream, "; %zu others %.1f%%", callers->count - CALLERS_SHOWN,
			100 * others);
	fprintf(stream, "\n            of the samples below it, from %" PRIu64 " call stack%s\n",
		callers->stacks, callers->stacks == 1 ? "" : "s");
}
