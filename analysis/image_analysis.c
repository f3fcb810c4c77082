// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image_analysis.h"

#include "analysis/caller_clock.h"
#include "analysis/frequency/skid.h"
#include "analysis/graph/cfg_create.h"
#include "analysis/image_calls.h"
#include "analysis/image_use.h"
#include "analysis/program_calls.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/ordered_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* struct procedure_list - indices, ascending */
struct procedure_list {
	size_t *indices;
	size_t count;
};

/*
 * struct pass - a pass over some procedures
 * @calls:         callers' estimates of the procedures' executions; NULL: not known yet; @program:
 *                 the same for out-of-order machines
 * @tally:         adds up calls, as the only purpose of the pass; NULL: in the last pass;
 *                 @program_tally: the same for out-of-order machines
 * @use:           out of order, of the image's code
 * @footprint, @sets: in order, code in use, which is added up together with calls
 * @has_footprint: @footprint and @sets are complete
 * @skid:          in order, evidence of skid, which is added up together with calls
 * @late:          samples have skid and are moved back
 */
struct pass {
	struct image_code *code;
	const struct image_samples *samples;
	const struct image_analysis_options *options;
	const struct machine_model *model;
	const struct frequency_estimator *estimator;
	const struct procedure_list *list;
	const struct image_calls *calls;
	struct image_calls *tally;
	const struct program_calls *program;
	struct program_calls *program_tally;
	struct image_use use;
	struct code_footprint footprint;
	struct set_pressure sets;
	bool has_footprint;
	struct skid_votes skid;
	bool late;
	image_analysis_fn result;
	void *ctx;
	struct image_analysis_totals *totals;
	struct error *err;
};

/* struct outcome - result of one procedure; @rc: the reason why there is no @analysis */
struct outcome {
	struct procedure_analysis analysis;
	int rc;
	struct error err;
};

static bool is_tally(const struct pass *pass)
{
	return pass->tally != NULL || pass->program_tally != NULL;
}

/*
 * Larger code without known procedures is not a procedure but a whole program, from a compiler that
 * writes no unwinding information. One graph of 16 MB takes minutes and 1.6 GB.
 */
#define SECTION_BYTES_MAX (1U << 20)

/* Least number of call stacks with which a procedure without samples is analysed for its calls. */
#define STACKS_MIN 2.0
/* Executions that are assumed for it; calls provide the factor. */
#define EXECUTIONS 1000.0
#define EXECUTIONS_WEIGHT 25.0

static int count_run(void *context, uint64_t start, uint64_t end)
{
	*(uint64_t *)context += end - start;
	return 0;
}

static bool is_whole_program(const struct pass *pass, size_t index)
{
	const struct procedure_table *table = image_code_procedures(pass->code);
	uint64_t bytes = 0;

	if (procedure_table_get(table, index)->source != PROCEDURE_SECTION)
		return false;
	procedure_table_visit(table, index, count_run, &bytes);
	return bytes > SECTION_BYTES_MAX;
}

static int make_graph(const struct pass *pass, const struct image_range *parts, size_t count,
		      struct outcome *outcome)
{
	struct procedure_analysis *analysis = &outcome->analysis;
	struct image_evidence evidence;
	int r;

	if (is_whole_program(pass, analysis->index))
		return error_set(
			&outcome->err, ENODATA, "'%s' has too much code without procedures",
			procedure_table_get(image_code_procedures(pass->code), analysis->index)
				->name);
	r = image_evidence_init(&evidence, pass->samples, parts, count);
	if (r != 0)
		return r;
	r = cfg_create(&analysis->cfg, pass->code, analysis->index, &evidence.evidence,
		       &outcome->err);
	image_evidence_deinit(&evidence);
	return r;
}

/* Apply the evidence from calls between procedures, on out-of-order machines. */
static int compare_with_program(const struct pass *pass, struct procedure_analysis *analysis)
{
	const struct procedure *procedure =
		procedure_table_get(image_code_procedures(pass->code), analysis->index);

	program_calls_apply(pass->program, pass->samples->image, procedure, &analysis->profile);
	if (analysis->profile.exact != NULL)
		return 0;
	return program_calls_estimates(pass->program, pass->samples->image, procedure,
				       analysis->cfg, &analysis->frequency);
}

