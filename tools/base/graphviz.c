// SPDX-License-Identifier: GPL-2.0-only
#include "tools/base/graphviz.h"

#include <errno.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "tools/base/text.h"

/*
 * Limits on iterations of the layout, which would take minutes for graphs of thousands of blocks.
 */
#define LAYOUT_ROUNDS "-Gnslimit=4", "-Gnslimit1=4", "-Gmclimit=0.5"

FILE *graphviz_file(const char *what, struct error *err)
{
	_cleanup_close_ int fd = memfd_create(what, MFD_CLOEXEC);
	FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;

	if (file == NULL) {
		error_set_errno(err, "cannot create a file in memory");
		return NULL;
	}
	take_fd(fd);
	return file;
}

static int graphviz_spawn(pid_t *pid, const char *format, const int fds[3])
{
	const char *const arguments[] = {"dot", format, LAYOUT_ROUNDS, NULL};
	posix_spawn_file_actions_t files;
	int r;

	if (posix_spawn_file_actions_init(&files) != 0)
		return -ENOMEM;
	r = posix_spawn_file_actions_adddup2(&files, fds[0], STDIN_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, fds[1], STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&files, fds[2], STDERR_FILENO);
	if (r == 0)
		r = posix_spawnp(pid, "dot", &files, NULL, (char *const *)(uintptr_t)arguments,
				 environ);
	posix_spawn_file_actions_destroy(&files);
	return -r;
}

int graphviz_run(const char *format, const int fds[3])
{
	char argument[32];
	pid_t pid = -1;
	int status, r;

	if (fds[0] < 0 || fds[1] < 0 || fds[2] < 0 ||
	    strspn(format, "abcdefghijklmnopqrstuvwxyz:") != strlen(format) ||
	    snprintf(argument, sizeof(argument), "-T%s", format) >= (int)sizeof(argument))
		return -EINVAL;
	r = graphviz_spawn(&pid, argument, fds);
	if (r < 0)
		return r;
	do {
		r = waitpid(pid, &status, 0);
	} while (r < 0 && errno == EINTR);
	return r < 0 ? -errno : status;
}

/* A sandboxed process asks its broker, because it cannot start programs. */
static int graphviz_request(FILE *graph, const char *format, FILE *picture, FILE *messages)
{
	const int fds[3] = {fileno(graph), fileno(picture), fileno(messages)};
	struct broker_packet packet;

	if (broker_socket() < 0)
		return graphviz_run(format, fds);
	broker_packet_init(&packet, BROKER_DRAW);
	memcpy(packet.fds, fds, sizeof(fds));
	return broker_packet_set_text(&packet, format) < 0 ? -EINVAL : broker_ask(&packet);
}

/* Report the first message of dot, or its exit status. */
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
		return error_set(err, EIO, "dot was killed by signal %d", WTERMSIG(status));
	return error_set(err, EIO, "dot failed with status %d", WEXITSTATUS(status));
}

/*
 * Copy the picture and add an attribute to its root element, without which browsers collapse spaces
 * in text; dot does not write it. Return: false if the picture cannot be written.
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
	_cleanup_file_ FILE *picture = NULL, *messages = NULL;
	int status;

	if (format == NULL)
		return copy(graph, output, false, err);
	picture = graphviz_file("picture", err);
	messages = picture != NULL ? graphviz_file("messages", err) : NULL;
	if (messages == NULL)
		return -err->errnum;
	if (fflush(graph) != 0 || lseek(fileno(graph), 0, SEEK_SET) < 0)
		return error_set_errno(err, "cannot write the graph");
	status = graphviz_request(graph, format, picture, messages);
	if (status == -ENOENT)
		return error_set(err, ENOENT,
				 "the program 'dot' is not installed: install the package "
				 "graphviz, or use --format dot");
	if (status < 0)
		return error_set(err, -status, "cannot run dot: %s", strerror(-status));
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return failed(status, messages, err);
	return copy(picture, output, strcmp(format, "svg") == 0, err);
}
