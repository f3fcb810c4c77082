// SPDX-License-Identifier: GPL-2.0-only
/*
 * A64, after the Arm Architecture Reference Manual (DDI 0487): branches, system instructions, and
 * the effects of SIMD and floating point on general registers and flags. arm64_data.c has the
 * arithmetic, arm64_memory.c loads and stores.
 */
#include "arm64_data.h"
#include "arm64_memory.h"

#define REG_LINK 30
#define REG_NONE 32

static enum step conditional(struct machine *m, struct operand taken, u64 distance)
{
	if (!taken.known)
		return STEP_UNKNOWN;
	m->conditional = true;
	if (taken.value)
		m->next = m->state->pc + distance;
	return STEP_EDGE;
}

/* br, blr, ret; variants with pointer authentication are not supported */
static enum step branch_register(struct machine *m)
{
	struct operand to = read_x(m, field(m, 5, 5));
	u32 operation = field(m, 21, 4);

	if (operation > 2 || field(m, 10, 11) != 0x7c0 || field(m, 0, 5) != 0)
		return STEP_UNSUPPORTED;
	if (!to.known)
		return STEP_UNKNOWN;
	if (operation == 1)
		write_x(m, REG_LINK, operand(m->next));
	m->next = to.value >> 55 & 1 ? to.value : untagged(to.value);
	return STEP_EDGE;
}

/* The register that a hint signs or authenticates, if any. */
static u32 hint_register(u32 number)
{
	if (number == 7 || (number >= 24 && number <= 31))
		return REG_LINK;
	if (number == 8 || number == 10 || number == 12 || number == 14)
		return 17;
	return REG_NONE;
}

#define HINT_CHKFEAT 40

/*
 * Hints are nops, except those that sign a pointer or authenticate one if the machine supports it.
 * A signed pointer is unknown. An authenticated pointer is known if it bears no signature, because
 * then the machine does not support authentication: otherwise the check would fail. chkfeat clears
 * bits of x16 according to the machine's features.
 */
static enum step hint(struct machine *m)
{
	u32 number = field(m, 5, 7), reg = hint_register(number);
	bool signs = number == 8 || number == 10 || (number >= 24 && number <= 27);
	struct operand pointer;
	u64 upper;

	if (number == HINT_CHKFEAT)
		write_x(m, 16, unknown());
	if (reg == REG_NONE)
		return STEP_NEXT;
	pointer = read_x(m, reg);
	upper = pointer.value >> 48;
	if (signs || (upper != 0 && upper != 0xffff))
		pointer = unknown();
	write_x(m, reg, pointer);
	return STEP_NEXT;
}

/* msr (immediate): interrupt masks and other PSTATE bits, but not the selection of the stack. */
static enum step system_immediate(struct machine *m)
{
	switch (field(m, 16, 3) << 3 | field(m, 5, 3)) {
	case 000: /* cfinv */
		m->state->flags ^= m->state->flags_known & FLAG_C;
		return STEP_NEXT;
	case 001: /* xaflag */
	case 002: /* axflag */
		forget_flags(m);
		return STEP_NEXT;
	case 003: /* uao */
	case 004: /* pan */
	case 031: /* ssbs */
	case 032: /* dit */
	case 034: /* tco */
	case 036: /* daifset */
	case 037: /* daifclr */
		return STEP_NEXT;
	default:
		return STEP_UNSUPPORTED;
	}
}

/* Only system registers that do not influence interpretation may be written. */
static enum step system_write(struct machine *m)
{
	struct operand value = read_x(m, field(m, 0, 5));

	switch (m->code & ~0x1fU) {
	case 0xd51b4200: /* nzcv */
		if (value.known)
			write_flags(m, value.value & FLAGS_NZCV);
		else
			forget_flags(m);
		return STEP_NEXT;
	case 0xd51b4220: /* daif */
	case 0xd51b42a0: /* dit */
	case 0xd51b42c0: /* ssbs */
	case 0xd51b42e0: /* tco */
	case 0xd51b4400: /* fpcr */
	case 0xd51b4420: /* fpsr */
	case 0xd51bd040: /* tpidr_el0 */
	case 0xd5184600: /* icc_pmr_el1, also a mask of interrupts */
		return STEP_NEXT;
	default:
		return STEP_UNSUPPORTED;
	}
}

/*
 * The value read from any system register except nzcv is unknown. Reading a random number also sets
 * the flags, depending on success.
 */
static enum step system_read(struct machine *m)
{
	bool nzcv = (m->code & ~0x1fU) == 0xd53b4200;
	bool random = (m->code & ~0x3fU) == 0xd53b2400; /* rndr, rndrrs */

