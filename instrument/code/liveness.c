// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/code/liveness.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>

#define RSP 4
#define RCX 1
/* What calls need not keep, by the ABI. */
#define SCRATCH 0x0fc7U

static uint32_t set_of(const struct insn_regs *regs)
{
	return (uint32_t)(regs->words[0] & LIVENESS_REGISTERS) |
	       (uint32_t)(regs->words[0] >> INSN_REG_FLAGS & 7) << 16;
}

/* A shift by %cl leaves flags as they were if it is by 0, and counts as reading them so. */
static bool may_keep_flags(const struct insn *insn)
{
	switch (insn->opcode) {
	case ZYDIS_MNEMONIC_ROL:
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHLD:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SHRD:
		return insn->immediate == 0 && (set_of(&insn->reads) & 1U << RCX) != 0;
	}
	return false;
}

/* What has another value for certain: a whole register, and flags. */
static uint32_t kills(const struct insn *insn)
{
	uint32_t set = 0;

	if (insn->class == INSN_STRING)
		return 0;
	if (insn->destination < 16 && insn->operand_bytes >= 4 && !(insn->flags & INSN_CONDITIONAL))
		set |= 1U << insn->destination;
	if (!may_keep_flags(insn))
		set |= set_of(&insn->writes) & LIVENESS_FLAGS;
	return set;
}

static bool is_call(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;
}

/* What is live before an instruction if @live is behind it. */
static uint32_t step(const struct liveness *liveness, const struct insn *insn, uint32_t live)
{
	if (is_call(insn))
		return LIVENESS_REGISTERS | (liveness->across ? LIVENESS_FLAGS : 0);
	if (insn->class == INSN_SYSTEM) /* the kernel's arguments are no operands */
		return live | LIVENESS_REGISTERS | set_of(&insn->reads);
	return (live & ~kills(insn)) |
	       (set_of(&insn->reads) & ~(may_keep_flags(insn) ? LIVENESS_FLAGS : 0U));
}

/* At the end of a block: of edges out of the procedure, all that others may look at. */
static uint32_t at_end(const struct liveness *liveness, const struct cfg_block *block)
{
	const struct cfg *cfg = liveness->cfg;
	uint32_t live = 0;

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (edge->to < cfg->block_count)
			live |= liveness->in[edge->to];
		else if (edge->to == CFG_EXIT)
			live |= LIVENESS_REGISTERS | (liveness->across ? LIVENESS_FLAGS : 0);
		else
			live |= LIVENESS_REGISTERS | LIVENESS_FLAGS;
	}
	return live;
}

static uint32_t through(const struct liveness *liveness, const struct cfg_block *block,
			uint32_t live)
{
	for (uint32_t i = block->count; i > 0; i--)
		live = step(liveness, &liveness->cfg->insns[block->first + i - 1], live);
	return live;
}

static void solve(struct liveness *liveness)
{
	const struct cfg *cfg = liveness->cfg;
	bool changed;

	do {
		changed = false;
		for (uint32_t b = cfg->block_count; b > 0; b--) {
			const struct cfg_block *block = &cfg->blocks[b - 1];
			uint32_t out = at_end(liveness, block);
			uint32_t in = through(liveness, block, out);

			changed |= in != liveness->in[b - 1];
			liveness->in[b - 1] = in;
			liveness->out[b - 1] = out;
		}
	} while (changed);
}

static uint32_t longest_block(const struct cfg *cfg)
{
	uint32_t longest = 0;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		if (cfg->blocks[b].count > longest)
			longest = cfg->blocks[b].count;
	}
	return longest;
}

int liveness_find(struct liveness *ret, const struct cfg *cfg, bool across)
{
	*ret = (struct liveness){
		.cfg = cfg,
		.across = across,
		.in = calloc(cfg->block_count, sizeof(*ret->in)),
		.out = calloc(cfg->block_count, sizeof(*ret->out)),
		.after = malloc(((size_t)longest_block(cfg) + 1) * sizeof(*ret->after)),
	};
	if (ret->in == NULL || ret->out == NULL || ret->after == NULL) {
		liveness_deinit(ret);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < cfg->insn_count; i++)
		ret->written |= set_of(&cfg->insns[i].writes) & LIVENESS_REGISTERS;
	ret->after[0] = 0;
	solve(ret);
	return 0;
}

void liveness_deinit(struct liveness *liveness)
{
	free(liveness->in);
	free(liveness->out);
	free(liveness->after);
	*liveness = (struct liveness){0};
}

