/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs a command with one of several builds of a program, and records its result and its time. */
#ifndef DCPI_TRIAL_H
#define DCPI_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/content_digest.h"

struct error;

/* The argument of a command that stands for the program. */
#define TRIAL_PROGRAM "{}"

/**
 * struct trial - the result of a run
 * @status:  of the command, as of waitpid(2)
 * @timeout: the command was killed because it ran too long
 * @cpu_s:   user and system time of the command and the processes that it waited for
 * @elapsed_s: real time
 * @output, @errors: digests of its standard output and standard error
 */
struct trial {
	int status;
	bool timeout;
	double cpu_s;
	double elapsed_s;
	uint8_t output[CONTENT_DIGEST_BYTES];
	uint8_t errors[CONTENT_DIGEST_BYTES];
};

/**
 * struct trial_command - a command
 * @argv:      arguments; each that equals TRIAL_PROGRAM is replaced by the path of the program
 * @count:     of @argv, > 0
 * @name:      argv[0] of the program if it is the command itself, so that all builds print the
 *             same name
 * @timeout_s: real time after which the command is killed
 */
struct trial_command {
	char *const *argv;
	size_t count;
	const char *name;
	double timeout_s;
};

/** trial_names_program() - return true if an argument stands for the program */
bool trial_names_program(const struct trial_command *command);

/**
 * trial_run() - run a command, without standard input
 * @program: path of the build to run
 *
 * Return: 0, with any status of the command; -ENOMEM; -ENOENT, -EACCES, ...: it cannot be run.
 */
int trial_run(struct trial *ret, const struct trial_command *command, const char *program,
	      struct error *err);

/** trial_same() - return true if status and output of two runs are equal */
bool trial_same(const struct trial *a, const struct trial *b);

#endif
