// SPDX-License-Identifier: GPL-2.0-only
#include "tools/annotate/procedure_lookup.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/elf_symbols.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "tools/annotate/calc_names.h"

void procedure_lookup_deinit(struct procedure_lookup *lookup)
{
	free(lookup->procedures);
	free(lookup->ranges.list);
	*lookup = (struct procedure_lookup){0};
}

/* Map a part that the compiler split off to its procedure. */
static size_t whole_of(const struct image_code *code, size_t procedure)
{
	struct image_range parts[PROCEDURE_PARTS_MAX];
	size_t parent;

	return image_code_parts(code, procedure, parts, &parent) == 0 ? parent : procedure;
}

long procedure_lookup_at(const struct image_code *code, uint64_t address)
{
	uint64_t offset;
	long index;

	if (image_code_offset(code, address, &offset) < 0)
		return -ENOENT;
	index = procedure_table_find(image_code_procedures(code), offset);
	return index >= 0 ? (long)whole_of(code, (size_t)index) : index;
}

static int procedure_lookup_add(struct procedure_lookup *lookup, const struct image_code *code,
				size_t procedure)
{
	procedure = whole_of(code, procedure);
	for (size_t i = 0; i < lookup->count; i++)
		if (lookup->procedures[i] == procedure)
			return 0; /* already there, through its cold part */
	if (array_reserve(&lookup->procedures, &lookup->capacity, lookup->count + 1,
			  sizeof(*lookup->procedures)) < 0)
		return -ENOMEM;
	lookup->procedures[lookup->count++] = procedure;
	return 0;
}

/*
 * The procedure table only has names at the start of code; labels inside procedures are read from
 * the file.
 */
struct label_search {
	struct procedure_lookup *lookup;
	const struct image_code *code;
	const char *wanted;
};

static int visit_symbol(void *context, const struct elf_symbol *symbol)
{
	const struct label_search *search = context;
	size_t bytes = strlen(search->wanted);
	long procedure;

	/* A version may follow the name. */
	if (strncmp(symbol->name, search->wanted, bytes) != 0 ||
	    (symbol->name[bytes] != '\0' && symbol->name[bytes] != '@'))
		return 0;
	procedure = procedure_lookup_at(search->code, symbol->address);
	return procedure >= 0
		       ? procedure_lookup_add(search->lookup, search->code, (size_t)procedure)
		       : 0;
}

static int add_labelled(struct procedure_lookup *lookup, const struct image_code *code,
			const char *wanted)
{
	struct label_search search = {lookup, code, wanted};
	const struct elf_file *file = image_code_file(code);
	int r = elf_symbols_visit(file, SHT_SYMTAB, visit_symbol, &search);

	return r == 0 ? elf_symbols_visit(file, SHT_DYNSYM, visit_symbol, &search) : r;
}

/* A name as the user entered it: the name, and the file that reports show after it. */
struct entered_name {
	char *name;
	char *file; /* NULL: not given */
};

static void entered_name_deinit(struct entered_name *wanted)
{
	free(wanted->name);
	free(wanted->file);
}

/* Remove " (inside)" from the end of a name. Return: the text in the parentheses, or NULL. */
static char *take_note(char *name, bool (*is_note)(const char *inside))
{
	size_t length = strlen(name);
	char *open = strrchr(name, '(');

	if (open == NULL || open < name + 2 || open[-1] != ' ' || name[length - 1] != ')')
		return NULL;
	name[length - 1] = '\0';
	if (is_note(open + 1)) {
		open[-1] = '\0';
		return open + 1;
	}
	name[length - 1] = ')';
	return NULL;
}

static bool is_alias_count(const char *inside)
{
	unsigned long count;
	char *end;

	if (inside[0] != '+' || !isdigit((unsigned char)inside[1]))
		return false;
	count = strtoul(inside + 1, &end, 10);
	return strcmp(end, count == 1 ? " alias" : " aliases") == 0;
}

/* A source file has a suffix; a C++ parameter list never has this form. */
static bool is_file(const char *inside)
{
	return strchr(inside, '.') != NULL && strpbrk(inside, "(), ") == NULL;
}

static int parse_name(struct entered_name *ret, const char *wanted)
{
	const char *file;

	ret->name = strdup(wanted);
	if (ret->name == NULL)
		return -ENOMEM;
	take_note(ret->name, is_alias_count);
	file = take_note(ret->name, is_file);
	if (file == NULL)
		return 0;
	ret->file = strdup(file);
	return ret->file != NULL ? 0 : -ENOMEM;
}

