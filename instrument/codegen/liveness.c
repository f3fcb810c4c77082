// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/codegen/liveness.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>

#define RSP 4
#define RCX 1

/*
 * The lowest byte of a register is a separate member of a set, since compilers set it alone. Bit i
 * is a flag, or a register without its lowest byte; bit LOW + i is the lowest byte. A flag has a
 * second member, UNREPEATED bits higher, for reads after a repeated comparison of strings: it is
 * live before the comparison in case the comparison is repeated zero times.
 */
#define LOW 32
#define UNREPEATED 3
#define UNREPEATED_FLAGS ((halves_t)LIVENESS_FLAGS << UNREPEATED)
typedef uint64_t halves_t;

static halves_t halves(uint32_t set)
{
	return set | (halves_t)(set & LIVENESS_REGISTERS) << LOW;
}

static uint32_t whole(halves_t set)
{
	return (uint32_t)(set & ~UNREPEATED_FLAGS) |
	       (uint32_t)((set & UNREPEATED_FLAGS) >> UNREPEATED) | (uint32_t)(set >> LOW);
}

static uint32_t set_of(const struct insn_regs *regs)
{
	return (uint32_t)(regs->words[0] & LIVENESS_REGISTERS) |
	       (uint32_t)(regs->words[0] >> INSN_REG_FLAGS & 7) << 16;
}

/* A shift by %cl or a repeated comparison of strings leaves the flags unchanged if the count is 0.
 * The decoder reports this as a read of the flags. */
static bool may_keep_flags(const struct insn *insn)
{
	if (insn->class == INSN_STRING)
		return true;
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

static uint32_t bit_of(unsigned int reg)
{
	return reg < 16 ? 1U << reg : 0;
}

/* Return true if the instruction writes the lowest byte of a register alone. */
static bool writes_low(const struct insn *insn)
{
	return insn->flags & INSN_LOW_BYTES && insn->operand_bytes == 1;
}

/* Return the members that are certainly overwritten: a register or its lowest byte, and flags. */
static halves_t kills(const struct insn *insn)
{
	halves_t set = 0;

	if (insn->class == INSN_STRING)
		return 0;
	if (insn->operand_bytes >= 4 && !(insn->flags & INSN_CONDITIONAL))
		set |= halves(bit_of(insn->destination));
	else if (writes_low(insn) && !(insn->flags & INSN_CONDITIONAL))
		set |= (halves_t)bit_of(insn->destination) << LOW;
	if (!may_keep_flags(insn))
		set |= set_of(&insn->writes) & LIVENESS_FLAGS;
	return set | (set & LIVENESS_FLAGS) << UNREPEATED;
}

/* Return the live set before an instruction, without those that the instruction reads. */
static halves_t without_written(const struct insn *insn, halves_t live)
{
	halves_t flags = live & set_of(&insn->writes) & LIVENESS_FLAGS;

	if (insn->class == INSN_STRING)
		return (live & ~flags) | flags << UNREPEATED;
	return live & ~kills(insn);
}

/* Return true if the instruction may read registers that are not its operands, for example the
 * arguments of a system call. */
static bool reads_implicitly(const struct insn *insn)
{
	if (insn->class != INSN_SYSTEM)
		return false;
	switch (insn->opcode) {
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_ENDBR64:
	case ZYDIS_MNEMONIC_FLDCW:
	case ZYDIS_MNEMONIC_FNCLEX:
	case ZYDIS_MNEMONIC_FNSTCW:
	case ZYDIS_MNEMONIC_FNSTSW:
	case ZYDIS_MNEMONIC_FRNDINT:
	case ZYDIS_MNEMONIC_LDMXCSR:
	case ZYDIS_MNEMONIC_RDFSBASE:
	case ZYDIS_MNEMONIC_RDPID:
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED:
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP:
	case ZYDIS_MNEMONIC_STMXCSR:
	case ZYDIS_MNEMONIC_VLDMXCSR:
	case ZYDIS_MNEMONIC_VSTMXCSR:
	case ZYDIS_MNEMONIC_XGETBV:
		return false;
	}
	return insn->flow != INSN_FLOW_STOP;
}

/* The result of sbb of a register with itself depends only on the carry. */
static bool is_carry_alone(const struct insn *insn)
{
	return insn->opcode == ZYDIS_MNEMONIC_SBB && insn->destination < 16 &&
	       !(insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY)) &&
	       insn->operand_bytes >= 4 &&
	       (set_of(&insn->reads) & LIVENESS_REGISTERS) == bit_of(insn->destination) &&
	       insn->sources[1] == insn->destination;
}

/* Return the members that the instruction reads. A write of the lowest byte preserves the rest of
 * the register, but does not count as a read of the rest. */
