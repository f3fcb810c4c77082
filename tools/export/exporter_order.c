// SPDX-License-Identifier: GPL-2.0-only
/*
 * Orders of procedures for linkers (call_order.h): a symbol per line for lld
 * (--symbol-ordering-file), a section per line for gold (--section-ordering-file). The program must
 * have been compiled with -ffunction-sections.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/cleanup.h"
#include "lib/error.h"
#include "lib/error_text.h"
#include "tools/export/call_order.h"
#include "tools/export/execution_profile.h"
#include "tools/export/exporter.h"

/* struct entry - the address of a procedure, and its index in the profile */
struct entry {
	uint64_t address;
	uint32_t index;
};

/*
 * struct placement - arrays for call_order_find(); procedures have the indices of the profile
 * @entries: in order of address
 */
struct placement {
	const struct execution_profile *profile;
	struct entry *entries;
	uint32_t *order;
	struct call_order_procedure *procedures;
	struct call_order_call *calls;
	size_t call_count;
};

static void placement_deinit(struct placement *placement)
{
	free(placement->entries);
	free(placement->order);
	free(placement->procedures);
	free(placement->calls);
}

/* Return true if a linker's file can contain a name. Names are hostile: they come from the image.
 */
static bool is_linkable(const char *name)
{
	for (const char *c = name; *c != '\0'; c++) {
		if ((unsigned char)*c <= ' ' || *c == '\x7f' || strchr("#*?[]\\", *c) != NULL)
			return false;
	}
	return *name != '\0';
}

static int entry_compare(const void *a, const void *b)
{
	uint64_t x = ((const struct entry *)a)->address, y = ((const struct entry *)b)->address;

	return (x > y) - (x < y);
}

/* Return: the procedure that begins at an address, or NULL. */
static const struct entry *placement_find(const struct placement *placement, uint64_t address)
{
	const struct entry key = {.address = address};

	return bsearch(&key, placement->entries, placement->profile->procedure_count, sizeof(key),
		       entry_compare);
}

/* Branches to the beginning of another procedure are calls, or tail calls. */
static void placement_add_calls(struct placement *placement)
{
	const struct execution_edges *branches = &placement->profile->branches;

	for (size_t i = 0; i < branches->count; i++) {
		const struct execution_edge *branch = &branches->list[i];
		const struct entry *callee = placement_find(placement, branch->to);

		if (callee == NULL)
			continue;
		placement->calls[placement->call_count++] =
			(struct call_order_call){.caller = branch->procedure,
						 .callee = callee->index,
						 .count = (double)branch->count};
	}
}

static void placement_add_procedures(struct placement *placement)
{
	const struct execution_profile *profile = placement->profile;

	for (size_t i = 0; i < profile->procedure_count; i++) {
		uint64_t bytes = profile->procedures[i].bytes;

		placement->entries[i] = (struct entry){profile->procedures[i].address, (uint32_t)i};
		placement->procedures[i].bytes = bytes > 0 ? bytes : 1;
	}
	for (size_t i = 0; i < profile->block_count; i++) {
		const struct execution_block *block = &profile->blocks[i];

		placement->procedures[block->procedure].weight +=
			(double)block->count * block->instructions;
	}
	qsort(placement->entries, profile->procedure_count, sizeof(*placement->entries),
	      entry_compare);
}

static int placement_make(struct placement *placement, const struct execution_profile *profile,
			  struct error *err)
{
	size_t count = profile->procedure_count;

	placement->profile = profile;
	placement->entries = calloc(count + 1, sizeof(*placement->entries));
	placement->order = calloc(count + 1, sizeof(*placement->order));
	placement->procedures = calloc(count + 1, sizeof(*placement->procedures));
	placement->calls = calloc(profile->branches.count + 1, sizeof(*placement->calls));
	if (placement->entries == NULL || placement->order == NULL ||
	    placement->procedures == NULL || placement->calls == NULL)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	placement_add_procedures(placement);
	placement_add_calls(placement);
	if (call_order_find(placement->order, placement->procedures, count, placement->calls,
			    placement->call_count) < 0)
		return error_set(err, ENOMEM, ERROR_NO_MEMORY);
	return 0;
}

static int write_order(FILE *file, const struct execution_profile *profile, const char *prefix,
		       struct error *err)
{
	_cleanup_(placement_deinit) struct placement placement = {0};
	int r = placement_make(&placement, profile, err);

	for (size_t i = 0; r == 0 && i < profile->procedure_count; i++) {
		uint32_t index = placement.order[i];

		if (placement.procedures[index].weight > 0 &&
		    is_linkable(profile->procedures[index].name))
			fprintf(file, "%s%s\n", prefix, profile->procedures[index].name);
	}
	return r;
}

static int write_lld(FILE *file, const struct execution_profile *profile, struct error *err)
{
	return write_order(file, profile, "", err);
}

static int write_gold(FILE *file, const struct execution_profile *profile, struct error *err)
{
	return write_order(file, profile, ".text.", err);
}

const struct exporter exporter_lld_order = {
	.name = "lld-order",
	.summary = "procedures in the order of lld's --symbol-ordering-file, of one program",
	.write_flow = write_lld,
};

const struct exporter exporter_gold_order = {
	.name = "gold-order",
	.summary = "sections in the order of gold's --section-ordering-file, of one program",
	.write_flow = write_gold,
};
