// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/unit_inlines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/array.h"
#include "lib/partition_point.h"
#include "lib/u64_map.h"

/* Limit for namespaces, types and blocks. */
#define DEPTH_MAX 64
/* Limit for the ranges of a function: compilers divide it into a few. */
#define RANGES_MAX 256

/* Code of a function. @die: offset of its entry */
struct function_range {
	uint64_t start;
	uint64_t end;
	Dwarf_Off die;
};

/* struct unit_functions - ranges by start */
struct unit_functions {
	struct function_range *ranges;
	size_t count;
	size_t capacity;
};

/* @known: offset of a unit to its index in @units, plus 1 */
struct unit_inlines {
	struct u64_map known;
	struct unit_functions *units;
	size_t count;
	size_t capacity;
};

struct unit_inlines *unit_inlines_create(void)
{
	return calloc(1, sizeof(struct unit_inlines));
}

void unit_inlines_destroy(struct unit_inlines *inlines)
{
	if (inlines == NULL)
		return;
	for (size_t i = 0; i < inlines->count; i++)
		free(inlines->units[i].ranges);
	free(inlines->units);
	u64_map_deinit(&inlines->known);
	free(inlines);
}

/* Go to the next sibling. An attribute could refer back. Return: false: there is none. */
static bool die_next(Dwarf_Die *die)
{
	Dwarf_Off before = dwarf_dieoffset(die);
	Dwarf_Die next;

	if (dwarf_siblingof(die, &next) != 0 || dwarf_dieoffset(&next) <= before)
		return false;
	*die = next;
	return true;
}

static int function_add(struct unit_functions *functions, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	for (int i = 0; i < RANGES_MAX && (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;
	     i++) {
		if (start >= end)
			continue;
		if (array_reserve(&functions->ranges, &functions->capacity, functions->count + 1,
				  sizeof(*functions->ranges)) < 0)
			return -ENOMEM;
		functions->ranges[functions->count++] =
			(struct function_range){start, end, dwarf_dieoffset(die)};
	}
	return 0;
}

/* Return true for entries that contain functions: Rust has them in types, too. */
static bool has_functions(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type;
}

static int functions_collect(struct unit_functions *functions, Dwarf_Die *unit)
{
	Dwarf_Die path[DEPTH_MAX], child;
	size_t depth = 1;
	int r = 0;

	if (dwarf_child(unit, &path[0]) != 0)
		return 0;
	/* @path: the current entry of each level */
	while (depth > 0 && r == 0) {
		Dwarf_Die *die = &path[depth - 1];
		int tag = dwarf_tag(die);
		bool is_deeper =
			has_functions(tag) && depth < DEPTH_MAX && dwarf_child(die, &child) == 0;

		if (tag == DW_TAG_subprogram)
			r = function_add(functions, die);
		if (is_deeper)
			path[depth++] = child;
		while (!is_deeper && depth > 0 && !die_next(&path[depth - 1]))
			depth--;
	}
	return r;
}

static int by_start(const void *a, const void *b)
{
	const struct function_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Return: the functions of a unit; NULL if out of memory. */
static const struct unit_functions *unit_get(struct unit_inlines *inlines, Dwarf_Die *unit)
{
	uint64_t *known = u64_map_insert(&inlines->known, dwarf_dieoffset(unit));
	struct unit_functions *functions;

	if (known == NULL)
		return NULL;
	if (*known != 0)
		return &inlines->units[*known - 1];
	if (array_reserve(&inlines->units, &inlines->capacity, inlines->count + 1,
			  sizeof(*inlines->units)) < 0)
		return NULL;
	functions = &inlines->units[inlines->count];
	*functions = (struct unit_functions){.count = 0};
	if (functions_collect(functions, unit) < 0) {
		free(functions->ranges);
		return NULL;
	}
	if (functions->count > 0)
		qsort(functions->ranges, functions->count, sizeof(*functions->ranges), by_start);
	*known = ++inlines->count;
	return functions;
}

static const struct function_range *function_at(const struct unit_functions *functions,
						uint64_t address)
{
	size_t low = partition_point(0, functions->count, i, functions->ranges[i].start <= address);

	return low > 0 && address < functions->ranges[low - 1].end ? &functions->ranges[low - 1]
								   : NULL;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) != NULL ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute) != NULL)
		return dwarf_formstring(&attribute);
	return dwarf_diename(die);
}

/* Go to the block in @die that contains the address. Return: its tag; 0: there is none. */
static int block_enter(Dwarf_Die *die, uint64_t address)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return 0;
	do {
		int tag = dwarf_tag(&child);

		if ((tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine) &&
		    dwarf_haspc(&child, address) > 0) {
			*die = child;
			return tag;
		}
	} while (die_next(&child));
	return 0;
}

int unit_inlines_find(struct unit_inlines *inlines, Dwarf *dwarf, Dwarf_Off unit, uint64_t address,
		      const char *names[UNIT_INLINES_MAX], size_t *count)
{
	const struct unit_functions *functions;
	const struct function_range *function;
	Dwarf_Die die;
	int tag;

	*count = 0;
	if (dwarf_offdie(dwarf, unit, &die) == NULL)
		return 0;
	functions = unit_get(inlines, &die);
	if (functions == NULL)
		return -ENOMEM;
	function = function_at(functions, address);
	if (function == NULL || dwarf_offdie(dwarf, function->die, &die) == NULL)
		return 0;
	for (int depth = 0; depth < DEPTH_MAX && (tag = block_enter(&die, address)) != 0; depth++) {
		const char *name = tag == DW_TAG_inlined_subroutine ? name_of(&die) : NULL;

		if (name != NULL && *count < UNIT_INLINES_MAX)
			names[(*count)++] = name;
	}
	return 0;
}