static int analyse(const struct pass *pass, size_t index, struct outcome *outcome)
{
	struct procedure_analysis *analysis = &outcome->analysis;
	struct image_range parts[PROCEDURE_PARTS_MAX];
	size_t parent, count = image_samples_parts(pass->code, index, parts, &parent);
	int r;

	analysis->index = index;
	analysis->model = pass->model;
	analysis->published = pass->options->published;
	analysis->late = pass->late;
	if (pass->has_footprint && !pass->options->published) {
		analysis->footprint = &pass->footprint;
		analysis->sets = &pass->sets;
	}
	r = make_graph(pass, parts, count, outcome);
	if (r == 0)
		r = image_samples_profile(&analysis->profile, analysis->cfg, pass->samples, parts,
					  count);
	if (r != 0)
		return r;
	if (analysis->profile.total <= 0 && analysis->profile.call_stacks != NULL) {
		analysis->profile.calls_in = EXECUTIONS / analysis->profile.period_cycles;
		analysis->profile.calls_in_weight = EXECUTIONS_WEIGHT;
	}
	if (!pass->model->in_order)
		image_use_apply(&pass->use, analysis->cfg, &analysis->profile);
	if (!pass->model->in_order)
		r = caller_clock_take(&analysis->profile, analysis->cfg, pass->code, pass->samples,
				      parts, count);
	if (r == 0 && pass->calls != NULL)
		r = image_calls_apply(pass->calls, analysis->cfg, index, &analysis->profile);
	if (r == 0 && pass->program != NULL)
		r = compare_with_program(pass, analysis);
	if (r != 0)
		return r;
	if (is_tally(pass))
		return procedure_analysis_estimate(analysis, pass->estimator);
	return procedure_analysis_run(analysis, pass->estimator);
}

static int run_job(void *ctx, size_t job, void *result)
{
	const struct pass *pass = ctx;
	struct outcome *outcome = result;

	outcome->rc = analyse(pass, pass->list->indices[job], outcome);
	return 0;
}

static void count_procedure(struct image_analysis_totals *totals,
			    const struct procedure_analysis *analysis)
{
	totals->procedures++;
	totals->instructions += analysis->cfg->insn_count;
	totals->samples += analysis->profile.total;
	totals->samples_outside -= analysis->profile.total;
}

static int add_to_tally(struct pass *pass, const struct procedure_analysis *analysis)
{
	if (pass->program_tally != NULL)
		return program_calls_add(pass->program_tally, pass->code, pass->samples, analysis,
					 pass->estimator->by_flow &&
						 analysis->profile.exact == NULL);
	if (!pass->late)
		skid_votes_add(&pass->skid, analysis->cfg, &analysis->schedule,
			       analysis->profile.samples);
	code_footprint_add(&pass->footprint, analysis->cfg, &analysis->frequency);
	if (set_pressure_add(&pass->sets, &pass->model->icache, analysis->cfg,
			     &analysis->frequency) < 0)
		return -ENOMEM;
	return image_calls_add(pass->tally, analysis);
}

static int image_analysis_deliver(void *ctx, size_t job, void *result)
{
	struct pass *pass = ctx;
	const struct outcome *outcome = result;

	(void)job;
	if (outcome->rc == -ENODATA && is_tally(pass))
		return 0;
	if (outcome->rc == -ENODATA && pass->options->scope != IMAGE_ANALYSIS_CHOSEN) {
		pass->totals->undecodable++;
		return 0;
	}
	if (outcome->rc == -ENOMEM)
		return error_set(pass->err, ENOMEM, ERROR_NO_MEMORY);
	if (outcome->rc != 0)
		return error_set(pass->err, -outcome->rc, "%s", outcome->err.message);
	if (is_tally(pass)) {
		if (add_to_tally(pass, &outcome->analysis) != 0)
			return error_set(pass->err, ENOMEM, ERROR_NO_MEMORY);
		return 0;
	}
	count_procedure(pass->totals, &outcome->analysis);
	return pass->result(pass->ctx, &outcome->analysis);
}

static void discard(void *ctx, void *result)
{
	struct outcome *outcome = result;

	(void)ctx;
	procedure_analysis_deinit(&outcome->analysis);
}

static int run_pass(struct pass *pass, const struct procedure_list *list)
{
	struct ordered_pool work = {
		.jobs = list->count,
		.threads = pass->options->threads,
		.result_bytes = sizeof(struct outcome),
		.run = run_job,
		.deliver = image_analysis_deliver,
		.discard = discard,
		.ctx = pass,
	};

	pass->list = list;
	return ordered_pool_run(&work, pass->err);
}

/*
 * struct own_samples - of a procedure, without those of other procedures inside it
 * @shift: difference between addresses and offsets
 */
struct own_samples {
	const struct image_samples *samples;
	uint64_t shift;
	double time;
	bool counted;
};

static void own_add(struct own_samples *own, const struct image_range *part)
{
	own->time += image_samples_time(own->samples, part, 1);
	own->counted |= image_samples_counted(own->samples, part, 1);
}

static int own_visit(void *context, uint64_t start, uint64_t end)
{
	struct own_samples *own = context;
	const struct image_range run = {.start = start + own->shift, .end = end + own->shift};

	own_add(own, &run);
	return 0;
}

