// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/sandboxed.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/array.h"
#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/parse_guard.h"
#include "lib/sandbox.h"

/* Maximum number of restarts; each restart excludes one more file. */
#define RESTARTS_MAX 16
#define HELD_BYTES_MAX (1 << 20)
/* Parsing the largest debug files of distributions (some GiB) takes a fifth of this. */
#define PARSE_SECONDS 60
/* Reports keep images open for several passes over them (tools/annotate/open_images.h). */
#define DESCRIPTORS_MAX 4096
/* The lowest number after the standard streams, so that one call closes all other descriptors. */
#define BROKER_FD (STDERR_FILENO + 1)

/* struct runner - state of the process that the user started, which runs the report */
struct runner {
	const struct cli *cli;
	const struct sandboxed_options *options;
	struct file_broker *broker;
	struct sandbox_limits limits;
	pid_t child;
	int socket;
	int output; /* pipe from the report; -1: closed, or the report has the terminal */
	char *held; /* output that has not been passed on yet */
	size_t held_bytes;
	size_t held_capacity;
	int read_error; /* errno of a failed read of @output; 0: none */
	bool printed;	/* some output was passed on */
	bool failed;	/* parsing of @failed_path failed, for @failed_reason */
	char failed_path[BROKER_DATA_MAX];
	char failed_reason[160];
	unsigned int restarts;
	bool warned;
};

static volatile sig_atomic_t report_pid;

static void forward_signal(int number)
{
	if (report_pid > 0)
		kill(report_pid, number);
}

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/* Forward signals to a report with a screen, which restores the terminal before it ends. */
static void forward_signals(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(forwarded) / sizeof(*forwarded); i++)
		sigaction(forwarded[i], &action, NULL);
}

static void warn(const struct runner *runner, const struct error *err)
{
	struct error warning;

	error_set(&warning, err->errnum, "warning: %s; files are parsed without a sandbox",
		  err->message);
	cli_fail(runner->cli, &warning);
}

/* Raise the limit on descriptors, as far as the user may; sandbox_enter() fixes it. */
static void allow_descriptors(unsigned int count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= count)
		return;
	limit.rlim_cur = limit.rlim_max < count ? limit.rlim_max : count;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* Runs in the report's process. @socket: its end of the connection. @output: NULL: the terminal */
static void sandboxed_enter(struct runner *runner, int socket, const int *output, pid_t parent)
{
	struct error err;

	if (runner->options->screen != NULL)
		forward_signals(SIG_DFL);
	if (output != NULL && dup2(*output, STDOUT_FILENO) < 0)
		_exit(CLI_FAILED);
	if (socket != BROKER_FD && dup2(socket, BROKER_FD) < 0)
		_exit(CLI_FAILED);
	sandbox_close_from(BROKER_FD + 1);
	broker_attach(BROKER_FD);
	allow_descriptors(runner->limits.files);
	if (sandbox_enter(&runner->limits, &err) < 0 && !runner->warned)
		warn(runner, &err);
	if (getppid() != parent)
		_exit(CLI_FAILED);
	parse_guard_start(PARSE_SECONDS);
}

/* Return: 1 in the report's process; 0 in the other, if the report runs; -errno. */
static int sandboxed_fork(struct runner *runner, struct error *err)
{
	bool piped = runner->options->screen == NULL;
	int ends[2] = {-1, -1}, output[2] = {-1, -1};
	pid_t parent = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return error_set_errno(err, "cannot connect to a process");
	if (piped && pipe2(output, O_CLOEXEC) < 0) {
		close(ends[0]);
		close(ends[1]);
		return error_set_errno(err, "cannot make a pipe");
	}
	runner->child = fork();
	if (runner->child == 0) {
		sandboxed_enter(runner, ends[1], piped ? &output[1] : NULL, parent);
		return 1;
	}
	close(ends[1]);
	if (piped)
		close(output[1]);
	if (runner->child < 0) {
		int r = error_set_errno(err, ERROR_PROCESS);

		close(ends[0]);
		if (piped)
			close(output[0]);
		return r;
	}
	report_pid = runner->child;
	runner->socket = ends[0];
	runner->output = output[0];
	runner->warned = true;
	return 0;
}

static int write_all(const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = write(STDOUT_FILENO, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		data += n;
		bytes -= (size_t)n;
	}
	return 0;
}

/* End both processes because the output cannot be passed on. */
static void runner_fail(const struct runner *runner, const char *what, int errnum)
{
	struct error err;

	if (report_pid > 0)
		kill(report_pid, SIGKILL);
	error_set(&err, errnum, "cannot %s the output: %s", what, strerror(errnum));
	_exit(cli_fail(runner->cli, &err));
}

static void runner_print(struct runner *runner, const char *data, size_t bytes)
{
	int r = write_all(data, bytes);

	runner->printed |= bytes > 0;
	if (r < 0)
		runner_fail(runner, "write", -r);
}

static void print_held(struct runner *runner)
{
	runner_print(runner, runner->held, runner->held_bytes);
	runner->held_bytes = 0;
}

/* If memory cannot be allocated, output is passed on at once. */
static void take_output(struct runner *runner)
{
	static char chunk[65536];
	size_t want = runner->held_bytes + sizeof(chunk);
	ssize_t n = read(runner->output, chunk, sizeof(chunk));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		runner->read_error = n < 0 ? errno : 0;
		close(runner->output);
		runner->output = -1;
		return;
	}
	if (runner->printed || runner->options->live || want > HELD_BYTES_MAX ||
	    array_reserve(&runner->held, &runner->held_capacity, want, 1) < 0) {
		print_held(runner);
		runner_print(runner, chunk, (size_t)n);
		return;
	}
	memcpy(runner->held + runner->held_bytes, chunk, (size_t)n);
	runner->held_bytes += (size_t)n;
}

