// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_step.h"

#include "daemon/unwind/signal_frame.h"

/* User addresses of arm64 have at most 52 bits; a signature of the address is above them. */
#define SIGNATURE_MASK ((UINT64_C(1) << 52) - 1)
#define WORD 8

const char *unwind_end_name(enum unwind_end end, bool is_off_cpu)
{
	static const char *const names[UNWIND_ENDS] = {
		[UNWIND_END_COMPLETE] = "off_cpu_stacks_complete",
		[UNWIND_END_SHORT] = "off_cpu_stacks_short",
		[UNWIND_END_UNREADABLE] = "off_cpu_stacks_unreadable",
		[UNWIND_END_OTHER_STACK] = "off_cpu_stacks_other_stack",
		[UNWIND_END_NO_TABLE] = "off_cpu_stacks_no_table",
		[UNWIND_END_NO_RULE] = "off_cpu_stacks_no_rule",
		[UNWIND_END_EXPRESSION] = "off_cpu_stacks_expression",
		[UNWIND_END_REGISTER] = "off_cpu_stacks_register",
		[UNWIND_END_BAD_FRAME] = "off_cpu_stacks_bad_frame",
		[UNWIND_END_BAD_ADDRESS] = "off_cpu_stacks_bad_address",
		[UNWIND_END_FRAMES] = "off_cpu_stacks_frames",
		[UNWIND_END_NO_REGISTERS] = "off_cpu_stacks_no_registers",
		[UNWIND_END_WAITING] = "off_cpu_stacks_waiting",
		[UNWIND_END_CHAIN] = "off_cpu_stacks_chain",
		[UNWIND_END_DAMAGED] = "off_cpu_stacks_damaged",
	};

	return names[end] + (is_off_cpu ? 0 : sizeof("off_cpu_") - 1);
}

static bool is_known(const struct unwind_registers *registers, uint8_t reg)
{
	return (registers->known >> reg & 1) != 0;
}

static void register_set(struct unwind_registers *registers, uint8_t reg, uint64_t value)
{
	registers->reg[reg] = value;
	registers->known |= UINT32_C(1) << reg;
}

static enum unwind_end cfa_find(const struct unwind_machine *machine,
				const struct unwind_rule *rule,
				const struct unwind_registers *registers,
				const struct unwind_memory *memory, uint64_t *cfa)
{
	uint8_t reg = rule->kind == UNWIND_PLT ? machine->sp : rule->reg;
	enum unwind_end end;

	if (!is_known(registers, reg))
		return UNWIND_END_REGISTER;
	*cfa = registers->reg[reg] + (uint64_t)(int64_t)rule->offset;
	if (rule->kind == UNWIND_PLT)
		*cfa += (registers->pc & 15) >= rule->reg ? WORD : 0;
	if (rule->kind != UNWIND_DEREF)
		return UNWIND_END_COMPLETE;
	end = memory->read(memory->context, *cfa, cfa);
	*cfa += (uint64_t)(int64_t)rule->add;
	return end;
}

/* Read the caller's value of a register from its slot. */
static enum unwind_end slot_read(const struct unwind_machine *machine,
				 const struct unwind_rule *rule, int i, uint64_t cfa,
				 const struct unwind_registers *registers,
				 const struct unwind_memory *memory, uint64_t *value)
{
	uint64_t base = cfa;

	if ((rule->by_frame >> i & 1) != 0) {
		if (!is_known(registers, machine->fp))
			return UNWIND_END_REGISTER;
		base = registers->reg[machine->fp];
	}
	return memory->read(memory->context, base + (uint64_t)(rule->saved[i] * (int64_t)WORD),
			    value);
}

/* Find the return address, which is the last of the saved registers. */
static enum unwind_end return_find(const struct unwind_machine *machine,
				   const struct unwind_rule *rule, uint64_t cfa,
				   const struct unwind_registers *registers,
				   const struct unwind_memory *memory, uint64_t *pc)
{
	int last = machine->saved_count - 1;
	uint8_t reg = machine->saved[last];
	enum unwind_end end;

	if (rule->saved[last] == UNWIND_LOST)
		return UNWIND_END_REGISTER;
	if (rule->saved[last] == UNWIND_SAME) {
		if (reg >= machine->registers || !is_known(registers, reg))
			return UNWIND_END_REGISTER;
		*pc = registers->reg[reg];
		end = UNWIND_END_COMPLETE;
	} else {
		end = slot_read(machine, rule, last, cfa, registers, memory, pc);
	}
	if ((rule->by_frame & UNWIND_SIGNED) != 0)
		*pc &= SIGNATURE_MASK;
	return end;
}

