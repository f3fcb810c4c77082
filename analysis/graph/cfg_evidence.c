// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg_evidence.h"

#include <errno.h>

#include "lib/partition_point.h"

/* Return the first of the ascending pairs with a source at or after an address. */
static size_t branch_from(const struct cfg_evidence *evidence, uint64_t address)
{
	return partition_point(0, evidence->branch_count, i, evidence->branches[i][0] < address);
}

static int add_jump_targets(struct cfg_flow *flow, const struct cfg_evidence *evidence,
			    struct flow_jump *jump)
{
	uint64_t address = flow->code->insns[jump->insn].address;

	for (size_t i = branch_from(evidence, address);
	     i < evidence->branch_count && evidence->branches[i][0] == address; i++) {
		uint32_t target = cfg_code_find(flow->code, evidence->branches[i][1]);

		if (target != CFG_CODE_NONE && cfg_flow_add_target(flow, jump, target) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool follows_call(const struct cfg_code *code, uint32_t insn)
{
	const struct insn *before;

	if (insn == 0)
		return false;
	before = &code->insns[insn - 1];
	return before->address + before->bytes == code->insns[insn].address &&
	       (before->flow == INSN_FLOW_CALL || before->flow == INSN_FLOW_CALL_INDIRECT);
}

int cfg_evidence_branches(struct cfg_flow *flow, const struct cfg_evidence *evidence)
{
	const struct cfg_code *code = flow->code;

	for (uint32_t i = 0; i < flow->jump_count; i++) {
		if (add_jump_targets(flow, evidence, &flow->jumps[i]) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < evidence->branch_count; i++) {
		uint32_t target = cfg_code_find(code, evidence->branches[i][1]);

		if (target != CFG_CODE_NONE && !cfg_code_contains(code, evidence->branches[i][0]) &&
		    !follows_call(code, target))
			flow->flags[target] |= FLOW_ENTRY | FLOW_TARGET;
	}
	return 0;
}

/* Return the beginning of the straight-line code before an instruction. */
static uint32_t beginning(const struct cfg_flow *flow, uint32_t insn)
{
	const struct cfg_code *code = flow->code;

	while (insn > 0) {
		const struct insn *before = &code->insns[insn - 1];

		if ((flow->flags[insn - 1] & FLOW_REACHED) ||
		    before->address + before->bytes != code->insns[insn].address ||
		    cfg_code_is_padding(before) || before->flow == INSN_FLOW_JUMP ||
		    before->flow == INSN_FLOW_JUMP_INDIRECT || before->flow == INSN_FLOW_RETURN)
			break;
		insn--;
	}
	return insn;
}

/* Add an entry for an instruction that was not reached. Return: the entry's instruction. */
static uint32_t add_entry(struct cfg_flow *flow, uint32_t insn)
{
	uint32_t first = beginning(flow, insn);

	/*
	 * If that entry did not reach the instruction (because of a call that never returns), add
	 * it itself.
	 */
	if (flow->flags[first] & FLOW_SAMPLED)
		first = insn;
	flow->flags[first] |= FLOW_ENTRY | FLOW_SAMPLED | FLOW_TARGET;
	return first;
}

int cfg_evidence_samples(struct cfg_flow *flow, const struct cfg_evidence *evidence)
{
	bool unknown = flow->unknown;
	int added = 0;

	/*
	 * Targets of an unresolved jump are not found by following one entry: stop after the first
	 * such jump.
	 */
	for (size_t i = 0; i < evidence->sampled_count && flow->unknown == unknown; i++) {
		uint32_t insn = cfg_code_find(flow->code, evidence->sampled[i]);

		if (insn == CFG_CODE_NONE || (flow->flags[insn] & FLOW_REACHED))
			continue;
		if (cfg_flow_reach_from(flow, add_entry(flow, insn)) < 0)
			return -ENOMEM;
		added = 1;
	}
	return added;
}
