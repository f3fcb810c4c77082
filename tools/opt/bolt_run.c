// SPDX-License-Identifier: GPL-2.0-only
#include "tools/opt/bolt_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/program_path.h"
#include "tools/opt/opt_folder.h"

#define BOLT "llvm-bolt"
#define PROFILE "profile.bolt"

/* Debian's names have the version; the newest one is preferred. */
#define BOLT_NEWEST 30
#define BOLT_OLDEST 14
/* Functions without which BOLT is tried again. */
#define SKIPPED_MAX 16

static int find_bolt(char path[PROGRAM_PATH_BYTES], struct error *err)
{
	char versioned[64];

	if (program_path_find(path, BOLT) == 0)
		return 0;
	for (int version = BOLT_NEWEST; version >= BOLT_OLDEST; version--) {
		snprintf(versioned, sizeof(versioned), BOLT "-%d", version);
		if (program_path_find(path, versioned) == 0)
			return 0;
	}
	return error_set(err, ENOENT, ERROR_FIND ": install BOLT (Debian: bolt-19)", BOLT);
}

/*
 * Run a program.
 * @log: file for its output; NULL: it has the output of this process
 * Return: its exit status, or -errno.
 */
static int run_program(const char *const *argv, const char *log, struct error *err)
{
	_cleanup_close_ int fd = -1;
	int status = 0;
	pid_t child;

	if (log != NULL)
		fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (log != NULL && fd < 0)
		return error_set_errno(err, ERROR_CREATE, log);
	child = fork();
	if (child == 0) {
		if (log != NULL && (dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0))
			_exit(126);
		execv(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	while (child < 0 || waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return error_set_errno(err, ERROR_RUN, argv[0]);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int bolt_run_export(const struct bolt_run *run, const char *format, const char *name,
		    struct error *err)
{
	char exporter[PROGRAM_PATH_BYTES], output[PATH_MAX], image[PATH_MAX + 64],
		database[PATH_MAX + 16];
	const char *argv[8] = {exporter, "--format", format, "--output", output, image};
	int r = opt_folder_path(output, run->folder, name, err);

	if (r < 0)
		return r;
	if (program_path_sibling(exporter, "dcpiexport") < 0)
		return error_set(err, ENOENT, ERROR_FIND, "dcpiexport");
	snprintf(image, sizeof(image), "--image=%s", run->pattern);
	snprintf(database, sizeof(database), "--db=%s", run->database);
	argv[6] = database;
	r = run_program(argv, NULL, err);
	if (r > 0)
		return error_set(err, ENODATA, "'%s' has no profile of this build of '%s'",
				 run->database, run->image);
	return r;
}

/*
 * Add the function that a line of BOLT's log names to a list. Names of local functions end with
 * "/1"; "(*2)" is a note of BOLT. Return: true if the list is longer.
 */
static bool add_name(char names[BOLT_RUN_NAMES_BYTES], char *name)
{
	size_t used = strlen(names), length = strcspn(name, "( \n");

	if (length > 0 && name[length - 1] == '.')
		length--;
	name[length] = '\0';
	if (length == 0 || used + length + 2 > BOLT_RUN_NAMES_BYTES || strchr(name, ',') != NULL ||
	    strstr(names, name) != NULL)
		return false;
	snprintf(names + used, BOLT_RUN_NAMES_BYTES - used, "%s%s", used > 0 ? "," : "", name);
	return true;
}

/*
 * Read which functions BOLT could not rewrite.
 * Return: true if one of them ended BOLT, and has been added to @run->skipped.
 */
static bool read_log(struct bolt_run *run, const char *log)
{
	static const char ends[] = " in function ", unknown[] = "indirect branches for ";
	_cleanup_file_ FILE *file = fopen(log, "re");
	char line[4096], *name;
	bool ended = false;

	run->unknown[0] = '\0';
	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		name = strstr(line, unknown);
		if (name != NULL)
			add_name(run->unknown, name + strlen(unknown));
		name = strstr(line, ends);
		if (name != NULL && strstr(name, "--skip-funcs") != NULL)
			ended = add_name(run->skipped, name + strlen(ends)) || ended;
	}
	return ended;
}

static int rewrite(struct bolt_run *run, const char *bolt, struct error *err)
{
	char log[PATH_MAX], copy[PATH_MAX], profile[PATH_MAX];
	char skip[BOLT_RUN_NAMES_BYTES + 32];
	const char *argv[] = {bolt,
			      run->image,
			      "-o",
			      copy,
			      "-pa",
			      "-p",
			      profile,
			      "-reorder-blocks=ext-tsp",
			      "-reorder-functions=hfsort",
			      "-split-functions",
			      "-split-all-cold",
			      "-dyno-stats",
			      "-v=2",
			      NULL,
			      NULL};
	size_t last = sizeof(argv) / sizeof(*argv) - 2;
	int r = opt_folder_path(log, run->folder, "llvm-bolt.log", err);

	if (r == 0)
		r = opt_folder_path(copy, run->folder, OPT_FOLDER_COPY, err);
	if (r == 0)
		r = opt_folder_path(profile, run->folder, PROFILE, err);
	if (r < 0)
		return r;
	r = run_program(argv, log, err);
	for (int i = 0; read_log(run, log) && r > 0 && i < SKIPPED_MAX; i++) {
		snprintf(skip, sizeof(skip), "-skip-funcs=%s", run->skipped);
		argv[last] = skip;
		r = run_program(argv, log, err);
	}
	return r > 0 ? error_set(err, EIO, "llvm-bolt failed: see '%s'", log) : r;
}

int bolt_run_make(struct bolt_run *run, struct error *err)
{
	char program[PROGRAM_PATH_BYTES];
	int r = find_bolt(program, err);

	run->skipped[0] = '\0';
	run->unknown[0] = '\0';
	if (r == 0)
		r = bolt_run_export(run, "bolt", PROFILE, err);
	return r == 0 ? rewrite(run, program, err) : r;
}
