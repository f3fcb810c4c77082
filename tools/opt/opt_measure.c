// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/opt_measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analysis/statistics/significance.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/opt/opt_folder.h"
#include "tools/report/cli.h"

/* Shorter runs consist of starting the program and of the resolution of the kernel's accounting. */
#define CPU_LEAST_S 0.02

/* struct subject - a folder's original and copy, and the command that runs them */
struct subject {
	const char *folder;
	struct opt_state state;
	char copy[PATH_MAX];
	struct trial_command command;
	struct trial reference; /* the first run of the original */
};

static char version_argument[] = "--version", program_argument[] = TRIAL_PROGRAM;
static char *const version_command[] = {program_argument, version_argument};

static void trial_print(const char *who, const struct trial *trial)
{
	if (trial->timeout)
		printf("%s: killed after %.0f s\n", who, trial->elapsed_s);
	else if (WIFSIGNALED(trial->status))
		printf("%s: ended by signal %d\n", who, WTERMSIG(trial->status));
	else
		printf("%s: exit status %d\n", who, WEXITSTATUS(trial->status));
}

static int subject_load(struct subject *subject, struct error *err)
{
	int r = opt_folder_load(&subject->state, subject->folder, err);

	if (r == 0)
		r = opt_folder_verify(subject->copy, &subject->state, subject->folder, err);
	if (r == 0 && !trial_names_program(&subject->command))
		r = error_set(err, EINVAL, "the command has no argument '%s' for the program",
			      TRIAL_PROGRAM);
	subject->command.name = subject->state.original;
	subject->command.timeout_s = OPT_TIMEOUT_S;
	return r;
}

/*
 * Run the original twice: the copy must have the same result.
 * Return: 0; -EBADMSG: its runs differ, so that no other program can be compared.
 */
static int run_reference(struct subject *subject, struct error *err)
{
	struct trial again;
	double limit;
	int r = trial_run(&subject->reference, &subject->command, subject->state.original, err);

	if (r == 0)
		r = trial_run(&again, &subject->command, subject->state.original, err);
	if (r < 0)
		return r;
	if (subject->reference.timeout || !trial_same(&subject->reference, &again))
		return error_set(err, EBADMSG,
				 "two runs of '%s' differ: use a command with the same output and "
				 "status each time",
				 subject->state.original);
	limit = OPT_TIMEOUT_FACTOR * fmax(subject->reference.elapsed_s, again.elapsed_s);
	subject->command.timeout_s = fmax(limit, OPT_TIMEOUT_LEAST_S);
	return 0;
}

/* Run the copy. Return: 0; 1: it differs from the original, and the difference is printed; -errno.
 */
static int run_copy(const struct subject *subject, struct trial *ret, struct error *err)
{
	int r = trial_run(ret, &subject->command, subject->copy, err);

	if (r < 0 || trial_same(ret, &subject->reference))
		return r;
	printf("the copy differs from the original:\n");
	trial_print("original", &subject->reference);
	trial_print("copy", ret);
	if (ret->status == subject->reference.status && !ret->timeout)
		printf("their output differs\n");
	return 1;
}

static int subject_store(struct subject *subject, bool passed, struct error *err)
{
	subject->state.checked = passed;
	if (!passed)
		subject->state.pairs = 0;
	return opt_folder_store(&subject->state, subject->folder, err);
}

