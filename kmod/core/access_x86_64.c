// SPDX-License-Identifier: GPL-2.0-only
#include "access.h"
#include "x86_operand.h"
#include "x86_step.h"

struct search {
	const struct access_input *input;
	struct access_list *list;
};

/* Return true for operands that are no data: lea, prefetches, hints. */
static bool is_hint(const struct x86_insn *insn)
{
	if (insn->encoding != X86_LEGACY)
		return false;
	if (insn->map == 0)
		return insn->opcode == 0x8d;
	return insn->map == 1 &&
	       (insn->opcode == 0x0d || (insn->opcode >= 0x18 && insn->opcode <= 0x1f));
}

/* Return true for instructions whose index is a vector: gathers and scatters. */
static bool has_vector_index(const struct x86_insn *insn)
{
	if (insn->encoding == X86_LEGACY || insn->map != 2)
		return false;
	return (insn->opcode >= 0x90 && insn->opcode <= 0x93) ||
	       (insn->encoding == X86_EVEX && insn->opcode >= 0xa0 && insn->opcode <= 0xc7);
}

/* EVEX scales an 8-bit displacement by a factor that is not computed. */
static struct operand address_of(const struct machine *m)
{
	const struct x86_insn *insn = &m->insn;

	if (insn->base == X86_REG_NONE && insn->index == X86_REG_NONE)
		return unknown();
	if (is_hint(insn) || has_vector_index(insn) ||
	    (insn->encoding == X86_EVEX && insn->mod == 1))
		return unknown();
	return x86_address(m);
}

/* @later: the step follows those noted before, so that a second one of an instruction has a stride
 */
static void note(struct search *search, const struct machine *m, bool later)
{
	struct operand address = address_of(m);
	struct access_list *list = search->list;
	u64 pc = m->state->pc;
	u32 i;

	if (!address.known)
		return;
	for (i = 0; i < list->count && list->item[i].pc != pc; i++)
		;
	if (i == ACCESS_MAX)
		return;
	if (i < list->count) {
		if (later && !list->item[i].has_stride) {
			list->item[i].stride = address.value - list->item[i].address;
			list->item[i].has_stride = true;
		}
		return;
	}
	list->item[i] = (struct access){.pc = pc, .address = address.value};
	list->count++;
}

/* --- earlier instructions -------------------------------------------------- */

/* A reader of code only. */
struct code_reader {
	const struct access_input *input;
	u64 pc;
};

static bool code_read(void *context, u64 address, void *to, size_t bytes)
{
	const struct code_reader *reader = context;

	if (address - reader->pc >= INTERPRET_CODE_BYTES)
		return false;
	return reader->input->read(reader->input->context, address, to, bytes);
}

/* loopne, loope, loop: branches that change a register */
static bool counts_down(const struct x86_insn *insn)
{
	return insn->encoding == X86_LEGACY && insn->map == 0 && insn->opcode >= 0xe0 &&
	       insn->opcode <= 0xe2;
}

/*
 * Interpret one instruction; the values that it loads are unknown. Return: false if it does not
 * lead to @to.
 */
static bool run_one(struct interpret_state *state, struct code_reader *reader, u64 to)
{
	enum interpret_end end;
	struct machine m;
	enum step result;
	u32 reg;

	x86_machine_init(&m, state, code_read, reader);
	if (!x86_fetch(&m, &end) || (m.next != to && m.next + m.insn.immediate != to) ||
	    counts_down(&m.insn))
		return false;
	/* A conditional branch changes no register, taken or not. */
	result = x86_step(&m);
	if (result == STEP_UNSUPPORTED)
		return false;
	for (reg = 0; reg < X86_REGISTERS; reg++) {
		state->known &= ~(1U << reg);
		state->known |= (u32)(m.known[reg] == 0xff) << reg;
	}
	return true;
}

/*
 * Set the registers to those before the instruction at @pc, which led to the state. The second
 * state differs from the first by a small odd number in each register. Each register has another
 * number, so only the addition of a constant changes both states by the same difference.
 */
static bool invert(struct interpret_state *state, const struct access_input *input, u64 pc)
{
	struct code_reader reader = {input, pc};
	struct interpret_state a = *state, b = *state;
	u32 reg;

	for (reg = 0; reg < X86_REGISTERS; reg++)
		b.reg[reg] += 2 * reg * reg + 5 * reg + 3;
	a.pc = b.pc = pc;
	a.flags_known = b.flags_known = 0;
	if (!run_one(&a, &reader, state->pc) || !run_one(&b, &reader, state->pc))
		return false;
	for (reg = 0; reg < X86_REGISTERS; reg++) {
		u64 change = a.reg[reg] - state->reg[reg];
		u64 other = b.reg[reg] - state->reg[reg] - (2 * reg * reg + 5 * reg + 3);

		if (change != other || !(a.known >> reg & 1) || !(b.known >> reg & 1))
			state->known &= ~(1U << reg);
		state->reg[reg] -= change;
	}
	state->flags_known = 0;
	state->pc = pc;
	return true;
}

/* Note the operand of the instruction at the PC, without interpreting it. */
static void note_here(struct search *search, struct interpret_state *state)
{
	struct code_reader reader = {search->input, state->pc};
	enum interpret_end end;
	struct machine m;

	x86_machine_init(&m, state, code_read, &reader);
	if (x86_fetch(&m, &end))
		note(search, &m, false);
}

static void go_back(struct search *search, const struct interpret_state *sample)
{
	const struct access_input *input = search->input;
	struct interpret_state state = *sample;
	u64 pc;
	u32 i;

	for (i = 0; i < ACCESS_STEPS_BEFORE; i++) {
		if (!input->before(input->context, state.pc, &pc) || !invert(&state, input, pc))
			return;
		note_here(search, &state);
	}
}

/* --- later instructions ---------------------------------------------------- */

/* Earlier accesses are noted first, beginning with the last one before the sample. */
static void note_nearest(struct access_list *list, u64 pc)
{
	u32 i;

	for (i = 0; i < list->count && list->item[i].pc != pc; i++)
		;
	if (i < list->count)
		list->nearest = i;
	else if (list->count > 0)
		list->nearest = 0;
}

static void go_on(struct search *search, const struct interpret_state *sample)
{
	const struct access_input *input = search->input;
	struct interpret_state state = *sample;
	enum interpret_end end;
	struct machine m;
	u32 i, again = 0;

	x86_machine_init(&m, &state, input->read, input->context);
	for (i = 0; i < ACCESS_STEPS_AFTER && again < 2; i++) {
		enum step result;

		if (!x86_fetch(&m, &end))
			return;
		note(search, &m, true);
		if (i == 0)
			note_nearest(search->list, sample->pc);
		result = x86_step(&m);
		if (result != STEP_NEXT && result != STEP_EDGE)
			return;
		if (input->follows != NULL)
			input->follows(input->context, state.pc, m.next);
		state.pc = m.next;
		again += state.pc == sample->pc;
	}
}

void access_find_x86_64(const struct interpret_state *state, const struct access_input *input,
			struct access_list *ret)
{
	struct search search = {.input = input, .list = ret};

	ret->count = 0;
	ret->nearest = ACCESS_MAX;
	ret->stack_pointer = state->reg[REG_RSP];
	go_back(&search, state);
	go_on(&search, state);
}
