// SPDX-License-Identifier: GPL-2.0-only
#include "tools/web/report_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/sandbox.h"
#include "tools/report/cli.h"

/* Read at most this in one step, so that other descriptors are served, too. */
#define CHUNK_BYTES 65536

enum {
	FILE_END,
	FILE_OUTPUT,
	FILE_ERRORS,
};

/* Runs in the new process. @pipes: its ends of stdout and stderr */
static void child_run(char *const command[], const int pipes[2], pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	setpgid(0, 0);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(pipes[0], STDOUT_FILENO) < 0 ||
	    dup2(pipes[1], STDERR_FILENO) < 0)
		_exit(CLI_FAILED);
	sandbox_close_from(STDERR_FILENO + 1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	/* If the server is killed, the kernel ends the report. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		execv(command[0], command);
	_exit(CLI_FAILED);
}

static void close_all(int *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (files[i] >= 0)
			close(files[i]);
		files[i] = -1;
	}
}

/* Make pipes, whose reading ends do not block. Return: 0 or -errno. */
static int make_pipes(int reading[2], int writing[2])
{
	for (size_t i = 0; i < 2; i++) {
		int ends[2];

		if (pipe2(ends, O_CLOEXEC) < 0)
			return -errno;
		reading[i] = ends[0];
		writing[i] = ends[1];
		if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
			return -errno;
	}
	return 0;
}

int report_process_start(struct report_process *process, char *const command[], size_t bytes_max,
			 uint64_t deadline_ns, struct error *err)
{
	int reading[2] = {-1, -1}, writing[2] = {-1, -1}, end = -1, errnum;
	pid_t parent = getpid(), pid = -1;

	if (make_pipes(reading, writing) == 0)
		pid = fork();
	if (pid == 0)
		child_run(command, writing, parent);
	errnum = errno;
	close_all(writing, 2);
	if (pid > 0) {
		setpgid(pid, pid);
		end = (int)syscall(SYS_pidfd_open, pid, 0);
		errnum = errno;
	}
	if (end < 0) {
		close_all(reading, 2);
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		errno = errnum;
		return error_set_errno(err, ERROR_PROCESS);
	}
	*process = (struct report_process){
		.pid = pid,
		.files = {end, reading[0], reading[1]},
		.bytes_max = bytes_max,
		.deadline_ns = deadline_ns,
	};
	return 0;
}

void report_process_poll(const struct report_process *process, struct pollfd *polls)
{
	for (size_t i = 0; i < REPORT_PROCESS_FILES; i++)
		polls[i] = (struct pollfd){.fd = process->files[i], .events = POLLIN};
}

/* Return: true if there may be more to read now. */
static bool read_output(struct report_process *process)
{
	size_t want = process->bytes + CHUNK_BYTES;
	ssize_t n;

	if (process->files[FILE_OUTPUT] < 0)
		return false;
	if (array_reserve(&process->output, &process->capacity, want, 1) < 0) {
		process->large = true;
		return false;
	}
	n = read(process->files[FILE_OUTPUT], process->output + process->bytes, CHUNK_BYTES);
	if (n > 0)
		process->bytes += (size_t)n;
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_all(&process->files[FILE_OUTPUT], 1);
	process->large |= process->bytes > process->bytes_max;
	return n > 0 && !process->large;
}

/* The rest of a long message is read and dropped. */
static void read_message(struct report_process *process)
{
	char chunk[REPORT_MESSAGE_BYTES];
	size_t room = sizeof(process->message) - 1 - process->message_bytes;
	ssize_t n;

	if (process->files[FILE_ERRORS] < 0)
		return;
	n = read(process->files[FILE_ERRORS], chunk, sizeof(chunk));
	if (n > 0) {
		size_t bytes = (size_t)n < room ? (size_t)n : room;

		memcpy(process->message + process->message_bytes, chunk, bytes);
		process->message_bytes += bytes;
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		close_all(&process->files[FILE_ERRORS], 1);
}

/* End the whole group: the report has a process in a sandbox, and may have one that draws. */
static void end_group(struct report_process *process, int *status)
{
	kill(-process->pid, SIGKILL);
	kill(process->pid, SIGKILL);
	while (waitpid(process->pid, status, 0) < 0 && errno == EINTR)
		;
	close_all(process->files, REPORT_PROCESS_FILES);
}

static enum report_end end_of(const struct report_process *process, int status)
{
	if (process->large)
		return REPORT_LARGE;
	if (process->late)
		return REPORT_LATE;
	if (!WIFEXITED(status))
		return REPORT_CRASHED;
	switch (WEXITSTATUS(status)) {
	case CLI_OK:
		return REPORT_OK;
	case CLI_NOTHING:
		return REPORT_NOTHING;
	case CLI_FAILED:
		return REPORT_REFUSED;
	}
	return REPORT_CRASHED;
}

bool report_process_advance(struct report_process *process, uint64_t now_ns, enum report_end *end)
{
	struct pollfd ended = {.fd = process->files[FILE_END], .events = POLLIN};
	bool exited = poll(&ended, 1, 0) == 1;
	int status = 0;

	read_output(process);
	read_message(process);
	process->late = !exited && now_ns >= process->deadline_ns;
	if (!exited && !process->late && !process->large)
		return false;
	/* The pipes have the output that it printed before its end. */
	while (exited && read_output(process))
		;
	if (exited)
		read_message(process);
	end_group(process, &status);
	*end = end_of(process, status);
	return true;
}

void report_process_kill(struct report_process *process)
{
	int status;

	end_group(process, &status);
	free(process->output);
	process->output = NULL;
}
