// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/reg_summary_flow.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RSP 4
#define RBP 5

/* Expand a set of whole registers to both parts of each; whole() does the reverse. */
static uint32_t parts(uint32_t set)
{
	return set | set << LIVENESS_LOW;
}

static uint16_t whole(uint32_t set)
{
	return (uint16_t)(set | set >> LIVENESS_LOW);
}

static uint32_t call_at(const struct cfg *cfg, uint32_t insn)
{
	long call = cfg_find_call(cfg, insn);

	return call < 0 ? REG_SUMMARY_FLOW_NO_CALL : (uint32_t)call;
}

/* --- construction --------------------------------------------------------- */

static uint32_t count_items(const struct cfg *cfg)
{
	uint32_t count = cfg->block_count;

	for (uint32_t i = 0; i < cfg->insn_count; i++)
		count += insn_is_call(&cfg->insns[i]);
	return count;
}

/* Return true if a register is loaded from the stack. */
static bool is_restored(const struct cfg *cfg, unsigned int reg)
{
	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		const struct insn *insn = &cfg->insns[i];

		if (insn->destination == reg && insn->flags & INSN_READS_MEMORY &&
		    (insn->memory.pushes || insn->memory.base == RSP || insn->memory.base == RBP))
			return true;
	}
	return false;
}

/* Return r10 and r11 unless the procedure restores them. A push of them then only aligns the stack,
 * for which compilers use any register. */
static uint32_t alignment_registers(const struct cfg *cfg)
{
	uint32_t set = 0;

	for (unsigned int reg = 10; reg <= 11; reg++)
		set |= is_restored(cfg, reg) ? 0 : 1U << reg;
	return parts(set);
}

static uint32_t make_items(struct reg_summary_flow *flow, const struct cfg_block *block,
			   uint32_t count, uint32_t idle)
{
	struct reg_summary_item item = {.call = REG_SUMMARY_FLOW_NO_CALL};

	for (uint32_t i = block->first; i < block->first + block->count; i++) {
		const struct insn *insn = &flow->cfg->insns[i];
		struct liveness_effect effect = liveness_effect(insn);

		if (insn->opcode == ZYDIS_MNEMONIC_PUSH && !(insn->flags & INSN_READS_MEMORY))
			effect.reads &= ~idle;
		item.reads |= effect.reads & parts(LIVENESS_NO_RESULT) & ~item.kills;
		flow->writes |= effect.writes;
		if (!insn_is_call(insn)) {
			item.kills |= effect.kills & parts(LIVENESS_NO_RESULT);
			continue;
		}
		item.call = call_at(flow->cfg, i);
		if (item.call == REG_SUMMARY_FLOW_NO_CALL) /* unreachable */
			continue;
		flow->items[count++] = item;
		item = (struct reg_summary_item){.call = REG_SUMMARY_FLOW_NO_CALL};
	}
	flow->items[count++] = item;
	return count;
}

static void find_loops(struct reg_summary_flow *flow)
{
	const struct cfg *cfg = flow->cfg;

	for (uint32_t e = 0; e < cfg->edge_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (edge->to < cfg->block_count && edge->from < cfg->block_count)
			flow->repeats[edge->to] |= edge->from >= edge->to;
	}
}

int reg_summary_flow_make(struct reg_summary_flow *ret, const struct cfg *cfg)
{
	uint32_t count = 0, idle = alignment_registers(cfg);

	*ret = (struct reg_summary_flow){
		.cfg = cfg,
		.items = malloc(((size_t)count_items(cfg) + 1) * sizeof(*ret->items)),
		.first = malloc(((size_t)cfg->block_count + 1) * sizeof(*ret->first)),
		.begins = calloc((size_t)cfg->block_count + 1, sizeof(*ret->begins)),
		.repeats = calloc((size_t)cfg->block_count + 1, sizeof(*ret->repeats)),
	};
	if (ret->items == NULL || ret->first == NULL || ret->begins == NULL ||
	    ret->repeats == NULL) {
		reg_summary_flow_deinit(ret);
		return -ENOMEM;
	}
	for (uint32_t b = 0; b < cfg->block_count; b++) {
		ret->first[b] = count;
		count = make_items(ret, &cfg->blocks[b], count, idle);
	}
	ret->first[cfg->block_count] = count;
	find_loops(ret);
	return 0;
}

