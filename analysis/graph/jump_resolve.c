// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/jump_resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/graph/jump_table.h"
#include "analysis/graph/stack_height.h"
#include "lib/array.h"

/* Most entries of a table whose length no comparison limits. */
#define ENTRIES_MAX 4096
/*
 * With a loose bound, the length counts as known up to this number of entries; of longer tables,
 * only the entries that were read.
 */
#define LOOSE_MAX 1024

struct resolver {
	struct cfg_flow *flow;
	const struct cfg *cfg;
	struct jump_search search;
	int64_t *heights;
	uint64_t *tables; /* beginnings of all tables */
	size_t table_count;
	size_t table_capacity;
	struct jump_tables found;
	bool changed;
};

/* struct target_counts - targets of a table's entries */
struct target_counts {
	uint32_t inside;  /* instructions of the procedure */
	uint32_t outside; /* other procedures */
};

static int read_entry(const struct resolver *resolver, const struct jump_table *table,
		      int64_t index, uint64_t *target)
{
	struct cfg_table known = {
		.address = table->address,
		.base = table->base,
		.bytes = table->bytes,
		.scale = table->scale,
		.is_signed = table->is_signed,
	};

	return cfg_table_target(&known, resolver->flow->code->image, index, target);
}

static bool begins_procedure(const struct resolver *resolver, uint64_t address)
{
	struct image_code *image = resolver->flow->code->image;
	long index = image != NULL ? image_code_find(image, address) : -ENOENT;

	return index >= 0 &&
	       procedure_table_get(image_code_procedures(image), (size_t)index)->address == address;
}

/* enum target_kind - location of a target. */
enum target_kind {
	TARGET_INVALID,
	TARGET_INSIDE,	/* on an instruction of the procedure */
	TARGET_IN_PART, /* in an unknown part of it, which will be added */
	TARGET_OUTSIDE, /* at the beginning of another procedure */
};

/* Return: enum target_kind, or -ENOMEM. */
static int target_kind_of(const struct resolver *resolver, uint64_t target)
{
	struct cfg_code *code = resolver->flow->code;
	int r;

	if (cfg_code_find(code, target) != CFG_CODE_NONE)
		return TARGET_INSIDE;
	if (cfg_code_contains(code, target))
		return TARGET_INVALID;
	r = cfg_code_want(code, target);
	if (r < 0)
		return r;
	if (r > 0)
		return TARGET_IN_PART;
	return begins_procedure(resolver, target) ? TARGET_OUTSIDE : TARGET_INVALID;
}

/*
 * Return true if an entry belongs to other data after the table. If no comparison limits the index,
 * pointers to procedures may follow labels, or labels may follow pointers to procedures. A compiler
 * mixes both in one table only if it has compared the index.
 */
static bool is_of_other_kind(const struct target_counts *targets, int target_kind)
{
	return target_kind == TARGET_OUTSIDE ? targets->inside > 0 : targets->outside > 0;
}

/*
 * Add the target of one entry.
 * @mixed: entries inside and outside may belong to the same table
 *
 * Return: 1; 0 if it has no valid target or belongs to another table; -ENOMEM.
 */
static int take_entry(struct resolver *resolver, struct flow_jump *jump, uint64_t target,
		      struct target_counts *targets, bool mixed)
{
	int r = target_kind_of(resolver, target);

	if (r <= TARGET_INVALID)
		return r;
	if (!mixed && is_of_other_kind(targets, r))
		return 0;
	if (r == TARGET_OUTSIDE)
		targets->outside++;
	else
		targets->inside++;
	if (r != TARGET_INSIDE)
		return 1;
	r = cfg_flow_add_target(resolver->flow, jump, cfg_code_find(resolver->flow->code, target));
	if (r > 0)
		resolver->changed = true;
	return r < 0 ? r : 1;
}

/* Return true if all entries from @first to @last can be targets. */
static bool is_plausible(const struct resolver *resolver, const struct jump_table *table,
			 int64_t first, int64_t last)
{
	for (int64_t i = first; i <= last; i++) {
		uint64_t target;

		if (read_entry(resolver, table, i, &target) < 0 ||
		    target_kind_of(resolver, target) <= TARGET_INVALID)
			return false;
	}
	return true;
}

/* Add the targets that are constants. */
static int take_constants(struct resolver *resolver, struct flow_jump *jump,
			  struct target_counts *targets)
{
	int r = 1;

	for (uint32_t i = 0; r > 0 && i < resolver->found.constant_count; i++) {
		uint64_t target = resolver->found.constants[i];
		struct image_code *image = resolver->flow->code->image;

		/* An undefined weak symbol. */
		if (image != NULL && image_code_find(image, target) < 0)
			targets->outside++;
		else
			r = take_entry(resolver, jump, target, targets, true);
	}
	return r;
}

