// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/graph/cfg_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/array.h"
#include "lib/partition_point.h"

/* Alpha: opcode and registers */
#define ALPHA_REGISTERS 0xffff0000U
#define ALPHA_LDAH_GP_T12 0x27bb0000U
#define ALPHA_LDA_GP_GP 0x23bd0000U

static int add_jump(struct cfg_flow *flow, uint32_t insn)
{
	if (array_reserve(&flow->jumps, &flow->jump_capacity, (size_t)flow->jump_count + 1,
			  sizeof(*flow->jumps)) < 0)
		return -ENOMEM;
	flow->jumps[flow->jump_count++] = (struct flow_jump){.insn = insn};
	return 0;
}

/*
 * Alpha's procedures begin with "ldah gp,x(t12); lda gp,y(gp)". Callers in the same image skip
 * these two instructions.
 */
static bool loads_global_pointer(const struct cfg_code *code, uint32_t entry)
{
	const struct insn *insns = &code->insns[entry];

	return code->decoder->isa == INSN_ISA_ALPHA && entry + 2 < code->count &&
	       insns[2].address == insns[0].address + 8 &&
	       (insns[0].opcode & ALPHA_REGISTERS) == ALPHA_LDAH_GP_T12 &&
	       (insns[1].opcode & ALPHA_REGISTERS) == ALPHA_LDA_GP_GP;
}

static void mark_handler(void *context, uint64_t address)
{
	struct cfg_flow *flow = context;
	uint32_t insn = cfg_code_find(flow->code, address);

	if (insn != CFG_CODE_NONE)
		flow->flags[insn] |= FLOW_HANDLER | FLOW_TARGET;
}

static int find_targets(struct cfg_flow *flow)
{
	const struct cfg_code *code = flow->code;
	uint32_t entry = cfg_code_find(code, code->entry);

	for (uint32_t i = 0; i < code->count; i++) {
		const struct insn *insn = &code->insns[i];

		flow->targets[i] = CFG_CODE_NONE;
		if (insn->flow == INSN_FLOW_BRANCH || insn->flow == INSN_FLOW_JUMP ||
		    insn->flow == INSN_FLOW_CALL)
			flow->targets[i] = cfg_code_find(code, insn->target);
		else if (insn->flow == INSN_FLOW_JUMP_INDIRECT && add_jump(flow, i) < 0)
			return -ENOMEM;
		if (flow->targets[i] != CFG_CODE_NONE)
			flow->flags[flow->targets[i]] |= FLOW_TARGET;
	}
	for (size_t i = 0; code->image != NULL && i < code->part_count; i++)
		image_code_landing_pads(code->image, code->parts[i].range.start,
					code->parts[i].range.end, mark_handler, flow);
	if (entry == CFG_CODE_NONE)
		return 0;
	flow->flags[entry] |= FLOW_ENTRY | FLOW_TARGET;
	if (loads_global_pointer(code, entry))
		flow->flags[entry + 2] |= FLOW_ENTRY | FLOW_TARGET;
	return 0;
}

int cfg_flow_init(struct cfg_flow *flow, struct cfg_code *code)
{
	*flow = (struct cfg_flow){.code = code};
	flow->flags = calloc((size_t)code->count + 1, sizeof(*flow->flags));
	flow->targets = malloc(((size_t)code->count + 1) * sizeof(*flow->targets));
	if (flow->flags == NULL || flow->targets == NULL || find_targets(flow) < 0) {
		cfg_flow_deinit(flow);
		return -ENOMEM;
	}
	return 0;
}

void cfg_flow_deinit(struct cfg_flow *flow)
{
	for (uint32_t i = 0; i < flow->jump_count; i++)
		free(flow->jumps[i].targets);
	free(flow->jumps);
	free(flow->flags);
	free(flow->targets);
	free(flow->stack);
	*flow = (struct cfg_flow){0};
}

struct flow_jump *cfg_flow_jump(const struct cfg_flow *flow, uint32_t insn)
{
	uint32_t low = partition_point(0, flow->jump_count, i, flow->jumps[i].insn < insn);

	return low < flow->jump_count && flow->jumps[low].insn == insn ? &flow->jumps[low] : NULL;
}

