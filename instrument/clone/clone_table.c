// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jump tables of the clone. Their entries hold the new positions of blocks. The instruction that
 * loads an entry gets another displacement, since its registers keep their values. All other
 * instructions between the load and the jump stay the same, and values that they compute must be
 * dead after it. Where entries are pointers and the image is position-independent, the clone's
 * entries are relative to the value of the load's base register, which is added.
 */
#include "instrument/clone/clone.h"

#include <stdlib.h>

#include "analysis/insn/insn_effect.h"

#define BIT(reg) (1U << (reg))
#define REGISTERS 16
/* Larger distances from the procedure are rejected. */
#define REACH (UINT64_C(1) << 30)
#define TARGET_BYTES 8
#define OFFSET_BYTES 4

/* --- selection ------------------------------------------------------------ */

static uint32_t set_of(const struct insn_regs *regs)
{
	return (uint32_t)regs->words[0] & LIVENESS_REGISTERS;
}

static bool is_of_pointers(const struct cfg_table *table)
{
	return table->bytes == TARGET_BYTES && table->base == 0;
}

static bool reads_flags(const struct insn *insn)
{
	return ((insn->reads.words[0] >> INSN_REG_FLAGS) & 0xff) != 0;
}

/*
 * Return true if an entry, and all values derived from it, are used only by the jump. They may be
 * copied, extended and added to, and must not be read at the jump's targets. (Code that uses the
 * address of a block has an instruction that reads it.)
 */
static bool is_private(const struct clone *clone, const struct cfg_table *table)
{
	const struct cfg *cfg = clone->cfg;
	uint32_t tainted = 0, block = cfg->block_of[table->jump];
	bool other_flags = false; /* flags of sums that depend on the entry */

	for (uint32_t i = table->load; i <= table->jump; i++) {
		const struct insn *insn = &cfg->insns[i];
		struct insn_effect effect = insn_effect_get(cfg->decoder, insn);
		bool uses = (set_of(&insn->reads) & tainted) != 0;

		if (i == table->jump)
			break;
		if (insn->flow != INSN_FLOW_NEXT || (other_flags && reads_flags(insn)))
			return false;
		if (uses && effect.kind != INSN_EFFECT_SUM && effect.kind != INSN_EFFECT_EXTEND)
			return false;
		if ((uses || i == table->load) && effect.destination >= REGISTERS)
			return false;
		other_flags |= uses;
		tainted &= ~set_of(&insn->writes);
		if (uses || i == table->load)
			tainted |= BIT(effect.destination);
	}
	return (clone->source->liveness->out[block] & LIVENESS_FLAGS) == 0 &&
	       liveness_is_read(clone->source->liveness, block, tainted) == 0;
}

static bool is_near(const struct clone *clone, uint64_t address)
{
	return address - clone->source->entry + REACH < 2 * REACH;
}

/* Return true if the displacement of the load's operand can be replaced. */
static bool is_simple(const struct insn_memory *memory)
{
	return !memory->pc_relative && !memory->segment && !memory->pushes;
}

/* For pointers in a position-independent image: return true if new entries can be relative to the
 * load's base register. */
static bool is_anchored(const struct clone *clone, const struct cfg_table *table)
{
	return table->anchored && is_near(clone, table->anchor) &&
	       clone->cfg->insns[table->load].memory.base < REGISTERS;
}

/* Find a register for an entry that is dead at the jump's targets. Return: its number, or -1. */
static int find_register(const struct clone *clone, const struct cfg_table *table)
{
	const struct insn *load = &clone->cfg->insns[table->load];
	const struct liveness *liveness = clone->source->liveness;
	uint32_t live = liveness->out[clone->cfg->block_of[table->jump]];
	uint32_t free = liveness_free_registers(liveness, live) & ~BIT(load->memory.base);

	if (table->load != table->jump)
		return load->destination != load->memory.base ? load->destination : -1;
	return free != 0 ? __builtin_ctz(free) : -1;
}

static bool is_supported(const struct clone *clone, const struct cfg_table *table)
{
	const struct cfg *cfg = clone->cfg;
	const struct insn *load = &cfg->insns[table->load];

	if (cfg->block_of[table->load] != cfg->block_of[table->jump] || table->load > table->jump ||
	    table->scale != 0 || !is_simple(&load->memory) || !is_near(clone, table->address) ||
	    !is_private(clone, table))
		return false;
	/* New unsigned distances might have to be negative; addresses below 2 GiB cannot be. */
	if (table->bytes == OFFSET_BYTES)
		return table->is_signed ? is_near(clone, table->base)
					: clone->source->fixed && table->base == 0;
	if (!is_of_pointers(table))
		return false;
	return clone->source->fixed ||
	       (load->memory.base != INSN_REG_NONE && is_anchored(clone, table) &&
		find_register(clone, table) >= 0);
}

int clone_table_find(struct clone *clone)
{
	const struct cfg *cfg = clone->cfg;

	clone->tables = calloc(cfg->table_count + (size_t)1, sizeof(*clone->tables));
	if (clone->tables == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg->table_count; i++) {
		const struct cfg_table *table = &cfg->tables[i];

		if (!is_supported(clone, table))
			continue;
		clone->tables[clone->table_count++] = (struct clone_table){
			.old = table,
			.label = machine_code_label(clone->code),
			.base = is_of_pointers(table) && !clone->source->fixed ? table->anchor
									       : table->base,
		};
	}
	return 0;
}

bool clone_table_is_of(const struct clone *clone, uint32_t jump)
{
	uint32_t i = 0;

	while (i < clone->table_count && clone->tables[i].old->jump != jump)
		i++;
	return i < clone->table_count;
}

