/* SPDX-License-Identifier: GPL-2.0-only */
/* A procedure that was analysed, and the parts common to its printed forms. */
#ifndef DCPI_CALC_PROCEDURE_H
#define DCPI_CALC_PROCEDURE_H

#include "analysis/image/image_code.h"
#include "analysis/image/procedure_names.h"
#include "analysis/procedure_analysis.h"

#define CALC_TEXT_BYTES (INSN_TEXT_BYTES + 128)

/**
 * struct calc_procedure - a procedure; all pointers are owned by the caller
 * @image, @names: fit for terminals
 * @mark:          after the name: profiler_class_mark()
 * @all_samples:   of time, in all images, which shares are of; 0: the procedure has no share
 */
struct calc_procedure {
	struct image_code *code;
	const struct procedure_analysis *analysis;
	const char *image;
	const struct procedure_names *names;
	const char *mark;
	double all_samples;
};

/**
 * struct calc_block - sums of a block
 * @samples:  of time
 * @best:     minimum cycles of an execution
 * @actual:   cycles of an execution; NaN if its frequency is unknown, or @too_fast
 * @too_fast: by the estimate, executions would have been faster than @best: samples of the block
 *            are on its neighbours, or it ran less often
 * @recorded: cycles of an execution in the processor's branch records, without those of callees;
 *            NaN: not recorded
 */
struct calc_block {
	double samples;
	double best;
	double actual;
	bool too_fast;
	double recorded;
};

struct calc_block calc_procedure_block(const struct calc_procedure *procedure, uint32_t block);

/** calc_procedure_samples() - return the samples of time in the whole procedure */
double calc_procedure_samples(const struct calc_procedure *procedure);

/**
 * calc_procedure_insn_text() - disassemble an instruction
 * @insn:  only @address, @bytes and @target are used
 * @local: its target is in the same procedure; other targets are followed by their name
 */
void calc_procedure_insn_text(struct image_code *code, const struct insn *insn, bool local,
			      char text[CALC_TEXT_BYTES]);

/**
 * calc_procedure_text() - disassemble an instruction
 *
 * Targets outside the procedure are followed by their name: "call 0x1180 <malloc>".
 */
void calc_procedure_text(const struct calc_procedure *procedure, uint32_t insn,
			 char text[CALC_TEXT_BYTES]);

/**
 * calc_procedure_executions() - convert an estimate to executions in the profiled period
 * @low, @high: out: including the uncertainty of the period
 *
 * Return: NaN if the estimate is unknown; then so are @low and @high.
 */
double calc_procedure_executions(const struct calc_procedure *procedure,
				 const struct frequency_estimate *estimate, double *low,
				 double *high);

/** calc_confidence_name() - return "low", "medium" or "high" */
const char *calc_confidence_name(enum frequency_confidence confidence);

/**
 * calc_estimate_confidence() - return the confidence in an estimate's proportion to the other
 * estimates of the procedure; "exact" for exact counts
 */
const char *calc_estimate_confidence(const struct frequency_estimate *estimate);

/** calc_count_confidence() - return the confidence in the estimate as an absolute count */
const char *calc_count_confidence(const struct frequency_estimate *estimate);

/** calc_procedure_names() - same as procedure_names_make(), but with names fit for terminals */
int calc_procedure_names(struct procedure_names *ret, const struct image_code *code, size_t index,
			 bool demangle_names);

#endif
