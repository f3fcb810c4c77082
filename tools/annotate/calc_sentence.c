// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_sentence.h"

#include <inttypes.h>
#include <math.h>

#include "tools/annotate/calc_bubbles.h"
#include "tools/annotate/calc_cells.h"
#include "tools/annotate/calc_data.h"
#include "tools/annotate/calc_finding.h"

/* With fewer samples, more of them are the first measurement to suggest. */
#define SAMPLES_ENOUGH 1000

/* The most expensive stall dominates if it takes this share of the procedure's time. */
#define SHARE_DOMINANT 0.2

/* A procedure that may take this many times its best case may stall. */
#define OPEN_FACTOR 2

/* Standard deviations of a 95% interval. */
#define SIGMAS 1.96

/* If other instructions add this to the cost of the first one, the sentence says so. */
#define ELSEWHERE_FACTOR 1.1

/* Texts before and after the causing instruction, by cause. The first one follows "waits". */
static const struct reason {
	const char *before;
	const char *after;
} reasons[CULPRIT_CAUSES + 1] = {
	[CULPRIT_ICACHE] = {"for code that is not in the instruction cache, at", ""},
	[CULPRIT_ITB] = {"for code whose page is not in the instruction TLB, at", ""},
	[CULPRIT_DCACHE] = {"for data that is not in the cache, accessed at", ""},
	[CULPRIT_DTB] = {"for the translation of the address that is accessed at", ""},
	[CULPRIT_WRITE_BUFFER] =
		{"for a free entry in the store buffer: memory takes the stores at",
		 ", more slowly than they are executed"},
	[CULPRIT_SYNCHRONIZATION] = {"for the atomic access or barrier at", ""},
	[CULPRIT_BRANCH] = {"for the right path after mispredictions at", ""},
	[CULPRIT_IMUL] = {"for the integer multiplication or division at", ""},
	[CULPRIT_FDIV] = {"for the division or square root at", ""},
	/* No wait: see print_dynamic() */
	[CULPRIT_INTERRUPTS] = {"is of code that ran with interrupts disabled, up to",
				", where samples of this event cannot be taken"},
	[CULPRIT_STORE_FORWARD] = {"for the store at",
				   " and others, before a load of the same bytes, which no "
				   "single store has"},
	[CULPRIT_SHARING] = {"for a line that another thread accesses, too, at", ""},
	[CULPRIT_PAGE_FAULT] = {"around page faults of", ""},
	[CULPRIT_LATENCY] = {"for the result of", ", in a chain of instructions without any miss"},
	[CULPRIT_OTHER] = {"for older instructions, which cannot be identified, at", ""},
};

static void print_insn(FILE *stream, const struct calc_procedure *procedure, uint32_t insn)
{
	char text[CALC_TEXT_BYTES];

	calc_procedure_text(procedure, insn, text);
	fprintf(stream, "0x%" PRIx64 ", '%s'", procedure->analysis->cfg->insns[insn].address, text);
}

/* Print "509.3 cycles in each of 12.2M executions". */
static void print_cost(FILE *stream, const struct calc_procedure *procedure,
		       const struct calc_finding *finding, double cycles)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct frequency_estimate *estimate =
		&analysis->frequency.blocks[analysis->cfg->block_of[finding->insn]];
	struct calc_cells_executions cells;

	fprintf(stream, "%.1f cycles", cycles);
	if (!calc_cells_executions(procedure, estimate, &cells))
		return;
	fprintf(stream, " in each of %s executions", cells.value);
	if (estimate->confidence == FREQUENCY_LOW)
		fprintf(stream, " (%s to %s, low confidence)", cells.low, cells.high);
}

static void print_names(FILE *stream, const struct procedure_analysis *analysis,
			const struct calc_finding *finding)
{
	for (uint32_t i = 0; i < finding->count; i++) {
		const struct culprit *culprit = &analysis->culprits.list[finding->causes[i]];

		fprintf(stream, "%s%s",
			i == 0			  ? ""
			: i + 1 == finding->count ? " or "
						  : ", ",
			calc_bubbles_cause(culprit->cause));
	}
}

static bool has_cause(const struct procedure_analysis *analysis, const struct calc_finding *finding,
		      enum culprit_cause cause)
{
	for (uint32_t i = 0; i < finding->count; i++)
		if (analysis->culprits.list[finding->causes[i]].cause == cause)
			return true;
	return false;
}

