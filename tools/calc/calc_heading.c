// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calc/calc_heading.h"

#include <inttypes.h>

#include "analysis/image_analysis.h"
#include "tools/calc/calc_counts.h"
#include "tools/calc/calc_events.h"

#define ALIASES_SHOWN 8

static void print_time(FILE *stream, const struct calc_events *events,
		       const struct image_samples *samples)
{
	fprintf(stream, "time        %s: a sample stands for %.0f cycles", events->time,
		samples->time.period);
	if (!events->clock) {
		fputc('\n', stream);
		return;
	}
	fprintf(stream, ", give or take %.0f%%, at ", 100 * samples->period_error);
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
			"out of order: a sample may be %u instruction%s late, and what an\n"
			"            instruction waited for is not seen but inferred; take ranges "
			"as such\n",
			model->skid_insns, model->skid_insns == 1 ? "" : "s");
}

void calc_heading_epochs(FILE *stream, const struct calc_events *events)
{
	if (events->mean_period > 0)
		fputs("            periods differ: samples are scaled to their mean\n", stream);
	if (events->epochs_without > 0)
		fprintf(stream, "            %zu epoch%s without %s passed over\n",
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

	if (scale->samples <= 0)
		fprintf(stream, "taken times %g, as was said", scale->value);
	else
		fprintf(stream, "taken times %.3g (%.3g to %.3g%s)%s", scale->value, scale->low,
			scale->high, confidence == FREQUENCY_LOW ? ", low confidence" : "",
			scale->likely ? ", by the number of runs" : "");
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
			";\n            counts and estimates then agree within a factor of 2 where "
			"%.0f%% of the samples are",
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

void calc_heading_procedure(FILE *stream, const struct calc_procedure *procedure)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct cfg *cfg = analysis->cfg;
	double samples = calc_procedure_samples(procedure);

	fprintf(stream,
		"procedure   %s%s: %.0f samples, %.1f%% of all; %" PRIu32 " instructions in "
		"%" PRIu32 " blocks\n",
		procedure->names->name, procedure->names->note, samples,
		procedure->all_samples > 0 ? 100 * samples / procedure->all_samples : 0,
		cfg->insn_count, cfg->block_count);
	calc_heading_aliases(stream, procedure->names);
	if (analysis->late)
		fputs("            samples fell on the instruction executed next: moved back\n",
		      stream);
	if (cfg->unresolved_jumps > 0)
		fprintf(stream, "            %" PRIu32 " jump%s to where is not known\n",
			cfg->unresolved_jumps, cfg->unresolved_jumps == 1 ? "" : "s");
	if (cfg->bad_bytes > 0)
		fprintf(stream, "            %" PRIu64 " bytes are no code that is understood\n",
			cfg->bad_bytes);
	if (analysis->profile.unmatched > 0)
		fprintf(stream, "            %.0f samples where no instruction begins\n",
			analysis->profile.unmatched);
}
