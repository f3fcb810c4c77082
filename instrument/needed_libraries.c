// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/needed_libraries.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "instrument/elf/elf_image.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"

/* Return: the path of the loader, malloc'd, or NULL. */
static char *loader_of(const struct elf_image *image)
{
	for (size_t i = 0; i < image->segment_count; i++) {
		const Elf64_Phdr *segment = &image->segments[i];

		if (segment->p_type == PT_INTERP &&
		    elf_image_has(image, segment->p_offset, segment->p_filesz))
			return strndup((const char *)image->file + segment->p_offset,
				       segment->p_filesz);
	}
	return NULL;
}

/* A line is "NAME => PATH (ADDRESS)", indented; other lines name files without a search. */
static int add_line(struct needed_libraries *libraries, char *line)
{
	char *name = line + strspn(line, "\t "), *arrow = strstr(name, " => "), *path, *end;
	struct needed_library *library;

	if (arrow == NULL || arrow == name)
		return 0;
	*arrow = '\0';
	path = arrow + 4;
	end = strstr(path, " (0x");
	if (end == NULL || path[0] != '/' || strchr(name, '/') != NULL)
		return 0;
	*end = '\0';
	if (array_reserve(&libraries->all, &libraries->capacity, libraries->count + 1,
			  sizeof(*libraries->all)) < 0)
		return -ENOMEM;
	library = &libraries->all[libraries->count++];
	*library = (struct needed_library){.name = strdup(name), .path = strdup(path)};
	return library->name != NULL && library->path != NULL ? 0 : -ENOMEM;
}

/* Start the loader's list of libraries. Return: a stream; NULL, with errno. */
static FILE *needed_libraries_start(const char *loader, const char *program, pid_t *child)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	*child = fork();
	if (*child == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execl(loader, loader, "--list", program, NULL);
		_exit(127);
	}
	close(ends[1]);
	if (*child < 0) {
		close(ends[0]);
		return NULL;
	}
	return fdopen(ends[0], "r");
}

static int list(struct needed_libraries *ret, const char *loader, const char *program,
		struct error *err)
{
	_cleanup_file_ FILE *stream = NULL;
	_cleanup_free_ char *line = NULL;
	size_t room = 0;
	int status = 0, r = 0;
	ssize_t length;
	pid_t child;

	stream = needed_libraries_start(loader, program, &child);
	if (stream == NULL)
		return error_set_errno(err, ERROR_RUN, loader);
	while (r == 0 && (length = getline(&line, &room, stream)) > 0)
		r = add_line(ret, line);
	fclose(take_ptr(stream));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(err, ENOEXEC, "'%s' cannot list the libraries of '%s'", loader,
				 program);
	return 0;
}

int needed_libraries_find(struct needed_libraries *ret, const char *program, struct error *err)
{
	_cleanup_free_ char *loader = NULL;
	struct elf_image image;
	int r = elf_image_open(&image, program, err);

	if (r < 0)
		return r;
	loader = loader_of(&image);
	elf_image_close(&image);
	if (loader == NULL)
		return error_set(err, ENOTSUP, "'%s' needs no libraries", program);
	return list(ret, loader, program, err);
}

void needed_libraries_deinit(struct needed_libraries *libraries)
{
	for (size_t i = 0; i < libraries->count; i++) {
		free(libraries->all[i].name);
		free(libraries->all[i].path);
	}
	free(libraries->all);
	*libraries = (struct needed_libraries){0};
}
