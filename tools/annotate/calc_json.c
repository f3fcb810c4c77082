// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_json.h"

#include <math.h>

#include "tools/base/json_stream.h"
#include "tools/annotate/calc_evidence.h"
#include "tools/annotate/calc_finding.h"
#include "tools/stacks/stack_callers.h"

/* Keys of stalls, by enum stall_kind. */
static const char *const stall_keys[STALL_KINDS] = {
	[STALL_SLOTTING] = "slotting",		 [STALL_RA_DEPENDENCY] = "ra_dependency",
	[STALL_RB_DEPENDENCY] = "rb_dependency", [STALL_RC_DEPENDENCY] = "rc_dependency",
	[STALL_FU_DEPENDENCY] = "fu_dependency", [STALL_LATENCY] = "latency",
};

const char *calc_json_stall_key(enum stall_kind kind)
{
	return stall_keys[kind];
}

static uint64_t calc_json_address(const struct calc_procedure *procedure, uint32_t insn)
{
	return procedure->analysis->cfg->insns[insn].address;
}

/* Write the address of a causing instruction, or null. */
static void put_from(struct json_stream *json, const struct calc_procedure *procedure,
		     uint32_t from)
{
	if (from < procedure->analysis->cfg->insn_count)
		json_stream_count(json, "from", calc_json_address(procedure, from));
	else
		json_stream_null(json, "from");
}

static void put_stalls(struct json_stream *json, const struct calc_procedure *procedure,
		       uint32_t insn)
{
	const struct schedule_insn *schedule = &procedure->analysis->schedule.insns[insn];

	json_stream_open(json, "static_stalls", '[');
	for (uint32_t i = 0; i < schedule->stall_count; i++) {
		json_stream_open(json, NULL, '{');
		json_stream_word(json, "kind", stall_keys[schedule->stalls[i].kind]);
		json_stream_number(json, "cycles", schedule->stalls[i].cycles);
		if (schedule->stalls[i].kind == STALL_LATENCY)
			json_stream_word(json, "cause",
					 culprit_key(calc_finding_static_cause(
						 procedure->analysis, &schedule->stalls[i])));
		put_from(json, procedure, schedule->stalls[i].from);
		json_stream_close(json, '}');
	}
	json_stream_close(json, ']');
}

static void put_culprits(struct json_stream *json, const struct calc_procedure *procedure,
			 uint32_t insn)
{
	const struct culprits *culprits = &procedure->analysis->culprits;
	const struct instruction_cpi *cpi = &culprits->insns[insn];

	json_stream_open(json, "culprits", '[');
	for (uint32_t i = cpi->first; i < cpi->first + cpi->count; i++) {
		json_stream_open(json, NULL, '{');
		json_stream_word(json, "cause", culprit_key(culprits->list[i].cause));
		json_stream_number(json, "cycles_low", culprits->list[i].cycles_low);
		json_stream_number(json, "cycles_high", culprits->list[i].cycles_high);
		put_from(json, procedure, culprits->list[i].from);
		json_stream_close(json, '}');
	}
	json_stream_close(json, ']');
}

static void put_estimate(struct json_stream *json, const struct calc_procedure *procedure,
			 const struct frequency_estimate *estimate)
{
	double low, high, executions = calc_procedure_executions(procedure, estimate, &low, &high);

	json_stream_number(json, "frequency", executions);
	json_stream_number(json, "frequency_low", low);
	json_stream_number(json, "frequency_high", high);
}

static void put_confidence(struct json_stream *json, const struct frequency_estimate *estimate)
{
	if (estimate->origin == FREQUENCY_NONE) {
		json_stream_null(json, "confidence");
		json_stream_null(json, "confidence_count");
		return;
	}
	json_stream_word(json, "confidence", calc_estimate_confidence(estimate));
	json_stream_word(json, "confidence_count", calc_count_confidence(estimate));
}

