// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_evidence.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "analysis/frequency/loop_clocks.h"
#include "analysis/graph/loop_nest.h"
#include "tools/base/json_stream.h"
#include "tools/annotate/calc_data.h"

/* The interval of a normal distribution that contains the value with probability 90%. */
#define INTERVAL_SIGMAS 1.645

/*
 * struct evidence - sums over a procedure
 * @directions: branch directions observed after samples; @probed: by probes
 * @branches:   branches with any of them
 * @rates:      branches whose rates were measured by probes
 */
struct evidence {
	double directions;
	double probed;
	uint32_t branches;
	uint32_t rates;
};

/* A loop with pairs of samples, and its clock. @read: as loop_clock_read() returns it */
typedef void (*clock_fn)(void *context, uint64_t address, const struct loop_clock *clock, int read);

static double part_of(const double *values, uint32_t i)
{
	return values != NULL ? values[i] : 0;
}

static struct evidence evidence_of(const struct procedure_analysis *analysis)
{
	const struct procedure_profile *profile = &analysis->profile;
	const struct cfg *cfg = analysis->cfg;
	struct evidence evidence = {.branches = 0};

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		double seen = 0, probed = 0;

		for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
			seen += part_of(profile->edge_samples, e);
			probed += part_of(profile->edge_probes, e);
		}
		/* A single edge is no evidence. */
		if (block->out_count < 2 || seen + probed <= 0)
			continue;
		evidence.directions += seen;
		evidence.probed += probed;
		evidence.branches++;
	}
	for (uint32_t i = 0; i < cfg->insn_count; i++)
		evidence.rates += part_of(profile->gaps, i) > 0;
	return evidence;
}

/* struct clock_walk - adds the address of a clock's block */
struct clock_walk {
	const struct cfg *cfg;
	clock_fn visit;
	void *context;
};

static void clock_visit(void *context, const struct loop_clock *clock, int read)
{
	const struct clock_walk *walk = context;

	walk->visit(walk->context, walk->cfg->insns[walk->cfg->blocks[clock->block].first].address,
		    clock, read);
}

static int clocks_visit(const struct procedure_analysis *analysis, clock_fn visit, void *context)
{
	struct clock_walk walk = {analysis->cfg, visit, context};

	return loop_clocks_visit(analysis->cfg, &analysis->profile, clock_visit, &walk);
}

static void clock_print(void *context, uint64_t address, const struct loop_clock *clock, int read)
{
	FILE *stream = context;

	if (read == 0)
		fprintf(stream,
			"            loop 0x%" PRIx64 ": no clock: of %" PRIu32
			" pairs of samples, "
			"%" PRIu32 " are contradictory, %" PRIu32 " far from the median\n",
			address, clock->pairs + clock->disagreed + clock->outliers,
			clock->disagreed, clock->outliers);
	else
		fprintf(stream,
			"            loop 0x%" PRIx64
			": registers count %.4g iterations from one sample "
			"to the next, +-%.1f%%, by %" PRIu32 " pairs of samples\n",
			address, clock->iterations / clock->samples,
			100 * INTERVAL_SIGMAS * sqrt(clock->variance), clock->pairs);
}

static void calls_print(FILE *stream, const struct procedure_profile *profile)
{
	if (profile->calls_in > 0 && profile->calls_in_weight > 0)
		fprintf(stream, "            callers: %.3g executions of the procedure, +-%.0f%%\n",
			profile->calls_in * profile->period_cycles,
			100 * INTERVAL_SIGMAS / sqrt(profile->calls_in_weight));
}

int calc_evidence_print(FILE *stream, const struct calc_procedure *procedure)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct procedure_profile *profile = &analysis->profile;
	struct evidence evidence = evidence_of(analysis);

	fprintf(stream, "evidence    samples of time: %.0f\n", profile->total);
	if (profile->exact != NULL) {
		fputs("            executions counted by dcpix\n", stream);
		return 0;
	}
	if (profile->records != NULL)
		fprintf(stream,
			"            branch records: %.0f, of which %.0f contradict the code\n",
			profile->records->used + profile->records->refused,
			profile->records->refused);
	fprintf(stream,
		"            directions of %" PRIu32 " branch%s: %.0f after samples, %.0f by %s\n",
		evidence.branches, evidence.branches == 1 ? "" : "es", evidence.directions,
		evidence.probed, profile->records != NULL ? "records" : "probes");
	if (evidence.rates > 0)
		fprintf(stream, "            rates of %" PRIu32 " branch%s, measured by probes\n",
			evidence.rates, evidence.rates == 1 ? "" : "es");
	calls_print(stream, profile);
	calc_data_print(stream, procedure);
	return clocks_visit(analysis, clock_print, stream);
}

static void clock_json(void *context, uint64_t address, const struct loop_clock *clock, int read)
{
	struct json_stream *json = context;

	json_stream_open(json, NULL, '{');
	json_stream_count(json, "loop", address);
	json_stream_count(json, "pairs", clock->pairs);
	json_stream_count(json, "contradictory", clock->disagreed);
	json_stream_count(json, "outliers", clock->outliers);
	if (read > 0) {
		json_stream_number(json, "iterations_per_sample",
				   clock->iterations / clock->samples);
		json_stream_number(json, "relative_error", INTERVAL_SIGMAS * sqrt(clock->variance));
	}
	json_stream_close(json, '}');
}

void calc_evidence_counts_json(struct json_stream *json, const struct calc_procedure *procedure)
{
	const struct branch_records *records = procedure->analysis->profile.records;
	struct evidence evidence = evidence_of(procedure->analysis);

	json_stream_number(json, "samples", procedure->analysis->profile.total);
	json_stream_count(json, "branches", evidence.branches);
	json_stream_number(json, "directions_sampled", evidence.directions);
	json_stream_number(json, "directions_probed", evidence.probed);
	json_stream_count(json, "rates_probed", evidence.rates);
	if (records != NULL) {
		json_stream_number(json, "branch_records", records->used);
		json_stream_number(json, "branch_records_refused", records->refused);
	}
}

int calc_evidence_json(struct json_stream *json, const struct calc_procedure *procedure)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	int r;

	json_stream_open(json, "evidence", '{');
	calc_evidence_counts_json(json, procedure);
	json_stream_open(json, "clocks", '[');
	r = clocks_visit(analysis, clock_json, json);
	json_stream_close(json, ']');
	calc_data_json(json, procedure);
	json_stream_close(json, '}');
	return r;
}