/*
 * Return true if the first cause is only the likeliest: another one is possible, too, it is an
 * instruction that cannot be identified, or the branches may follow patterns.
 */
static bool is_open(const struct procedure_analysis *analysis, const struct calc_finding *finding)
{
	if (analysis->model->in_order || finding->certain)
		return false;
	return analysis->culprits.insns[finding->insn].count > 1 ||
	       has_cause(analysis, finding, CULPRIT_OTHER) ||
	       (has_cause(analysis, finding, CULPRIT_BRANCH) && analysis->culprits.patterned);
}

/* Name the measurement that would separate the causes, or show one that is not known. */
static void print_measurement(FILE *stream, const struct calc_procedure *procedure,
			      const struct calc_finding *finding)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	uint32_t block = analysis->cfg->block_of[finding->insn];
	bool few = calc_procedure_samples(procedure) < SAMPLES_ENOUGH;

	fputs(finding->count < 2 ? " To be certain" : " To separate them", stream);
	if (analysis->frequency.blocks[block].confidence == FREQUENCY_LOW)
		fputs(", count executions (dcpix run)", stream);
	else if (few)
		fputs(", take more samples", stream);
	else if (has_cause(analysis, finding, CULPRIT_BRANCH))
		fputs(", sample the event branchmp, or measure directions (--probes)", stream);
	else
		fputs(", sample events of the processor, such as dmiss and branchmp", stream);
	fputc('.', stream);
}

/* A misprediction may be of an unknown branch before the instruction: of a caller. */
static const char *before_of(const struct cfg *cfg, enum culprit_cause cause, uint32_t from)
{
	if (cause == CULPRIT_BRANCH && cfg->insns[from].flow == INSN_FLOW_NEXT)
		return "for the right path after mispredictions before";
	return reasons[cause].before;
}

static void print_dynamic(FILE *stream, const struct calc_procedure *procedure,
			  const struct calc_finding *finding)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct culprit *culprit;
	uint32_t from;

	if (finding->count != 1) {
		fputs("is spent at ", stream);
		print_insn(stream, procedure, finding->insn);
		fputs(": ", stream);
		print_names(stream, analysis, finding);
		fputs(finding->count == 0 ? "no known cause; " : "; ", stream);
		print_cost(stream, procedure, finding, finding->cycles);
		fputc('.', stream);
		if (finding->count > 1)
			print_measurement(stream, procedure, finding);
		return;
	}
	culprit = &analysis->culprits.list[finding->causes[0]];
	from = calc_finding_from(analysis, finding->insn, finding->causes[0]);
	if (is_open(analysis, finding))
		fputs("probably ", stream);
	fprintf(stream, "%s%s ", culprit->cause != CULPRIT_INTERRUPTS ? "waits " : "",
		before_of(analysis->cfg, culprit->cause, from));
	print_insn(stream, procedure, from);
	if (finding->total > ELSEWHERE_FACTOR * finding->one)
		fprintf(stream, ", and at others (%.0f%% there)",
			100 * finding->one / finding->total);
	fputs(reasons[culprit->cause].after, stream);
	if (culprit->cause == CULPRIT_SHARING)
		calc_data_sharing(stream, procedure, from);
	if (culprit->cause == CULPRIT_DCACHE || culprit->cause == CULPRIT_DTB)
		calc_data_phrase(stream, ", whose data is ", procedure, from);
	fputs("; ", stream);
	/* Several instructions may wait for the same cause. All their cycles count. */
	print_cost(stream, procedure, finding,
		   finding->cycles * fmax(finding->one / finding->cost, 1));
	fputc('.', stream);
	if (is_open(analysis, finding))
		print_measurement(stream, procedure, finding);
}

/*
 * Print how much of the time of the procedure, and of the kernel for its page faults, these take.
 * The number of samples in the kernel is known from few call stacks.
 */