int cfg_flow_add_target(struct cfg_flow *flow, struct flow_jump *jump, uint32_t target)
{
	uint32_t at = jump->count;

	while (at > 0 && jump->targets[at - 1] > target)
		at--;
	if (at > 0 && jump->targets[at - 1] == target)
		return 0;
	if (array_reserve(&jump->targets, &jump->capacity, (size_t)jump->count + 1,
			  sizeof(*jump->targets)) < 0)
		return -ENOMEM;
	memmove(jump->targets + at + 1, jump->targets + at,
		(jump->count - at) * sizeof(*jump->targets));
	jump->targets[at] = target;
	jump->count++;
	flow->flags[target] |= FLOW_TARGET;
	return 1;
}

/* --- reaching ------------------------------------------------------------- */

struct reach {
	struct cfg_flow *flow;
	size_t pending;
};

static int cfg_flow_push(struct reach *reach, uint32_t insn)
{
	struct cfg_flow *flow = reach->flow;

	if (insn == CFG_CODE_NONE || (flow->flags[insn] & FLOW_REACHED))
		return 0;
	if (array_reserve(&flow->stack, &flow->stack_capacity, reach->pending + 1,
			  sizeof(*flow->stack)) < 0)
		return -ENOMEM;
	flow->stack[reach->pending++] = insn;
	return 0;
}

/* Return true if only padding comes before the end of the available code. */
static bool only_padding(const struct cfg_code *code, uint32_t insn)
{
	while (insn != CFG_CODE_NONE && cfg_code_is_padding(&code->insns[insn]))
		insn = cfg_code_next(code, insn);
	return insn == CFG_CODE_NONE;
}

/* Number of instructions before a call that are searched for its argument. */
#define ARGUMENT_DISTANCE 16

/* Derive a call's argument from the instructions that are always executed directly before it. */
static enum call_argument argument_of(const struct cfg_flow *flow, uint32_t call)
{
	const struct cfg_code *code = flow->code;
	enum call_argument argument = CALL_ARGUMENT_UNKNOWN;
	uint32_t first = call;

	while (first > 0 && call - first < ARGUMENT_DISTANCE &&
	       !(flow->flags[first] & FLOW_TARGET) && cfg_code_next(code, first - 1) == first)
		first--;
	for (; first < call; first++)
		argument = call_returns_argument(code->decoder, &code->insns[first], argument);
	return argument;
}

/*
 * Return true for calls to another image's procedure that all compilers know not to return: exit(),
 * or error(3) with a status.
 */
static bool is_known_stop(const struct cfg_flow *flow, uint32_t insn)
{
	const struct cfg_code *code = flow->code;
	const struct insn *call = &code->insns[insn];
	long index = call->flow == INSN_FLOW_CALL ? image_code_find(code->image, call->target) : -1;

	return index >= 0 &&
	       procedure_table_get(image_code_procedures(code->image), (size_t)index)->source ==
		       PROCEDURE_PLT &&
	       !image_code_call_returns(code->image, call, argument_of(flow, insn));
}

/*
 * Return true if a call does not return. Compilers omit the code after a call that they know not to
 * return. So if only padding follows up to the end, the call does not return. If other code
 * follows, the call returns, unless all compilers know it and the code may be the target of an
 * indirect jump. In all other cases the callee decides.
 */
static bool call_stops(struct cfg_flow *flow, uint32_t insn, uint32_t next)
{
	const struct cfg_code *code = flow->code;

	if (code->image == NULL)
		return false;
	if (only_padding(code, next))
		return true;
	if (next != CFG_CODE_NONE && !(flow->flags[next] & FLOW_TARGET) &&
	    !cfg_code_is_padding(&code->insns[next]))
		return flow->jump_count > 0 && is_known_stop(flow, insn);
	return !image_code_call_returns(code->image, &code->insns[insn], argument_of(flow, insn));
}

