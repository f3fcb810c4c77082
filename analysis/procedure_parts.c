// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/procedure_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/cleanup.h"

#define NONE SIZE_MAX

/* A procedure whose name says that it is a part. */
struct part {
	const char *name;
	size_t base_length; /* of the whole procedure's name */
	size_t index;
	size_t parent; /* NONE: not known */
	bool ambiguous;
};

struct procedure_parts {
	struct image_code *code;
	const struct procedure_table *table;
	struct part *parts; /* by base name, then by parent */
	size_t count;
	size_t capacity;
};

CLEANUP_DEFINE(procedure_parts, struct procedure_parts *, procedure_parts_destroy)

/* Length of NAME in "NAME.cold" and "NAME.cold.1"; 0: it is none of these. */
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

static int list_parts(struct procedure_parts *parts)
{
	for (size_t i = 0; i < procedure_table_count(parts->table); i++) {
		const struct procedure *procedure = procedure_table_get(parts->table, i);
		size_t length;

		if (procedure->source != PROCEDURE_SYMBOL && procedure->source != PROCEDURE_LABEL)
			continue;
		length = base_length(procedure->name);
		if (length == 0)
			continue;
		if (array_reserve(&parts->parts, &parts->capacity, parts->count + 1,
				  sizeof(*parts->parts)) < 0)
			return -ENOMEM;
		parts->parts[parts->count++] = (struct part){
			.name = procedure->name, .base_length = length, .index = i, .parent = NONE};
	}
	if (parts->count > 0)
		qsort(parts->parts, parts->count, sizeof(*parts->parts), part_compare);
	return 0;
}

/* The first part of a procedure of this name. */
static size_t first_of(const struct procedure_parts *parts, const char *name, size_t length)
{
	size_t low = 0, high = parts->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct part *part = &parts->parts[middle];

		if (base_compare(part->name, part->base_length, name, length) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool contains(const struct procedure *procedure, uint64_t address)
{
	return address >= procedure->address && address - procedure->address < procedure->bytes;
}

/* Whether a procedure branches into another one, as parts of one procedure do. */
static bool branches_into(struct image_code *code, const struct procedure *from,
			  const struct procedure *to)
{
	const struct insn_decoder *decoder = image_code_decoder(code);
	size_t available = 0, step;
	const uint8_t *bytes = image_code_bytes(code, from->address, &available);

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
			 contains(to, insn.target))
			return true;
	}
	return false;
}

/* Offers a procedure as parent of the parts that have its name. */
static void offer(struct procedure_parts *parts, size_t index, const struct procedure *procedure)
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

/* Of several procedures of one name, the one that goes to the part and back. */
static void settle(struct procedure_parts *parts, size_t index, const struct procedure *procedure)
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
		if (branches_into(parts->code, own, procedure) ||
		    branches_into(parts->code, procedure, own))
			part->parent = index;
	}
}

static void find_parents(struct procedure_parts *parts)
{
	size_t count = procedure_table_count(parts->table);
	bool ambiguous = false;

	for (size_t i = 0; i < count; i++)
		offer(parts, i, procedure_table_get(parts->table, i));
	for (size_t i = 0; i < parts->count; i++) {
		if (!parts->parts[i].ambiguous)
			continue;
		parts->parts[i].parent = NONE;
		ambiguous = true;
	}
	for (size_t i = 0; ambiguous && i < count; i++)
		settle(parts, i, procedure_table_get(parts->table, i));
	qsort(parts->parts, parts->count, sizeof(*parts->parts), parent_compare);
}

int procedure_parts_create(struct procedure_parts **ret, struct image_code *code)
{
	_cleanup_(cleanup_procedure_parts) struct procedure_parts *parts =
		calloc(1, sizeof(*parts));
	int r;

	if (parts == NULL)
		return -ENOMEM;
	parts->code = code;
	parts->table = image_code_procedures(code);
	r = list_parts(parts);
	if (r < 0)
		return r;
	if (parts->count > 0)
		find_parents(parts);
	*ret = take_ptr(parts);
	return 0;
}

void procedure_parts_destroy(struct procedure_parts *parts)
{
	if (parts == NULL)
		return;
	free(parts->parts);
	free(parts);
}

static struct image_range range_of(const struct procedure *procedure)
{
	return (struct image_range){procedure->address, procedure->address + procedure->bytes};
}

size_t procedure_parts_get(const struct procedure_parts *parts, size_t index,
			   struct image_range ranges[IMAGE_CODE_PARTS_MAX], size_t *parent)
{
	const struct procedure *procedure = procedure_table_get(parts->table, index);
	size_t count = 0;

	for (size_t i = 0; i < parts->count; i++) {
		if (parts->parts[i].index != index || parts->parts[i].parent == NONE)
			continue;
		*parent = parts->parts[i].parent;
		return 0;
	}
	ranges[count++] = range_of(procedure);
	for (size_t i = 0; i < parts->count && count < IMAGE_CODE_PARTS_MAX; i++) {
		if (parts->parts[i].parent == index)
			ranges[count++] =
				range_of(procedure_table_get(parts->table, parts->parts[i].index));
	}
	return count;
}
