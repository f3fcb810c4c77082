// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_why.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/culprit/stall_summary.h"
#include "lib/cleanup.h"
#include "tools/base/json_stream.h"
#include "tools/base/short_name.h"
#include "tools/base/text.h"
#include "tools/annotate/calc_bubbles.h"
#include "tools/annotate/calc_evidence.h"
#include "tools/annotate/calc_finding.h"
#include "tools/annotate/calc_json.h"
#include "tools/annotate/calc_sentence.h"
#include "tools/annotate/calc_summary_text.h"

/* Intervals contain the value with probability 90%, as those of other reports. */
#define SIGMAS 1.645
/* With a relative error of the share above this, more samples are suggested. */
#define SHARE_ERROR 0.1
#define DIGITS 4
#define CAUSES_MAX 6

/* struct limits - characters of texts */
struct limits {
	size_t name;
	size_t text;
	size_t sentence;
	size_t sentences;
};

/* Tried in this order. The last one fits if each character takes four bytes, or an escape. */
static const struct limits all_limits[] = {
	{240, 100, 400, 4},
	{120, 60, 200, 4},
	{60, 30, 100, 2},
	{20, 10, 0, 0},
};

#define LIMITS (sizeof(all_limits) / sizeof(*all_limits))

/* struct why - an answer while it is written; @failed: out of memory */
struct why {
	const struct calc_procedure *procedure;
	const struct procedure_analysis *analysis;
	const struct limits *limits;
	struct calc_finding finding;
	struct stall_summary summary;
	struct json_stream json;
	double samples;
	bool failed;
};

static void put_text(struct why *why, const char *key, const char *text, size_t width)
{
	_cleanup_free_ char *clean = text_clean(text);
	_cleanup_free_ char *shown = clean != NULL ? short_name(clean, width) : NULL;

	if (shown != NULL)
		json_stream_text(&why->json, key, shown);
	else
		why->failed = true;
}

static void put_insn(struct why *why, const char *key, uint32_t insn)
{
	char text[CALC_TEXT_BYTES];

	if (insn >= why->analysis->cfg->insn_count) {
		json_stream_null(&why->json, key);
		return;
	}
	calc_procedure_text(why->procedure, insn, text);
	json_stream_open(&why->json, key, '{');
	json_stream_count(&why->json, "address", why->analysis->cfg->insns[insn].address);
	put_text(why, "text", text, why->limits->text);
	json_stream_close(&why->json, '}');
}

static void put_interval(struct why *why, const char *key, const char *low_key,
			 const char *high_key, double value, double low, double high)
{
	json_stream_number(&why->json, key, value);
	json_stream_number(&why->json, low_key, fmin(low, value));
	json_stream_number(&why->json, high_key, fmax(high, value));
}

static void put_percent(struct why *why, double value, double low, double high)
{
	put_interval(why, "percent", "percent_low", "percent_high", 100 * value, 100 * low,
		     100 * high);
}

static void put_what(struct why *why)
{
	const struct calc_procedure *procedure = why->procedure;
	const struct cfg *cfg = why->analysis->cfg;

	json_stream_open(&why->json, "what", '{');
	put_text(why, "procedure", procedure->names->name, why->limits->name);
	put_text(why, "image", procedure->image, why->limits->name);
	json_stream_text(&why->json, "build_id", image_code_build_id(procedure->code));
	json_stream_count(&why->json, "instructions", cfg->insn_count);
	json_stream_count(&why->json, "blocks", cfg->block_count);
	json_stream_close(&why->json, '}');
}

/* Compute Wilson's interval of a share. */
static void share_interval(double part, double all, double *low, double *high)
{
	double share = part / all, z = SIGMAS * SIGMAS / all;
	double middle = (share + z / 2) / (1 + z);
	double half = sqrt(z * share * (1 - share) + z * z / 4) / (1 + z);

	*low = fmax(middle - half, 0);
	*high = fmin(middle + half, 1);
}

static void put_how_much(struct why *why)
{
	const struct stall_summary *summary = &why->summary;
	double all = fmax(why->procedure->all_samples, why->samples), low = NAN, high = NAN;

	json_stream_open(&why->json, "how_much", '{');
	json_stream_number(&why->json, "samples", why->samples);
	if (all > 0)
		share_interval(why->samples, all, &low, &high);
	put_percent(why, all > 0 ? why->samples / all : NAN, low, high);
	stall_summary_cpi(summary, &low, &high);
	put_interval(why, "cpi", "cpi_low", "cpi_high",
		     summary->actual_cycles / summary->instructions, low, high);
	json_stream_number(&why->json, "best_cpi", summary->best_cycles / summary->instructions);
	json_stream_close(&why->json, '}');
}