/*
 * Registers that callees need not preserve are not known in the caller. A slot that cannot be read
 * makes its register unknown, which matters only if a rule needs the register.
 */
static void registers_restore(const struct unwind_machine *machine, const struct unwind_rule *rule,
			      uint64_t cfa, struct unwind_registers *registers,
			      const struct unwind_memory *memory)
{
	const struct unwind_registers callee = *registers;
	uint64_t value;

	registers->known = 0;
	for (int i = 0; i < machine->saved_count; i++) {
		uint8_t reg = machine->saved[i];

		if (reg >= machine->registers || rule->saved[i] == UNWIND_LOST ||
		    rule->saved[i] == UNWIND_UNDEFINED)
			continue;
		if (rule->saved[i] == UNWIND_SAME) {
			if (is_known(&callee, reg))
				register_set(registers, reg, callee.reg[reg]);
		} else if (slot_read(machine, rule, i, cfa, &callee, memory, &value) ==
			   UNWIND_END_COMPLETE) {
			register_set(registers, reg, value);
		}
	}
	register_set(registers, machine->sp, cfa);
}

/* A leaf function of arm64 has no frame of its own: its CFA is the stack pointer. */
static bool is_above(const struct unwind_machine *machine, const struct unwind_rule *rule,
		     uint64_t cfa, const struct unwind_registers *registers)
{
	uint64_t sp = registers->reg[machine->sp];

	if (!is_known(registers, machine->sp) || cfa % WORD != 0)
		return false;
	return cfa > sp || (cfa == sp && rule->saved[machine->saved_count - 1] == UNWIND_SAME);
}

static enum unwind_end signal_step_x86_64(struct unwind_registers *registers,
					  const struct unwind_memory *memory)
{
	static const uint8_t order[] = SIGNAL_FRAME_X86_64_ORDER;
	uint64_t sp = registers->reg[unwind_machine_x86_64.sp], value;
	enum unwind_end end;

	registers->known = 0;
	for (uint8_t i = 0; i < sizeof(order); i++) {
		end = memory->read(memory->context,
				   sp + SIGNAL_FRAME_X86_64_REGISTERS + (uint64_t)i * WORD, &value);
		if (end != UNWIND_END_COMPLETE)
			return end;
		register_set(registers, order[i], value);
	}
	return memory->read(memory->context, sp + SIGNAL_FRAME_X86_64_PC, &registers->pc);
}

static enum unwind_end signal_step_arm64(struct unwind_registers *registers,
					 const struct unwind_memory *memory)
{
	uint64_t sp = registers->reg[unwind_machine_arm64.sp], value;
	enum unwind_end end;

	registers->known = 0;
	for (uint8_t reg = 0; reg < unwind_machine_arm64.registers; reg++) {
		end = memory->read(memory->context,
				   sp + SIGNAL_FRAME_ARM64_REGISTERS + (uint64_t)reg * WORD,
				   &value);
		if (end != UNWIND_END_COMPLETE)
			return end;
		register_set(registers, reg, value);
	}
	return memory->read(memory->context, sp + SIGNAL_FRAME_ARM64_PC, &registers->pc);
}

static enum unwind_end signal_step(const struct unwind_machine *machine,
				   struct unwind_registers *registers,
				   const struct unwind_memory *memory)
{
	if (!is_known(registers, machine->sp))
		return UNWIND_END_REGISTER;
	return machine == &unwind_machine_arm64 ? signal_step_arm64(registers, memory)
						: signal_step_x86_64(registers, memory);
}

enum unwind_end unwind_step(const struct unwind_machine *machine, const struct unwind_rule *rule,
			    struct unwind_registers *registers, const struct unwind_memory *memory)
{
	uint64_t cfa = 0, pc = 0;
	enum unwind_end end;