static struct own_samples own_samples_of(const struct pass *pass, size_t index,
					 const struct image_range *parts, size_t count)
{
	const struct procedure_table *table = image_code_procedures(pass->code);
	const struct procedure *procedure = procedure_table_get(table, index);
	struct own_samples own = {
		.samples = pass->samples,
		.shift = procedure->address - procedure->offset,
	};

	if (image_samples_time(own.samples, parts, count) <= 0 &&
	    !image_samples_counted(own.samples, parts, count))
		return own;
	procedure_table_visit(table, index, own_visit, &own);
	for (size_t p = 0; p < count; p++) {
		if (parts[p].start != procedure->address)
			own_add(&own, &parts[p]);
	}
	return own;
}

/*
 * Return true if a procedure has enough samples to be analysed; @totals counts procedures that have
 * fewer.
 */
static bool has_enough(const struct pass *pass, size_t index, const struct image_range *parts,
		       size_t count)
{
	struct own_samples own = own_samples_of(pass, index, parts, count);

	if (own.counted || (own.time > 0 && own.time >= pass->options->least))
		return true;
	/* Calls of such a procedure relate its callers to its callees. */
	if (pass->program_tally != NULL &&
	    image_samples_stacks(pass->samples, parts, count) >= STACKS_MIN)
		return true;
	if (own.time > 0 && pass->totals != NULL) {
		pass->totals->few++;
		pass->totals->samples_few += own.time;
	}
	return false;
}

/*
 * List procedures that are not part of another one; if @all is false, only those with enough
 * samples.
 */
static int list_procedures(struct procedure_list *list, const struct pass *pass, bool all)
{
	size_t count = procedure_table_count(image_code_procedures(pass->code));

	list->count = 0;
	list->indices = malloc((count + 1) * sizeof(*list->indices));
	if (list->indices == NULL)
		return error_set(pass->err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < count; i++) {
		struct image_range parts[PROCEDURE_PARTS_MAX];
		size_t parent, part_count = image_samples_parts(pass->code, i, parts, &parent);

		if (part_count > 0 && (all || has_enough(pass, i, parts, part_count)))
			list->indices[list->count++] = i;
	}
	return 0;
}

static double all_samples(const struct image_samples *samples)
{
	double sum = 0;

	for (size_t i = 0; i < samples->time.count; i++)
		sum += samples->time.counts[i].count;
	return sum;
}

int image_analysis_weigh(struct image_code *code, const struct image_samples *samples,
			 int (*visit)(void *ctx, double time), void *ctx,
			 struct image_analysis_totals *totals)
{
	const struct pass pass = {.code = code, .samples = samples};
	size_t procedures = procedure_table_count(image_code_procedures(code));
	int r = 0;

	*totals = (struct image_analysis_totals){.samples_outside = all_samples(samples)};
	for (size_t i = 0; r == 0 && i < procedures; i++) {
		struct image_range parts[PROCEDURE_PARTS_MAX];
		size_t parent, count = image_samples_parts(code, i, parts, &parent);
		struct own_samples own = {0};

		if (count > 0)
			own = own_samples_of(&pass, i, parts, count);
		totals->few += own.time > 0;
		totals->samples_few += own.time;
		if (own.time > 0 || own.counted)
			r = visit(ctx, image_samples_time(samples, parts, count));
	}
	return r;
}