void reg_summary_flow_deinit(struct reg_summary_flow *flow)
{
	free(flow->items);
	free(flow->first);
	free(flow->begins);
	free(flow->repeats);
	*flow = (struct reg_summary_flow){0};
}

void reg_summary_flow_reset(struct reg_summary_flow *flow)
{
	memset(flow->begins, 0, flow->cfg->block_count * sizeof(*flow->begins));
}

/* --- evaluation ----------------------------------------------------------- */

static uint16_t reg_summary_flow_after(const struct reg_summary_flow *flow,
				       const struct reg_summary_ends *ends,
				       const struct cfg_edge *edge)
{
	const struct insn *insn = &flow->cfg->insns[edge->insn];
	uint32_t call;

	switch (edge->kind) {
	case CFG_EDGE_RETURN:
		return ends->live_after;
	case CFG_EDGE_TAIL:
		call = call_at(flow->cfg, edge->insn);
		return call != REG_SUMMARY_FLOW_NO_CALL ? ends->uses[call] : LIVENESS_NO_RESULT;
	default:
		return insn_is_call(insn) || insn->flow == INSN_FLOW_STOP ? 0 : LIVENESS_NO_RESULT;
	}
}

static uint32_t at_end(const struct reg_summary_flow *flow, const struct reg_summary_ends *ends,
		       const struct cfg_block *block)
{
	const struct cfg *cfg = flow->cfg;
	uint32_t live = 0;

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (edge->to < cfg->block_count)
			live |= flow->begins[edge->to];
		else
			live |= parts(edge->to == CFG_EXIT
					      ? reg_summary_flow_after(flow, ends, edge)
					      : LIVENESS_NO_RESULT);
	}
	return live;
}

static uint32_t before_call(const struct reg_summary_ends *ends, uint32_t call, uint32_t live)
{
	if (call == REG_SUMMARY_FLOW_NO_CALL)
		return live;
	if (ends->ends != NULL)
		live &= ~parts(ends->ends[call]);
	return live | parts(ends->uses[call]);
}

static uint32_t before(const struct reg_summary_item *item, const struct reg_summary_ends *ends,
		       uint32_t live)
{
	live = before_call(ends, item->call, live);
	return (live & ~item->kills) | item->reads;
}

static uint32_t through(const struct reg_summary_flow *flow, const struct reg_summary_ends *ends,
			uint32_t block)
{
	uint32_t live = at_end(flow, ends, &flow->cfg->blocks[block]);

	for (uint32_t i = flow->first[block + 1]; i > flow->first[block]; i--)
		live = before(&flow->items[i - 1], ends, live);
	return live;
}

uint16_t reg_summary_flow_begin(const struct reg_summary_flow *flow, uint32_t block)
{
	return whole(flow->begins[block]);
}

uint16_t reg_summary_flow_solve(struct reg_summary_flow *flow, const struct reg_summary_ends *ends,
				bool *grown)
{
	const struct cfg *cfg = flow->cfg;
	uint32_t entry = 0;
	bool repeats;

	do {
		repeats = false;
		for (uint32_t b = cfg->block_count; b > 0; b--) {
			uint32_t live = through(flow, ends, b - 1);

			if ((live & ~flow->begins[b - 1]) == 0)
				continue;
			flow->begins[b - 1] |= live;
			repeats |= flow->repeats[b - 1];
			if (grown != NULL)
				*grown = true;
		}
	} while (repeats);
	for (uint32_t b = 0; b < cfg->block_count; b++)
		entry |= cfg->blocks[b].flags & CFG_BLOCK_ENTRY ? flow->begins[b] : 0;
	return whole(entry);
}