static int push_jump_targets(struct reach *reach, uint32_t insn)
{
	const struct flow_jump *jump = cfg_flow_jump(reach->flow, insn);

	if (jump->state == FLOW_JUMP_UNKNOWN)
		reach->flow->unknown = true;
	for (uint32_t i = 0; i < jump->count; i++) {
		if (cfg_flow_push(reach, jump->targets[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A call into the middle of the procedure makes that an entry. */
static int call_inside(struct reach *reach, uint32_t target)
{
	if (target == CFG_CODE_NONE)
		return 0;
	reach->flow->flags[target] |= FLOW_ENTRY;
	return cfg_flow_push(reach, target);
}

/* Process one instruction. Return: 1 to continue with the next, 0 otherwise, or -ENOMEM. */
static int pass(struct reach *reach, uint32_t at, uint32_t next)
{
	struct cfg_flow *flow = reach->flow;

	flow->flags[at] |= FLOW_REACHED;
	switch ((enum insn_flow)flow->code->insns[at].flow) {
	case INSN_FLOW_NEXT:
		return 1;
	case INSN_FLOW_BRANCH:
		return cfg_flow_push(reach, flow->targets[at]) < 0 ? -ENOMEM : 1;
	case INSN_FLOW_JUMP:
		return cfg_flow_push(reach, flow->targets[at]);
	case INSN_FLOW_JUMP_INDIRECT:
		return push_jump_targets(reach, at);
	case INSN_FLOW_CALL:
	case INSN_FLOW_CALL_INDIRECT:
		if (call_inside(reach, flow->targets[at]) < 0)
			return -ENOMEM;
		if (!call_stops(flow, at, next))
			return 1;
		flow->flags[at] |= FLOW_STOPS;
		return 0;
	case INSN_FLOW_RETURN:
	case INSN_FLOW_STOP:
		break;
	}
	return 0;
}

int cfg_flow_reach_from(struct cfg_flow *flow, uint32_t insn)
{
	struct reach reach = {.flow = flow};
	int r = cfg_flow_push(&reach, insn);

	while (r == 0 && reach.pending > 0) {
		uint32_t at = flow->stack[--reach.pending];

		while (at != CFG_CODE_NONE && !(flow->flags[at] & FLOW_REACHED)) {
			uint32_t next = cfg_code_next(flow->code, at);

			r = pass(&reach, at, next);
			if (r <= 0)
				break;
			at = next;
			r = 0;
		}
	}
	return r;
}

static void mark_pointer(void *context, uint64_t target)
{
	struct cfg_flow *flow = context;
	uint32_t insn = cfg_code_find(flow->code, target);

	if (insn != CFG_CODE_NONE && target != flow->code->entry)
		flow->flags[insn] |= FLOW_ADDRESS_TAKEN | FLOW_TARGET;
}

/* For code without known procedures: each instruction without a predecessor begins a procedure. */
static int reach_procedures(struct cfg_flow *flow)
{
	for (uint32_t i = 0; i < flow->code->count; i++) {
		if ((flow->flags[i] & FLOW_REACHED) || cfg_code_is_padding(&flow->code->insns[i]))
			continue;
		flow->flags[i] |= FLOW_ENTRY | FLOW_TARGET;
		if (cfg_flow_reach_from(flow, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Reach the possible targets of unresolved jumps. */
static int reach_candidates(struct cfg_flow *flow)
{
	const struct cfg_code *code = flow->code;

	for (size_t i = 0; code->image != NULL && i < code->part_count; i++)
		image_code_pointers(code->image, code->parts[i].range.start,
				    code->parts[i].range.end, mark_pointer, flow);
	for (uint32_t i = 0; i < code->count; i++) {
		bool reached = (flow->flags[i] & FLOW_REACHED) != 0;

		if (!(flow->flags[i] & FLOW_ADDRESS_TAKEN) &&
		    (reached || cfg_code_is_padding(&code->insns[i])))
			continue;
		flow->flags[i] |= FLOW_MAYBE | FLOW_TARGET;
		if (!reached && cfg_flow_reach_from(flow, i) < 0)
			return -ENOMEM;
	}
	return 0;
}

int cfg_flow_reach(struct cfg_flow *flow)
{
	int r = 0;

	flow->unknown = false;
	for (uint32_t i = 0; i < flow->code->count; i++)
		flow->flags[i] &= (uint8_t) ~(FLOW_REACHED | FLOW_MAYBE | FLOW_STOPS);
	for (uint32_t i = 0; r == 0 && i < flow->code->count; i++) {
		if (flow->flags[i] & (FLOW_ENTRY | FLOW_HANDLER))
			r = cfg_flow_reach_from(flow, i);
	}
	if (r == 0 && flow->code->several)
		r = reach_procedures(flow);
	return r == 0 && flow->unknown ? reach_candidates(flow) : r;
}
