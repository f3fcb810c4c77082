/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results of the simulator as text; truth_file.h reads them:
 *
 *	sim TARGET MACHINE exact|racy
 *	cpu MODEL
 *	set NAME VALUE			numbers that were changed
 *	totals INSTRUCTIONS CYCLES
 *	causes NAME...			enum sim_cause, in order
 *	events NAME...			enum sim_event
 *	sampler PERIOD_MIN PERIOD_MAX SEED SAMPLES	one line each, 0, 1, ...
 *	image PATH
 *	i OFFSET ADDRESS EXECUTED CYCLES... EVENTS...
 *	s SAMPLES...
 *	k SAMPLES...
 *
 * After an image follow its executed instructions, sorted by offset in the file (file offset and
 * ELF virtual address hexadecimal, the rest decimal). Each line i gives exact executions, exact
 * cycles at the head of the issue queue by cause, and exact events. If the instruction was ever
 * sampled, the lines s and k follow, with its samples of each sampler. Line s has the samples as
 * taken, line k one instruction late (the sample is credited to the next executed instruction).
 *
 * The period of a sampler with a budget is its average period.
 *
 * "racy": there was a second thread, which was not simulated.
 */
#ifndef DCPI_TESTS_SIM_REPORT_H
#define DCPI_TESTS_SIM_REPORT_H

#include <stdio.h>

#include "tests/eval/truth/sim_pipeline.h"

/** struct sim_setting - a number that was changed, with the value as text. */
struct sim_setting {
	const char *name;
	const char *value;
};

/** struct sim_report - @insns: of all images, in any order; sim_report_write() sorts them. */
struct sim_report {
	const char *target;
	bool racy;
	const struct sim_pipeline *pipeline;
	const struct sim_setting *settings;
	size_t setting_count;
	struct sim_insn **insns;
	size_t count;
};

/** sim_report_write() - Return: 0 or -EIO. */
int sim_report_write(FILE *file, const struct sim_report *report);

#endif
