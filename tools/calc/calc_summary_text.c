// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calc/calc_summary_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tools/calc/calc_bubbles.h"
#include "tools/calc/calc_cells.h"

/* Shorter stalls are not reported. */
#define CYCLES_MIN 0.5
/* Static waits that take a smaller share of the procedure's time are not reported. */
#define SHARE_MIN 0.2
/*
 * A block is reported as too fast below this part of its best case, which is not known more
 * precisely.
 */
#define FAST 0.8
/* A cause whose lower bound is this share of a stall is reported as its main cause. */
#define MOSTLY 0.5

/* Events whose samples would confirm or exclude a cause; PROFILE_ROLES: none. */
static const struct evidence {
	enum profile_event_role role;
	const char *event;
} evidence[CULPRIT_CAUSES] = {
	[CULPRIT_ICACHE] = {PROFILE_ROLE_IMISS, "imiss"},
	[CULPRIT_ITB] = {PROFILE_ROLE_ITB_MISS, "itbmiss"},
	[CULPRIT_DCACHE] = {PROFILE_ROLE_DMISS, "dmiss"},
	[CULPRIT_DTB] = {PROFILE_ROLE_DTB_MISS, "dtbmiss"},
	[CULPRIT_WRITE_BUFFER] = {PROFILE_ROLES, NULL},
	[CULPRIT_SYNCHRONIZATION] = {PROFILE_ROLES, NULL},
	[CULPRIT_BRANCH] = {PROFILE_ROLE_BRANCH_MISS, "branchmp"},
	[CULPRIT_IMUL] = {PROFILE_ROLES, NULL},
	[CULPRIT_FDIV] = {PROFILE_ROLES, NULL},
	[CULPRIT_OTHER] = {PROFILE_ROLES, NULL},
};

double calc_summary_text_cost(const struct procedure_analysis *analysis, uint32_t insn)
{
	const struct instruction_cpi *cpi = &analysis->culprits.insns[insn];

	if (isnan(cpi->cpi) || !cpi->significant || cpi->dynamic_cycles < CYCLES_MIN)
		return 0;
	return cpi->dynamic_cycles *
	       analysis->frequency.blocks[analysis->cfg->block_of[insn]].value;
}

uint32_t calc_summary_text_find(const struct procedure_analysis *analysis)
{
	uint32_t worst = UINT32_MAX;
	double most = 0;

	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		double cycles = calc_summary_text_cost(analysis, i);

		if (cycles > most) {
			most = cycles;
			worst = i;
		}
	}
	return worst;
}

/* Print "D-cache miss of 0x981c (40.0 to 113.5 cycles)". */
static void print_culprit(FILE *stream, const struct calc_procedure *procedure,
			  const struct culprit *culprit)
{
	const struct cfg *cfg = procedure->analysis->cfg;

	fputs(calc_bubbles_cause(culprit->cause), stream);
	if (culprit->from < cfg->insn_count)
		fprintf(stream, " of 0x%" PRIx64, cfg->insns[culprit->from].address);
	if (culprit->cycles_high - culprit->cycles_low < 0.05)
		fprintf(stream, " (%.1f cycles)", culprit->cycles_high);
	else
		fprintf(stream, " (%.1f to %.1f cycles)", culprit->cycles_low,
			culprit->cycles_high);
}

static const struct culprit *strongest(const struct procedure_analysis *analysis,
				       const struct instruction_cpi *cpi)
{
	const struct culprit *list = analysis->culprits.list + cpi->first, *best = list;

	if (cpi->count == 0)
		return NULL;
	for (uint32_t i = 1; i < cpi->count; i++) {
		if (list[i].cycles_low > best->cycles_low)
			best = &list[i];
	}
	return best->cycles_low >= MOSTLY * cpi->dynamic_cycles ? best : NULL;
}