uint16_t reg_summary_flow_reads(const struct reg_summary_flow *flow)
{
	uint16_t reads = 0;

	for (uint32_t b = 0; b < flow->cfg->block_count; b++) {
		if (flow->cfg->blocks[b].flags & CFG_BLOCK_ENTRY)
			reads |= whole(flow->items[flow->first[b]].reads);
	}
	return reads;
}

void reg_summary_flow_visit(const struct reg_summary_flow *flow,
			    const struct reg_summary_ends *ends,
			    void (*visit)(void *context, uint32_t call, uint16_t live),
			    void *context)
{
	for (uint32_t b = 0; b < flow->cfg->block_count; b++) {
		uint32_t live = at_end(flow, ends, &flow->cfg->blocks[b]);

		for (uint32_t i = flow->first[b + 1]; i > flow->first[b]; i--) {
			const struct reg_summary_item *item = &flow->items[i - 1];

			if (item->call != REG_SUMMARY_FLOW_NO_CALL &&
			    flow->cfg->calls[item->call].returns)
				visit(context, item->call, whole(live));
			live = before(item, ends, live);
		}
	}
}

static bool has_flags(const struct insn_regs *regs)
{
	return (regs->words[0] >> INSN_REG_FLAGS & 7) != 0;
}

static uint16_t pushed(const struct cfg *cfg)
{
	uint16_t set = 0;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		if (cfg->insns[i].opcode == ZYDIS_MNEMONIC_PUSH && cfg->insns[i].sources[0] < 16)
			set |= 1U << cfg->insns[i].sources[0];
	}
	return set;
}

/*
 * Return the register that is the only purpose of an instruction, if there is one. An instruction
 * whose flags are read has another purpose. A pop of a register that was never pushed only adjusts
 * the stack pointer.
 */
static uint16_t result_of(const struct insn *insn, uint16_t saved, bool flags_wanted)
{
	if (insn->destination >= 16 || insn->class == INSN_STRING ||
	    (flags_wanted && has_flags(&insn->writes)))
		return 0;
	if (insn->opcode == ZYDIS_MNEMONIC_POP && !(saved & 1U << insn->destination))
		return 0;
	return 1U << insn->destination;
}

static uint16_t outgoing_in(const struct reg_summary_flow *flow,
			    const struct reg_summary_ends *ends, const struct cfg_block *block,
			    uint16_t saved)
{
	uint32_t live = at_end(flow, ends, block);
	uint16_t outgoing = 0;
	bool flags_wanted = false;

	for (uint32_t i = block->first + block->count; i > block->first; i--) {
		const struct insn *insn = &flow->cfg->insns[i - 1];
		struct liveness_effect effect = liveness_effect(insn);
		uint32_t call =
			insn_is_call(insn) ? call_at(flow->cfg, i - 1) : REG_SUMMARY_FLOW_NO_CALL;

		if (call == REG_SUMMARY_FLOW_NO_CALL)
			outgoing |= result_of(insn, saved, flags_wanted) & effect.writes &
				    LIVENESS_NO_RESULT & ~whole(live);
		live = before_call(ends, call, live);
		live = (live & ~effect.kills) | effect.reads;
		flags_wanted =
			has_flags(&insn->reads) || (flags_wanted && !has_flags(&insn->writes));
	}
	return outgoing;
}

uint16_t reg_summary_flow_outgoing(const struct reg_summary_flow *flow,
				   const struct reg_summary_ends *ends)
{
	const struct cfg *cfg = flow->cfg;
	uint16_t saved = pushed(cfg), outgoing = 0;

	for (uint32_t b = 0; b < cfg->block_count; b++)
		outgoing |= outgoing_in(flow, ends, &cfg->blocks[b], saved);
	return outgoing;
}
