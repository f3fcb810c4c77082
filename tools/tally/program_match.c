// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/program_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"

/* Move rows of files to the front. Return: their number. */
static size_t select_files(struct build_row *rows, size_t count)
{
	size_t files = 0;

	for (size_t i = 0; i < count; i++) {
		struct build_row row = rows[i];

		if (row.file->kind != PROFILE_IMAGE_FILE)
			continue;
		rows[i] = rows[files];
		rows[files++] = row;
	}
	return files;
}

static int compare_sets(const struct build_row *x, const struct build_row *y)
{
	return (x->set > y->set) - (x->set < y->set);
}

static int compare_identity(const void *a, const void *b)
{
	const struct build_row *x = a, *y = b;
	int r = strcmp(x->row->identity, y->row->identity);

	if (r == 0)
		r = compare_sets(x, y);
	return r != 0 ? r : strcmp(x->file->path, y->file->path);
}

static void match_identities(struct build_row *rows, size_t count)
{
	size_t first = 0;

	if (count > 0)
		qsort(rows, count, sizeof(*rows), compare_identity);
	for (size_t i = 1; i < count; i++) {
		if (*rows[i].row->identity == '\0' ||
		    strcmp(rows[i].row->identity, rows[first].row->identity) != 0)
			first = i;
		rows[i].row->file = rows[first].file;
	}
}

static const char *path_of(const struct build_row *row)
{
	return row->row->file->path;
}

static const char *program_match_name_of(const struct build_row *row)
{
	return basename(path_of(row));
}

/* Order by name, path and set. */
static int compare_name(const void *a, const void *b)
{
	int r = strcmp(program_match_name_of(a), program_match_name_of(b));

	if (r == 0)
		r = strcmp(path_of(a), path_of(b));
	return r != 0 ? r : compare_sets(a, b);
}

/* Return the number of rows, from the first on, with the first one's path. */
static size_t count_path(const struct build_row *rows, size_t count)
{
	size_t n = 1;

	while (n < count && strcmp(path_of(&rows[n]), path_of(rows)) == 0)
		n++;
	return n;
}

static bool program_match_is_in(const struct build_row *rows, size_t count, size_t set)
{
	for (size_t i = 0; i < count; i++) {
		if (rows[i].row->counts[set].samples > 0)
			return true;
	}
	return false;
}

static bool is_in_all(const struct build_row *rows, size_t count, size_t sets)
{
	size_t set = 0;

	while (set < sets && program_match_is_in(rows, count, set))
		set++;
	return set == sets;
}

/*
 * Consider the paths of one name that some set lacks, and return a row of the path whose set comes
 * first.
 * @taken: zeroed, one entry per set
 *
 * Return: NULL: a set has two of these paths.
 */
static const struct build_row *find_first(const struct build_row *rows, size_t count, bool *taken,
					  size_t sets)
{
	const struct build_row *first = NULL;
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		n = count_path(&rows[i], count - i);
		if (is_in_all(&rows[i], n, sets))
			continue;
		for (size_t set = 0; set < sets; set++) {
			if (!program_match_is_in(&rows[i], n, set))
				continue;
			if (taken[set])
				return NULL;
			taken[set] = true;
		}
		if (first == NULL || rows[i].set < first->set)
			first = &rows[i];
	}
	return first;
}

static int add_alias(struct program_match *match, const char *path, const char *program)
{
	if (array_reserve(&match->list, &match->capacity, match->count + 1, sizeof(*match->list)) <
	    0)
		return -ENOMEM;
	match->list[match->count++] = (struct program_alias){path, program};
	return 0;
}

/* Match the rows of one name. */
static int match_name(struct program_match *match, struct build_row *rows, size_t count,
		      size_t sets)
{
	_cleanup_free_ bool *taken = calloc(sets + 1, sizeof(*taken));
	const struct profile_image *program;
	const struct build_row *first;
	size_t n;
	int r = 0;

	if (taken == NULL)
		return -ENOMEM;
	first = find_first(rows, count, taken, sets);
	if (first == NULL)
		return 0;
	program = first->row->file;
	for (size_t i = 0; i < count && r == 0; i += n) {
		n = count_path(&rows[i], count - i);
		if (strcmp(path_of(&rows[i]), program->path) == 0 || is_in_all(&rows[i], n, sets))
			continue;
		r = add_alias(match, path_of(&rows[i]), program->path);
		for (size_t j = i; j < i + n; j++)
			rows[j].row->file = program;
	}
	return r;
}

int program_match(struct program_match *ret, struct build_row *rows, size_t count, size_t sets)
{
	size_t files = select_files(rows, count), next;
	int r = 0;

	match_identities(rows, files);
	if (files > 0)
		qsort(rows, files, sizeof(*rows), compare_name);
	for (size_t i = 0; i < files && r == 0; i = next) {
		for (next = i + 1; next < files && strcmp(program_match_name_of(&rows[i]),
							  program_match_name_of(&rows[next])) == 0;
		     next++)
			;
		r = match_name(ret, rows + i, next - i, sets);
	}
	return r;
}