static const struct frequency_estimate *why_estimate(const struct why *why, uint32_t insn)
{
	return &why->analysis->frequency.blocks[why->analysis->cfg->block_of[insn]];
}

/*
 * The samples of an instruction are the time of its stall and the time that it needs without the
 * stall. The former is uncertain because of the number of samples and of executions.
 */
static void put_dynamic_share(struct why *why)
{
	const struct calc_finding *finding = &why->finding;
	const struct instruction_cpi *cpi = &why->analysis->culprits.insns[finding->insn];
	const struct frequency_estimate *estimate = why_estimate(why, finding->insn);
	double needed = cpi->cpi - cpi->dynamic_cycles, taken = cpi->cpi * estimate->value;
	double noise = SIGMAS * sqrt(fmax(taken, 1));
	double low = fmax(taken - noise - needed * estimate->high, 0);
	double high = fmin(taken + noise - needed * estimate->low, why->samples);

	put_percent(why, fmin(finding->cost / why->samples, 1), low / why->samples,
		    high / why->samples);
	put_interval(why, "cycles", "cycles_low", "cycles_high", cpi->dynamic_cycles,
		     fmax(cpi->low - needed, 0), cpi->high - needed);
}

/* A static stall takes the same cycles each time, but how often is uncertain. */
static void put_static_share(struct why *why)
{
	const struct calc_finding *finding = &why->finding;
	const struct frequency_estimate *estimate = why_estimate(why, finding->insn);

	put_percent(why, fmin(finding->cost / why->samples, 1),
		    fmin(finding->cycles * estimate->low / why->samples, 1),
		    fmin(finding->cycles * estimate->high / why->samples, 1));
	put_interval(why, "cycles", "cycles_low", "cycles_high", finding->cycles, finding->cycles,
		     finding->cycles);
}

/* The samples in the kernel are known from few stacks. */
static void faults_interval(const struct why *why, double *low, double *high)
{
	double error = SIGMAS / sqrt(fmax(why->finding.stacks, 1));

	*low = fmax(1 - error, 0);
	*high = 1 + error;
}

static void put_faults_share(struct why *why)
{
	const struct calc_finding *finding = &why->finding;
	const struct frequency_estimate *estimate = why_estimate(why, finding->insn);
	double own = finding->total - finding->kernel, low, high;

	faults_interval(why, &low, &high);
	put_percent(
		why, fmin(finding->total / (why->samples + finding->kernel), 1),
		fmin((own + low * finding->kernel) / (why->samples + low * finding->kernel), 1),
		fmin((own + high * finding->kernel) / (why->samples + high * finding->kernel), 1));
	put_interval(why, "cycles", "cycles_low", "cycles_high", finding->cycles,
		     low * finding->cost / fmax(estimate->high, estimate->value),
		     high * finding->cost / fmin(estimate->low, estimate->value));
}

static double role_samples(const struct why *why, enum profile_event_role role)
{
	const double *samples = why->analysis->profile.roles[role].samples;
	double sum = 0;

	if (samples == NULL)
		return NAN;
	for (uint32_t i = 0; i < why->analysis->cfg->insn_count; i++)
		sum += samples[i];
	return sum;
}

static const struct data_footprint *data_of(const struct why *why, uint32_t insn)
{
	const struct procedure_profile *profile = &why->analysis->profile;

	return profile->footprints != NULL && insn < why->analysis->cfg->insn_count
		       ? profile->footprints[insn]
		       : NULL;
}

static bool is_miss(enum culprit_cause cause)
{
	return cause == CULPRIT_DCACHE || cause == CULPRIT_DTB;
}

