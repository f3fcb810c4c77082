// SPDX-License-Identifier: GPL-2.0-only
#include "tools/list/list_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "lib/near_names.h"
#include "tools/base/text.h"
#include "tools/report/profiler_class.h"
#include "tools/report/source_text.h"

/* Return true if @path is @name, or ends in @name after a slash. */
static bool path_matches(const char *path, const char *name)
{
	size_t whole = strlen(path), part = strlen(name);

	if (part > whole || strcmp(path + whole - part, name) != 0)
		return false;
	return part == whole || path[whole - part - 1] == '/' || *name == '/';
}

static int list_file_choose(const char *name, struct tally *tally, const char **path,
			    struct error *err)
{
	const struct tally_row *rows = tally_rows(tally);

	_cleanup_(near_names_deinit) struct near_names near = {.wanted = name};
	bool is_path = strchr(name, '/') != NULL;
	char text[256];

	*path = NULL;
	for (size_t i = 0; i < tally_row_count(tally); i++) {
		const char *source = rows[i].source;

		if (source != NULL)
			near_names_add(&near, is_path ? source : text_last_part(source));
		if (source == NULL || !path_matches(source, name))
			continue;
		if (*path != NULL && strcmp(*path, source) != 0)
			return error_set(
				err, EINVAL,
				"'%s' is ambiguous: it matches '%s', '%s' and possibly others",
				name, *path, source);
		*path = source;
	}
	if (*path != NULL)
		return 0;
	near_names_text(&near, text, sizeof(text));
	return error_set(err, EINVAL, "no samples in a source file '%s'%s", name, text);
}

/* Mark a file if all of its code is the profiler's. */
static void mark_file(struct list_rows *rows, struct tally *tally, const char *path)
{
	bool own = true;

	for (size_t i = 0; i < tally_row_count(tally); i++) {
		const struct tally_row *row = &tally_rows(tally)[i];

		if (row->source != NULL && strcmp(row->source, path) == 0)
			own &= row->excluded;
	}
	rows->mark = profiler_class_mark(own ? PROFILER_WHOLE : PROFILER_NONE);
	rows->no_share = own;
}

/* Sum counts by line; line 0 collects lines after the end of the file, which has become shorter. */
static void count_lines(struct tally *tally, const char *path, struct tally_count *counts,
			size_t lines, size_t events)
{
	for (size_t i = 0; i < tally_row_count(tally); i++) {
		const struct tally_row *row = &tally_rows(tally)[i];
		struct tally_count *to = &counts[(row->line <= lines ? row->line : 0) * events];

		if (row->source == NULL || strcmp(row->source, path) != 0)
			continue;
		for (size_t event = 0; event < events; event++) {
			to[event].samples += row->counts[event].samples;
			to[event].extra += row->counts[event].extra;
		}
	}
}

static int list_file_add_row(struct list_rows *rows, enum list_row_kind kind, const char *text,
			     const char *path, unsigned int line, const struct tally_count *counts)
{
	struct list_row row = {
		.kind = kind, .text = strdup(text), .file = path, .line = line, .counts = counts};

	return row.text != NULL ? list_rows_add(rows, &row) : -ENOMEM;
}

static int add_rows(struct list_rows *rows, struct source_text *source, const char *path,
		    const struct tally_count *counts, size_t lines)
{
	int r = 0;

	for (size_t line = 1; r == 0 && line <= lines; line++) {
		const char *text = source_text_whole(source, path, (unsigned int)line);

		r = list_file_add_row(rows, LIST_ROW_LINE, text != NULL ? text : "", path,
				      (unsigned int)line, &counts[line * rows->event_count]);
	}
	for (size_t event = 0; r == 0 && event < rows->event_count; event++) {
		if (counts[event].samples == 0)
			continue;
		return list_file_add_row(rows, LIST_ROW_OTHER,
					 "<no such line: the file has changed>", path, 0, counts);
	}
	return r;
}

int list_file(const char *name, struct tally *tally, struct source_text *source,
	      struct list_rows *rows, struct tally_count **counts, const char **path,
	      struct error *err)
{
	size_t lines;
	int r = list_file_choose(name, tally, path, err);

	if (r < 0)
		return r;
	mark_file(rows, tally, *path);
	lines = source_text_lines(source, *path);
	if (lines == 0)
		return error_set(err, ENOENT,
				 "cannot read '%s': use --source-path to specify its folder",
				 *path);
	*counts = calloc(lines + 1, (rows->event_count + 1) * sizeof(**counts));
	if (*counts == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	count_lines(tally, *path, *counts, lines, rows->event_count);
	if (add_rows(rows, source, *path, *counts, lines) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}