static void print_faults(FILE *stream, const struct calc_procedure *procedure,
			 const struct calc_finding *finding, double samples)
{
	double error = SIGMAS * finding->kernel / sqrt(fmax(finding->stacks, 1));
	double own = finding->total - finding->kernel;
	double low = fmax(finding->kernel - error, 0), high = finding->kernel + error;

	fprintf(stream,
		"%.0f%% (%.0f%% to %.0f%%) of the time of the procedure and of its page faults is "
		"that of page faults of ",
		100 * fmin(finding->total / calc_finding_all(finding, samples), 1),
		100 * fmin((low + own) / (low + samples), 1),
		100 * fmin((high + own) / (high + samples), 1));
	print_insn(stream, procedure, finding->insn);
	if (finding->kernel > ELSEWHERE_FACTOR * finding->one)
		fprintf(stream, ", and of others (%.0f%% there)",
			100 * finding->one / finding->kernel);
	fprintf(stream,
		": the kernel maps pages for it in %.0f samples, by %.0f call stacks, in addition "
		"to "
		"the procedure's %.0f.",
		finding->kernel, finding->stacks, samples);
}

static const char *latency_of(enum culprit_cause cause)
{
	switch (cause) {
	case CULPRIT_SYNCHRONIZATION:
		return "the atomic access or barrier at ";
	case CULPRIT_IMUL:
		return "the division at ";
	case CULPRIT_FDIV:
		return "the division or square root at ";
	default:
		return "";
	}
}

static void print_static(FILE *stream, const struct calc_procedure *procedure,
			 const struct calc_finding *finding)
{
	uint32_t from = finding->stall->from;

	if (finding->stall->kind == STALL_LATENCY && from < procedure->analysis->cfg->insn_count) {
		fprintf(stream, "is the latency of %s",
			latency_of(calc_finding_static_cause(procedure->analysis, finding->stall)));
		print_insn(stream, procedure, from);
		fputs(", and of the instructions that wait for one another with it; ", stream);
	} else {
		fprintf(stream, "is a static stall (%s) at ",
			calc_bubbles_stall(finding->stall->kind));
		print_insn(stream, procedure, finding->insn);
		fputs("; ", stream);
	}
	print_cost(stream, procedure, finding,
		   finding->cycles * fmax(finding->one / finding->cost, 1));
	fputc('.', stream);
}

/*
 * Report that it is not known whether the procedure stalls: its time exceeds the best case by far
 * at the lower ends of the executions.
 *
 * Return: false if it is known.
 */
static bool print_open(FILE *stream, const struct calc_procedure *procedure)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	double least = 0;

	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++)
		least += analysis->schedule.insns[i].min_cycles *
			 analysis->frequency.blocks[analysis->cfg->block_of[i]].low;
	if (least * OPEN_FACTOR >= calc_procedure_samples(procedure))
		return false;
	fputs("The procedure may or may not stall, because it is not known how often its code ran. "
	      "To learn it, count executions (dcpix run).",
	      stream);
	return true;
}

/* Report that nothing stalls, and how much of the time is the best case. */
static void print_nothing(FILE *stream, const struct calc_procedure *procedure)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	double samples = calc_procedure_samples(procedure), best = 0;

	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++)
		best += analysis->schedule.insns[i].min_cycles *
			analysis->frequency.blocks[analysis->cfg->block_of[i]].value;
	if (samples > 0 && best > 0)
		fprintf(stream,
			"No instruction stalls significantly: executing the instructions takes "
			"%.0f%% of the time even in the best case, so that fewer instructions "
			"would save most.",
			100 * fmin(best / samples, 1));
	else
		fputs("No instruction stalls significantly.", stream);
}

void calc_sentence_print(FILE *stream, const struct calc_procedure *procedure)
{
	const struct calc_finding finding = calc_finding_worst(procedure->analysis);
	double samples = calc_procedure_samples(procedure);

	if (finding.kind == CALC_FINDING_NONE || !(samples > 0)) {
		if (!print_open(stream, procedure))
			print_nothing(stream, procedure);
	} else if (finding.kind == CALC_FINDING_FAULTS) {
		print_faults(stream, procedure, &finding, samples);
	} else {
		double share = fmin(finding.total / samples, 1);

		if (share < SHARE_DOMINANT)
			fputs("No stall dominates: ", stream);
		fprintf(stream, "%.0f%% of the procedure's time ", 100 * share);
		if (finding.kind == CALC_FINDING_STATIC)
			print_static(stream, procedure, &finding);
		else
			print_dynamic(stream, procedure, &finding);
	}
	fputc('\n', stream);
}