/*
 * Find the end of a table of unknown length, without a comparison that limits it: the beginning of
 * the procedure's next table, or of other data that the image's code uses. Return: 0 or -ENOMEM.
 */
static int end_of_table(const struct resolver *resolver, const struct jump_table *table,
			uint64_t *end)
{
	struct image_code *image = resolver->flow->code->image;
	uint64_t address = table->address, next = UINT64_MAX;

	if (image != NULL && image_code_next_start(image, address, table->bytes, &next) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < resolver->table_count; i++) {
		if (resolver->tables[i] > address && resolver->tables[i] < next)
			next = resolver->tables[i];
	}
	*end = next;
	return 0;
}

/* @read: number of entries with a valid target */
static void record_table(struct flow_jump *jump, const struct jump_table *table,
			 struct jump_bound bound, int64_t read)
{
	int64_t count = bound.high - bound.low + 1;

	jump->table = (struct cfg_table){
		.address = table->address + (uint64_t)bound.low * table->bytes,
		.base = table->base,
		.anchor = table->anchor,
		.jump = jump->insn,
		.load = table->insn,
		.count = (uint32_t)(bound.loose && count > LOOSE_MAX ? read : count),
		.bytes = table->bytes,
		.scale = table->scale,
		.is_signed = table->is_signed,
		.anchored = table->anchored,
	};
}

/* Return: true if the table was accepted; or -ENOMEM. */
static int read_table(struct resolver *resolver, struct flow_jump *jump,
		      const struct jump_table *table, struct target_counts *targets)
{
	uint64_t end = UINT64_MAX;
	int64_t first = table->bounded ? table->bound.low : 0;
	int64_t last = table->bounded	 ? table->bound.high
		       : table->most > 0 ? table->most
					 : ENTRIES_MAX - 1;
	bool bounded = table->bounded;
	bool mixed = bounded ? !table->bound.loose
			     : table->most > 0 && is_plausible(resolver, table, first, last);
	int64_t i;
	int r = 1;

	if (table->bounded && !table->bound.loose && !is_plausible(resolver, table, first, last)) {
		/* An index cannot be negative: the comparison was for another purpose. */
		if (table->bound.low >= 0)
			return 0;
		first = 0;
		last = ENTRIES_MAX - 1;
		bounded = mixed = false;
	}
	if (!bounded && end_of_table(resolver, table, &end) < 0)
		return -ENOMEM;
	for (i = first; r > 0 && i <= last; i++) {
		uint64_t target;

		if (!bounded && table->address + (uint64_t)i * table->bytes >= end)
			break;
		if (read_entry(resolver, table, i, &target) < 0)
			break;
		r = take_entry(resolver, jump, target, targets, mixed);
	}
	/* Valid targets for all values of a byte are equivalent to a bound. */
	if (r > 0 && table->most > 0 && i > table->most)
		record_table(jump, table, (struct jump_bound){.high = table->most}, i);
	else if (bounded && r >= 0)
		record_table(jump, table, table->bound, i - first);
	return r < 0 ? r : targets->inside + targets->outside > 0;
}

static int record_tables(struct resolver *resolver)
{
	for (uint32_t i = 0; i < resolver->found.count; i++) {
		if (array_reserve(&resolver->tables, &resolver->table_capacity,
				  resolver->table_count + 1, sizeof(*resolver->tables)) < 0)
			return -ENOMEM;
		resolver->tables[resolver->table_count++] =
			resolver->found.tables[i].address +
			(uint64_t)(resolver->found.tables[i].bounded
					   ? resolver->found.tables[i].bound.low
					   : 0) *
				resolver->found.tables[i].bytes;
	}
	return 0;
}

static void set_state(struct resolver *resolver, struct flow_jump *jump, enum flow_jump_state state,
		      bool leaves)
{
	if (jump->state != state || jump->leaves != leaves)
		resolver->changed = true;
	jump->state = state;
	jump->leaves = leaves;
}

struct labels {
	uint64_t entry;
	bool found;
};

static void visit_pointer(void *context, uint64_t target)
{
	struct labels *labels = context;

	labels->found |= target != labels->entry;
}

/* Return true if data contain addresses inside the procedure: then it may jump to these. */
static bool has_labels(const struct resolver *resolver)
{
	const struct cfg_code *code = resolver->flow->code;
	struct labels labels = {.entry = code->entry};

	for (size_t i = 0; code->image != NULL && !code->several && i < code->part_count; i++)
		image_code_pointers(code->image, code->parts[i].range.start,
				    code->parts[i].range.end, visit_pointer, &labels);
	return labels.found;
}