/* The most expensive stall, and the causes that the evidence leaves. */
static void put_finding(struct json_stream *json, const struct calc_procedure *procedure)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	struct calc_finding finding = calc_finding_worst(analysis);
	double samples = calc_procedure_samples(procedure);

	if (finding.kind == CALC_FINDING_NONE) {
		json_stream_null(json, "finding");
		return;
	}
	json_stream_open(json, "finding", '{');
	json_stream_count(json, "address", calc_json_address(procedure, finding.insn));
	json_stream_number(json, "cycles", finding.cycles);
	json_stream_number(
		json, "share",
		samples > 0 ? fmin(finding.total / calc_finding_all(&finding, samples), 1) : NAN);
	if (finding.kind == CALC_FINDING_FAULTS) {
		json_stream_number(json, "kernel_samples", finding.kernel);
		json_stream_number(json, "kernel_stacks", finding.stacks);
	}
	json_stream_open(json, "causes", '[');
	if (finding.kind == CALC_FINDING_STATIC)
		json_stream_word(
			json, NULL,
			finding.stall->kind == STALL_LATENCY
				? culprit_key(calc_finding_static_cause(analysis, finding.stall))
				: stall_keys[finding.stall->kind]);
	if (finding.kind == CALC_FINDING_FAULTS)
		json_stream_word(json, NULL, culprit_key(CULPRIT_PAGE_FAULT));
	for (uint32_t i = 0; i < finding.count; i++)
		json_stream_word(json, NULL,
				 culprit_key(analysis->culprits.list[finding.causes[i]].cause));
	json_stream_close(json, ']');
	json_stream_close(json, '}');
}

static double as_taken(const struct procedure_analysis *analysis, uint32_t insn)
{
	const double *taken = analysis->profile.taken;

	return taken != NULL ? taken[insn] : analysis->profile.samples[insn];
}

static void put_instruction(struct json_stream *json, const struct calc_procedure *procedure,
			    uint32_t insn)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct frequency_estimate *estimate =
		&analysis->frequency.blocks[analysis->cfg->block_of[insn]];
	uint64_t address = calc_json_address(procedure, insn), offset;

	json_stream_open(json, NULL, '{');
	if (image_code_offset(procedure->code, address, &offset) == 0)
		json_stream_count(json, "offset", offset);
	else
		json_stream_null(json, "offset");
	json_stream_count(json, "address", address);
	json_stream_number(json, "samples", round(as_taken(analysis, insn)));
	json_stream_number(json, "own_samples", analysis->profile.samples[insn]);
	put_estimate(json, procedure, estimate);
	json_stream_number(json, "cpi", analysis->culprits.insns[insn].cpi);
	json_stream_number(json, "dynamic_cycles",
			   analysis->culprits.insns[insn].significant
				   ? analysis->culprits.insns[insn].dynamic_cycles
				   : 0);
	put_confidence(json, estimate);
	put_stalls(json, procedure, insn);
	put_culprits(json, procedure, insn);
	json_stream_close(json, '}');
}

/* Write the target of an edge: an address, or null if it is unknown. */
static void put_successor(struct json_stream *json, const struct calc_procedure *procedure,
			  uint32_t edge)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct cfg_edge *cfg_edge = &analysis->cfg->edges[edge];

	json_stream_open(json, NULL, '{');
	if (cfg_edge->to < analysis->cfg->block_count)
		json_stream_count(
			json, "to",
			calc_json_address(procedure, analysis->cfg->blocks[cfg_edge->to].first));
	else if (cfg_edge->target != 0)
		json_stream_count(json, "to", cfg_edge->target);
	else
		json_stream_null(json, "to");
	put_estimate(json, procedure, &analysis->frequency.edges[edge]);
	json_stream_close(json, '}');
}

static void put_block(struct json_stream *json, const struct calc_procedure *procedure,
		      uint32_t block)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct cfg_block *place = &analysis->cfg->blocks[block];
	const struct insn *last = &analysis->cfg->insns[place->first + place->count - 1];
	struct calc_block sums = calc_procedure_block(procedure, block);

	json_stream_open(json, NULL, '{');
	json_stream_count(json, "start", calc_json_address(procedure, place->first));
	json_stream_count(json, "end", last->address + last->bytes);
	json_stream_number(json, "best_cpi", sums.best / place->count);
	json_stream_number(json, "actual_cpi", sums.actual / place->count);
	json_stream_number(json, "recorded_cycles", sums.recorded);
	json_stream_open(json, "successors", '[');
	for (uint32_t i = place->out; i < place->out + place->out_count; i++)
		put_successor(json, procedure, i);
	json_stream_close(json, ']');
	json_stream_close(json, '}');
}

static void put_aliases(struct json_stream *json, const struct procedure_names *names)
{
	json_stream_open(json, "aliases", '[');
	for (size_t i = 0; i < names->alias_count; i++)
		json_stream_text(json, NULL, names->aliases[i]);
	json_stream_close(json, ']');
}

