// SPDX-License-Identifier: GPL-2.0-only
#include "tools/tally/build_match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/code_match.h"
#include "analysis/image/demangle.h"
#include "lib/array.h"
#include "lib/cleanup.h"

/* struct builds - two builds of a program. */
struct builds {
	struct image_code *before;
	struct image_code *after;
	struct code_match *match;
};

static void builds_deinit(struct builds *builds)
{
	code_match_destroy(builds->match);
	image_code_close(builds->before);
	image_code_close(builds->after);
}

/* Return: 0; -ENOMEM; -ENOENT: the builds cannot be compared. */
static int builds_open(struct builds *builds, const struct build_row *before,
		       const struct build_row *after)
{
	int r = image_code_open(&builds->before, before->file, before->debug, NULL);

	if (r == 0)
		r = image_code_open(&builds->after, after->file, after->debug, NULL);
	if (r == 0)
		r = code_match_create(&builds->match, builds->before, builds->after);
	return r == 0 || r == -ENOMEM ? r : -ENOENT;
}

/* Return: 0; -ENOMEM; -ENOENT: the earlier build has no such instruction. */
static int match_instruction(const struct builds *builds, size_t procedure, struct tally_row *row)
{
	const struct procedure *before =
		procedure_table_get(image_code_procedures(builds->before),
				    (size_t)code_match_procedure(builds->match, procedure));
	uint64_t address = 0, offset = 0;
	int r = code_match_address(builds->match, procedure, row->address, &address);

	if (r == 0)
		r = image_code_offset(builds->before, address, &offset);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	row->address = address;
	row->offset = offset;
	row->inside = address - before->address;
	return 0;
}

void build_names_deinit(struct build_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
	*names = (struct build_names){.demangle = names->demangle};
}

static int rename_row(struct tally_row *row, const char *linkers, struct build_names *names)
{
	_cleanup_free_ char *name = names->demangle ? demangle(linkers) : NULL;

	if (name == NULL)
		name = strdup(linkers);
	if (name == NULL || array_reserve(&names->list, &names->capacity, names->count + 1,
					  sizeof(*names->list)) < 0)
		return -ENOMEM;
	row->names = NULL;
	row->procedure = names->list[names->count++] = take_ptr(name);
	return 0;
}

static int match_row(const struct builds *builds, const struct tally_row *first,
		     struct tally_row *row, bool instructions, struct build_names *names)
{
	const struct procedure *was, *is;
	long procedure, before;
	int r = 0;

	if (!row->has_address)
		return 0;
	procedure = image_code_find(builds->after, row->address);
	before = procedure >= 0 ? code_match_procedure(builds->match, (size_t)procedure) : -1;
	if (before < 0)
		return 0;
	was = procedure_table_get(image_code_procedures(builds->before), (size_t)before);
	is = procedure_table_get(image_code_procedures(builds->after), (size_t)procedure);
	if (instructions)
		r = match_instruction(builds, (size_t)procedure, row);
	else
		row->address = was->address;
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	row->identity = first->identity;
	return strcmp(was->name, is->name) != 0 ? rename_row(row, was->name, names) : 0;
}

/* Order by path, and within a path by first set. */
static int compare_path(const void *a, const void *b)
{
	const struct build_row *x = a, *y = b;

	int r = strcmp(x->row->file->path, y->row->file->path);

	return r != 0 ? r : (x->set > y->set) - (x->set < y->set);
}

static int compare_identity(const void *a, const void *b)
{
	const struct build_row *x = a, *y = b;
	int r = strcmp(x->row->identity, y->row->identity);

	/* Keep instructions of a procedure together, because their alignment is cached. */
	return r != 0 ? r
		      : (x->row->address > y->row->address) - (x->row->address < y->row->address);
}

static int compare_procedure(const void *a, const void *b)
{
	const struct tally_row *const *x = a, *const *y = b;

	return strcmp((*x)->procedure, (*y)->procedure);
}

/* List the procedures of the first build, by name. Return: malloc'd; NULL if out of memory. */
static const struct tally_row **list_first(const struct build_row *rows, size_t count,
					   const struct tally_row *reference, size_t *ret)
{
	const struct tally_row **list = calloc(count + 1, sizeof(*list));

	*ret = 0;
	for (size_t i = 0; list != NULL && i < count; i++) {
		if (rows[i].row->has_address && rows[i].row->procedure != NULL &&
		    strcmp(rows[i].row->identity, reference->identity) == 0)
			list[(*ret)++] = rows[i].row;
	}
	if (list != NULL && *ret > 0)
		qsort(list, *ret, sizeof(*list), compare_procedure);
	return list;
}

/* Match by name if the code of a build is missing: the name must occur once in the first build. */
static void match_name(const struct tally_row *const *first, size_t count, struct tally_row *row)
{
	const struct tally_row *const *found;
	size_t at;

	if (count == 0 || !row->has_address || row->procedure == NULL)
		return;
	found = bsearch(&row, first, count, sizeof(*first), compare_procedure);
	if (found == NULL)
		return;
	at = (size_t)(found - first);
	if ((at > 0 && compare_procedure(&first[at - 1], found) == 0) ||
	    (at + 1 < count && compare_procedure(&first[at + 1], found) == 0))
		return;
	row->address = (*found)->address;
	row->identity = (*found)->identity;
}

/* Match the rows of one path. */
static int match_program(struct build_row *rows, size_t count, bool instructions,
			 struct build_names *names)
{
	const struct build_row first = rows[0];
	const struct tally_row reference = *first.row;
	_cleanup_free_ const struct tally_row **list = NULL;
	size_t next, listed;

	if (reference.file->kind != PROFILE_IMAGE_FILE || *reference.identity == '\0')
		return 0;
	qsort(rows, count, sizeof(*rows), compare_identity);
	list = list_first(rows, count, &reference, &listed);
	if (list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < count; i = next) {
		_cleanup_(builds_deinit) struct builds builds = {0};
		const char *identity = rows[i].row->identity;
		int r = -ENOENT;

		for (next = i + 1; next < count && strcmp(rows[next].row->identity, identity) == 0;
		     next++)
			;
		if (*identity != '\0' && strcmp(identity, reference.identity) != 0)
			r = builds_open(&builds, &first, &rows[i]);
		else
			continue;
		for (size_t j = i; j < next && r == -ENOENT && !instructions; j++)
			match_name(list, listed, rows[j].row);
		for (size_t j = i; j < next && r == 0; j++)
			r = match_row(&builds, &reference, rows[j].row, instructions, names);
		if (r == -ENOMEM)
			return r;
	}
	return 0;
}

int build_match(struct build_row *rows, size_t count, bool instructions, struct build_names *names)
{
	size_t next;

	if (count > 0)
		qsort(rows, count, sizeof(*rows), compare_path);
	for (size_t i = 0; i < count; i = next) {
		int r;

		for (next = i + 1; next < count &&
				   strcmp(rows[i].row->file->path, rows[next].row->file->path) == 0;
		     next++)
			;
		r = match_program(rows + i, next - i, instructions, names);
		if (r < 0)
			return r;
	}
	return 0;
}
