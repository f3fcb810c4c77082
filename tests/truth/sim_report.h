/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the simulator found, as text; read by truth_file.h:
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
 * Behind an image come its instructions that were executed, by offset in the file (file
 * offset and ELF virtual address hexadecimal, the rest decimal); each line i gives exact
 * executions, exact cycles at the head of the issue queue by cause, and exact events. The
 * lines s and k that follow, if it was ever sampled, give its samples of each sampler:
 * as they were, and one instruction late (the sample falls on the next one executed).
 *
 * The period of a sampler with a budget is what it was on average.
 *
 * "racy": there was a second thread, which was not simulated.
 */
#ifndef DCPI_TESTS_SIM_REPORT_H
#define DCPI_TESTS_SIM_REPORT_H

#include <stdio.h>

#include "tests/truth/sim_pipeline.h"

/** struct sim_setting - a changed number, as it was given. */
struct sim_setting {
	const char *name;
	const char *value;
};

/** struct sim_report - @insns: of all images, in any order; gets sorted. */
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