static halves_t read_members(const struct insn *insn)
{
	uint32_t set = set_of(&insn->reads), low = 0, addresses;

	if (is_carry_alone(insn))
		return set & LIVENESS_FLAGS;
	if (!(insn->flags & INSN_LOW_BYTES))
		return halves(set);
	addresses = bit_of(insn->memory.base) | bit_of(insn->memory.index);
	for (unsigned int i = 0; i < INSN_SOURCES; i++)
		low |= bit_of(insn->sources[i]);
	set &= ~low | addresses;
	if (writes_low(insn))
		set &= ~bit_of(insn->destination) | addresses;
	return halves(set) | (halves_t)low << LOW;
}

/* Return the effects of a call, or of a jump out of the procedure. */
static struct liveness_call call_at(const struct liveness *liveness, uint32_t insn)
{
	long call = liveness->calls != NULL ? cfg_find_call(liveness->cfg, insn) : -1;

	return call >= 0 ? liveness->calls->at[call]
			 : (struct liveness_call){.uses = LIVENESS_NO_RESULT};
}

/* Return the members that the callee may read; @uses: those of LIVENESS_NO_RESULT. */
static halves_t used_at(const struct liveness *liveness, uint32_t uses)
{
	return halves((LIVENESS_REGISTERS & ~LIVENESS_NO_RESULT) | uses |
		      (liveness->across ? LIVENESS_FLAGS : 0));
}

/* Return the live set before a call. A register of LIVENESS_NO_RESULT that is live after the call
 * is also live before it, unless the call is known to end its value: the callee may preserve it. */
static halves_t before_call(const struct liveness *liveness, const struct insn *insn, halves_t live)
{
	struct liveness_call call = call_at(liveness, (uint32_t)(insn - liveness->cfg->insns));

	return used_at(liveness, call.uses) | read_members(insn) |
	       (live & halves(LIVENESS_NO_RESULT & ~(uint32_t)call.ends));
}

/* Return the live set before an instruction; @live: the live set after it. */
static halves_t liveness_step(const struct liveness *liveness, const struct insn *insn,
			      halves_t live)
{
	if (insn_is_call(insn))
		return before_call(liveness, insn, live);
	if (reads_implicitly(insn))
		return live | halves(LIVENESS_REGISTERS | set_of(&insn->reads));
	return without_written(insn, live) |
	       (read_members(insn) & ~(halves_t)(may_keep_flags(insn) ? LIVENESS_FLAGS : 0U));
}

/* Return the members that code after an edge out of the procedure may read. */
static halves_t liveness_after_of(const struct liveness *liveness, const struct cfg_edge *edge)
{
	halves_t all = halves(LIVENESS_REGISTERS | (liveness->across ? LIVENESS_FLAGS : 0));

	if (liveness->calls == NULL)
		return all;
	switch (edge->kind) {
	case CFG_EDGE_RETURN:
		return all & ~halves(LIVENESS_NO_RESULT & ~(uint32_t)liveness->calls->live_after);
	case CFG_EDGE_TAIL:
		return used_at(liveness, call_at(liveness, edge->insn).uses);
	default:
		return insn_is_call(&liveness->cfg->insns[edge->insn])
			       ? all & ~halves(LIVENESS_NO_RESULT)
			       : all;
	}
}

/* Return the live set at the end of a block. */
static halves_t at_end(const struct liveness *liveness, const struct cfg_block *block)
{
	const struct cfg *cfg = liveness->cfg;
	halves_t live = 0;

	for (uint32_t e = block->out; e < block->out + block->out_count; e++) {
		const struct cfg_edge *edge = &cfg->edges[e];

		if (edge->to < cfg->block_count)
			live |= liveness->begins[edge->to];
		else if (edge->to == CFG_EXIT)
			live |= liveness_after_of(liveness, edge);
		else
			live |= halves(LIVENESS_REGISTERS | LIVENESS_FLAGS);
	}
	return live;
}

static halves_t through(const struct liveness *liveness, const struct cfg_block *block,
			halves_t live)
{
	for (uint32_t i = block->count; i > 0; i--)
		live = liveness_step(liveness, &liveness->cfg->insns[block->first + i - 1], live);
	return live;
}