/* Write the measurements that speak for a cause. Without any, the others were ruled out. */
static void put_evidence(struct why *why, const struct culprit *culprit)
{
	uint32_t from = culprit->from != UINT32_MAX ? culprit->from : why->finding.insn;
	const struct data_footprint *data = is_miss(culprit->cause) ? data_of(why, from) : NULL;
	const struct data_caches *caches = &why->analysis->profile.caches;
	enum profile_event_role role = PROFILE_ROLES;
	const char *event = calc_summary_text_event(culprit->cause, &role);
	bool sampled = event != NULL && why->analysis->profile.roles[role].samples != NULL;
	const char *basis = sampled ? "event" : data != NULL ? "data_addresses" : "exclusion";

	json_stream_open(&why->json, "evidence", '{');
	json_stream_word(&why->json, "basis", basis);
	if (sampled) {
		json_stream_word(&why->json, "event", event);
		json_stream_number(&why->json, "event_samples", role_samples(why, role));
	}
	if (data != NULL) {
		json_stream_number(&why->json, "accesses_sampled", data->samples);
		json_stream_number(&why->json, "data_bytes_least",
				   data_footprint_least(data, caches));
	}
	json_stream_close(&why->json, '}');
}

static void put_cause(struct why *why, uint32_t index, bool likely)
{
	const struct culprit *culprit = &why->analysis->culprits.list[index];

	json_stream_open(&why->json, NULL, '{');
	json_stream_word(&why->json, "cause", culprit_key(culprit->cause));
	json_stream_word(&why->json, "name", calc_bubbles_cause(culprit->cause));
	json_stream_word(&why->json, "likelihood", likely ? "likely" : "possible");
	json_stream_number(&why->json, "cycles_low", culprit->cycles_low);
	json_stream_number(&why->json, "cycles_high", culprit->cycles_high);
	put_insn(why, "from", culprit->from);
	put_evidence(why, culprit);
	json_stream_close(&why->json, '}');
}

static bool is_likely(const struct why *why, uint32_t index)
{
	for (uint32_t i = 0; i < why->finding.count; i++) {
		if (why->finding.causes[i] == index)
			return true;
	}
	return false;
}

/* Write the likely causes, then the others that are possible. */
static void put_causes(struct why *why)
{
	const struct instruction_cpi *cpi = &why->analysis->culprits.insns[why->finding.insn];
	uint32_t count = 0;

	json_stream_open(&why->json, "causes", '[');
	for (; count < why->finding.count && count < CAUSES_MAX; count++)
		put_cause(why, why->finding.causes[count], true);
	for (uint32_t i = cpi->first; i < cpi->first + cpi->count && count < CAUSES_MAX; i++) {
		if (is_likely(why, i))
			continue;
		put_cause(why, i, false);
		count++;
	}
	json_stream_close(&why->json, ']');
}

static void put_static_cause(struct why *why)
{
	const struct static_stall *stall = why->finding.stall;

	json_stream_open(&why->json, "causes", '[');
	json_stream_open(&why->json, NULL, '{');
	json_stream_word(&why->json, "cause", calc_json_stall_key(stall->kind));
	json_stream_word(&why->json, "name", calc_bubbles_stall(stall->kind));
	json_stream_word(&why->json, "likelihood", "likely");
	json_stream_number(&why->json, "cycles_low", why->finding.cycles);
	json_stream_number(&why->json, "cycles_high", why->finding.cycles);
	put_insn(why, "from", stall->from);
	json_stream_open(&why->json, "evidence", '{');
	json_stream_word(&why->json, "basis", "model");
	json_stream_close(&why->json, '}');
	json_stream_close(&why->json, '}');
	json_stream_close(&why->json, ']');
}

static void put_faults_cause(struct why *why)
{
	const struct calc_finding *finding = &why->finding;

	json_stream_open(&why->json, "causes", '[');
	json_stream_open(&why->json, NULL, '{');
	json_stream_word(&why->json, "cause", culprit_key(CULPRIT_PAGE_FAULT));
	json_stream_word(&why->json, "name", calc_bubbles_cause(CULPRIT_PAGE_FAULT));
	json_stream_word(&why->json, "likelihood", "likely");
	json_stream_number(&why->json, "cycles_low", 0);
	json_stream_number(&why->json, "cycles_high", finding->cycles);
	put_insn(why, "from", finding->insn);
	json_stream_open(&why->json, "evidence", '{');
	json_stream_word(&why->json, "basis", "call_stacks");
	json_stream_number(&why->json, "stacks_sampled", finding->stacks);
	json_stream_number(&why->json, "kernel_samples", finding->kernel);
	json_stream_close(&why->json, '}');
	json_stream_close(&why->json, '}');
	json_stream_close(&why->json, ']');
}