static int compare_indices(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* List the chosen procedures, or those that they are parts of, without duplicates. */
static int list_chosen(struct procedure_list *list, const struct pass *pass)
{
	size_t total = procedure_table_count(image_code_procedures(pass->code));
	const struct image_analysis_options *options = pass->options;
	size_t kept = 0;

	list->indices = malloc((options->chosen_count + 1) * sizeof(*list->indices));
	if (list->indices == NULL)
		return error_set(pass->err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < options->chosen_count; i++) {
		struct image_range parts[PROCEDURE_PARTS_MAX];
		size_t index = options->chosen[i];

		if (index >= total)
			return error_set(pass->err, EINVAL, "procedure %zu does not exist", index);
		if (image_code_parts(pass->code, index, parts, &list->indices[i]) > 0)
			list->indices[i] = index;
	}
	qsort(list->indices, options->chosen_count, sizeof(*list->indices), compare_indices);
	for (size_t i = 0; i < options->chosen_count; i++)
		if (kept == 0 || list->indices[i] != list->indices[kept - 1])
			list->indices[kept++] = list->indices[i];
	list->count = kept;
	return 0;
}

/* Run the first pass, which adds up calls. */
static int tally_pass(struct pass *pass)
{
	struct image_analysis_totals *totals = pass->totals;
	struct procedure_list list = {0};
	int r;

	/* Only the last pass counts. */
	pass->totals = NULL;
	r = list_procedures(&list, pass, false);
	if (r == 0)
		r = run_pass(pass, &list);
	free(list.indices);
	pass->totals = totals;
	return r;
}

static int tally_again(struct pass *pass, struct image_calls **calls)
{
	image_calls_destroy(*calls);
	*calls = NULL;
	pass->footprint = (struct code_footprint){0};
	set_pressure_deinit(&pass->sets);
	if (image_calls_create(calls, pass->code) != 0)
		return error_set(pass->err, ENOMEM, ERROR_NO_MEMORY);
	pass->tally = *calls;
	return tally_pass(pass);
}

static int tally_calls(struct pass *pass, struct image_calls **calls)
{
	int r = tally_again(pass, calls);

	/* The calls were added up from samples with skid: repeat. */
	if (r == 0 && !pass->options->published && skid_is_late(&pass->skid)) {
		pass->late = true;
		r = tally_again(pass, calls);
	}
	pass->tally = NULL;
	pass->calls = *calls;
	/* Caches of low associativity hold at least half of their size. */
	code_footprint_settle(&pass->footprint, pass->model->icache.bytes / 2.0);
	if (r == 0 && set_pressure_settle(&pass->sets, &pass->model->icache) < 0)
		r = error_set(pass->err, ENOMEM, ERROR_NO_MEMORY);
	pass->has_footprint = true;
	return r;
}

/* For out-of-order machines, compare only the procedures of this image. */
static int tally_program(struct pass *pass, struct program_calls **calls)
{
	int r;

	if (program_calls_create(calls) != 0)
		return error_set(pass->err, ENOMEM, ERROR_NO_MEMORY);
	pass->program_tally = *calls;
	r = tally_pass(pass);
	if (r == 0 && program_calls_solve(*calls) != 0)
		r = error_set(pass->err, ENOMEM, ERROR_NO_MEMORY);
	pass->program_tally = NULL;
	pass->program = *calls;
	return r;
}

static int run_passes(struct pass *pass)
{
	struct image_calls *calls = NULL;
	struct program_calls *program = NULL;
	struct procedure_list list = {0};
	int r;

	if (pass->options->scope == IMAGE_ANALYSIS_CHOSEN)
		r = list_chosen(&list, pass);
	else
		r = list_procedures(&list, pass, pass->options->scope == IMAGE_ANALYSIS_ALL);
	if (r == 0 && pass->options->tie_calls && pass->model->in_order)
		r = tally_calls(pass, &calls);
	else if (r == 0 && pass->options->tie_calls && pass->program == NULL)
		r = tally_program(pass, &program);
	if (r == 0)
		r = run_pass(pass, &list);
	free(list.indices);
	set_pressure_deinit(&pass->sets);
	image_calls_destroy(calls);
	program_calls_destroy(program);
	return r;
}

/* Fill in defaults of options. */
static int pass_init(struct pass *pass, struct image_code *code,
		     const struct image_samples *samples,
		     const struct image_analysis_options *options, struct error *err)
{
	const struct insn_decoder *decoder = image_code_decoder(code);

	*pass = (struct pass){
		.code = code,
		.samples = samples,
		.options = options,
		.model = options->model,
		.estimator = options->estimator,
		.err = err,
	};
	if (pass->model == NULL)
		pass->model = machine_model_default(decoder->isa, NULL);
	if (pass->estimator == NULL)
		pass->estimator = frequency_estimator_find(NULL);
	if (pass->model->isa != decoder->isa)
		return error_set(err, EINVAL, "model '%s' does not support %s code",
				 pass->model->name, decoder->name);
	return 0;
}

int image_analysis_tally(struct program_calls *calls, struct image_code *code,
			 const struct image_samples *samples,
			 const struct image_analysis_options *options, struct error *err)
{
	struct pass pass;
	int r = pass_init(&pass, code, samples, options, err);

	if (r != 0 || pass.model->in_order)
		return r;
	pass.program_tally = calls;
	return tally_pass(&pass);
}

int image_analysis_run(struct image_code *code, const struct image_samples *samples,
		       const struct image_analysis_options *options, image_analysis_fn result,
		       void *ctx, struct image_analysis_totals *totals, struct error *err)
{
	struct image_analysis_totals sum = {0};
	struct pass pass;
	int r = pass_init(&pass, code, samples, options, err);

	if (r != 0)
		return r;
	pass.program = options->calls;
	pass.result = result;
	pass.ctx = ctx;
	pass.totals = &sum;
	sum.samples_outside = all_samples(samples);
	r = image_use_find(&pass.use, samples, pass.model->icache.line_bytes,
			   pass.model->itb.line_bytes);
	if (r == 0)
		r = run_passes(&pass);
	else
		error_set(err, ENOMEM, ERROR_NO_MEMORY);
	image_use_deinit(&pass.use);
	if (totals != NULL)
		*totals = sum;
	return r;
}