static void print_causes(FILE *stream, const struct calc_procedure *procedure,
			 const struct instruction_cpi *cpi)
{
	const struct culprit *list = procedure->analysis->culprits.list + cpi->first;
	const struct culprit *best = strongest(procedure->analysis, cpi);
	const char *separator = "";

	if (cpi->count == 0) {
		fputs("Nothing that is known of the machine explains it.\n", stream);
		return;
	}
	if (cpi->count == 1) {
		fputs("All but one cause are ruled out: ", stream);
		best = NULL;
	} else if (best != NULL) {
		fputs("Most of it is ", stream);
		print_culprit(stream, procedure, best);
		separator = "; possible, too: ";
	} else {
		fputs("Possible causes: ", stream);
	}
	for (uint32_t i = 0; i < cpi->count; i++) {
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
	const char *separator = "Events that would tell which: ";
	bool any = false;

	if (cpi->count < 2 || analysis->profile.clock)
		return;
	for (uint32_t i = cpi->first; i < cpi->first + cpi->count; i++) {
		enum culprit_cause cause = analysis->culprits.list[i].cause;

		if (cause >= CULPRIT_CAUSES || evidence[cause].role == PROFILE_ROLES ||
		    analysis->profile.roles[evidence[cause].role].samples != NULL)
			continue;
		fprintf(stream, "%s%s", separator, evidence[cause].event);
		separator = ", ";
		any = true;
	}
	if (any)
		fputs(".\n", stream);
}

/*
 * struct wait - a static stall
 * @cycles: per execution, at most those that the instruction took
 * @cost:   in samples, of all executions
 */
struct wait {
	const struct static_stall *stall;
	uint32_t insn;
	double cycles;
	double cost;
};

static struct wait longest_wait(const struct procedure_analysis *analysis)
{
	struct wait longest = {.insn = UINT32_MAX};

	for (uint32_t i = 0; i < analysis->cfg->insn_count; i++) {
		const struct schedule_insn *schedule = &analysis->schedule.insns[i];
		double frequency = analysis->frequency.blocks[analysis->cfg->block_of[i]].value;
		double took = analysis->culprits.insns[i].cpi;

		for (unsigned int k = 0; frequency > 0 && k < schedule->stall_count; k++) {
			const struct static_stall *stall = &schedule->stalls[k];
			double cycles = fmin(stall->cycles, took);

			if (cycles * frequency > longest.cost)
				longest = (struct wait){stall, i, cycles, cycles * frequency};
		}
	}
	return longest;
}

/*
 * Print the longest static stall if it costs more than the worst dynamic stall.
 *
 * Return: true if it was printed.
 */
static bool print_wait(FILE *stream, const struct calc_procedure *procedure, double worst_cost)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct wait wait = longest_wait(analysis);
	double samples = calc_procedure_samples(procedure);
	char text[CALC_TEXT_BYTES];

	if (wait.stall == NULL || !(wait.cost > worst_cost) || wait.cost < SHARE_MIN * samples ||
	    wait.cycles < CYCLES_MIN)
		return false;
	fprintf(stream, "By the code alone 0x%" PRIx64 " waits %.1f cycles each time",
		analysis->cfg->insns[wait.insn].address, wait.cycles);
	if (wait.stall->from < analysis->cfg->insn_count) {
		calc_procedure_text(procedure, wait.stall->from, text);
		fprintf(stream, " for 0x%" PRIx64 ", \"%s\"",
			analysis->cfg->insns[wait.stall->from].address, text);
	}
	fprintf(stream, " (%s): %.1f%% of the procedure's time.\n",
		calc_bubbles_stall(wait.stall->kind), 100 * fmin(wait.cost / samples, 1));
	return true;
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

static void print_stall(FILE *stream, const struct calc_procedure *procedure, uint32_t worst,
			const char *what)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct instruction_cpi *cpi = &analysis->culprits.insns[worst];
	const struct frequency_estimate *estimate =
		&analysis->frequency.blocks[analysis->cfg->block_of[worst]];
	bool is_range = estimate->confidence == FREQUENCY_LOW;
	double samples = calc_procedure_samples(procedure);
	char text[CALC_TEXT_BYTES];

	calc_procedure_text(procedure, worst, text);
	fprintf(stream, "%s is at 0x%" PRIx64 ", \"%s\": ", what,
		analysis->cfg->insns[worst].address, text);
	print_cycles(stream, cpi, is_range);
	fprintf(stream, ", %.1f%% of the procedure's time%s.\n",
		samples > 0 ? 100 * cpi->dynamic_cycles * estimate->value / samples : 0,
		is_range ? " (low confidence)" : "");
	print_causes(stream, procedure, cpi);
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

void calc_summary_text_print(FILE *stream, const struct calc_procedure *procedure)
{
	uint32_t worst = calc_summary_text_find(procedure->analysis);
	double cost = worst == UINT32_MAX ? 0 : calc_summary_text_cost(procedure->analysis, worst);
	bool waits = print_wait(stream, procedure, cost);

	if (worst != UINT32_MAX)
		print_stall(stream, procedure, worst,
			    waits ? "The worst stall beside that" : "The worst stall");
	else
		fprintf(stream,
			"No %sstall stands out of what the code itself takes and sampling leaves "
			"open.\n",
			waits ? "other " : "");
	print_fast_block(stream, procedure);
}
