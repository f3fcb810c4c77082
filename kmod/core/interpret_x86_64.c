// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: the main loop, and branches. Instructions that change general registers and flags in
 * common ways are interpreted. For all others, x86_effect.c determines which state becomes unknown.
 */
#include "x86_data.h"
#include "x86_effect.h"
#include "x86_operand.h"
#include "x86_step.h"

static enum step conditional(struct machine *m, struct operand taken)
{
	if (!taken.known)
		return STEP_UNKNOWN;
	m->conditional = true;
	if (taken.value)
		m->next += m->insn.immediate;
	return STEP_EDGE;
}

/* loopne, loope, loop, jrcxz */
static enum step loop(struct machine *m)
{
	u32 kind = m->insn.opcode & 3, bytes = has_prefix(m, X86_ADDRESS_SIZE) ? 4 : 8;
	struct operand rcx = x86_read_register(m, REG_RCX, bytes), zero;

	m->has_result = false;
	if (kind == 3) {
		rcx.value = rcx.value == 0;
		return conditional(m, rcx);
	}
	/* On some machines the prefix, not the opcode, then selects the expected value of ZF. */
	if (kind < 2 && has_prefix(m, X86_REP | X86_REPNE))
		return STEP_UNSUPPORTED;
	zero = kind == 2 ? operand(1) : x86_condition(m, 4 + !kind);
	if (!rcx.known || !zero.known)
		return STEP_UNKNOWN;
	rcx.value = low_bytes(rcx.value - 1, bytes);
	x86_write_register(m, REG_RCX, bytes, rcx);
	rcx.value = rcx.value != 0 && zero.value;
	return conditional(m, rcx);
}

/* Branch to an address that was read from a register or from memory. */
static enum step indirect(struct machine *m, struct operand to, bool calls)
{
	if (!to.known)
		return STEP_UNKNOWN;
	if (calls)
		x86_push(m, 8, operand(m->next));
	m->next = to.value;
	return STEP_EDGE;
}

static enum step go_back(struct machine *m)
{
	struct operand rsp = x86_read_register(m, REG_RSP, 8), to = x86_load(m, rsp, 8);

	if (!to.known)
		return STEP_UNKNOWN;
	rsp.value += 8 + (m->insn.opcode == 0xc2 ? m->insn.immediate : 0);
	x86_write_register(m, REG_RSP, 8, rsp);
	return indirect(m, to, false);
}

/* Branches with 16-bit operands differ between vendors and are not supported. */
static enum step one_byte(struct machine *m)
{
	u32 opcode = m->insn.opcode, reg = m->insn.reg & 7;
	bool narrow = has_prefix(m, X86_OPERAND_SIZE);

	switch (opcode) {
	case 0x70 ... 0x7f:
		return narrow ? STEP_UNSUPPORTED : conditional(m, x86_condition(m, opcode & 15));
	case 0xc2:
	case 0xc3:
		return narrow ? STEP_UNSUPPORTED : go_back(m);
	case 0xe0 ... 0xe3:
		return narrow ? STEP_UNSUPPORTED : loop(m);
	case 0xe8:
		x86_push(m, 8, operand(m->next));
		m->next += m->insn.immediate;
		return STEP_NEXT;
	case 0xe9:
	case 0xeb:
		m->next += m->insn.immediate;
		return narrow ? STEP_UNSUPPORTED : STEP_NEXT;
	case 0xff:
		if (reg == 2 || reg == 4)
			return narrow ? STEP_UNSUPPORTED : indirect(m, x86_read_rm(m, 8), reg == 2);
		break;
	default:
		break;
	}
	return x86_one_byte_data(m);
}

static enum step rest(struct machine *m)
{
	struct operand address = unknown();
	struct x86_effect effect;
	u32 reg;

	if (!x86_effect_of(&m->insn, &effect))
		return STEP_UNSUPPORTED;
	/*
	 * EVEX scales an 8-bit displacement. The factor is not computed, so the address is unknown.
	 */
	if (effect.stores > 0 && !(m->insn.encoding == X86_EVEX && m->insn.mod == 1))
		address = x86_address(m);
	if (effect.stores > 0)
		x86_store(m, address, effect.stores, unknown());
	if (effect.anywhere)
		interpret_memory_hide(&m->memory);
	if (effect.flags)
		x86_forget_flags(m, FLAGS_ALL);
	for (reg = 0; reg < X86_REGISTERS; reg++) {
		if (effect.registers >> reg & 1)
			x86_write_register(m, reg, 8, unknown());
	}
	return STEP_NEXT;
}

enum step x86_step(struct machine *m)
{
	enum step result = STEP_UNSUPPORTED;

	if (m->insn.encoding == X86_LEGACY && m->insn.map == 0)
		result = one_byte(m);
	else if (m->insn.encoding == X86_LEGACY && m->insn.map == 1 &&
		 (m->insn.opcode & 0xf0) == 0x80)
		return conditional(m, x86_condition(m, m->insn.opcode & 15));
	else if (m->insn.encoding == X86_LEGACY && m->insn.map == 1)
		result = x86_two_byte_data(m);
	return result == STEP_UNSUPPORTED ? rest(m) : result;
}

static void registers_begin(struct machine *m)
{
	u32 i;

	for (i = 0; i < X86_REGISTERS; i++)
		m->known[i] = m->state->known >> i & 1 ? 0xff : 0;
}

