// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_summary_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tools/annotate/calc_bubbles.h"
#include "tools/annotate/calc_cells.h"
#include "tools/annotate/calc_data.h"
#include "tools/annotate/calc_finding.h"

/* Blocks with a smaller share of the procedure's time are not reported. */
#define SHARE_MIN 0.2
/* A cause whose lower bound is below this part of a stall leaves other causes open. */
#define CERTAIN_PART 0.5
/* A block that may take this many times its best case may stall. */
#define OPEN_FACTOR 1.5
/*
 * A block is reported as too fast below this part of its best case, which is not known more
 * precisely.
 */
#define FAST 0.8

/* Events whose samples would confirm or exclude a cause; NULL: none. */
static const struct evidence {
	enum profile_event_role role;
	const char *event;
} evidence[CULPRIT_CAUSES] = {
	[CULPRIT_ICACHE] = {PROFILE_ROLE_IMISS, "imiss"},
	[CULPRIT_ITB] = {PROFILE_ROLE_ITB_MISS, "itbmiss"},
	[CULPRIT_DCACHE] = {PROFILE_ROLE_DMISS, "dmiss"},
	[CULPRIT_DTB] = {PROFILE_ROLE_DTB_MISS, "dtbmiss"},
	[CULPRIT_BRANCH] = {PROFILE_ROLE_BRANCH_MISS, "branchmp"},
};

const char *calc_summary_text_event(enum culprit_cause cause, enum profile_event_role *role)
{
	if (cause >= CULPRIT_CAUSES || evidence[cause].event == NULL)
		return NULL;
	*role = evidence[cause].role;
	return evidence[cause].event;
}

/* Print "D-cache miss of 0x981c (40.0 to 113.5 cycles)". */
static void print_culprit(FILE *stream, const struct calc_procedure *procedure,
			  const struct culprit *culprit)
{
	const struct cfg *cfg = procedure->analysis->cfg;

	fputs(calc_bubbles_cause(culprit->cause), stream);
	if (culprit->from < cfg->insn_count)
		fprintf(stream, " %s 0x%" PRIx64, calc_bubbles_relation(culprit->cause),
			cfg->insns[culprit->from].address);
	if (culprit->cycles_high - culprit->cycles_low < 0.05)
		fprintf(stream, " (%.1f cycles)", culprit->cycles_high);
	else
		fprintf(stream, " (%.1f to %.1f cycles)", culprit->cycles_low,
			culprit->cycles_high);
}

/* If a cause may account for less than the stall, others are only unlikely. */
static bool cpi_is_certain(const struct instruction_cpi *cpi, const struct culprit *culprit)
{
	return culprit->cycles_low > CERTAIN_PART * cpi->dynamic_cycles;
}

static void print_causes(FILE *stream, const struct calc_procedure *procedure,
			 const struct calc_finding *finding)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct instruction_cpi *cpi = &analysis->culprits.insns[finding->insn];
	const struct culprit *list = analysis->culprits.list;
	const struct culprit *best = finding->certain ? &list[finding->causes[0]] : NULL;
	const char *separator = "";

	if (cpi->count == 0) {
		fputs("No known property of the machine explains it.\n", stream);
		return;
	}
	/* Out of order, a cause that is certain for most of a stall leaves the rest open. */
	if (cpi->count == 1 && (best == NULL || analysis->model->in_order)) {
		fputs(cpi_is_certain(cpi, &list[cpi->first]) ? "All but one cause are ruled out: "
							     : "The only likely cause: ",
		      stream);
		best = NULL;
	} else if (best != NULL) {
		fputs("Most of it is ", stream);
		print_culprit(stream, procedure, best);
		separator = "; also possible: ";
	} else {
		fputs("Possible causes: ", stream);
	}
	for (uint32_t i = cpi->first; i < cpi->first + cpi->count; i++) {
		if (&list[i] == best)
			continue;
		fputs(separator, stream);
		print_culprit(stream, procedure, &list[i]);
		separator = ", ";
	}
	fputs(".\n", stream);
}

/*
 * Print the events that would distinguish the causes. If time was sampled by a clock, the machine
 * has no counters for them.
 */
static void print_advice(FILE *stream, const struct calc_procedure *procedure,
			 const struct instruction_cpi *cpi)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const char *separator = "Events that would distinguish them: ";
	bool any = false;

	if (cpi->count < 2 || analysis->profile.clock)
		return;
	for (uint32_t i = cpi->first; i < cpi->first + cpi->count; i++) {
		enum profile_event_role role;
		const char *event =
			calc_summary_text_event(analysis->culprits.list[i].cause, &role);

		if (event == NULL || analysis->profile.roles[role].samples != NULL)
			continue;
		fprintf(stream, "%s%s", separator, event);
		separator = ", ";
		any = true;
	}
	if (any)
		fputs(".\n", stream);
}

static void print_wait(FILE *stream, const struct calc_procedure *procedure,
		       const struct calc_finding *wait)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	double samples = calc_procedure_samples(procedure);
	char text[CALC_TEXT_BYTES];

	fprintf(stream, "Static stall: 0x%" PRIx64 " waits %.1f cycles each time",
		analysis->cfg->insns[wait->insn].address, wait->cycles);
	if (wait->stall->from < analysis->cfg->insn_count) {
		calc_procedure_text(procedure, wait->stall->from, text);
		fprintf(stream, " for 0x%" PRIx64 ", '%s'",
			analysis->cfg->insns[wait->stall->from].address, text);
	}
	fprintf(stream, " (%s): %.1f%% of the procedure's time.\n",
		calc_bubbles_stall(wait->stall->kind), 100 * fmin(wait->cost / samples, 1));
}

/*
 * Print "41.4 cycles each time (3.1 to 577.4)"; the range is given if the frequency is uncertain.
 */
