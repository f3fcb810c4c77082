// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/procedure_aliases.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analysis/image/elf_symbols.h"
#include "analysis/image/procedure_table_parts.h"
#include "lib/array.h"
#include "lib/partition_point.h"
#include "lib/u64_map.h"

/* Value of a map by the hash of a name. Colliding names are only shown in more detail. */
#define SEVERAL UINT64_MAX

/*
 * struct alias_search - search for aliases
 * @versions:   by name with a version: the offset of the code plus one, or SEVERAL
 * @procedures: by name of a procedure with a file: number of procedures with that name
 * @found:      the names at one offset, the most preferred first
 */
struct alias_search {
	struct procedure_table *table;
	const struct procedure_symbols *symbols;
	struct u64_map versions;
	struct u64_map procedures;
	const struct procedure_candidate **found;
	size_t found_count;
	size_t found_capacity;
	size_t capacity; /* of table->aliases */
};

static void search_deinit(struct alias_search *search)
{
	u64_map_deinit(&search->versions);
	u64_map_deinit(&search->procedures);
	free((void *)search->found);
}

void procedure_aliases_extend(struct procedure_candidate *candidates, size_t count)
{
	size_t next;

	for (size_t i = 0; i < count; i = next) {
		uint64_t bytes = 0;

		for (next = i; next < count &&
			       candidates[next].procedure.offset == candidates[i].procedure.offset;
		     next++) {
			if (candidates[next].rank < ELF_SYMBOL_LABEL &&
			    candidates[next].procedure.bytes > bytes)
				bytes = candidates[next].procedure.bytes;
		}
		if (candidates[next - 1].rank < ELF_SYMBOL_LABEL)
			candidates[next - 1].procedure.bytes = bytes;
	}
}

static uint64_t hash(const char *name)
{
	return XXH3_64bits(name, strlen(name));
}

static int note_versions(struct alias_search *search)
{
	for (size_t i = 0; i < search->symbols->count; i++) {
		const struct procedure_candidate *candidate = &search->symbols->candidates[i];
		uint64_t place = candidate->procedure.offset + 1, *known;

		if (candidate->version == NULL)
			continue;
		known = u64_map_insert(&search->versions, hash(candidate->procedure.name));
		if (known == NULL)
			return -ENOMEM;
		*known = *known == 0 || *known == place ? place : SEVERAL;
	}
	return 0;
}

static int note_names(struct alias_search *search, const uint32_t *from)
{
	const struct procedure_table *table = search->table;

	for (size_t i = 0; i < table->count; i++) {
		if (search->symbols->candidates[from[i]].file != NULL &&
		    u64_map_insert(&search->procedures, hash(table->procedures[i].name)) == NULL)
			return -ENOMEM;
	}
	for (size_t i = 0; u64_map_count(&search->procedures) > 0 && i < table->count; i++) {
		uint64_t *known =
			u64_map_find(&search->procedures, hash(table->procedures[i].name));

		if (known != NULL)
			++*known;
	}
	return 0;
}

/*
 * Make the suffix of a candidate's name: "@V1", "@@V2", or NULL if the name is unambiguous.
 * Return: 0 or -ENOMEM.
 */
static int version_of(struct alias_search *search, const struct procedure_candidate *candidate,
		      const char **ret)
{
	const uint64_t *known;

	*ret = NULL;
	if (candidate->version == NULL)
		return 0;
	known = u64_map_find(&search->versions, hash(candidate->procedure.name));
	if (!candidate->hidden && (known == NULL || *known != SEVERAL))
		return 0;
	*ret = name_pool_format(&search->table->pool, "%s%s", candidate->hidden ? "@" : "@@",
				candidate->version);
	return *ret != NULL ? 0 : -ENOMEM;
}

static int note_found(struct alias_search *search, const struct procedure_candidate *candidate)
{
	if (array_reserve((void *)&search->found, &search->found_capacity, search->found_count + 1,
			  sizeof(struct procedure_candidate *)) < 0)
		return -ENOMEM;
	search->found[search->found_count++] = candidate;
	return 0;
}