/* Return: true if a symbol's name, with or without its version, is @wanted. */
static bool is_name(const char *name, const char *version, const char *wanted)
{
	size_t bytes = strcspn(name, "@");
	const char *wanted_version = wanted + bytes;

	if (strcmp(name, wanted) == 0)
		return true;
	if (strncmp(name, wanted, bytes) != 0 ||
	    (*wanted_version != '\0' && *wanted_version != '@'))
		return false;
	if (name[bytes] == '@')
		version = name + bytes;
	if (*wanted_version == '\0')
		return version == NULL || strcmp(version, "@plt") != 0;
	/* Only one piece of code has this name, so it includes all versions. */
	if (version == NULL)
		return strcmp(wanted_version, "@plt") != 0;
	return strcmp(wanted_version + strspn(wanted_version, "@"),
		      version + strspn(version, "@")) == 0;
}

static bool has_name(const struct procedure *procedure, const struct entered_name *wanted)
{
	return is_name(procedure->name, procedure->version, wanted->name) &&
	       (wanted->file == NULL ||
		(procedure->file != NULL && strcmp(procedure->file, wanted->file) == 0));
}

static bool has_alias(const struct procedure_table *table, size_t index, const char *wanted)
{
	size_t count = procedure_table_get(table, index)->alias_count;

	for (size_t i = 0; i < count; i++) {
		if (is_name(procedure_table_alias(table, index, i), NULL, wanted))
			return true;
	}
	return false;
}

/* Return true if the name in source form, or an alias, is the wanted one. */
static bool has_meaning(const struct procedure_table *table, size_t index,
			const struct calc_name *wanted)
{
	const struct procedure *procedure = procedure_table_get(table, index);

	if (calc_name_means(wanted, procedure->name))
		return true;
	for (size_t i = 0; i < procedure->alias_count; i++) {
		if (calc_name_means(wanted, procedure_table_alias(table, index, i)))
			return true;
	}
	return false;
}

int procedure_lookup_by_name(struct procedure_lookup *lookup, const struct image_code *code,
			     const char *wanted)
{
	const struct procedure_table *table = image_code_procedures(code);
	_cleanup_(entered_name_deinit) struct entered_name entered = {0};
	size_t count = procedure_table_count(table);
	struct calc_name name;
	int r = parse_name(&entered, wanted);

	for (size_t i = 0; i < count && r == 0; i++) {
		if (has_name(procedure_table_get(table, i), &entered))
			r = procedure_lookup_add(lookup, code, i);
	}
	for (size_t i = 0; i < count && r == 0 && lookup->count == 0; i++) {
		if (has_alias(table, i, entered.name))
			r = procedure_lookup_add(lookup, code, i);
	}
	if (r == 0 && lookup->count == 0)
		r = add_labelled(lookup, code, entered.name);
	if (r < 0 || lookup->count > 0)
		return r;
	name = calc_name_make(entered.name);
	for (size_t i = 0; i < count && r == 0; i++) {
		if (has_meaning(table, i, &name))
			r = procedure_lookup_add(lookup, code, i);
	}
	return r;
}

int procedure_lookup_by_address(struct procedure_lookup *lookup, const struct image_code *code,
				uint64_t address)
{
	long procedure = procedure_lookup_at(code, address);

	return procedure >= 0 ? procedure_lookup_add(lookup, code, (size_t)procedure) : 0;
}

static int procedure_lookup_by_start(const void *a, const void *b)
{
	const struct profile_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void procedure_lookup_unite(struct profile_ranges *ranges)
{
	size_t kept = 0;

	qsort(ranges->list, ranges->count, sizeof(*ranges->list), procedure_lookup_by_start);
	for (size_t i = 0; i < ranges->count; i++) {
		struct profile_range *range = &ranges->list[i];

		if (kept == 0 || ranges->list[kept - 1].end < range->start)
			ranges->list[kept++] = *range;
		else if (ranges->list[kept - 1].end < range->end)
			ranges->list[kept - 1].end = range->end;
	}
	ranges->count = kept;
}

int procedure_lookup_ranges(struct procedure_lookup *lookup, const struct image_code *code,
			    bool offsets_are_addresses)
{
	struct profile_ranges *ranges = &lookup->ranges;

	ranges->list = malloc((lookup->count * PROCEDURE_PARTS_MAX + 1) * sizeof(*ranges->list));
	if (ranges->list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < lookup->count; i++) {
		struct image_range parts[PROCEDURE_PARTS_MAX];
		size_t parent,
			count = image_code_parts(code, lookup->procedures[i], parts, &parent);

		for (size_t part = 0; part < count; part++) {
			uint64_t start = parts[part].start, bytes = parts[part].end - start;

			if (offsets_are_addresses || image_code_offset(code, start, &start) == 0)
				ranges->list[ranges->count++] =
					(struct profile_range){start, start + bytes};
		}
	}
	procedure_lookup_unite(ranges);
	return 0;
}