static void put_sentences(struct why *why)
{
	_cleanup_free_ char *text = NULL;
	size_t bytes = 0, count = 0;
	FILE *memory = open_memstream(&text, &bytes);
	char *next = NULL;

	if (memory != NULL) {
		calc_sentence_print(memory, why->procedure);
		calc_summary_text_print(memory, why->procedure);
		fclose(memory);
	}
	json_stream_open(&why->json, "sentences", '[');
	if (memory == NULL || text == NULL)
		why->failed = true;
	else
		for (char *line = strtok_r(text, "\n", &next);
		     line != NULL && count < why->limits->sentences;
		     line = strtok_r(NULL, "\n", &next), count++)
			put_text(why, NULL, line, why->limits->sentence);
	json_stream_close(&why->json, ']');
}

static void put_why(struct why *why)
{
	static void (*const put_share[])(struct why * why) = {
		[CALC_FINDING_STATIC] = put_static_share,
		[CALC_FINDING_DYNAMIC] = put_dynamic_share,
		[CALC_FINDING_FAULTS] = put_faults_share,
	};
	static void (*const put_cause_list[])(struct why * why) = {
		[CALC_FINDING_STATIC] = put_static_cause,
		[CALC_FINDING_DYNAMIC] = put_causes,
		[CALC_FINDING_FAULTS] = put_faults_cause,
	};
	static const char *const kinds[] = {
		[CALC_FINDING_NONE] = "no_stall",
		[CALC_FINDING_STATIC] = "static_stall",
		[CALC_FINDING_DYNAMIC] = "dynamic_stall",
		[CALC_FINDING_FAULTS] = "page_faults",
	};

	json_stream_open(&why->json, "why", '{');
	json_stream_word(&why->json, "kind", kinds[why->finding.kind]);
	if (why->finding.kind == CALC_FINDING_NONE) {
		json_stream_null(&why->json, "instruction");
		json_stream_open(&why->json, "causes", '[');
		json_stream_close(&why->json, ']');
	} else {
		put_insn(why, "instruction", why->finding.insn);
		put_share[why->finding.kind](why);
		put_cause_list[why->finding.kind](why);
	}
	put_sentences(why);
	json_stream_close(&why->json, '}');
}

/* Return the block with most samples, whose estimate determines the procedure's. */
static uint32_t hottest_insn(const struct why *why)
{
	const struct procedure_analysis *analysis = why->analysis;
	uint32_t hottest = 0;

	for (uint32_t i = 1; i < analysis->cfg->insn_count; i++) {
		if (analysis->profile.samples[i] > analysis->profile.samples[hottest])
			hottest = i;
	}
	return hottest;
}

static const struct frequency_estimate *leading_estimate(const struct why *why)
{
	return why_estimate(why, why->finding.kind == CALC_FINDING_NONE ? hottest_insn(why)
									: why->finding.insn);
}

/* An older instruction that cannot be identified is no cause that anyone could act on. */
static bool separated(const struct why *why)
{
	const struct calc_finding *finding = &why->finding;

	if (finding->kind != CALC_FINDING_DYNAMIC)
		return true;
	return finding->count > 0 && (finding->certain || finding->count == 1) &&
	       why->analysis->culprits.list[finding->causes[0]].cause != CULPRIT_OTHER;
}

static void put_how_certain(struct why *why)
{
	const struct procedure_analysis *analysis = why->analysis;
	const struct frequency_estimate *estimate = leading_estimate(why);

	json_stream_open(&why->json, "how_certain", '{');
	if (estimate->origin == FREQUENCY_NONE)
		json_stream_null(&why->json, "confidence");
	else
		json_stream_word(&why->json, "confidence", calc_estimate_confidence(estimate));
	json_stream_word(&why->json, "causes", separated(why) ? "separated" : "not_separated");
	json_stream_number(&why->json, "sampling_error_percent",
			   100 * stall_summary_noise(&why->summary) / why->summary.tallied);
	json_stream_number(&why->json, "period_error_percent",
			   100 * analysis->profile.period_error);
	json_stream_word(&why->json, "model", analysis->model->name);
	json_stream_word(&why->json, "time", analysis->profile.clock ? "clock" : "cycles");
	json_stream_count(&why->json, "unknown_jumps", analysis->cfg->unresolved_jumps);
	json_stream_number(&why->json, "unmatched_samples", analysis->profile.unmatched);
	calc_evidence_counts_json(&why->json, why->procedure);
	json_stream_close(&why->json, '}');
}