/* Record the first failure only: others may result from it. */
static void take_failure(struct runner *runner, const struct broker_packet *packet)
{
	const char *path = broker_packet_text(packet);
	int detail = packet->message.flags;

	if (path == NULL || runner->failed)
		return;
	runner->failed = true;
	strcpy(runner->failed_path, path);
	switch (packet->message.kind) {
	case PARSE_FAILURE_TIME:
		snprintf(runner->failed_reason, sizeof(runner->failed_reason),
			 "parsing takes more than %d s", detail);
		break;
	case PARSE_FAILURE_MEMORY:
		snprintf(runner->failed_reason, sizeof(runner->failed_reason),
			 "parsing needs more memory than available (limit: %llu MiB)",
			 (unsigned long long)runner->limits.memory_bytes >> 20);
		break;
	default:
		snprintf(runner->failed_reason, sizeof(runner->failed_reason),
			 detail == SIGXCPU ? ERROR_PARSE_TIME : ERROR_PARSE_CRASHED, detail);
	}
}

static void take_request(struct runner *runner)
{
	struct broker_packet packet;
	int r = broker_receive(runner->socket, &packet);

	if (r == 1 && packet.message.operation == BROKER_FAILED) {
		take_failure(runner, &packet);
	} else if (r == 1) {
		file_broker_serve(runner->broker, &packet);
		r = broker_send(runner->socket, &packet) < 0 ? 0 : 1;
	}
	if (r == 1) {
		broker_packet_close(&packet);
		return;
	}
	close(runner->socket);
	runner->socket = -1;
}

/* Serve the report until it ends. Return: its status, as of waitpid(). */
static int serve(struct runner *runner)
{
	int status = 0;

	while (runner->socket >= 0 || runner->output >= 0) {
		struct pollfd files[2] = {{.fd = runner->socket, .events = POLLIN},
					  {.fd = runner->output, .events = POLLIN}};

		if (poll(files, 2, -1) < 0) {
			if (errno != EINTR)
				runner_fail(runner, "wait for", errno);
			continue;
		}
		if (files[0].revents != 0)
			take_request(runner);
		if (files[1].revents != 0)
			take_output(runner);
	}
	while (waitpid(runner->child, &status, 0) < 0 && errno == EINTR)
		;
	report_pid = 0;
	return status;
}

static bool crashed(int status)
{
	return WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE && WTERMSIG(status) != SIGKILL &&
	       WTERMSIG(status) != SIGTERM && WTERMSIG(status) != SIGINT &&
	       WTERMSIG(status) != SIGHUP && WTERMSIG(status) != SIGQUIT;
}

/* Return: true if the report must be restarted without the file at which it failed. */
static bool skip_failed_file(struct runner *runner, int status)
{
	struct error err;

	if (!runner->failed || (!crashed(status) && WEXITSTATUS(status) != CLI_FAILED) ||
	    runner->printed || runner->restarts >= RESTARTS_MAX ||
	    file_broker_refuse(runner->broker, runner->failed_path, runner->failed_reason) < 0)
		return false;
	error_set(&err, EIO, "skipped: '%s': %s", runner->failed_path, runner->failed_reason);
	cli_fail(runner->cli, &err);
	file_broker_forget_owners(runner->broker);
	runner->restarts++;
	runner->failed = false;
	runner->held_bytes = 0;
	runner->read_error = 0;
	return true;
}

static void end_like(int number)
{
	signal(number, SIG_DFL);
	raise(number);
	_exit(128 + number);
}

/* End with the status of the report, which is not restarted. */
static void sandboxed_finish(struct runner *runner, int status)
{
	struct error err;

	print_held(runner);
	/* A report that failed has printed the reason itself. */
	if (runner->read_error != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) != 0))
		runner_fail(runner, "read", runner->read_error);
	if (WIFEXITED(status) && !runner->failed)
		_exit(WEXITSTATUS(status));
	if (!runner->failed && !crashed(status))
		end_like(WTERMSIG(status));
	if (runner->failed)
		error_set(&err, EIO, ERROR_READ ": %s", runner->failed_path, runner->failed_reason);
	else
		error_set(&err, EIO, "the report crashed (signal %d)", WTERMSIG(status));
	_exit(cli_fail(runner->cli, &err));
}

static int sandboxed_run(struct runner *runner, struct error *err)
{
	int r = sandboxed_fork(runner, err);

	while (r == 0) {
		int status = serve(runner);

		if (runner->options->screen != NULL && crashed(status))
			runner->options->screen();
		if (!skip_failed_file(runner, status))
			sandboxed_finish(runner, status);
		r = sandboxed_fork(runner, err);
	}
	return r;
}

int sandboxed_start(const struct cli *cli, const struct sandboxed_options *options)
{
	/* Static: the report's process gets a copy of the memory in any case and never uses it. */
	static const struct sandboxed_options defaults;
	static struct runner runner;
	struct error err;
	int r;

	if (options == NULL)
		options = &defaults;
	runner = (struct runner){.cli = cli,
				 .options = options,
				 .limits = sandbox_limits_default(),
				 .socket = -1,
				 .output = -1};
	runner.limits.files = DESCRIPTORS_MAX;
	runner.broker = file_broker_create(cli, &options->access);
	if (runner.broker == NULL) {
		error_set(&err, ENOMEM, ERROR_NO_MEMORY);
		return cli_fail(cli, &err);
	}
	/* Load files that the C library would open later, when the sandbox forbids it. */
	tzset();
	fflush(stdout);
	if (options->screen != NULL)
		forward_signals(forward_signal);
	r = sandboxed_run(&runner, &err);
	file_broker_destroy(runner.broker);
	return r < 0 ? cli_fail(cli, &err) : CLI_RUN;
}
