/* SPDX-License-Identifier: GPL-2.0-only */
/* dcpiopt check and measure: run the original and the optimised copy. */
#ifndef DCPI_OPT_MEASURE_H
#define DCPI_OPT_MEASURE_H

#include "tools/opt/trial.h"

struct cli;

/* struct trial_command.timeout_s of the original; copies may take OPT_TIMEOUT_FACTOR as long. */
#define OPT_TIMEOUT_S 3600.0
#define OPT_TIMEOUT_FACTOR 10.0
#define OPT_TIMEOUT_LEAST_S 60.0

#define OPT_PAIRS_DEFAULT 10
#define OPT_PAIRS_MIN 3
#define OPT_PAIRS_MAX 10000

/**
 * opt_check() - test that the copy behaves as the original
 * @folder: of opt_prepare()
 * @argv:   command with TRIAL_PROGRAM; @count 0: "{} --version"
 *
 * Both run with the command, and must have the same status and output. The result is stored.
 *
 * Return: the status to exit with; CLI_NOTHING: they differ.
 */
int opt_check(struct cli *cli, const char *folder, char *const *argv, size_t count);

/**
 * opt_measure() - measure the CPU time that the copy saves
 * @pairs: number of pairs of runs, OPT_PAIRS_MIN .. OPT_PAIRS_MAX
 *
 * The original and the copy run alternately, and the order changes with each pair. The result is an
 * interval of the mean of the pairs' ratios, by the statistics of dcpistats. A run whose result
 * differs from the original's ends the measurement.
 *
 * Return: the status to exit with; CLI_NOTHING: no gain is shown.
 */
int opt_measure(struct cli *cli, const char *folder, char *const *argv, size_t count,
		unsigned int pairs);

#endif
