// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/fleet_database.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/program_path.h"

#define PROGRAM "dcpifetch"
#define ARGUMENTS_MAX 20
#define NUMBER_BYTES 24
#define FILE_NAME "/fleet.db"
#define FOLDER_BYTES 1024
/* A folder and the name of a file in it. */
#define FILE_BYTES (FOLDER_BYTES + 32)

extern char **environ;

/* struct command - the command line of dcpifetch */
struct command {
	const char *list[ARGUMENTS_MAX];
	size_t count;
};

static void argument_add(struct command *command, const char *name, const char *value)
{
	command->list[command->count++] = name;
	command->list[command->count++] = value;
}

/* Return: the status of dcpifetch, which has printed the reason unless it is 0; or an error. */
static int command_run(const struct command *command, const char *program, struct error *err)
{
	pid_t child;
	int status = 0;
	int r = posix_spawn(&child, program, NULL, NULL, (char *const *)(uintptr_t)command->list,
			    environ);

	if (r != 0)
		return error_set(err, r, ERROR_RUN ": %s", program, strerror(r));
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return error_set_errno(err, ERROR_RUN, program);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return error_set(err, EIO, "'%s' ended by signal %d", program, WTERMSIG(status));
}

static int fleet_fetch(const struct cli *cli, const char *path, struct error *err)
{
	const struct profile_filter *filter = &cli->filter;
	char program[PROGRAM_PATH_BYTES];
	char since[NUMBER_BYTES], until[NUMBER_BYTES], last[NUMBER_BYTES];
	struct command command = {.list = {PROGRAM}, .count = 1};

	if (program_path_sibling(program, PROGRAM) < 0)
		return error_set(err, ENOENT, "cannot find the program '" PROGRAM "'");
	argument_add(&command, "--from", cli->from);
	argument_add(&command, "--output", path);
	argument_add(&command, "--by", cli->fetch_by);
	if (filter->host != NULL)
		argument_add(&command, "--host", filter->host);
	snprintf(since, sizeof(since), "%" PRId64, filter->since_ns);
	snprintf(until, sizeof(until), "%" PRId64, filter->until_ns);
	snprintf(last, sizeof(last), "%" PRId64, cli->last_ns / (int64_t)NS_PER_SECOND);
	argument_add(&command, "--since-ns", since);
	argument_add(&command, "--until-ns", until);
	argument_add(&command, "--last-s", last);
	return command_run(&command, program, err);
}

static void folder_delete(const char *folder)
{
	static const char *const suffixes[] = {"", "-lock", "-wal", "-shm", "-journal"};
	char path[FILE_BYTES];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(path, sizeof(path), "%s" FILE_NAME "%s", folder, suffixes[i]);
		unlink(path);
	}
	rmdir(folder);
}

/* Runs in a process of its own: @end is readable when no other process has the pipe. */
static void wait_and_delete(int end, const char *folder)
{
	char byte;

	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	/* A reader of the output waits until all processes have closed it. */
	close(STDIN_FILENO);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (read(end, &byte, 1) < 0 && errno == EINTR)
		;
	folder_delete(folder);
	_exit(0);
}

/*
 * Delete a folder when this process has ended. The report ends in several ways, by signals too, so
 * another process does it.
 */
static int delete_later(const char *folder, struct error *err)
{
	int ends[2];
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, "cannot make a pipe");
	child = fork();
	if (child == 0) {
		close(ends[1]);
		wait_and_delete(ends[0], folder);
	}
	close(ends[0]);
	/* The other end stays open until this process ends. */
	return child > 0 ? 0 : error_set_errno(err, ERROR_PROCESS);
}

static int options_check(const struct cli *cli, struct error *err)
{
	if (cli->database_count > 0)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--from", "--db"));
	if (!epoch_list_empty(&cli->epochs))
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--from", "--epoch"));
	if (cli->filter.has_pid)
		return error_set(err, EINVAL, ERROR_EXCLUSIVE("--from", "--pid"));
	return 0;
}

/* Return: 0; the status of dcpifetch; or an error. */
static int database_make(struct cli *cli, struct error *err)
{
	/* Static: the database is used until the program ends. */
	static char folder[FOLDER_BYTES], path[FILE_BYTES];
	const char *base = getenv("TMPDIR");
	int r = options_check(cli, err);

	if (r < 0)
		return r;
	snprintf(folder, sizeof(folder), "%s/dcpi-fleet-XXXXXX",
		 base != NULL && base[0] == '/' ? base : "/tmp");
	if (mkdtemp(folder) == NULL)
		return error_set_errno(err, ERROR_CREATE, folder);
	snprintf(path, sizeof(path), "%s" FILE_NAME, folder);
	r = delete_later(folder, err);
	if (r < 0) {
		folder_delete(folder);
		return r;
	}
	r = fleet_fetch(cli, path, err);
	if (r != 0)
		return r;
	cli->database = path;
	cli->filter.since_ns = cli->filter.until_ns = cli->last_ns = 0;
	cli->filter.host = NULL;
	return 0;
}

int fleet_database_make(struct cli *cli)
{
	struct error err;
	int r = database_make(cli, &err);

	if (r < 0)
		return cli_fail(cli, &err);
	return r == 0 ? CLI_RUN : r;
}