static void put_callers(struct json_stream *json, const struct stack_callers *callers)
{
	json_stream_open(json, "callers", '{');
	json_stream_count(json, "stacks", callers->stacks);
	json_stream_open(json, "list", '[');
	for (size_t i = 0; i < callers->count; i++) {
		const struct stack_caller *caller = &callers->list[i];

		json_stream_open(json, NULL, '{');
		json_stream_text(json, "procedure", caller->name);
		json_stream_count(json, "samples", caller->samples);
		json_stream_number(json, "share", caller->share);
		json_stream_number(json, "share_low", caller->low);
		json_stream_number(json, "share_high", caller->high);
		json_stream_close(json, '}');
	}
	json_stream_close(json, ']');
	json_stream_close(json, '}');
}

static void calc_json_put_blocks(struct json_stream *json, const struct calc_procedure *procedure,
				 const bool *shown)
{
	const struct cfg *cfg = procedure->analysis->cfg;

	json_stream_open(json, "blocks", '[');
	for (uint32_t i = 0; i < cfg->block_count; i++) {
		if (shown == NULL || shown[i])
			put_block(json, procedure, i);
	}
	json_stream_close(json, ']');
	json_stream_open(json, "instructions", '[');
	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		if (shown == NULL || shown[cfg->block_of[i]])
			put_instruction(json, procedure, i);
	}
	json_stream_close(json, ']');
}

int calc_json_procedure(FILE *stream, const struct calc_procedure *procedure,
			const struct calc_json_options *options)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	struct json_stream json = {.file = stream, .digits = options->digits};
	int r = 0;

	json_stream_open(&json, NULL, '{');
	json_stream_text(&json, "image", procedure->image);
	json_stream_text(&json, "build_id", image_code_build_id(procedure->code));
	json_stream_text(&json, "procedure", procedure->names->name);
	put_aliases(&json, procedure->names);
	json_stream_word(&json, "model", analysis->model->name);
	json_stream_count(&json, "skid", analysis->late ? 1 : 0);
	put_finding(&json, procedure);
	if (options->evidence)
		r = calc_evidence_json(&json, procedure);
	if (options->callers != NULL)
		put_callers(&json, options->callers);
	calc_json_put_blocks(&json, procedure, options->shown);
	json_stream_close(&json, '}');
	json_stream_line(&json);
	return r;
}

static void put_label(struct json_stream *json, const char *key, const char *text)
{
	if (text != NULL)
		json_stream_text(json, key, text);
	else
		json_stream_null(json, key);
}

static void put_causes(struct json_stream *json, const struct stall_summary *summary)
{
	json_stream_open(json, "dynamic", '{');
	for (unsigned int i = 0; i <= CULPRIT_CAUSES; i++) {
		json_stream_open(json, culprit_key((enum culprit_cause)i), '{');
		json_stream_number(json, "low", summary->low[i]);
		json_stream_number(json, "high", summary->high[i]);
		json_stream_close(json, '}');
	}
	json_stream_close(json, '}');
	json_stream_open(json, "static", '{');
	for (unsigned int i = 0; i < STALL_KINDS; i++)
		json_stream_number(json, stall_keys[i], summary->stalls[i]);
	json_stream_close(json, '}');
}

void calc_json_summary(FILE *stream, const char *image, const char *build_id, const char *procedure,
		       const char *model, const struct stall_summary *summary)
{
	struct json_stream json = {.file = stream};
	double low, high;

	stall_summary_cpi(summary, &low, &high);
	json_stream_open(&json, NULL, '{');
	put_label(&json, "image", image);
	put_label(&json, "build_id", build_id);
	put_label(&json, "procedure", procedure);
	put_label(&json, "model", model);
	json_stream_open(&json, "summary", '{');
	json_stream_number(&json, "best_cpi", summary->best_cycles / summary->instructions);
	json_stream_number(&json, "actual_cpi", summary->actual_cycles / summary->instructions);
	if (!summary->published) {
		json_stream_number(&json, "actual_cpi_low", low);
		json_stream_number(&json, "actual_cpi_high", high);
		json_stream_number(&json, "sampling_noise", stall_summary_noise(summary));
	}
	put_causes(&json, summary);
	json_stream_number(&json, "dynamic_total", summary->dynamic);
	json_stream_number(&json, "unexplained_gain", summary->gain);
	json_stream_number(&json, "execution", summary->execution);
	json_stream_number(&json, "sampling_error", summary->sampling_error);
	json_stream_number(&json, "tallied", summary->tallied);
	json_stream_number(&json, "samples", summary->samples);
	json_stream_close(&json, '}');
	json_stream_close(&json, '}');
	json_stream_line(&json);
}
