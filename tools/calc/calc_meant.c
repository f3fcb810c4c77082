// SPDX-License-Identifier: GPL-2.0-only
#include "tools/calc/calc_meant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/elf_symbols.h"
#include "lib/array.h"
#include "tools/calc/calc_names.h"

void calc_meant_deinit(struct calc_meant *meant)
{
	free(meant->procedures);
	free(meant->ranges.list);
	*meant = (struct calc_meant){0};
}

/* Parts that the compiler split off belong to their procedure. */
static size_t whole_of(const struct image_code *code, size_t procedure)
{
	struct image_range parts[PROCEDURE_PARTS_MAX];
	size_t parent;

	return image_code_parts(code, procedure, parts, &parent) == 0 ? parent : procedure;
}

long calc_meant_at(const struct image_code *code, uint64_t address)
{
	uint64_t offset;
	long index;

	if (image_code_offset(code, address, &offset) < 0)
		return -ENOENT;
	index = procedure_table_find(image_code_procedures(code), offset);
	return index >= 0 ? (long)whole_of(code, (size_t)index) : index;
}

static int add(struct calc_meant *meant, const struct image_code *code, size_t procedure)
{
	procedure = whole_of(code, procedure);
	for (size_t i = 0; i < meant->count; i++)
		if (meant->procedures[i] == procedure)
			return 0; /* by its cold part, too */
	if (array_reserve(&meant->procedures, &meant->capacity, meant->count + 1,
			  sizeof(*meant->procedures)) < 0)
		return -ENOMEM;
	meant->procedures[meant->count++] = procedure;
	return 0;
}

/* Of names for one address the table has the best; others are only in the file. */
struct alias_search {
	struct calc_meant *meant;
	const struct image_code *code;
	const char *wanted;
};

static int visit_symbol(void *context, const struct elf_symbol *symbol)
{
	const struct alias_search *search = context;
	size_t bytes = strlen(search->wanted);
	long procedure;

	/* A version may follow. */
	if (strncmp(symbol->name, search->wanted, bytes) != 0 ||
	    (symbol->name[bytes] != '\0' && symbol->name[bytes] != '@'))
		return 0;
	procedure = calc_meant_at(search->code, symbol->address);
	return procedure >= 0 ? add(search->meant, search->code, (size_t)procedure) : 0;
}

static int add_aliased(struct calc_meant *meant, const struct image_code *code, const char *wanted)
{
	struct alias_search search = {meant, code, wanted};
	const struct elf_file *file = image_code_file(code);
	int r = elf_symbols_visit(file, SHT_SYMTAB, visit_symbol, &search);

	return r == 0 ? elf_symbols_visit(file, SHT_DYNSYM, visit_symbol, &search) : r;
}

int calc_meant_by_name(struct calc_meant *meant, const struct image_code *code, const char *wanted)
{
	const struct procedure_table *table = image_code_procedures(code);
	size_t count = procedure_table_count(table);
	struct calc_name name = calc_name_make(wanted);
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		if (strcmp(procedure_table_get(table, i)->name, wanted) == 0)
			r = add(meant, code, i);
	}
	if (r == 0 && meant->count == 0)
		r = add_aliased(meant, code, wanted);
	if (meant->count > 0)
		return r;
	for (size_t i = 0; i < count && r == 0; i++) {
		if (calc_name_means(&name, procedure_table_get(table, i)->name))
			r = add(meant, code, i);
	}
	return r;
}

int calc_meant_by_address(struct calc_meant *meant, const struct image_code *code, uint64_t address)
{
	long procedure = calc_meant_at(code, address);

	return procedure >= 0 ? add(meant, code, (size_t)procedure) : 0;
}

static int by_start(const void *a, const void *b)
{
	const struct profile_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void unite(struct profile_ranges *ranges)
{
	size_t kept = 0;

	qsort(ranges->list, ranges->count, sizeof(*ranges->list), by_start);
	for (size_t i = 0; i < ranges->count; i++) {
		struct profile_range *range = &ranges->list[i];

		if (kept == 0 || ranges->list[kept - 1].end < range->start)
			ranges->list[kept++] = *range;
		else if (ranges->list[kept - 1].end < range->end)
			ranges->list[kept - 1].end = range->end;
	}
	ranges->count = kept;
}

int calc_meant_ranges(struct calc_meant *meant, const struct image_code *code,
		      bool offsets_are_addresses)
{
	struct profile_ranges *ranges = &meant->ranges;

	ranges->list = malloc((meant->count * PROCEDURE_PARTS_MAX + 1) * sizeof(*ranges->list));
	if (ranges->list == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < meant->count; i++) {
		struct image_range parts[PROCEDURE_PARTS_MAX];
		size_t parent, count = image_code_parts(code, meant->procedures[i], parts, &parent);

		for (size_t part = 0; part < count; part++) {
			uint64_t start = parts[part].start, bytes = parts[part].end - start;

			if (offsets_are_addresses || image_code_offset(code, start, &start) == 0)
				ranges->list[ranges->count++] =
					(struct profile_range){start, start + bytes};
		}
	}
	unite(ranges);
	return 0;
}