int opt_check(struct cli *cli, const char *folder, char *const *argv, size_t count)
{
	struct subject subject = {
		.folder = folder,
		.command = {.argv = count > 0 ? argv : version_command,
			    .count = count > 0 ? count : 2},
	};
	struct trial trial;
	struct error err;
	int differs = 0, r = subject_load(&subject, &err);

	if (r == 0)
		r = run_reference(&subject, &err);
	if (r == 0)
		differs = r = run_copy(&subject, &trial, &err);
	if (r >= 0)
		r = subject_store(&subject, differs == 0, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	if (differs == 0)
		printf("%s: passed: status and output are the original's\n", subject.copy);
	return differs != 0 ? CLI_NOTHING : CLI_OK;
}

/* Run both once. Return: as run_copy(). */
static int run_pair(struct subject *subject, unsigned int pair, double *ratio, double *cpu_s,
		    struct error *err)
{
	struct trial original, copy;
	int r = 0;

	if (pair % 2 == 1)
		r = run_copy(subject, &copy, err);
	if (r == 0)
		r = trial_run(&original, &subject->command, subject->state.original, err);
	if (r == 0 && pair % 2 == 0)
		r = run_copy(subject, &copy, err);
	if (r != 0)
		return r;
	if (!trial_same(&original, &subject->reference))
		return error_set(err, EBADMSG, "runs of '%s' differ", subject->state.original);
	*cpu_s += original.cpu_s;
	*ratio = original.cpu_s > 0 ? copy.cpu_s / original.cpu_s : NAN;
	return 0;
}

/* Set the 95% interval of the mean ratio, as dcpistats does for the samples of sets. */
static int find_interval(struct opt_state *state, const double *ratios, size_t pairs,
			 struct error *err)
{
	const struct significance_config config = {
		.sets = pairs, .norm = SIGNIFICANCE_COUNTS, .level = 0.05};
	_cleanup_free_ struct significance_cell *cells = calloc(pairs, sizeof(*cells));
	_cleanup_(significance_deinit) struct significance result = {0};
	int r;

	if (cells == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (size_t i = 0; i < pairs; i++)
		cells[i] = (struct significance_cell){.samples = ratios[i], .value = ratios[i]};
	r = significance_find(&result, &config, cells, 1, err);
	if (r < 0)
		return r;
	state->gain_low = 100 * (1 - result.rows[0].mean - result.rows[0].half);
	state->gain_high = 100 * (1 - result.rows[0].mean + result.rows[0].half);
	return 0;
}

/* Return: the status to exit with. */
static int measure_report(const struct subject *subject, double cpu_s)
{
	const struct opt_state *state = &subject->state;

	printf("CPU time of '%s': %.3f s a run\n", state->original, cpu_s / state->pairs);
	printf("CPU time that the copy saves: %.1f%% to %.1f%% (95%%, %u pairs of runs)\n",
	       state->gain_low, state->gain_high, state->pairs);
	if (state->gain_low > 0) {
		printf("next: dcpiopt install %s\n", subject->folder);
		return CLI_OK;
	}
	if (state->gain_high < 0)
		printf("not worth it: the copy is slower\n");
	else
		printf("not worth it: no gain is shown; more pairs narrow the interval "
		       "(--pairs)\n");
	return CLI_NOTHING;
}

static int run_pairs(struct subject *subject, unsigned int pairs, double *cpu_s, struct error *err)
{
	_cleanup_free_ double *ratios = calloc(pairs, sizeof(*ratios));
	int r = 0;

	if (ratios == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	for (unsigned int i = 0; r == 0 && i < pairs; i++)
		r = run_pair(subject, i, &ratios[i], cpu_s, err);
	if (r != 0)
		return r;
	if (*cpu_s / pairs < CPU_LEAST_S)
		return error_set(err, ERANGE,
				 "the command uses %.3f s of CPU time: it must use %.2f s or more",
				 *cpu_s / pairs, CPU_LEAST_S);
	subject->state.pairs = pairs;
	return find_interval(&subject->state, ratios, pairs, err);
}

int opt_measure(struct cli *cli, const char *folder, char *const *argv, size_t count,
		unsigned int pairs)
{
	struct subject subject = {.folder = folder, .command = {.argv = argv, .count = count}};
	struct error err;
	double cpu_s = 0;
	int differs, r = subject_load(&subject, &err);

	if (r == 0)
		r = run_reference(&subject, &err);
	if (r == 0)
		r = run_pairs(&subject, pairs, &cpu_s, &err);
	differs = r;
	if (r >= 0)
		r = subject_store(&subject, differs == 0, &err);
	if (r < 0)
		return cli_fail(cli, &err);
	return differs != 0 ? CLI_NOTHING : measure_report(&subject, cpu_s);
}
