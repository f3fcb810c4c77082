// SPDX-License-Identifier: GPL-2.0-only
#include "tools/source_text.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/file_read.h"
#include "tools/text.h"

/* Code is inlined from a few files at a time. */
#define FILES 16
#define FILE_BYTES_MAX (16 << 20)

struct file {
	char *path;
	char *text; /* NULL: it cannot be read */
	size_t *lines;
	size_t count;
	uint64_t used;
};

struct source_text {
	struct file files[FILES];
	uint64_t now;
	char *line;
};

struct source_text *source_text_create(void)
{
	return calloc(1, sizeof(struct source_text));
}

static void forget(struct file *file)
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
		forget(&text->files[i]);
	free(text->line);
	free(text);
}

/* Return: the contents, ended by 0; NULL if there are none to be had. */
static char *read_file(const char *path, size_t *bytes)
{
	/* Not to hang on a fifo that a path from outside names. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
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

static void load(struct file *file, const char *path)
{
	size_t bytes = 0, capacity = 0;

	file->path = strdup(path);
	file->text = read_file(path, &bytes);
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

static struct file *find(struct source_text *text, const char *path)
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
	forget(oldest);
	load(oldest, path);
	oldest->used = text->now;
	return oldest;
}

const char *source_text_line(struct source_text *text, const char *path, unsigned int line)
{
	const struct file *file = find(text, path);
	const char *start;

	if (line == 0 || line > file->count)
		return NULL;
	start = file->text + file->lines[line - 1];
	start += strspn(start, " \t");
	free(text->line);
	text->line = text_clean(start);
	return text->line;
}
