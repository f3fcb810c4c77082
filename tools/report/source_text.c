// SPDX-License-Identifier: GPL-2.0-only
#include "tools/report/source_text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/array.h"
#include "lib/broker.h"
#include "lib/cleanup.h"
#include "lib/file_read.h"
#include "tools/base/text.h"

/* Enough, because code is inlined from few files at a time. */
#define FILES 16
#define FILE_BYTES_MAX (16 << 20)
#define TAB 8

struct file {
	char *path;
	char *text; /* NULL: it cannot be read */
	size_t *lines;
	size_t count;
	uint64_t used;
};

struct source_text {
	struct file files[FILES];
	const struct source_paths *paths;
	uint64_t now;
	char *line;
};

struct source_text *source_text_create(const struct source_paths *paths)
{
	static const struct source_paths none;
	struct source_text *text = calloc(1, sizeof(*text));

	if (text != NULL)
		text->paths = paths != NULL ? paths : &none;
	return text;
}

static void source_text_forget(struct file *file)
{
	free(file->path);
	free(file->text);
	free(file->lines);
	*file = (struct file){0};
}

void source_text_destroy(struct source_text *text)
{
	if (text == NULL)
		return;
	for (unsigned int i = 0; i < FILES; i++)
		source_text_forget(&text->files[i]);
	free(text->line);
	free(text);
}

/* Return: the contents, terminated by 0; NULL if the file cannot be read. */
static char *read_file(const char *path, size_t *bytes)
{
	/* Do not block on a FIFO that a path from outside names. */
	_cleanup_close_ int fd =
		broker_open(BROKER_SOURCE, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	_cleanup_free_ char *text = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    status.st_size > FILE_BYTES_MAX)
		return NULL;
	*bytes = (size_t)status.st_size;
	text = malloc(*bytes + 1);
	if (text == NULL || file_read_exactly(fd, text, *bytes, 0) < 0)
		return NULL;
	text[*bytes] = '\0';
	return take_ptr(text);
}

/* Return: the path after the first substitution that applies to its beginning: malloc'd. */
static char *substitute(const struct source_paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->substitute_count; i++) {
		const char *from = paths->substitutes[i], *equals = strchr(from, '=');
		size_t bytes = equals != NULL ? (size_t)(equals - from) : 0;
		char *whole;

		if (bytes > 0 && strncmp(path, from, bytes) == 0)
			return asprintf(&whole, "%s%s", equals + 1, path + bytes) < 0 ? NULL
										      : whole;
	}
	return strdup(path);
}

/* Return the contents of a file, from its path or one of the directories. */
static char *find_file(const struct source_paths *paths, const char *path, size_t *bytes)
{
	_cleanup_free_ char *place = substitute(paths, path);
	char *text = place != NULL ? read_file(place, bytes) : NULL;

	for (size_t i = 0; place != NULL && text == NULL && i < paths->directory_count; i++) {
		for (const char *end = place; end != NULL && *end != '\0' && text == NULL;
		     end = strchr(end + 1, '/')) {
			_cleanup_free_ char *other = NULL;

			if (asprintf(&other, "%s/%s", paths->directories[i],
				     *end == '/' ? end + 1 : end) < 0) {
				other = NULL;
				return NULL;
			}
			text = read_file(other, bytes);
		}
	}
	return text;
}

static void source_text_load(struct file *file, const struct source_paths *paths, const char *path)
{
	size_t bytes = 0, capacity = 0;

	file->path = strdup(path);
	file->text = find_file(paths, path, &bytes);
	for (size_t i = 0; file->text != NULL && i < bytes; i++) {
		if (i > 0 && file->text[i - 1] != '\n')
			continue;
		if (array_reserve(&file->lines, &capacity, file->count + 1, sizeof(size_t)) < 0)
			return;
		file->lines[file->count++] = i;
	}
	for (size_t i = 0; file->text != NULL && i < bytes; i++) {
		if (file->text[i] == '\n')
			file->text[i] = '\0';
	}
}

static struct file *source_text_find(struct source_text *text, const char *path)
{
	struct file *oldest = &text->files[0];

	text->now++;
	for (unsigned int i = 0; i < FILES; i++) {
		struct file *file = &text->files[i];

		if (file->path != NULL && strcmp(file->path, path) == 0) {
			file->used = text->now;
			return file;
		}
		if (file->used < oldest->used)
			oldest = file;
	}
	source_text_forget(oldest);
	source_text_load(oldest, text->paths, path);
	oldest->used = text->now;
	return oldest;
}

/* Return: NULL if there is no such line. */
static const char *find_line(struct source_text *text, const char *path, unsigned int line)
{
	const struct file *file = source_text_find(text, path);

	return line > 0 && line <= file->count ? file->text + file->lines[line - 1] : NULL;
}

/* Expand tabs to blanks and remove carriage returns: malloc'd. */
static char *source_text_expand(const char *line)
{
	size_t bytes = strnlen(line, TEXT_BYTES_MAX), filled = 0;
	char *copy = malloc(TAB * bytes + 1);

	for (size_t i = 0; copy != NULL && i < bytes; i++) {
		if (line[i] == '\r' && i + 1 == bytes)
			break;
		if (line[i] != '\t') {
			copy[filled++] = line[i];
			continue;
		}
		do {
			copy[filled++] = ' ';
		} while (filled % TAB != 0);
	}
	if (copy != NULL)
		copy[filled] = '\0';
	return copy;
}

const char *source_text_whole(struct source_text *text, const char *path, unsigned int line)
{
	const char *start = find_line(text, path, line);
	_cleanup_free_ char *wide = start != NULL ? source_text_expand(start) : NULL;

	if (wide == NULL)
		return NULL;
	free(text->line);
	text->line = text_clean(wide);
	return text->line;
}

const char *source_text_line(struct source_text *text, const char *path, unsigned int line)
{
	const char *whole = source_text_whole(text, path, line);

	return whole != NULL ? whole + strspn(whole, " ") : NULL;
}

size_t source_text_lines(struct source_text *text, const char *path)
{
	return source_text_find(text, path)->count;
}