static void print_cycles(FILE *stream, const struct instruction_cpi *cpi, bool is_range)
{
	double rest = cpi->cpi - cpi->dynamic_cycles;
	double low = fmax(cpi->low - rest, 0);

	fprintf(stream, "%.1f cycles each time", cpi->dynamic_cycles);
	if (is_range && !(cpi->high < CALC_CELLS_CPI_MAX))
		fprintf(stream, " (%.1f or more)", low);
	else if (is_range && cpi->high - cpi->low >= 0.1)
		fprintf(stream, " (%.1f to %.1f)", low, cpi->high - rest);
}

/*
 * Return: the instruction whose data the stall may be due to: that of its first cause by misses, or
 * the stalled one.
 */
static uint32_t accessing_insn(const struct procedure_analysis *analysis, uint32_t insn)
{
	const struct instruction_cpi *cpi = &analysis->culprits.insns[insn];

	for (uint32_t i = cpi->first; i < cpi->first + cpi->count; i++) {
		const struct culprit *culprit = &analysis->culprits.list[i];

		if ((culprit->cause == CULPRIT_DCACHE || culprit->cause == CULPRIT_DTB) &&
		    culprit->from != UINT32_MAX)
			return culprit->from;
	}
	return insn;
}

static void print_stall(FILE *stream, const struct calc_procedure *procedure,
			const struct calc_finding *finding, const char *what)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	uint32_t worst = finding->insn;
	const struct instruction_cpi *cpi = &analysis->culprits.insns[worst];
	const struct frequency_estimate *estimate =
		&analysis->frequency.blocks[analysis->cfg->block_of[worst]];
	bool is_range = estimate->confidence == FREQUENCY_LOW;
	double samples = calc_procedure_samples(procedure);
	char text[CALC_TEXT_BYTES];

	calc_procedure_text(procedure, worst, text);
	fprintf(stream, "%s is at 0x%" PRIx64 ", '%s': ", what, analysis->cfg->insns[worst].address,
		text);
	print_cycles(stream, cpi, is_range);
	fprintf(stream, ", %.1f%% of the procedure's time%s.\n",
		samples > 0 ? 100 * cpi->dynamic_cycles * estimate->value / samples : 0,
		is_range ? " (low confidence)" : "");
	print_causes(stream, procedure, finding);
	calc_data_sentence(stream, procedure, accessing_insn(analysis, worst));
	print_advice(stream, procedure, cpi);
}

/*
 * Report a hot block that takes less than its best case: a model describes a family of processors,
 * and typical data.
 */
static void print_fast_block(FILE *stream, const struct calc_procedure *procedure)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	double least = SHARE_MIN * calc_procedure_samples(procedure);
	struct calc_block fast = {0};
	uint32_t found = UINT32_MAX;

	for (uint32_t b = 0; b < analysis->cfg->block_count; b++) {
		struct calc_block sums = calc_procedure_block(procedure, b);

		if (sums.samples >= least && sums.samples > fast.samples &&
		    sums.actual < FAST * sums.best) {
			fast = sums;
			found = b;
		}
	}
	if (found == UINT32_MAX)
		return;
	fprintf(stream,
		"The block at 0x%" PRIx64
		" takes %.1f cycles, less than its best case of %.1f: the "
		"processor is faster than the model, or the block ran less often.\n",
		analysis->cfg->insns[analysis->cfg->blocks[found].first].address, fast.actual,
		fast.best);
}

/* Return the block with the most samples. */
static uint32_t hottest_block(const struct calc_procedure *procedure)
{
	uint32_t found = UINT32_MAX;
	double most = 0;

	for (uint32_t b = 0; b < procedure->analysis->cfg->block_count; b++) {
		double samples = calc_procedure_block(procedure, b).samples;

		if (samples > most) {
			most = samples;
			found = b;
		}
	}
	return found;
}

/*
 * If the hottest block may have run so rarely that it stalls, say so.
 *
 * Return: true if that was printed.
 */
static bool print_open(FILE *stream, const struct calc_procedure *procedure)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	uint32_t b = hottest_block(procedure);
	const struct frequency_estimate *estimate;
	struct calc_cells_executions cells;
	struct calc_block sums;

	if (b == UINT32_MAX)
		return false;
	estimate = &analysis->frequency.blocks[b];
	sums = calc_procedure_block(procedure, b);
	if (estimate->origin == FREQUENCY_EXACT || !(sums.best > 0) ||
	    estimate->low * sums.best * OPEN_FACTOR >= sums.samples ||
	    !calc_cells_executions(procedure, estimate, &cells))
		return false;
	fprintf(stream,
		"The block at 0x%" PRIx64
		" may or may not stall: it ran %s to %s times, and its best case of %.1f cycles "
		"explains its time only at the upper end. Exact counts (dcpix) or more samples "
		"would resolve this.\n",
		analysis->cfg->insns[analysis->cfg->blocks[b].first].address, cells.low, cells.high,
		sums.best);
	return true;
}

void calc_summary_text_print(FILE *stream, const struct calc_procedure *procedure)
{
	struct calc_finding stall = calc_finding_stall(procedure->analysis);
	struct calc_finding wait = calc_finding_static(procedure->analysis);
	bool waits = wait.cost > stall.cost;

	if (waits)
		print_wait(stream, procedure, &wait);
	if (stall.kind == CALC_FINDING_DYNAMIC)
		print_stall(stream, procedure, &stall,
			    waits ? "The worst dynamic stall" : "The worst stall");
	else if (!print_open(stream, procedure))
		fprintf(stream,
			"No %ssignificant stall: static time and sampling error can explain the "
			"samples.\n",
			waits ? "other " : "");
	print_fast_block(stream, procedure);
}
