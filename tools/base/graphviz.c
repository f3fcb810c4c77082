// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/graphviz.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "tools/base/text.h"

/* Rounds of the layout: graphs of thousands of blocks would take minutes otherwise. */
#define LAYOUT_ROUNDS "-Gnslimit=4", "-Gnslimit1=4", "-Gmclimit=0.5"

static int start(pid_t *pid, FILE *graph, const char *format, FILE *picture, FILE *messages,
		 struct error *err)
{
	const char *const arguments[] = {"dot", format, LAYOUT_ROUNDS, NULL};
	posix_spawn_file_actions_t files;
	int r;

	if (posix_spawn_file_actions_init(&files) != 0)
		return error_set(err, ENOMEM, "out of memory");
	r = posix_spawn_file_actions_adddup2(&files, fileno(graph), STDIN_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, fileno(picture), STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, fileno(messages), STDERR_FILENO);
	if (r == 0)
		r = posix_spawnp(pid, "dot", &files, NULL, (char *const *)(uintptr_t)arguments,
				 environ);
	posix_spawn_file_actions_destroy(&files);
	if (r == ENOENT)
		return error_set(err, ENOENT,
				 "the program \"dot\" is not installed (package graphviz); "
				 "--format dot does without it");
	return r == 0 ? 0 : error_set(err, r, "cannot run dot: %s", strerror(r));
}

/* Its first message, or how it ended. */
static int failed(int status, FILE *messages, struct error *err)
{
	_cleanup_free_ char *clean = NULL;
	char line[256] = "";

	rewind(messages);
	if (fgets(line, sizeof(line), messages) != NULL)
		line[strcspn(line, "\n")] = '\0';
	clean = text_clean(line);
	if (clean != NULL && *clean != '\0')
		return error_set(err, EIO, "dot: %s", clean);
	if (WIFSIGNALED(status))
		return error_set(err, EIO, "dot was ended by signal %d", WTERMSIG(status));
	return error_set(err, EIO, "dot failed with status %d", WEXITSTATUS(status));
}

/*
 * Browsers collapse spaces in the text of SVG without this attribute of the
 * root element; dot writes none. Return: false if the picture cannot be written.
 */
static bool copy_root(FILE *from, FILE *to)
{
	static const char root[] = "<svg ";
	size_t matched = 0;
	int c;

	while (root[matched] != '\0' && (c = getc(from)) != EOF) {
		matched = c == root[matched] ? matched + 1 : c == root[0];
		if (putc(c, to) == EOF)
			return false;
	}
	return root[matched] != '\0' || fputs("xml:space=\"preserve\" ", to) != EOF;
}

static int copy(FILE *from, FILE *to, bool is_svg, struct error *err)
{
	char buffer[16384];
	size_t bytes;

	rewind(from);
	if (is_svg && !copy_root(from, to))
		return error_set_errno(err, "cannot write the picture");
	while ((bytes = fread(buffer, 1, sizeof(buffer), from)) > 0) {
		if (fwrite(buffer, 1, bytes, to) != bytes)
			return error_set_errno(err, "cannot write the picture");
	}
	return ferror(from) ? error_set_errno(err, "cannot read the picture") : 0;
}

int graphviz_draw(FILE *graph, const char *format, FILE *output, struct error *err)
{
	_cleanup_file_ FILE *picture = tmpfile();
	_cleanup_file_ FILE *messages = tmpfile();
	char argument[32];
	pid_t pid = -1;
	int status, r;

	if (format == NULL)
		return copy(graph, output, false, err);
	if (picture == NULL || messages == NULL)
		return error_set_errno(err, "cannot make a temporary file");
	if (fflush(graph) != 0 || lseek(fileno(graph), 0, SEEK_SET) < 0)
		return error_set_errno(err, "cannot write the graph");
	snprintf(argument, sizeof(argument), "-T%s", format);
	r = start(&pid, graph, argument, picture, messages, err);
	if (r < 0)
		return r;
	do {
		r = waitpid(pid, &status, 0);
	} while (r < 0 && errno == EINTR);
	if (r < 0)
		return error_set_errno(err, "cannot wait for dot");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return failed(status, messages, err);
	return copy(picture, output, strcmp(format, "svg") == 0, err);
}
