/* SPDX-License-Identifier: GPL-2.0-only */
/* A procedure that was analysed, and what its printed forms have in common. */
#ifndef DCPI_CALC_PROCEDURE_H
#define DCPI_CALC_PROCEDURE_H

#include "analysis/image/image_code.h"
#include "analysis/image/procedure_names.h"
#include "analysis/procedure_analysis.h"

#define CALC_TEXT_BYTES (INSN_TEXT_BYTES + 128)

/**
 * struct calc_procedure - a procedure; all pointers are the caller's
 * @image, @names: fit for terminals
 * @all_samples:  of time, in all images
 */
struct calc_procedure {
	struct image_code *code;
	const struct procedure_analysis *analysis;
	const char *image;
	const struct procedure_names *names;
	double all_samples;
};

/**
 * struct calc_block - sums of a block
 * @samples: of time
 * @best:    cycles that an execution takes at least
 * @actual:  cycles that an execution takes; NaN if it is not known how often it ran, or @too_fast
 * @too_fast: executions by the estimate would have been faster than @best: samples of the block
 *           are on its neighbours, or it ran less often
 */
struct calc_block {
	double samples;
	double best;
	double actual;
	bool too_fast;
};

struct calc_block calc_procedure_block(const struct calc_procedure *procedure, uint32_t block);

/** calc_procedure_samples() - of time, in the whole procedure. */
double calc_procedure_samples(const struct calc_procedure *procedure);

/**
 * calc_procedure_insn_text() - an instruction as the assembler has it
 * @insn:  @address, @bytes and @target are looked at
 * @local: its target is in the same procedure; others are followed by their name
 */
void calc_procedure_insn_text(struct image_code *code, const struct insn *insn, bool local,
			      char text[CALC_TEXT_BYTES]);

/**
 * calc_procedure_text() - an instruction as the assembler has it
 *
 * Targets outside of the procedure are followed by their name: "call 0x1180 <malloc>".
 */
void calc_procedure_text(const struct calc_procedure *procedure, uint32_t insn,
			 char text[CALC_TEXT_BYTES]);

/**
 * calc_procedure_executions() - an estimate as executions in the profiled period
 * @low, @high: out: with the uncertainty of the period
 *
 * Return: NaN if nothing is known; then so are @low and @high.
 */
double calc_procedure_executions(const struct calc_procedure *procedure,
				 const struct frequency_estimate *estimate, double *low,
				 double *high);

/** calc_confidence_name() - "low", "medium", "high". */
const char *calc_confidence_name(enum frequency_confidence confidence);

/** calc_estimate_confidence() - the same of an estimate; of counts "exact". */
const char *calc_estimate_confidence(const struct frequency_estimate *estimate);

/** calc_procedure_names() - as procedure_names_make(), and fit for terminals. */
int calc_procedure_names(struct procedure_names *ret, const struct image_code *code, size_t index,
			 bool demangle_names);

#endif