static void put_measurement(struct why *why, const char *what, const char *event, const char *how)
{
	json_stream_open(&why->json, NULL, '{');
	json_stream_word(&why->json, "measure", what);
	if (event != NULL)
		json_stream_word(&why->json, "event", event);
	json_stream_word(&why->json, "how", how);
	json_stream_close(&why->json, '}');
}

/* Suggest the events that the machine can count and that would separate the causes. */
static void put_events(struct why *why)
{
	const struct procedure_analysis *analysis = why->analysis;
	const struct instruction_cpi *cpi = &analysis->culprits.insns[why->finding.insn];

	if (separated(why))
		return;
	if (analysis->profile.clock) {
		put_measurement(why, "events", NULL,
				"sample on a machine whose counters are accessible: dcpid "
				"--list-events");
		return;
	}
	for (uint32_t i = cpi->first; i < cpi->first + cpi->count && i < cpi->first + CAUSES_MAX;
	     i++) {
		enum profile_event_role role;
		const char *event =
			calc_summary_text_event(analysis->culprits.list[i].cause, &role);

		if (event != NULL && analysis->profile.roles[role].samples == NULL)
			put_measurement(why, "events", event,
					"sample this event, too: dcpid -e cycles,EVENT");
	}
}

static bool may_miss(const struct why *why)
{
	bool any = false;

	for (uint32_t i = 0; i < why->finding.count; i++) {
		const struct culprit *culprit =
			&why->analysis->culprits.list[why->finding.causes[i]];

		any |= is_miss(culprit->cause) && data_of(why, culprit->from) == NULL;
	}
	return any && !separated(why);
}

static void put_measure_next(struct why *why)
{
	const struct frequency_estimate *estimate = leading_estimate(why);

	json_stream_open(&why->json, "measure_next", '[');
	if (SIGMAS / sqrt(fmax(why->samples, 1)) > SHARE_ERROR)
		put_measurement(why, "samples", NULL, "take more samples: profile longer");
	if (estimate->origin != FREQUENCY_EXACT && estimate->confidence == FREQUENCY_LOW)
		put_measurement(why, "executions", NULL,
				"count the executions exactly: dcpix run --db FILE -- PROGRAM");
	if (may_miss(why))
		put_measurement(why, "data_addresses", NULL,
				"sample with the source perf or bpf on x86-64, which derives the "
				"addresses of data");
	put_events(why);
	json_stream_close(&why->json, ']');
}

/* Print an answer with limited texts. Return: malloc'd, or NULL if out of memory. */
static char *make_answer(struct why *why, const struct limits *limits, size_t *bytes)
{
	char *text = NULL;
	FILE *stream = open_memstream(&text, bytes);

	if (stream == NULL)
		return NULL;
	why->limits = limits;
	why->json = (struct json_stream){.file = stream, .digits = DIGITS};
	json_stream_open(&why->json, NULL, '{');
	put_what(why);
	put_how_much(why);
	put_why(why);
	put_how_certain(why);
	put_measure_next(why);
	json_stream_close(&why->json, '}');
	json_stream_line(&why->json);
	if (fclose(stream) != 0 || why->failed) {
		free(text);
		return NULL;
	}
	return text;
}

int calc_why_print(FILE *stream, const struct calc_procedure *procedure)
{
	const struct culprit_input input = procedure_analysis_input(procedure->analysis);
	struct why why = {
		.procedure = procedure,
		.analysis = procedure->analysis,
		.finding = calc_finding_worst(procedure->analysis),
		.samples = calc_procedure_samples(procedure),
	};

	stall_summary_add(&why.summary, &input, &procedure->analysis->culprits);
	stall_summary_settle(&why.summary);
	for (size_t i = 0; i < LIMITS; i++) {
		size_t bytes = 0;
		_cleanup_free_ char *text = make_answer(&why, &all_limits[i], &bytes);

		if (text == NULL)
			return -ENOMEM;
		if (bytes > CALC_WHY_BYTES_MAX && i + 1 < LIMITS)
			continue;
		fwrite(text, 1, bytes, stream);
		break;
	}
	return 0;
}