/*
 * Resolve a jump through a single slot. It leaves the procedure for the address that the loader has
 * stored; until then, for the address in the file. A slot that never changes is equivalent to a
 * direct jump.
 */
static int resolve_slot(struct resolver *resolver, struct flow_jump *jump)
{
	struct image_code *image = resolver->flow->code->image;
	uint64_t slot = resolver->found.slot, target = 0;
	struct target_counts targets = {0};
	bool constant;
	int r;

	constant = image_code_data(image, slot, &target, sizeof(target)) == 0;
	if (!constant && image_code_initial(image, slot, &target) < 0)
		target = 0;
	r = take_entry(resolver, jump, target, &targets, true);
	if (r < 0)
		return r;
	if (constant && targets.inside > 0)
		set_state(resolver, jump, FLOW_JUMP_TABLE, false);
	else
		set_state(resolver, jump, FLOW_JUMP_TAIL, false);
	return 0;
}

/* Tables that the loader fills with addresses of other images cannot be read. */
static bool is_of_pointers(const struct jump_tables *found)
{
	for (uint32_t i = 0; i < found->count; i++) {
		if (found->tables[i].bytes < 8)
			return false;
	}
	return found->count > 0;
}

/* True if the frame is released and the target is not code of the procedure itself. */
static int is_tail_call(struct resolver *resolver, const struct flow_jump *jump, bool *tail)
{
	uint32_t block = resolver->cfg->block_of[jump->insn];

	*tail = false;
	if ((!resolver->found.pointer && !is_of_pointers(&resolver->found)) || jump->count > 0)
		return 0;
	if (resolver->heights == NULL && stack_height_find(&resolver->heights, resolver->cfg) < 0)
		return -ENOMEM;
	*tail = resolver->heights[block] == 0 && !has_labels(resolver);
	return 0;
}

static int resolve(struct resolver *resolver, struct flow_jump *jump)
{
	struct target_counts all = {0};
	bool tail = false;
	int r = jump_table_find(&resolver->found, &resolver->search, jump->insn);
	bool complete = r == 0;

	jump->table.count = 0;
	if (!complete && resolver->found.slot != 0 && resolver->flow->code->image != NULL)
		return resolve_slot(resolver, jump);
	if (complete) {
		r = take_constants(resolver, jump, &all);
		if (r < 0)
			return r;
		complete = r > 0;
	}
	for (uint32_t i = 0; complete && i < resolver->found.count; i++) {
		struct target_counts targets = {0};

		r = read_table(resolver, jump, &resolver->found.tables[i], &targets);
		if (r < 0)
			return r;
		complete = r > 0;
		all.inside += targets.inside;
		all.outside += targets.outside;
	}
	if (resolver->found.count != 1 || resolver->found.constant_count > 0)
		jump->table.count = 0;
	if (complete && all.inside > 0) {
		set_state(resolver, jump, FLOW_JUMP_TABLE, all.outside > 0);
		return 0;
	}
	if (!complete && is_tail_call(resolver, jump, &tail) < 0)
		return -ENOMEM;
	set_state(resolver, jump, complete || tail ? FLOW_JUMP_TAIL : FLOW_JUMP_UNKNOWN, false);
	return 0;
}

/* Find the tables of all jumps first, because each table ends where the next begins. */
static int resolve_all(struct resolver *resolver)
{
	struct cfg_flow *flow = resolver->flow;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < flow->jump_count; i++) {
		if ((flow->flags[flow->jumps[i].insn] & FLOW_REACHED) &&
		    jump_table_find(&resolver->found, &resolver->search, flow->jumps[i].insn) == 0)
			r = record_tables(resolver);
	}
	for (uint32_t i = 0; r == 0 && i < flow->jump_count; i++) {
		if (flow->flags[flow->jumps[i].insn] & FLOW_REACHED)
			r = resolve(resolver, &flow->jumps[i]);
	}
	return r;
}

int jump_resolve(struct cfg_flow *flow, const struct cfg *cfg)
{
	struct resolver resolver = {.flow = flow, .cfg = cfg};
	int r;

	if (flow->jump_count == 0)
		return 0;
	r = jump_search_init(&resolver.search, cfg, flow->code->image, flow->code->entry);
	if (r == 0)
		r = resolve_all(&resolver);
	jump_search_deinit(&resolver.search);
	free(resolver.heights);
	free(resolver.tables);
	if (r < 0)
		return r;
	return resolver.changed;
}