	if (nzcv && (m->state->flags_known & FLAGS_NZCV) == FLAGS_NZCV)
		write_x(m, field(m, 0, 5), operand(m->state->flags & FLAGS_NZCV));
	else
		write_x(m, field(m, 0, 5), unknown());
	if (random)
		forget_flags(m);
	return STEP_NEXT;
}

static enum step system(struct machine *m)
{
	if ((m->code & 0xfffff01f) == 0xd503201f)
		return hint(m);
	if ((m->code & 0xfffff01f) == 0xd503301f) /* barriers */
		return STEP_NEXT;
	if ((m->code & 0xfff8f01f) == 0xd500401f)
		return system_immediate(m);
	if ((m->code & 0xfff80000) == 0xd5080000) {
		interpret_memory_hide(&m->memory); /* dc zva writes memory, the others do not */
		return STEP_NEXT;
	}
	if ((m->code & 0xfff80000) == 0xd5280000) {
		write_x(m, field(m, 0, 5), unknown());
		return STEP_NEXT;
	}
	if ((m->code & 0xfff00000) == 0xd5100000)
		return system_write(m);
	if ((m->code & 0xfff00000) == 0xd5300000)
		return system_read(m);
	return STEP_UNSUPPORTED;
}

static enum step compare_and_branch(struct machine *m)
{
	struct operand value = narrow(read_x(m, field(m, 0, 5)), field(m, 31, 1));

	m->has_result = value.known;
	m->result = field(m, 31, 1) ? (s64)value.value : (s64)(s32)(u32)value.value;
	value.value = (value.value != 0) == field(m, 24, 1);
	return conditional(m, value, signed_field(m, 5, 19) * 4);
}

static enum step test_and_branch(struct machine *m)
{
	struct operand value = read_x(m, field(m, 0, 5));

	m->has_result = false;
	value.value =
		(value.value >> (field(m, 31, 1) << 5 | field(m, 19, 5)) & 1) == field(m, 24, 1);
	return conditional(m, value, signed_field(m, 5, 14) * 4);
}

static enum step branch(struct machine *m)
{
	switch (field(m, 26, 5)) {
	case 0x05: /* b, bl */
		if (field(m, 31, 1))
			write_x(m, REG_LINK, operand(m->next));
		m->next = m->state->pc + signed_field(m, 0, 26) * 4;
		return STEP_NEXT;
	case 0x0d:
		return field(m, 25, 1) ? test_and_branch(m) : compare_and_branch(m);
	case 0x15:
		if (field(m, 31, 1))
			break;
		if (field(m, 24, 2) != 0)
			return STEP_UNSUPPORTED;
		return conditional(m, arm64_condition(m, field(m, 0, 4)),
				   signed_field(m, 5, 19) * 4);
	default:
		break;
	}
	if (field(m, 25, 7) == 0x6b)
		return branch_register(m);
	return field(m, 22, 10) == 0x354 ? system(m) : STEP_UNSUPPORTED;
}

/* Conversions and moves from SIMD registers to general ones. */
static bool writes_general(const struct machine *m)
{
	u32 operation = field(m, 16, 3);

	if ((m->code & 0x5f200000) == 0x1e000000) /* fixed point */
		return operation < 2;
	if ((m->code & 0x5f20fc00) == 0x1e200000) /* integer */
		return operation != 2 && operation != 3 && operation != 7;
	/* umov, smov */
	return (m->code & 0x9fe08400) == 0x0e000400 && (field(m, 11, 4) & 5) == 5;
}

static bool writes_flags(const struct machine *m)
{
	return (m->code & 0xff203c00) == 0x1e202000 || /* fcmp */
	       (m->code & 0xff200c00) == 0x1e200400 || /* fccmp */
	       (m->code & 0xfffffc00) == 0x1e7e0000;   /* fjcvtzs */
}

static enum step simd(struct machine *m)
{
	if (writes_general(m))
		write_x(m, field(m, 0, 5), unknown());
	if (writes_flags(m))
		forget_flags(m);
	return STEP_NEXT;
}

static enum step step(struct machine *m)
{
	switch (field(m, 25, 4)) {
	case 8:
	case 9:
		return arm64_immediate(m);
	case 10:
	case 11:
		return branch(m);
	case 4:
	case 6:
	case 12:
	case 14:
		return arm64_memory(m);
	case 5:
	case 13:
		return arm64_register(m);
	case 7:
	case 15:
		return simd(m);
	default: /* sve, sme, unallocated */
		return STEP_UNSUPPORTED;
	}
}

