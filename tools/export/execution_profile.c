// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/execution_profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/procedure_table.h"
#include "lib/array.h"
#include "tools/calc/calc_procedure.h"

/* Readers use 64 bits, some of them signed; doubles are exact up to this value. */
#define COUNT_MAX 9007199254740992.0

/* State while a procedure is added. */
struct adding {
	struct execution_profile *profile;
	uint32_t index; /* of the procedure, in the profile */
	struct calc_procedure procedure;
};

static uint64_t executions(const struct adding *adding, const struct frequency_estimate *estimate)
{
	double low, high,
		count = calc_procedure_executions(&adding->procedure, estimate, &low, &high);

	if (!(count >= 0.5))
		return 0;
	return count < COUNT_MAX ? (uint64_t)llround(count) : (uint64_t)COUNT_MAX;
}

static int add_way(const struct adding *adding, struct execution_ways *ways, uint64_t from,
		   uint64_t to, uint64_t count)
{
	if (count == 0)
		return 0;
	if (array_reserve(&ways->list, &ways->capacity, ways->count + 1, sizeof(*ways->list)) < 0)
		return -ENOMEM;
	ways->list[ways->count++] = (struct execution_way){
		.from = from, .to = to, .procedure = adding->index, .count = count};
	return 0;
}

static int execution_profile_add_block(struct adding *adding, uint32_t index)
{
	const struct procedure_analysis *analysis = adding->procedure.analysis;
	const struct cfg_block *block = &analysis->cfg->blocks[index];
	struct execution_profile *profile = adding->profile;
	uint64_t count = executions(adding, &analysis->frequency.blocks[index]);

	if (count == 0)
		return 0;
	if (array_reserve(&profile->blocks, &profile->block_capacity, profile->block_count + 1,
			  sizeof(*profile->blocks)) < 0)
		return -ENOMEM;
	profile->blocks[profile->block_count++] = (struct execution_block){
		.first = analysis->cfg->insns[block->first].address,
		.last = analysis->cfg->insns[block->first + block->count - 1].address,
		.procedure = adding->index,
		.instructions = block->count,
		.count = count,
	};
	return 0;
}

static int execution_profile_add_edge(struct adding *adding, uint32_t index)
{
	const struct procedure_analysis *analysis = adding->procedure.analysis;
	const struct cfg *cfg = analysis->cfg;
	const struct cfg_edge *edge = &cfg->edges[index];
	uint64_t to = edge->target;

	if (edge->insn == UINT32_MAX)
		return 0;
	if (edge->to < cfg->block_count)
		to = cfg->insns[cfg->blocks[edge->to].first].address;
	switch (edge->kind) {
	case CFG_EDGE_NEXT:
	case CFG_EDGE_TAKEN:
	case CFG_EDGE_JUMP:
	case CFG_EDGE_SWITCH:
	case CFG_EDGE_TAIL:
		if (to == 0)
			return 0;
		return add_way(adding,
			       edge->kind == CFG_EDGE_NEXT ? &adding->profile->nexts
							   : &adding->profile->branches,
			       cfg->insns[edge->insn].address, to,
			       executions(adding, &analysis->frequency.edges[index]));
	default:
		return 0;
	}
}

/* Add a direct call. Jumps out of the procedure (tail calls) are edges. */
static int add_call(struct adding *adding, const struct cfg_call *call)
{
	const struct procedure_analysis *analysis = adding->procedure.analysis;
	const struct cfg *cfg = analysis->cfg;

	if (call->tail || call->target == 0)
		return 0;
	return add_way(adding, &adding->profile->branches, cfg->insns[call->insn].address,
		       call->target,
		       executions(adding, &analysis->frequency.blocks[cfg->block_of[call->insn]]));
}

static int execution_profile_add_procedure(struct adding *adding)
{
	struct execution_profile *profile = adding->profile;
	const struct procedure *procedure = procedure_table_get(
		image_code_procedures(profile->code), adding->procedure.analysis->index);
	struct execution_procedure *added;

	if (array_reserve(&profile->procedures, &profile->procedure_capacity,
			  profile->procedure_count + 1, sizeof(*profile->procedures)) < 0)
		return -ENOMEM;
	added = &profile->procedures[profile->procedure_count];
	*added = (struct execution_procedure){
		.name = strdup(procedure->source <= PROCEDURE_LABEL ? procedure->name : ""),
		.address = procedure->address,
		.bytes = procedure->bytes,
	};
	if (added->name == NULL)
		return -ENOMEM;
	adding->index = (uint32_t)profile->procedure_count++;
	return 0;
}

int execution_profile_add(struct execution_profile *profile,
			  const struct procedure_analysis *analysis)
{
	struct adding adding = {
		.profile = profile,
		.procedure = {.code = profile->code, .analysis = analysis},
	};
	const struct cfg *cfg = analysis->cfg;
	int r = execution_profile_add_procedure(&adding);

	for (uint32_t i = 0; r == 0 && i < cfg->block_count; i++)
		r = execution_profile_add_block(&adding, i);
	for (uint32_t i = 0; r == 0 && i < cfg->edge_count; i++)
		r = execution_profile_add_edge(&adding, i);
	for (uint32_t i = 0; r == 0 && i < cfg->call_count; i++)
		r = add_call(&adding, &cfg->calls[i]);
	return r;
}

void execution_profile_deinit(struct execution_profile *profile)
{
	for (size_t i = 0; i < profile->procedure_count; i++)
		free(profile->procedures[i].name);
	free(profile->procedures);
	free(profile->blocks);
	free(profile->branches.list);
	free(profile->nexts.list);
	*profile = (struct execution_profile){0};
}