/* --- loads ---------------------------------------------------------------- */

/* Encode the operand of @insn with a 32-bit displacement. Return: bytes without displacement. */
static size_t put_operand(uint8_t *out, const ZydisDecodedInstruction *insn, unsigned int reg)
{
	unsigned int mode = insn->raw.modrm.mod, rm = insn->raw.modrm.rm;
	bool indexed = rm == 4;
	size_t bytes = 0;

	/* Mode 0 with an index and without a base has a 32-bit displacement already. */
	if (mode != 0 || !indexed || insn->raw.sib.base != 5)
		mode = 2;
	out[bytes++] = (uint8_t)(mode << 6 | (reg & 7) << 3 | rm);
	if (indexed)
		out[bytes++] = (uint8_t)(insn->raw.sib.scale << 6 | insn->raw.sib.index << 3 |
					 insn->raw.sib.base);
	return bytes;
}

/* lea (%reg,%base), %reg */
static void emit_add(struct clone *clone, unsigned int reg, unsigned int base)
{
	/* A base of 5 requires a displacement. */
	uint8_t bytes[] = {(uint8_t)(0x48 | (reg & 8) >> 1 | (reg & 8) >> 2 | (base & 8) >> 3),
			   0x8d, (uint8_t)(0x44 | (reg & 7) << 3),
			   (uint8_t)((reg & 7) << 3 | (base & 7)), 0};

	machine_code_bytes(clone->code, bytes, sizeof(bytes));
}

static void emit_jump(struct clone *clone, unsigned int reg)
{
	uint8_t bytes[] = {0x41, 0xff, (uint8_t)(0xe0 | (reg & 7))};

	machine_code_bytes(clone->code, bytes + (reg < 8), sizeof(bytes) - (reg < 8));
}

/* Emit the load, and the conversion of a relative entry to a target. */
static void emit_load(struct clone *clone, const struct clone_table *table,
		      const ZydisDecodedInstruction *zydis, const uint8_t *bytes)
{
	const struct cfg_table *old = table->old;
	const struct insn *load = &clone->cfg->insns[old->load];
	bool anchored = is_of_pointers(old) && !clone->source->fixed;
	int reg = anchored && old->load == old->jump ? find_register(clone, old) : -1;
	uint64_t bias = (uint64_t)load->memory.displacement - old->address;
	uint8_t out[ZYDIS_MAX_INSTRUCTION_LENGTH + 8] = {0};
	size_t count = 0;

	if (reg >= 0) { /* the jump becomes a mov */
		out[count++] = (uint8_t)(0x48 | (reg & 8) >> 1 | (zydis->raw.rex.X ? 2 : 0) |
					 (zydis->raw.rex.B ? 1 : 0));
		out[count++] = 0x8b;
	} else {
		for (; count < zydis->raw.modrm.offset; count++)
			out[count] = bytes[count];
	}
	count += put_operand(out + count, zydis,
			     reg >= 0 ? (unsigned int)reg : zydis->raw.modrm.reg);
	machine_code_absolute(clone->code, out, count + 4, table->label, bias);
	if (anchored)
		emit_add(clone, reg >= 0 ? (unsigned int)reg : load->destination,
			 load->memory.base);
	if (reg >= 0)
		emit_jump(clone, (unsigned int)reg);
}

int clone_table_load(struct clone *clone, uint32_t index)
{
	const struct clone_table *table = &clone->tables[clone->table];
	ZydisDecodedInstruction zydis;
	const uint8_t *bytes;
	int r;

	if (clone->table == clone->table_count || table->old->load != index)
		return 0;
	clone->table++;
	r = clone_insn_decode(clone, &clone->cfg->insns[index], &zydis, &bytes);
	if (r < 0)
		return r;
	if (!(zydis.attributes & ZYDIS_ATTRIB_HAS_MODRM) ||
	    zydis.attributes & ZYDIS_ATTRIB_HAS_ADDRESSSIZE || zydis.raw.modrm.mod == 3)
		return clone_refuse(clone, "an unsupported jump table");
	emit_load(clone, table, &zydis, bytes);
	return 1;
}

/* --- tables --------------------------------------------------------------- */

/* Return the label of an entry's target in the clone; COUNT_NONE: the target stays the same. */
static uint32_t clone_table_label_of(const struct clone *clone, uint64_t target)
{
	long insn = cfg_find_insn(clone->cfg, target);
	uint32_t block;

	if (insn < 0)
		return COUNT_NONE;
	block = clone->cfg->block_of[insn];
	return clone->cfg->blocks[block].first == (uint32_t)insn ? clone->case_labels[block]
								 : COUNT_NONE;
}

static void emit_entry(struct clone *clone, const struct clone_table *table, uint32_t index)
{
	size_t bytes = table->old->bytes;
	uint64_t target = table->base;
	uint32_t label = COUNT_NONE;

	if (clone->source->entry_of(clone->source->context, table->old, index, &target) == 0)
		label = clone_table_label_of(clone, target);
	if (label != COUNT_NONE) {
		machine_code_entry(clone->code, bytes, label, table->base);
		return;
	}
	target -= table->base;
	machine_code_bytes(clone->code, &target, bytes);
}

void clone_table_emit(struct clone *clone)
{
	for (uint32_t i = 0; i < clone->table_count && !clone->code->failed; i++) {
		const struct clone_table *table = &clone->tables[i];

		machine_code_align(clone->code, table->old->bytes);
		machine_code_bind_label(clone->code, table->label);
		for (uint32_t entry = 0; entry < table->old->count; entry++)
			emit_entry(clone, table, entry);
	}
}
