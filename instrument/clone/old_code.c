// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/old_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/partition_point.h"

#define SHORT_REACH 127

/* Use of a byte of original code. */
enum use {
	USE_KEEP, /* may be executed or read */
	USE_FREE,
	USE_SITE, /* the start of a site */
	USE_TAKEN,
};

/* Contiguous instructions, and the use of each byte. */
struct run {
	uint64_t start;
	size_t bytes;
	uint8_t *use;
};

struct planner {
	struct old_code *code;
	const struct cfg *cfg;
	const struct count_graph *graph;
	const struct procedure_clone *clone;
	size_t (*padding)(void *context, uint64_t address);
	void *context;
};

static bool is_cloned(const struct planner *planner, uint32_t insn)
{
	return planner->graph->node_of[planner->cfg->block_of[insn]] != COUNT_NONE;
}

static void old_code_set(struct run *run, uint64_t address, size_t bytes, enum use use)
{
	for (size_t i = 0; i < bytes; i++) {
		if (address + i >= run->start && address + i - run->start < run->bytes)
			run->use[address + i - run->start] = (uint8_t)use;
	}
}

static bool is_free(const struct run *run, uint64_t address, size_t bytes)
{
	if (address < run->start || address - run->start > run->bytes ||
	    bytes > run->bytes - (address - run->start))
		return false;
	for (size_t i = 0; i < bytes; i++) {
		if (run->use[address - run->start + i] != USE_FREE)
			return false;
	}
	return true;
}

static int add_patch(struct planner *planner, struct old_patch patch)
{
	struct old_code *code = planner->code;

	if (array_reserve(&code->patches, &code->capacity, code->count + 1,
			  sizeof(*code->patches)) < 0)
		return -ENOMEM;
	code->patches[code->count++] = patch;
	return 0;
}

static bool old_code_is_in(const struct run *run, uint64_t address)
{
	return address >= run->start && address - run->start < run->bytes;
}

/* Targets of code that stays must stay as well. */
static void mark_kept_targets(const struct planner *planner, struct run *run)
{
	for (uint32_t i = 0; i < planner->cfg->insn_count; i++) {
		const struct insn *insn = &planner->cfg->insns[i];

		if (!is_cloned(planner, i) && insn->target != 0)
			old_code_set(run, insn->target, 1, USE_KEEP);
	}
}

static int place_wide(struct planner *planner, struct run *run)
{
	for (size_t i = 0; i < planner->clone->site_count; i++)
		old_code_set(run, planner->clone->sites[i].address, 1, USE_SITE);
	for (size_t i = 0; i < planner->clone->site_count; i++) {
		const struct clone_site *site = &planner->clone->sites[i];

		if (!old_code_is_in(run, site->address) ||
		    !is_free(run, site->address + 1, OLD_CODE_JUMP_BYTES - 1))
			continue;
		old_code_set(run, site->address, OLD_CODE_JUMP_BYTES, USE_TAKEN);
		if (add_patch(planner, (struct old_patch){.address = site->address,
							  .label = site->label}) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Return the number of frame changes at or before an address. */
static size_t frame_at(const struct procedure_clone *clone, uint64_t address)
{
	return partition_point(0, clone->mark_count, i, clone->marks[i].address <= address);
}

/*
 * Find room for a jump within reach of a short jump, with the same frame if possible: static
 * programs find frames of original code by other means than the new index. Return: 0 if there is no
 * room.
 */
static uint64_t find_room(const struct planner *planner, const struct run *run, uint64_t site)
{
	uint64_t from = site + OLD_CODE_SHORT_BYTES, found = 0;
	uint64_t low = from > run->start + SHORT_REACH ? from - SHORT_REACH : run->start;
	size_t frame = frame_at(planner->clone, site);

	for (uint64_t at = low; at <= from + SHORT_REACH; at++) {
		if (!is_free(run, at, OLD_CODE_JUMP_BYTES))
			continue;
		if (frame_at(planner->clone, at) == frame)
			return at;
		if (found == 0)
			found = at;
	}
	return found;
}

static int place_short(struct planner *planner, struct run *run)
{
	for (size_t i = 0; i < planner->clone->site_count; i++) {
		const struct clone_site *site = &planner->clone->sites[i];
		uint64_t room;

		if (!old_code_is_in(run, site->address) ||
		    run->use[site->address - run->start] != USE_SITE)
			continue;
		if (!is_free(run, site->address + 1, OLD_CODE_SHORT_BYTES - 1))
			return -ENOSPC;
		old_code_set(run, site->address, OLD_CODE_SHORT_BYTES, USE_TAKEN);
		room = find_room(planner, run, site->address);
		if (room == 0)
			return -ENOSPC;
		old_code_set(run, room, OLD_CODE_JUMP_BYTES, USE_TAKEN);
		if (add_patch(planner, (struct old_patch){.address = room, .label = site->label}) <
			    0 ||
		    add_patch(planner, (struct old_patch){.address = site->address,
							  .label = OLD_PATCH_SHORT,
							  .target = room}) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Plan the contiguous instructions [first, end). */
static int plan_run(struct planner *planner, uint32_t first, uint32_t end)
{
	const struct insn *insns = planner->cfg->insns;
	const struct insn *last = &insns[end - 1];
	uint64_t run_end = last->address + last->bytes;
	size_t padding = planner->padding(planner->context, run_end);
	struct run run = {.start = insns[first].address,
			  .bytes = run_end - insns[first].address + padding};
	int r;

	run.use = calloc(1, run.bytes);
	if (run.use == NULL)
		return -ENOMEM;
	for (uint32_t i = first; i < end; i++)
		old_code_set(&run, insns[i].address, insns[i].bytes,
			     is_cloned(planner, i) ? USE_FREE : USE_KEEP);
	old_code_set(&run, run_end, padding, USE_FREE);
	mark_kept_targets(planner, &run);
	r = place_wide(planner, &run);
	if (r == 0)
		r = place_short(planner, &run);
	free(run.use);
	return r;
}

int old_code_plan(struct old_code *ret, const struct cfg *cfg, const struct count_graph *graph,
		  const struct procedure_clone *clone,
		  size_t (*padding)(void *context, uint64_t address), void *context)
{
	struct planner planner = {.code = ret,
				  .cfg = cfg,
				  .graph = graph,
				  .clone = clone,
				  .padding = padding,
				  .context = context};
	uint32_t first = 0;
	int r = 0;

	*ret = (struct old_code){0};
	for (uint32_t i = 0; r == 0 && i < cfg->insn_count; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (i + 1 < cfg->insn_count &&
		    cfg->insns[i + 1].address <= insn->address + insn->bytes)
			continue;
		r = plan_run(&planner, first, i + 1);
		first = i + 1;
	}
	if (r < 0)
		old_code_deinit(ret);
	return r;
}

void old_code_deinit(struct old_code *code)
{
	free(code->patches);
	*code = (struct old_code){0};
}