uint32_t liveness_after(const struct liveness *liveness, uint32_t insn)
{
	const struct cfg *cfg = liveness->cfg;
	uint32_t number = cfg->block_of[insn];
	const struct cfg_block *block = &cfg->blocks[number];
	uint32_t *after = liveness->after + 1;

	if (liveness->after[0] != number + 1) {
		liveness->after[0] = number + 1;
		after[block->count - 1] = liveness->out[number];
		for (uint32_t i = block->count - 1; i > 0; i--)
			after[i - 1] = step(liveness, &cfg->insns[block->first + i], after[i]);
	}
	return after[insn - block->first];
}

uint32_t liveness_before(const struct liveness *liveness, uint32_t insn)
{
	return step(liveness, &liveness->cfg->insns[insn], liveness_after(liveness, insn));
}

bool liveness_crosses(const struct liveness *liveness)
{
	const struct cfg *cfg = liveness->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		uint32_t live = liveness->out[b];

		if (block->flags & CFG_BLOCK_ENTRY && liveness->in[b] & LIVENESS_FLAGS)
			return true;
		for (uint32_t i = block->count; i > 0; i--) {
			const struct insn *insn = &cfg->insns[block->first + i - 1];

			if (is_call(insn) && live & LIVENESS_FLAGS && block->out_count > 0)
				return true;
			live = step(liveness, insn, live);
		}
	}
	return false;
}

/* A register that becomes zero is not looked at. */
static uint32_t looks_at(const struct insn *insn)
{
	if (insn->opcode == ZYDIS_MNEMONIC_XOR && insn->sources[0] < 16 &&
	    insn->sources[0] == insn->sources[1] && insn->operand_bytes >= 4)
		return 0;
	return set_of(&insn->reads);
}

/* What of a set is still as it was behind a block. Return: false: some is read before. */
static bool passes(const struct liveness *liveness, const struct cfg_block *block, uint32_t *set)
{
	for (uint32_t i = block->first; i < block->first + block->count && *set != 0; i++) {
		const struct insn *insn = &liveness->cfg->insns[i];

		if (insn->class == INSN_SYSTEM || (looks_at(insn) & *set) != 0)
			return false;
		*set &= ~(is_call(insn) ? SCRATCH : kills(insn));
	}
	return true;
}

/* What is still to be looked at, with what of the set, and what was. */
struct reader {
	const struct liveness *liveness;
	uint16_t *seen;
	uint16_t *waits;
	uint32_t *stack;
	uint32_t pending;
	bool found;
};

static void read_on(struct reader *reader, const struct cfg_block *block, uint32_t set)
{
	const struct cfg *cfg = reader->liveness->cfg;

	for (uint32_t e = block->out; e < block->out + block->out_count && set != 0; e++) {
		uint32_t to = cfg->edges[e].to;

		if (to >= cfg->block_count || (set & ~reader->seen[to]) == 0)
			continue;
		if (reader->waits[to] == 0)
			reader->stack[reader->pending++] = to;
		reader->seen[to] |= (uint16_t)set;
		reader->waits[to] |= (uint16_t)set;
	}
}

int liveness_is_read(const struct liveness *liveness, uint32_t block, uint32_t set)
{
	const struct cfg *cfg = liveness->cfg;
	struct reader reader = {
		.liveness = liveness,
		.seen = calloc(cfg->block_count, sizeof(*reader.seen)),
		.waits = calloc(cfg->block_count, sizeof(*reader.waits)),
		.stack = malloc(cfg->block_count * sizeof(*reader.stack)),
	};
	int r = -ENOMEM;

	if (reader.seen != NULL && reader.waits != NULL && reader.stack != NULL) {
		read_on(&reader, &cfg->blocks[block], set & LIVENESS_REGISTERS);
		while (reader.pending > 0 && !reader.found) {
			uint32_t next = reader.stack[--reader.pending], rest = reader.waits[next];

			reader.waits[next] = 0;
			reader.found = !passes(liveness, &cfg->blocks[next], &rest);
			read_on(&reader, &cfg->blocks[next], rest);
		}
		r = reader.found;
	}
	free(reader.seen);
	free(reader.waits);
	free(reader.stack);
	return r;
}

uint32_t liveness_free_registers(const struct liveness *liveness, uint32_t live)
{
	return liveness->written & ~live & ~(1U << RSP);
}
