// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/runnable.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Move the program into the cache if possible; else it stays where it was made. */
static int runnable_cache(struct runnable *runnable, struct error *err)
{
	if (runnable->own == NULL && runnable->text != NULL &&
	    program_cache_keep(&runnable->cache, runnable->text))
		return 0;
	if (runnable->own == NULL)
		runnable->own = strdup(runnable->cache.part);
	runnable->path = runnable->own;
	return runnable->path != NULL ? 0 : error_set(err, ENOMEM, ERROR_NO_MEMORY);
}

int runnable_get(struct runnable *ret, const char *program, const struct rewriter_options *options,
		 const char *otherwise, struct error *err)
{
	struct rewriter_options own_options = *options;
	struct rewriter_report report;
	int r;

	*ret = (struct runnable){.path = NULL};
	own_options.profile = NULL;
	program_cache_find(&ret->cache, program, &own_options);
	ret->path = ret->cache.path;
	if (ret->cache.found)
		return 0;
	if (ret->cache.path == NULL) {
		ret->own = strdup(otherwise);
		if (ret->own == NULL)
			return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	}
	own_options.output = ret->own != NULL ? ret->own : ret->cache.part;
	r = rewriter_run(program, &own_options, &report, err);
	if (r < 0)
		return r;
	ret->text = rewriter_report_text(&report);
	return runnable_cache(ret, err);
}

static void prepend_library_path(const char *folder)
{
	_cleanup_free_ char *path = NULL;
	const char *old = getenv("LD_LIBRARY_PATH");

	if (old == NULL || *old == '\0')
		setenv("LD_LIBRARY_PATH", folder, 1);
	else if (asprintf(&path, "%s:%s", folder, old) >= 0)
		setenv("LD_LIBRARY_PATH", path, 1);
}

int runnable_run(const struct runnable *runnable, const char *prefix, const char *search,
		 char **argv, struct error *err)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		setenv("DCPIX_OUT", prefix, 1);
		if (search != NULL)
			prepend_library_path(search);
		execv(runnable->path, argv);
		fprintf(stderr, "dcpix: cannot run '%s': %s\n", runnable->path, strerror(errno));
		_exit(127);
	}
	signal(SIGINT, SIG_IGN); /* only the program handles it */
	while (child < 0 || waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return error_set_errno(err, ERROR_RUN, runnable->path);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void runnable_print_report(const struct runnable *runnable, FILE *out)
{
	_cleanup_file_ FILE *file = NULL;
	char line[512];

	if (runnable->text != NULL) {
		fputs(runnable->text, out);
		return;
	}
	file = fopen(runnable->cache.text, "re");
	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		fputs(line, out);
}

void runnable_release(struct runnable *runnable)
{
	free(runnable->own);
	runnable->own = NULL;
}

void runnable_deinit(struct runnable *runnable)
{
	if (runnable->own != NULL)
		unlink(runnable->own);
	free(runnable->own);
	free(runnable->text);
	program_cache_deinit(&runnable->cache);
}