static enum interpret_end edge_found(const struct machine *m, struct interpret_edge *edge)
{
	edge->from = m->state->pc;
	edge->to = m->next;
	edge->conditional = m->conditional;
	edge->has_result = m->conditional && m->has_result;
	edge->result = m->result;
	m->state->pc = m->next;
	return INTERPRET_EDGE;
}

static bool code_fetch(struct machine *m, u64 pc)
{
	u32 bytes;
	const u8 *code = interpret_memory_code(&m->memory, pc, 4, &bytes);

	if (code == NULL || bytes < 4)
		return false;
	m->code = code[0] | (u32)code[1] << 8 | (u32)code[2] << 16 | (u32)code[3] << 24;
	return true;
}

static enum interpret_end run(struct machine *m, struct interpret_edge *edge)
{
	for (edge->steps = 1; edge->steps <= INTERPRET_STEPS_MAX; edge->steps++) {
		if (!code_fetch(m, m->state->pc))
			return INTERPRET_UNREADABLE;
		m->next = m->state->pc + 4;
		switch (step(m)) {
		case STEP_NEXT:
			m->state->pc = m->next;
			break;
		case STEP_EDGE:
			return edge_found(m, edge);
		case STEP_UNKNOWN:
			return INTERPRET_UNKNOWN;
		default:
			return INTERPRET_UNSUPPORTED;
		}
	}
	edge->steps = INTERPRET_STEPS_MAX;
	return INTERPRET_TOO_LONG;
}

enum interpret_end interpret_arm64_path(struct interpret_state *state, interpret_read_fn read,
					void *context, struct interpret_edge *edges, u32 max,
					u32 *count)
{
	struct machine m; /* not cleared entirely: that would cost more than a step */
	enum interpret_end end;

	m.state = state;
	m.has_result = false;
	m.result = 0;
	interpret_memory_init(&m.memory, read, context);
	*count = 0;
	do {
		m.conditional = false;
		end = run(&m, &edges[*count]);
	} while (end == INTERPRET_EDGE && ++*count < max);
	return end;
}

/* Return: true if the walk continues after an edge. */
static bool edge_visit(struct machine *m, const struct interpret_edge *edge,
		       const struct interpret_visitor *visitor)
{
	bool skipped = false;

	if (!visitor->visit(visitor->context, m->state, edge, &skipped))
		return false;
	if (skipped) {
		forget_flags(m);
		interpret_memory_skip(&m->memory);
	}
	return true;
}

enum interpret_end interpret_arm64_walk(struct interpret_state *state, interpret_read_fn read,
					void *context, const struct interpret_visitor *visitor)
{
	struct machine m;
	struct interpret_edge edge;
	enum interpret_end end;
	u32 steps = 0;

	m.state = state;
	m.has_result = false;
	m.result = 0;
	interpret_memory_init(&m.memory, read, context);
	interpret_memory_protect(&m.memory, state->reg[REG_31]);
	do {
		m.conditional = false;
		end = run(&m, &edge);
		steps += edge.steps;
		if (end == INTERPRET_EDGE && !edge_visit(&m, &edge, visitor))
			break;
	} while ((end == INTERPRET_EDGE || end == INTERPRET_TOO_LONG) && steps < visitor->steps);
	return end;
}

enum interpret_end interpret_arm64(struct interpret_state *state, interpret_read_fn read,
				   void *context, struct interpret_edge *edge)
{
	u32 count;

	return interpret_arm64_path(state, read, context, edge, 1, &count);
}

/* b.cond, cbz, cbnz */
static bool is_conditional(const struct machine *m)
{
	return (m->code & 0xff000010) == 0x54000000 || (m->code & 0x7e000000) == 0x34000000;
}

/* tbz, tbnz, b, bl, and branches to registers */
static bool is_transfer(const struct machine *m)
{
	return (m->code & 0x7e000000) == 0x36000000 || (m->code & 0x7c000000) == 0x14000000 ||
	       (m->code & 0xfe000000) == 0xd6000000;
}

bool interpret_arm64_latch(struct interpret_latch *ret, u64 from, u64 inside, u32 *insns,
			   interpret_read_fn read, void *context)
{
	struct machine m;
	u64 pc = from;

	interpret_memory_init(&m.memory, read, context);
	for (ret->start = from; *insns > 0; --*insns) {
		if (!code_fetch(&m, pc))
			return false;
		if (is_conditional(&m) && pc + signed_field(&m, 5, 19) * 4 <= inside) {
			ret->branch = pc;
			ret->next = pc + 4;
			return true;
		}
		pc += 4;
		if (is_conditional(&m) || is_transfer(&m))
			ret->start = pc;
	}
	return false;
}
