// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/image/procedure_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/partition_point.h"
#include "lib/u64_map.h"

#define NONE SIZE_MAX

/* struct part - a procedure that is a part of another one */
struct part {
	const char *name;
	size_t base_length; /* length of the whole procedure's name */
	size_t index;
	size_t parent; /* NONE: unknown */
	bool ambiguous;
};

struct procedure_parts {
	struct image_text *text;
	const struct procedure_table *table;
	struct part *parts; /* by base name, then by parent */
	size_t count;
	size_t capacity;
	struct u64_map parents; /* index of a part -> index of its procedure */
};

CLEANUP_DEFINE(procedure_parts, struct procedure_parts *, procedure_parts_destroy)

/* Return the length of NAME in "NAME.cold" and "NAME.cold.1"; 0 for other names. */
static size_t base_length(const char *name)
{
	size_t length = strlen(name), end = length;

	while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end == length || end == 0 || name[end - 1] != '.')
		end = length;
	else
		end--;
	if (end <= 5 || strncmp(name + end - 5, ".cold", 5) != 0)
		return 0;
	return end - 5;
}

static int base_compare(const char *a, size_t a_length, const char *b, size_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	if (order != 0)
		return order;
	return (a_length > b_length) - (a_length < b_length);
}

static int part_compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int order = base_compare(x->name, x->base_length, y->name, y->base_length);

	return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static int parent_compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static int add_part(struct procedure_parts *parts, const struct part *part)
{
	if (array_reserve(&parts->parts, &parts->capacity, parts->count + 1,
			  sizeof(*parts->parts)) < 0)
		return -ENOMEM;
	parts->parts[parts->count++] = *part;
	return 0;
}

static int list_parts(struct procedure_parts *parts)
{
	for (size_t i = 0; i < procedure_table_count(parts->table); i++) {
		const struct procedure *procedure = procedure_table_get(parts->table, i);
		struct part part = {.name = procedure->name, .index = i, .parent = NONE};

		if (procedure->source != PROCEDURE_SYMBOL && procedure->source != PROCEDURE_LABEL)
			continue;
		part.base_length = base_length(procedure->name);
		if (part.base_length > 0 && add_part(parts, &part) < 0)
			return -ENOMEM;
	}
	if (parts->count > 0)
		qsort(parts->parts, parts->count, sizeof(*parts->parts), part_compare);
	return 0;
}

/* Return the first part of a procedure of this name. */
static size_t first_of(const struct procedure_parts *parts, const char *name, size_t length)
{
	const struct part *list = parts->parts;

	return partition_point(0, parts->count, i,
			       base_compare(list[i].name, list[i].base_length, name, length) < 0);
}

static bool contains(const struct procedure *procedure, uint64_t address)
{
	return address >= procedure->address && address - procedure->address < procedure->bytes;
}

typedef bool (*branch_fn)(void *context, uint64_t target);

/* Return: true if @visit ended the iteration. */
static bool visit_branches(struct image_text *text, const struct procedure *from, branch_fn visit,
			   void *context)
{
	const struct insn_decoder *decoder = text->decoder;
	size_t available = 0, step;
	const uint8_t *bytes = image_text_bytes(text, from->address, &available);

	if (bytes == NULL)
		return false;
	if (available > from->bytes)
		available = from->bytes;
	for (size_t at = 0; at < available; at += step) {
		struct insn insn;

		step = decoder->decode(&insn, bytes + at, available - at, from->address + at);
		if (step == 0)
			step = decoder->alignment;
		else if ((insn.flow == INSN_FLOW_BRANCH || insn.flow == INSN_FLOW_JUMP) &&
			 visit(context, insn.target))
			return true;
	}
	return false;
}

static bool procedure_parts_is_in(void *context, uint64_t target)
{
	return contains(context, target);
}

/* Return true if a procedure branches into another one, as parts of one procedure do. */
static bool branches_into(struct image_text *text, const struct procedure *from,
			  const struct procedure *to)
{
	struct procedure range = *to;

	return visit_branches(text, from, procedure_parts_is_in, &range);
}

struct origin {
	const struct procedure_parts *parts;
	size_t index;
};

/* Accept a procedure if the branch leads into its middle. */
static bool is_origin(void *context, uint64_t target)
{
	struct origin *origin = context;
	long index = image_text_find(origin->parts->text, target);
	const struct procedure *procedure;

	if (index < 0)
		return false;
	procedure = procedure_table_get(origin->parts->table, (size_t)index);
	if (procedure->inside || target == procedure->address ||
	    procedure->source > PROCEDURE_UNWIND)
		return false;
	origin->index = (size_t)index;
	return true;
}