/* The structure is not cleared entirely: that would cost more than a step. */
void x86_machine_init(struct machine *m, struct interpret_state *state, interpret_read_fn read,
		      void *context)
{
	m->state = state;
	m->conditional = false;
	m->has_result = false;
	m->result = 0;
	interpret_memory_init(&m->memory, read, context);
	registers_begin(m);
}

static void registers_end(struct machine *m)
{
	u32 i;

	m->state->known = 0;
	for (i = 0; i < X86_REGISTERS; i++)
		m->state->known |= (u32)(m->known[i] == 0xff) << i;
}

bool x86_fetch(struct machine *m, enum interpret_end *end)
{
	u32 bytes;
	const u8 *code =
		interpret_memory_code(&m->memory, m->state->pc, X86_INSN_BYTES_MAX, &bytes);
	int rc;

	*end = INTERPRET_UNREADABLE;
	if (code == NULL)
		return false;
	rc = x86_insn_decode(&m->insn, code, bytes);
	if (rc == 0) {
		m->next = m->state->pc + m->insn.length;
		return true;
	}
	if (rc == -EINVAL)
		*end = INTERPRET_UNSUPPORTED;
	return false;
}

static enum interpret_end run(struct machine *m, struct interpret_edge *edge)
{
	enum interpret_end end;

	for (edge->steps = 1; edge->steps <= INTERPRET_STEPS_MAX; edge->steps++) {
		if (!x86_fetch(m, &end))
			return end;
		switch (x86_step(m)) {
		case STEP_NEXT:
			m->state->pc = m->next;
			break;
		case STEP_EDGE:
			edge->from = m->state->pc;
			edge->to = m->next;
			edge->conditional = m->conditional;
			edge->has_result = m->conditional && m->has_result;
			edge->result = m->result;
			m->state->pc = m->next;
			return INTERPRET_EDGE;
		case STEP_UNKNOWN:
			return INTERPRET_UNKNOWN;
		default:
			return INTERPRET_UNSUPPORTED;
		}
	}
	edge->steps = INTERPRET_STEPS_MAX;
	return INTERPRET_TOO_LONG;
}

enum interpret_end interpret_x86_64_path(struct interpret_state *state, interpret_read_fn read,
					 void *context, struct interpret_edge *edges, u32 max,
					 u32 *count)
{
	struct machine m;
	enum interpret_end end;

	x86_machine_init(&m, state, read, context);
	*count = 0;
	do {
		m.conditional = false;
		end = run(&m, &edges[*count]);
	} while (end == INTERPRET_EDGE && ++*count < max);
	registers_end(&m);
	return end;
}

/* Return: true if the walk continues after an edge. */
static bool edge_visit(struct machine *m, const struct interpret_edge *edge,
		       const struct interpret_visitor *visitor)
{
	bool skipped = false;

	registers_end(m);
	if (!visitor->visit(visitor->context, m->state, edge, &skipped))
		return false;
	if (skipped) {
		registers_begin(m);
		x86_forget_flags(m, FLAGS_ALL);
		interpret_memory_skip(&m->memory);
	}
	return true;
}

enum interpret_end interpret_x86_64_walk(struct interpret_state *state, interpret_read_fn read,
					 void *context, const struct interpret_visitor *visitor)
{
	struct machine m;
	struct interpret_edge edge;
	enum interpret_end end;
	u32 steps = 0;

	x86_machine_init(&m, state, read, context);
	interpret_memory_protect(&m.memory, state->reg[REG_RSP]);
	do {
		m.conditional = false;
		end = run(&m, &edge);
		steps += edge.steps;
		if (end == INTERPRET_EDGE && !edge_visit(&m, &edge, visitor))
			break;
	} while ((end == INTERPRET_EDGE || end == INTERPRET_TOO_LONG) && steps < visitor->steps);
	registers_end(&m);
	return end;
}

enum interpret_end interpret_x86_64(struct interpret_state *state, interpret_read_fn read,
				    void *context, struct interpret_edge *edge)
{
	u32 count;

	return interpret_x86_64_path(state, read, context, edge, 1, &count);
}

static bool is_conditional(const struct x86_insn *insn)
{
	if (insn->encoding != X86_LEGACY)
		return false;
	if (insn->map == 0)
		return (insn->opcode & 0xf0) == 0x70 || (insn->opcode & 0xfc) == 0xe0;
	return insn->map == 1 && (insn->opcode & 0xf0) == 0x80;
}

/* Direct and indirect jumps and calls, and returns. */
static bool is_transfer(const struct x86_insn *insn)
{
	if (insn->encoding != X86_LEGACY || insn->map != 0)
		return false;
	switch (insn->opcode) {
	case 0xc2:
	case 0xc3:
	case 0xe8:
	case 0xe9:
	case 0xeb:
		return true;
	case 0xff:
		return (insn->reg & 7) == 2 || (insn->reg & 7) == 4;
	default:
		return false;
	}
}

bool interpret_x86_64_latch(struct interpret_latch *ret, u64 from, u64 inside, u32 *insns,
			    interpret_read_fn read, void *context)
{
	struct interpret_state state = {.pc = from};
	enum interpret_end end;
	struct machine m;

	x86_machine_init(&m, &state, read, context);
	for (ret->start = from; *insns > 0; --*insns) {
		if (!x86_fetch(&m, &end))
			return false;
		if (is_conditional(&m.insn) && m.next + m.insn.immediate <= inside) {
			ret->branch = state.pc;
			ret->next = m.next;
			return true;
		}
		if (is_conditional(&m.insn) || is_transfer(&m.insn))
			ret->start = m.next;
		state.pc = m.next;
	}
	return false;
}
