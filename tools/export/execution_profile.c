// SPDX-License-Identifier: GPL-2.0-only
#include "tools/export/execution_profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/procedure_table.h"
#include "lib/array.h"
#include "tools/annotate/calc_procedure.h"

/* Readers use 64 bits, some of them signed; doubles are exact up to this value. */
#define COUNT_MAX 9007199254740992.0

/* State while a procedure is added. */
struct builder {
	struct execution_profile *profile;
	uint32_t index; /* of the procedure, in the profile */
	struct calc_procedure procedure;
};

static uint64_t executions(const struct builder *builder, const struct frequency_estimate *estimate)
{
	double low, high,
		count = calc_procedure_executions(&builder->procedure, estimate, &low, &high);

	if (!(count >= 0.5))
		return 0;
	return count < COUNT_MAX ? (uint64_t)llround(count) : (uint64_t)COUNT_MAX;
}

static int append_edge(const struct builder *builder, struct execution_edges *edges, uint64_t from,
		       uint64_t to, uint64_t count)
{
	if (count == 0)
		return 0;
	if (array_reserve(&edges->list, &edges->capacity, edges->count + 1, sizeof(*edges->list)) <
	    0)
		return -ENOMEM;
	edges->list[edges->count++] = (struct execution_edge){
		.from = from, .to = to, .procedure = builder->index, .count = count};
	return 0;
}

static int execution_profile_add_block(struct builder *builder, uint32_t index)
{
	const struct procedure_analysis *analysis = builder->procedure.analysis;
	const struct cfg_block *block = &analysis->cfg->blocks[index];
	struct execution_profile *profile = builder->profile;
	uint64_t count = executions(builder, &analysis->frequency.blocks[index]);

	if (count == 0)
		return 0;
	if (array_reserve(&profile->blocks, &profile->block_capacity, profile->block_count + 1,
			  sizeof(*profile->blocks)) < 0)
		return -ENOMEM;
	profile->blocks[profile->block_count++] = (struct execution_block){
		.first = analysis->cfg->insns[block->first].address,
		.last = analysis->cfg->insns[block->first + block->count - 1].address,
		.procedure = builder->index,
		.instructions = block->count,
		.count = count,
	};
	return 0;
}

static int execution_profile_add_edge(struct builder *builder, uint32_t index)
{
	const struct procedure_analysis *analysis = builder->procedure.analysis;
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
		return append_edge(builder,
				   edge->kind == CFG_EDGE_NEXT ? &builder->profile->nexts
							       : &builder->profile->branches,
				   cfg->insns[edge->insn].address, to,
				   executions(builder, &analysis->frequency.edges[index]));
	default:
		return 0;
	}
}

/* Add a direct call. Jumps out of the procedure (tail calls) are edges. */
static int add_call(struct builder *builder, const struct cfg_call *call)
{
	const struct procedure_analysis *analysis = builder->procedure.analysis;
	const struct cfg *cfg = analysis->cfg;

	if (call->tail || call->target == 0)
		return 0;
	return append_edge(
		builder, &builder->profile->branches, cfg->insns[call->insn].address, call->target,
		executions(builder, &analysis->frequency.blocks[cfg->block_of[call->insn]]));
}

static int execution_profile_add_procedure(struct builder *builder)
{
	struct execution_profile *profile = builder->profile;
	const struct procedure *procedure = procedure_table_get(
		image_code_procedures(profile->code), builder->procedure.analysis->index);
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
	builder->index = (uint32_t)profile->procedure_count++;
	return 0;
}

int execution_profile_add(struct execution_profile *profile,
			  const struct procedure_analysis *analysis)
{
	struct builder builder = {
		.profile = profile,
		.procedure = {.code = profile->code, .analysis = analysis},
	};
	const struct cfg *cfg = analysis->cfg;
	int r = execution_profile_add_procedure(&builder);

	for (uint32_t i = 0; r == 0 && i < cfg->block_count; i++)
		r = execution_profile_add_block(&builder, i);
	for (uint32_t i = 0; r == 0 && i < cfg->edge_count; i++)
		r = execution_profile_add_edge(&builder, i);
	for (uint32_t i = 0; r == 0 && i < cfg->call_count; i++)
		r = add_call(&builder, &cfg->calls[i]);
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