/* Find other symbols at an offset in a sorted range, the most preferred first. */
static int find_others(struct alias_search *search, size_t first, size_t end, uint64_t offset)
{
	const struct procedure_symbols *symbols = search->symbols;
	size_t low =
		partition_point(first, end, i, symbols->candidates[i].procedure.offset <= offset);

	for (; low > first && symbols->candidates[low - 1].procedure.offset == offset; low--) {
		const struct procedure_candidate *other = &symbols->candidates[low - 1];

		/* gcc adds these to functions that may be replaced. */
		if (symbols->owned[low - 1] != 0 ||
		    strstr(other->procedure.name, ".localalias") != NULL)
			continue;
		if (note_found(search, other) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* By name; for equal names, the most preferred first, which is the last candidate. */
static int compare_found(const void *a, const void *b)
{
	const struct procedure_candidate *x = *(const struct procedure_candidate *const *)a;
	const struct procedure_candidate *y = *(const struct procedure_candidate *const *)b;

	int r = strcmp(x->procedure.name, y->procedure.name);

	return r != 0 ? r : (x < y) - (x > y);
}

static int add_alias(struct alias_search *search, const struct procedure_candidate *candidate)
{
	struct procedure_table *table = search->table;
	const char *name = candidate->procedure.name, *version;

	if (version_of(search, candidate, &version) < 0)
		return -ENOMEM;
	if (version != NULL)
		name = name_pool_format(&table->pool, "%s%s", name, version);
	if (name == NULL || array_reserve((void *)&table->aliases, &search->capacity,
					  table->alias_count + 1, sizeof(char *)) < 0)
		return -ENOMEM;
	table->aliases[table->alias_count++] = name;
	return 0;
}

/* Add the names at the offset of a procedure, without duplicates. */
static int add_aliases(struct alias_search *search, struct procedure *procedure)
{
	const struct procedure_symbols *symbols = search->symbols;
	const char *before = procedure->name;

	procedure->alias_first = search->table->alias_count;
	search->found_count = 0;
	if (find_others(search, 0, symbols->sized, procedure->offset) < 0 ||
	    find_others(search, symbols->sized, symbols->count, procedure->offset) < 0)
		return -ENOMEM;
	if (search->found_count > 1)
		array_sort(search->found, search->found_count, sizeof(*search->found),
			   compare_found);
	for (size_t i = 0; i < search->found_count; i++) {
		const char *name = search->found[i]->procedure.name;

		if (strcmp(name, before) == 0 || strcmp(name, procedure->name) == 0)
			continue;
		before = name;
		if (add_alias(search, search->found[i]) < 0)
			return -ENOMEM;
	}
	procedure->alias_count = search->table->alias_count - procedure->alias_first;
	return 0;
}

static int fill_names(struct alias_search *search, struct procedure *procedure,
		      const struct procedure_candidate *candidate)
{
	const uint64_t *known = NULL;

	if (procedure->source > PROCEDURE_LABEL)
		return 0;
	if (candidate->file != NULL)
		known = u64_map_find(&search->procedures, hash(procedure->name));
	if (known != NULL && *known > 1)
		procedure->file = candidate->file;
	if (version_of(search, candidate, &procedure->version) < 0)
		return -ENOMEM;
	return add_aliases(search, procedure);
}

int procedure_aliases_add(struct procedure_table *table, const struct procedure_symbols *symbols,
			  const uint32_t *from)
{
	struct alias_search search = {.table = table, .symbols = symbols};
	int r = note_versions(&search);

	if (r == 0)
		r = note_names(&search, from);
	for (size_t i = 0; r == 0 && i < table->count; i++)
		r = fill_names(&search, &table->procedures[i], &symbols->candidates[from[i]]);
	search_deinit(&search);
	return r;
}
