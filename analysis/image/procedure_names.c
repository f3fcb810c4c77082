// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/procedure_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/demangle.h"
#include "analysis/image/procedure_table.h"
#include "lib/array.h"
#include "lib/cleanup.h"

#define NAME_BYTES_MAX 8192

void procedure_names_deinit(struct procedure_names *names)
{
	for (size_t i = 0; i < names->alias_count; i++)
		free(names->aliases[i]);
	free((void *)names->aliases);
	free(names->name);
	free(names->note);
	free(names->list);
	*names = (struct procedure_names){0};
}

/* Return: malloc'd; NULL if out of memory. */
static char *make_name(const char *linkers, bool readable)
{
	char *name = readable ? demangle(linkers) : NULL;

	return name != NULL ? name : strndup(linkers, NAME_BYTES_MAX);
}

static int add_version(char **name, const char *version)
{
	char *both;

	if (version == NULL)
		return 0;
	if (asprintf(&both, "%s%s", *name, version) < 0)
		return -ENOMEM;
	free(*name);
	*name = both;
	return 0;
}

static int compare_aliases(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Merge names that only linkers distinguish, like those of C++ constructors. */
static void drop_equal(struct procedure_names *names)
{
	size_t kept = 0;

	if (names->alias_count > 1)
		array_sort(names->aliases, names->alias_count, sizeof(*names->aliases),
			   compare_aliases);
	for (size_t i = 0; i < names->alias_count; i++) {
		if (strcmp(names->aliases[i], names->name) == 0 ||
		    (kept > 0 && strcmp(names->aliases[i], names->aliases[kept - 1]) == 0))
			free(names->aliases[i]);
		else
			names->aliases[kept++] = names->aliases[i];
	}
	names->alias_count = kept;
}

static int add_aliases(struct procedure_names *names, const struct procedure_table *table,
		       size_t index, bool readable)
{
	size_t count = procedure_table_get(table, index)->alias_count;

	if (count == 0)
		return 0;
	names->aliases = calloc(count, sizeof(*names->aliases));
	if (names->aliases == NULL)
		return -ENOMEM;
	for (; names->alias_count < count; names->alias_count++) {
		const char *linkers = procedure_table_alias(table, index, names->alias_count);

		names->aliases[names->alias_count] = make_name(linkers, readable);
		if (names->aliases[names->alias_count] == NULL)
			return -ENOMEM;
	}
	drop_equal(names);
	return 0;
}

static int make_list(struct procedure_names *names)
{
	size_t bytes = 1;
	char *end;

	for (size_t i = 0; i < names->alias_count; i++)
		bytes += strlen(names->aliases[i]) + 2;
	end = names->list = malloc(bytes);
	if (end == NULL)
		return -ENOMEM;
	*end = '\0';
	for (size_t i = 0; i < names->alias_count; i++)
		end = stpcpy(stpcpy(end, i > 0 ? "; " : ""), names->aliases[i]);
	return 0;
}

static int add_note(struct procedure_names *names, const char *file)
{
	const char *open = file != NULL ? " (" : "", *close = file != NULL ? ")" : "";
	char aliases[48] = "";

	if (names->alias_count > 0)
		snprintf(aliases, sizeof(aliases), " (+%zu alias%s)", names->alias_count,
			 names->alias_count == 1 ? "" : "es");
	if (asprintf(&names->note, "%s%s%s%s", open, file != NULL ? file : "", close, aliases) >= 0)
		return 0;
	names->note = NULL;
	return -ENOMEM;
}

int procedure_names_make(struct procedure_names *ret, const struct procedure_table *table,
			 size_t index, bool readable)
{
	_cleanup_(procedure_names_deinit) struct procedure_names names = {0};
	const struct procedure *procedure = procedure_table_get(table, index);

	names.name = make_name(procedure->name, readable);
	if (names.name == NULL || add_version(&names.name, procedure->version) < 0 ||
	    add_aliases(&names, table, index, readable) < 0 ||
	    add_note(&names, procedure->file) < 0 || make_list(&names) < 0)
		return -ENOMEM;
	*ret = names;
	names = (struct procedure_names){0};
	return 0;
}