static void liveness_solve(struct liveness *liveness)
{
	const struct cfg *cfg = liveness->cfg;
	bool changed;

	do {
		changed = false;
		for (uint32_t b = cfg->block_count; b > 0; b--) {
			const struct cfg_block *block = &cfg->blocks[b - 1];
			halves_t end = at_end(liveness, block);
			halves_t begin = through(liveness, block, end);

			changed |= begin != liveness->begins[b - 1];
			liveness->begins[b - 1] = begin;
			liveness->in[b - 1] = whole(begin);
			liveness->out[b - 1] = whole(end);
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

int liveness_find(struct liveness *ret, const struct cfg *cfg, const struct liveness_calls *calls,
		  bool across)
{
	*ret = (struct liveness){
		.cfg = cfg,
		.calls = calls,
		.changed = calls != NULL ? calls->changed : 0,
		.across = across,
		.in = calloc(cfg->block_count, sizeof(*ret->in)),
		.out = calloc(cfg->block_count, sizeof(*ret->out)),
		.begins = calloc(cfg->block_count, sizeof(*ret->begins)),
		.after = malloc(((size_t)longest_block(cfg) + 1) * sizeof(*ret->after)),
	};
	if (ret->in == NULL || ret->out == NULL || ret->begins == NULL || ret->after == NULL) {
		liveness_deinit(ret);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < cfg->insn_count; i++)
		ret->changed |= set_of(&cfg->insns[i].writes) & LIVENESS_REGISTERS;
	ret->after[0] = 0;
	liveness_solve(ret);
	return 0;
}

void liveness_deinit(struct liveness *liveness)
{
	free(liveness->in);
	free(liveness->out);
	free(liveness->begins);
	free(liveness->after);
	*liveness = (struct liveness){0};
}

static halves_t live_after(const struct liveness *liveness, uint32_t insn)
{
	const struct cfg *cfg = liveness->cfg;
	uint32_t number = cfg->block_of[insn];
	const struct cfg_block *block = &cfg->blocks[number];
	halves_t *after = liveness->after + 1;

	if (liveness->after[0] != number + 1) {
		liveness->after[0] = number + 1;
		after[block->count - 1] = at_end(liveness, block);
		for (uint32_t i = block->count - 1; i > 0; i--)
			after[i - 1] =
				liveness_step(liveness, &cfg->insns[block->first + i], after[i]);
	}
	return after[insn - block->first];
}

uint32_t liveness_after(const struct liveness *liveness, uint32_t insn)
{
	return whole(live_after(liveness, insn));
}

uint32_t liveness_before(const struct liveness *liveness, uint32_t insn)
{
	return whole(
		liveness_step(liveness, &liveness->cfg->insns[insn], live_after(liveness, insn)));
}

bool liveness_crosses(const struct liveness *liveness)
{
	const struct cfg *cfg = liveness->cfg;

	for (uint32_t b = 0; b < cfg->block_count; b++) {
		const struct cfg_block *block = &cfg->blocks[b];
		halves_t live = at_end(liveness, block);

		if (block->flags & CFG_BLOCK_ENTRY && liveness->begins[b] & LIVENESS_FLAGS)
			return true;
		for (uint32_t i = block->count; i > 0; i--) {
			const struct insn *insn = &cfg->insns[block->first + i - 1];

			if (insn_is_call(insn) && live & LIVENESS_FLAGS && block->out_count > 0)
				return true;
			live = liveness_step(liveness, insn, live);
		}
	}
	return false;
}

/* Remove the members of @set that a block overwrites. Return: false if the block reads a member
 * before it overwrites that member. */
static bool passes(const struct liveness *liveness, const struct cfg_block *block, halves_t *set)
{
	for (uint32_t i = block->first; i < block->first + block->count && *set != 0; i++) {
		const struct insn *insn = &liveness->cfg->insns[i];

		if (reads_implicitly(insn) || (read_members(insn) & *set) != 0)
			return false;
		*set &= ~(insn_is_call(insn) ? halves(LIVENESS_SCRATCH) : kills(insn));
	}
	return true;
}

/* State of a search: stack of blocks to visit, with the members of the set to look for in each
 * (@waits), and the members that were already searched for (@seen). */
struct reader {
	const struct liveness *liveness;
	halves_t *seen;
	halves_t *waits;
	uint32_t *stack;
	uint32_t pending;
	bool found;
};

static void read_on(struct reader *reader, const struct cfg_block *block, halves_t set)
{
	const struct cfg *cfg = reader->liveness->cfg;

	for (uint32_t e = block->out; e < block->out + block->out_count && set != 0; e++) {
		uint32_t to = cfg->edges[e].to;

		if (to >= cfg->block_count || (set & ~reader->seen[to]) == 0)
			continue;
		if (reader->waits[to] == 0)
			reader->stack[reader->pending++] = to;
		reader->seen[to] |= set;
		reader->waits[to] |= set;
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
		read_on(&reader, &cfg->blocks[block], halves(set & LIVENESS_REGISTERS));
		while (reader.pending > 0 && !reader.found) {
			uint32_t next = reader.stack[--reader.pending];
			halves_t rest = reader.waits[next];

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

static uint32_t packed(halves_t set)
{
	return (uint32_t)(set & LIVENESS_REGISTERS) | (uint32_t)(set >> LOW) << LIVENESS_LOW;
}

struct liveness_effect liveness_effect(const struct insn *insn)
{
	return (struct liveness_effect){
		.reads = packed(reads_implicitly(insn) ? halves(LIVENESS_REGISTERS)
						       : read_members(insn)),
		.kills = packed(kills(insn)),
		.writes = (uint16_t)(set_of(&insn->writes) & LIVENESS_REGISTERS),
	};
}

uint32_t liveness_free_registers(const struct liveness *liveness, uint32_t live)
{
	return liveness->changed & ~live & ~(1U << RSP);
}
