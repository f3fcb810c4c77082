// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/calc_procedure.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/demangle.h"
#include "lib/cleanup.h"
#include "lib/printable.h"
#include "tools/base/text.h"

/* Relative rounding error of sums of cycles. */
#define TOLERANCE 1e-6

/*
 * Return true if a block appears to run faster than its best case. This is possible in estimates
 * for out-of-order machines, because some of a block's samples may be on its neighbours.
 */
static bool is_too_fast(const struct procedure_analysis *analysis, uint32_t block,
			const struct calc_block *sums)
{
	return !analysis->model->in_order && !analysis->published &&
	       analysis->frequency.blocks[block].origin != FREQUENCY_EXACT &&
	       sums->actual < sums->best * (1 - TOLERANCE);
}

struct calc_block calc_procedure_block(const struct calc_procedure *procedure, uint32_t block)
{
	const struct procedure_analysis *analysis = procedure->analysis;
	const struct cfg_block *place = &analysis->cfg->blocks[block];
	const struct branch_records *records = analysis->profile.records;
	struct calc_block sums = {
		.best = analysis->schedule.block_cycles[block],
		.recorded = records != NULL && records->blocks[block].cycles > 0
				    ? records->blocks[block].cycles
				    : NAN,
	};

	for (uint32_t i = place->first; i < place->first + place->count; i++) {
		sums.samples += analysis->profile.samples[i];
		sums.actual += analysis->culprits.insns[i].cpi;
	}
	sums.too_fast = is_too_fast(analysis, block, &sums);
	if (sums.too_fast)
		sums.actual = NAN;
	return sums;
}

double calc_procedure_samples(const struct calc_procedure *procedure)
{
	return procedure->analysis->profile.total + procedure->analysis->profile.unmatched;
}

/* Append " <malloc>", " <memcpy+0x20>", or nothing. */
static void append_target(struct image_code *code, const struct insn *insn, char *text)
{
	const struct procedure_table *table = image_code_procedures(code);
	size_t length = strlen(text);
	const struct procedure *target;
	_cleanup_free_ char *clean = NULL;
	uint64_t offset;
	long index;

	if (insn->target == 0 || image_code_offset(code, insn->target, &offset) < 0)
		return;
	index = procedure_table_find(table, offset);
	if (index < 0)
		return;
	target = procedure_table_get(table, (size_t)index);
	clean = text_clean(target->name);
	if (clean == NULL)
		return;
	if (offset == target->offset)
		snprintf(text + length, CALC_TEXT_BYTES - length, " <%.90s>", clean);
	else
		snprintf(text + length, CALC_TEXT_BYTES - length, " <%.90s+0x%" PRIx64 ">", clean,
			 offset - target->offset);
}

void calc_procedure_insn_text(struct image_code *code, const struct insn *insn, bool local,
			      char text[CALC_TEXT_BYTES])
{
	char assembler[INSN_TEXT_BYTES] = "?";
	const uint8_t *bytes;
	size_t available = 0;

	bytes = image_code_bytes(code, insn->address, &available);
	if (bytes != NULL && available >= insn->bytes)
		image_code_decoder(code)->format(assembler, bytes, insn->bytes, insn->address);
	snprintf(text, CALC_TEXT_BYTES, "%s", assembler);
	if (!local)
		append_target(code, insn, text);
}

void calc_procedure_text(const struct calc_procedure *procedure, uint32_t insn,
			 char text[CALC_TEXT_BYTES])
{
	const struct cfg *cfg = procedure->analysis->cfg;
	const struct insn *place = &cfg->insns[insn];

	calc_procedure_insn_text(procedure->code, place, cfg_find_insn(cfg, place->target) >= 0,
				 text);
}

double calc_procedure_executions(const struct calc_procedure *procedure,
				 const struct frequency_estimate *estimate, double *low,
				 double *high)
{
	const struct procedure_profile *profile = &procedure->analysis->profile;
	double error = fmin(profile->period_error, 1);

	if (estimate->origin == FREQUENCY_NONE) {
		*low = *high = NAN;
		return NAN;
	}
	/*
	 * Exact counts and measured rates do not depend on the period, unless the scale of the
	 * counts was estimated, which has its error.
	 */
	if ((estimate->origin == FREQUENCY_EXACT && estimate->low == estimate->high) ||
	    estimate->measured)
		error = 0;
	*low = estimate->low * profile->period_cycles * (1 - error);
	*high = estimate->high * profile->period_cycles * (1 + error);
	return estimate->value * profile->period_cycles;
}

const char *calc_confidence_name(enum frequency_confidence confidence)
{
	static const char *const names[] = {
		[FREQUENCY_LOW] = "low",
		[FREQUENCY_MEDIUM] = "medium",
		[FREQUENCY_HIGH] = "high",
	};

	return names[confidence];
}

const char *calc_estimate_confidence(const struct frequency_estimate *estimate)
{
	return estimate->origin == FREQUENCY_EXACT ? "exact"
						   : calc_confidence_name(estimate->confidence);
}

const char *calc_count_confidence(const struct frequency_estimate *estimate)
{
	if (estimate->origin == FREQUENCY_EXACT && estimate->low == estimate->high)
		return "exact";
	return calc_confidence_name(frequency_scale_confidence(estimate->low, estimate->high));
}

int calc_procedure_names(struct procedure_names *ret, const struct image_code *code, size_t index,
			 bool demangle_names)
{
	int r = procedure_names_make(ret, image_code_procedures(code), index, demangle_names);

	if (r < 0)
		return r;
	printable_make(ret->name);
	printable_make(ret->note);
	printable_make(ret->list);
	for (size_t i = 0; i < ret->alias_count; i++)
		printable_make(ret->aliases[i]);
	return 0;
}