	switch (rule->kind) {
	case UNWIND_NONE:
		return UNWIND_END_NO_RULE;
	case UNWIND_UNKNOWN:
		return UNWIND_END_EXPRESSION;
	case UNWIND_END:
		registers->pc = 0;
		return UNWIND_END_COMPLETE;
	case UNWIND_SIGNAL:
		return signal_step(machine, registers, memory);
	}
	end = cfa_find(machine, rule, registers, memory, &cfa);
	if (end != UNWIND_END_COMPLETE)
		return end;
	if (!is_above(machine, rule, cfa, registers))
		return UNWIND_END_BAD_FRAME;
	end = return_find(machine, rule, cfa, registers, memory, &pc);
	if (end != UNWIND_END_COMPLETE)
		return end;
	registers_restore(machine, rule, cfa, registers, memory);
	registers->pc = pc;
	return UNWIND_END_COMPLETE;
}

enum unwind_end unwind_step_record(const struct unwind_machine *machine,
				   struct unwind_registers *registers,
				   const struct unwind_memory *memory)
{
	uint64_t record = registers->reg[machine->fp], fp = 0, pc = 0;
	enum unwind_end end;

	if (!is_known(registers, machine->fp) || !is_known(registers, machine->sp))
		return UNWIND_END_REGISTER;
	/* The outermost frame has no record to point to. */
	if (record == 0) {
		registers->pc = 0;
		return UNWIND_END_COMPLETE;
	}
	if (record < registers->reg[machine->sp] || record % WORD != 0)
		return UNWIND_END_NO_TABLE;
	end = memory->read(memory->context, record, &fp);
	if (end == UNWIND_END_COMPLETE)
		end = memory->read(memory->context, record + WORD, &pc);
	if (end != UNWIND_END_COMPLETE)
		return end;
	if (machine == &unwind_machine_arm64)
		pc &= SIGNATURE_MASK;
	registers->known = 0;
	register_set(registers, machine->fp, fp);
	/* On arm64 the record is anywhere in the frame, so the stack pointer is a lower bound. */
	register_set(registers, machine->sp, record + 2 * (uint64_t)WORD);
	registers->pc = pc;
	return UNWIND_END_COMPLETE;
}

/* An outermost frame without a description is not known to be one. */
static enum unwind_end undescribed_leave(struct unwind_walk *walk, uint32_t number,
					 struct unwind_registers *registers)
{
	enum unwind_end end = unwind_step_record(walk->machine, registers, &walk->memory);

	walk->frame_records++;
	if (walk->doubtful == 0)
		walk->doubtful = number;
	return end == UNWIND_END_COMPLETE && registers->pc == 0 ? UNWIND_END_NO_RULE : end;
}

/*
 * Leave one frame.
 * @number:     of the frame, from 1 on
 * @exact:      its PC is not a return address
 * @was_signal: out
 */
static enum unwind_end frame_leave(struct unwind_walk *walk, uint32_t number, bool exact,
				   struct unwind_registers *registers, bool *was_signal)
{
	/* A return address may be that of the next function, if the call never returns. */
	uint64_t pc = registers->pc - (exact ? 0 : 1);
	const struct unwind_rule *rule;

	*was_signal = false;
	switch (walk->find(walk->context, pc, &rule)) {
	case UNWIND_WHERE_NO_IMAGE:
		return UNWIND_END_BAD_ADDRESS;
	case UNWIND_WHERE_WAITING:
		return UNWIND_END_WAITING;
	case UNWIND_WHERE_NO_TABLE:
		walk->frame_records++;
		return unwind_step_record(walk->machine, registers, &walk->memory);
	case UNWIND_WHERE_RULE:
		break;
	}
	if (rule->kind == UNWIND_NONE && !exact)
		return undescribed_leave(walk, number, registers);
	*was_signal = rule->kind == UNWIND_SIGNAL;
	return unwind_step(walk->machine, rule, registers, &walk->memory);
}

/* Frames after code without a description count only if they lead to the outermost frame. */
static enum unwind_end walk_end(struct unwind_walk *walk, enum unwind_end end)
{
	if (end == UNWIND_END_COMPLETE || end == UNWIND_END_WAITING)
		walk->doubtful = 0;
	return walk->doubtful > 0 ? UNWIND_END_NO_RULE : end;
}

enum unwind_end unwind_walk(struct unwind_walk *walk, struct unwind_registers *registers)
{
	bool exact = true, was_signal;
	enum unwind_end end;

	for (uint32_t i = 0; i < UNWIND_FRAMES_MAX; i++) {
		end = frame_leave(walk, i + 1, exact, registers, &was_signal);
		if (end != UNWIND_END_COMPLETE || registers->pc == 0)
			return walk_end(walk, end);
		exact = was_signal;
	}
	return walk_end(walk, UNWIND_END_FRAMES);
}
