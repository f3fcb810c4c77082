// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"

bool trial_names_program(const struct trial_command *command)
{
	for (size_t i = 0; i < command->count; i++) {
		if (strcmp(command->argv[i], TRIAL_PROGRAM) == 0)
			return true;
	}
	return false;
}

/* Return: arguments for execv(3), malloc'd; NULL if out of memory. */
static char **trial_arguments(const struct trial_command *command, const char *program)
{
	char **argv = calloc(command->count + 1, sizeof(*argv));

	for (size_t i = 0; argv != NULL && i < command->count; i++) {
		argv[i] = command->argv[i];
		if (strcmp(argv[i], TRIAL_PROGRAM) == 0)
			argv[i] = (char *)(uintptr_t)(i == 0 ? command->name : program);
	}
	return argv;
}

/* In the child; @report: a pipe that takes errno if the command cannot be run. */
static _Noreturn void trial_exec(const struct trial_command *command, char **argv,
				 const char *program, const int outputs[2], int report)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), failure;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(outputs[0], STDOUT_FILENO) >= 0 &&
	    dup2(outputs[1], STDERR_FILENO) >= 0) {
		if (strcmp(command->argv[0], TRIAL_PROGRAM) == 0)
			execv(program, argv);
		else
			execvp(argv[0], argv);
	}
	failure = errno;
	if (write(report, &failure, sizeof(failure)) < 0)
		_exit(126);
	_exit(127);
}

/* Kill the child if it is still running when its time is over. */
static void trial_limit(struct trial *trial, pid_t child, double timeout_s)
{
	_cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, child, 0);
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	uint64_t end = clock_monotonic_ns() + (uint64_t)(timeout_s * NS_PER_SECOND);

	while (fd >= 0) {
		uint64_t now = clock_monotonic_ns();
		uint64_t left_ms = now < end ? (end - now) / NS_PER_MS + 1 : 0;
		int r = poll(&wait, 1, left_ms < 1000000 ? (int)left_ms : 1000000);

		if (r > 0 || (r < 0 && errno != EINTR))
			return;
		if (r == 0 && clock_monotonic_ns() >= end) {
			trial->timeout = true;
			kill(child, SIGKILL);
			return;
		}
	}
}

static double seconds(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static int trial_wait(struct trial *trial, pid_t child, const struct trial_command *command)
{
	struct rusage usage;

	trial_limit(trial, child, command->timeout_s);
	while (wait4(child, &trial->status, 0, &usage) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	trial->cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
	return 0;
}

/* Return: 0 or -errno; that of the exec, if the child reports one. */
static int trial_start(struct trial *trial, const struct trial_command *command, char **argv,
		       const char *program, const int outputs[2])
{
	_cleanup_close_ int reader = -1;
	int ends[2], failure = 0, r;
	uint64_t start;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	reader = ends[0];
	start = clock_monotonic_ns();
	child = fork();
	if (child == 0)
		trial_exec(command, argv, program, outputs, ends[1]);
	r = -errno;
	close(ends[1]);
	if (child < 0)
		return r;
	r = trial_wait(trial, child, command);
	trial->elapsed_s = (double)(clock_monotonic_ns() - start) / NS_PER_SECOND;
	if (r == 0 && read(reader, &failure, sizeof(failure)) == (ssize_t)sizeof(failure))
		return -failure;
	return r;
}

static int trial_digest(uint8_t digest[CONTENT_DIGEST_BYTES], FILE *file)
{
	struct stat status;

	if (fstat(fileno(file), &status) < 0)
		return -errno;
	return content_digest(digest, fileno(file), (uint64_t)status.st_size, NULL, NULL);
}

int trial_run(struct trial *ret, const struct trial_command *command, const char *program,
	      struct error *err)
{
	_cleanup_file_ FILE *output = tmpfile(), *errors = tmpfile();
	_cleanup_free_ char **argv = trial_arguments(command, program);
	const char *name;
	int r;

	if (output == NULL || errors == NULL)
		return error_set_errno(err, "cannot create a temporary file");
	if (argv == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	name = strcmp(command->argv[0], TRIAL_PROGRAM) == 0 ? program : command->argv[0];
	*ret = (struct trial){.status = 0};
	r = trial_start(ret, command, argv, program,
			(const int[2]){fileno(output), fileno(errors)});
	if (r == 0)
		r = trial_digest(ret->output, output);
	if (r == 0)
		r = trial_digest(ret->errors, errors);
	return r < 0 ? error_set(err, -r, ERROR_RUN ": %s", name, strerror(-r)) : 0;
}

bool trial_same(const struct trial *a, const struct trial *b)
{
	return a->status == b->status && a->timeout == b->timeout &&
	       memcmp(a->output, b->output, sizeof(a->output)) == 0 &&
	       memcmp(a->errors, b->errors, sizeof(a->errors)) == 0;
}