/* List parts in files without symbols. */
static int list_split_off(struct procedure_parts *parts)
{
	for (size_t i = 0; i < procedure_table_count(parts->table); i++) {
		const struct procedure *procedure = procedure_table_get(parts->table, i);
		struct origin origin = {.parts = parts};
		struct part part = {.name = "", .index = i};

		if (!procedure->inside ||
		    !visit_branches(parts->text, procedure, is_origin, &origin))
			continue;
		part.parent = origin.index;
		if (add_part(parts, &part) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Consider a procedure as the parent of parts that have its name. */
static void consider_parent(struct procedure_parts *parts, size_t index,
			    const struct procedure *procedure)
{
	size_t length = strlen(procedure->name);

	for (size_t i = first_of(parts, procedure->name, length); i < parts->count; i++) {
		struct part *part = &parts->parts[i];

		if (base_compare(part->name, part->base_length, procedure->name, length) != 0)
			break;
		if (part->parent == NONE)
			part->parent = index;
		else
			part->ambiguous = true;
	}
}

/* Choose among procedures with the same name the one with branches to the part or back. */
static void procedure_parts_settle(struct procedure_parts *parts, size_t index,
				   const struct procedure *procedure)
{
	size_t length = strlen(procedure->name);

	for (size_t i = first_of(parts, procedure->name, length); i < parts->count; i++) {
		struct part *part = &parts->parts[i];
		const struct procedure *own;

		if (base_compare(part->name, part->base_length, procedure->name, length) != 0)
			break;
		own = procedure_table_get(parts->table, part->index);
		if (!part->ambiguous || (part->parent != NONE && part->parent != index))
			continue;
		if (branches_into(parts->text, own, procedure) ||
		    branches_into(parts->text, procedure, own))
			part->parent = index;
	}
}

static void find_parents(struct procedure_parts *parts)
{
	size_t count = procedure_table_count(parts->table);
	bool ambiguous = false;

	for (size_t i = 0; i < count; i++)
		consider_parent(parts, i, procedure_table_get(parts->table, i));
	for (size_t i = 0; i < parts->count; i++) {
		if (!parts->parts[i].ambiguous)
			continue;
		parts->parts[i].parent = NONE;
		ambiguous = true;
	}
	for (size_t i = 0; ambiguous && i < count; i++)
		procedure_parts_settle(parts, i, procedure_table_get(parts->table, i));
}

/* Sort the parts and build the map, for fast lookup from both sides. */
static int procedure_parts_finish(struct procedure_parts *parts)
{
	if (parts->count == 0)
		return 0;
	qsort(parts->parts, parts->count, sizeof(*parts->parts), parent_compare);
	for (size_t i = 0; i < parts->count && parts->parts[i].parent != NONE; i++) {
		uint64_t *parent = u64_map_insert(&parts->parents, parts->parts[i].index);

		if (parent == NULL)
			return -ENOMEM;
		*parent = parts->parts[i].parent;
	}
	return 0;
}

int procedure_parts_create(struct procedure_parts **ret, struct image_text *text)
{
	_cleanup_(cleanup_procedure_parts) struct procedure_parts *parts =
		calloc(1, sizeof(*parts));
	int r;

	if (parts == NULL)
		return -ENOMEM;
	parts->text = text;
	parts->table = text->procedures;
	r = list_parts(parts);
	if (r == 0 && parts->count > 0)
		find_parents(parts);
	if (r == 0)
		r = list_split_off(parts);
	if (r == 0)
		r = procedure_parts_finish(parts);
	if (r < 0)
		return r;
	*ret = take_ptr(parts);
	return 0;
}

void procedure_parts_destroy(struct procedure_parts *parts)
{
	if (parts == NULL)
		return;
	free(parts->parts);
	u64_map_deinit(&parts->parents);
	free(parts);
}

static struct image_range range_of(const struct procedure *procedure)
{
	return (struct image_range){procedure->address, procedure->address + procedure->bytes};
}

/* Return the first part of a procedure. */
static size_t first_part(const struct procedure_parts *parts, size_t parent)
{
	return partition_point(0, parts->count, i, parts->parts[i].parent < parent);
}

size_t procedure_parts_get(const struct procedure_parts *parts, size_t index,
			   struct image_range ranges[PROCEDURE_PARTS_MAX], size_t *parent)
{
	const uint64_t *known = u64_map_find(&parts->parents, index);
	size_t count = 0;

	if (known != NULL) {
		*parent = *known;
		return 0;
	}
	ranges[count++] = range_of(procedure_table_get(parts->table, index));
	for (size_t i = first_part(parts, index);
	     i < parts->count && parts->parts[i].parent == index && count < PROCEDURE_PARTS_MAX;
	     i++)
		ranges[count++] =
			range_of(procedure_table_get(parts->table, parts->parts[i].index));
	return count;
}
