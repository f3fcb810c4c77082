// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/unwind/unwind_expression.h"

#include <dwarf.h>

#include "daemon/unwind/signal_frame.h"

/*
 * An entry of a procedure linkage table pushes 8 bytes in its last instruction but one:
 * SP + offset + (((PC & 15) >= limit) << 3).
 */
static bool plt_match(struct unwind_rule *rule, const struct unwind_machine *machine,
		      struct bounded_reader reader)
{
	bool is_plt = bounded_reader_u8(&reader) == DW_OP_breg0 + machine->sp;
	int64_t offset = bounded_reader_sleb128(&reader);
	uint8_t limit;

	is_plt &= bounded_reader_u8(&reader) == DW_OP_breg0 + machine->ra_column;
	is_plt &= bounded_reader_sleb128(&reader) == 0;
	is_plt &= bounded_reader_u8(&reader) == DW_OP_lit15;
	is_plt &= bounded_reader_u8(&reader) == DW_OP_and;
	limit = (uint8_t)(bounded_reader_u8(&reader) - DW_OP_lit0);
	is_plt &= limit <= 15;
	is_plt &= bounded_reader_u8(&reader) == DW_OP_ge;
	is_plt &= bounded_reader_u8(&reader) == DW_OP_lit3;
	is_plt &= bounded_reader_u8(&reader) == DW_OP_shl;
	is_plt &= bounded_reader_u8(&reader) == DW_OP_plus;
	if (!is_plt || machine != &unwind_machine_x86_64 || bounded_reader_failed(&reader) ||
	    bounded_reader_left(&reader) > 0 || offset < INT32_MIN || offset > INT32_MAX)
		return false;
	rule->kind = UNWIND_PLT;
	rule->reg = limit;
	rule->offset = (int32_t)offset;
	return true;
}

/* Read DW_OP_breg* and its offset. */
static bool base_read(struct bounded_reader *reader, const struct unwind_machine *machine,
		      uint8_t *reg, int64_t *offset)
{
	*reg = (uint8_t)(bounded_reader_u8(reader) - DW_OP_breg0);
	*offset = bounded_reader_sleb128(reader);
	return !bounded_reader_failed(reader) && *reg < machine->registers &&
	       *offset >= INT32_MIN && *offset <= INT32_MAX;
}

void unwind_expression_cfa(struct unwind_rule *rule, const struct unwind_machine *machine,
			   struct bounded_reader expression)
{
	struct bounded_reader reader = expression;
	uint64_t add = 0;
	int64_t offset;
	uint8_t reg, op;
	bool deref = false;

	if (plt_match(rule, machine, expression))
		return;
	if (!base_read(&reader, machine, &reg, &offset))
		return;
	while (bounded_reader_left(&reader) > 0) {
		op = bounded_reader_u8(&reader);
		if (op == DW_OP_deref && !deref && add == 0)
			deref = true;
		else if (op == DW_OP_plus_uconst && add == 0)
			add = bounded_reader_uleb128(&reader);
		else
			return;
	}
	if (bounded_reader_failed(&reader) || add > INT32_MAX || (!deref && add > 0))
		return;
	rule->kind = deref ? UNWIND_DEREF : UNWIND_REGISTER;
	rule->reg = reg;
	rule->offset = (int32_t)offset;
	rule->add = (int32_t)add;
}

bool unwind_expression_slot(int64_t *offset, const struct unwind_machine *machine,
			    struct bounded_reader expression)
{
	uint8_t reg;

	return base_read(&expression, machine, &reg, offset) && reg == machine->fp &&
	       bounded_reader_left(&expression) == 0;
}

bool unwind_expression_is_signal(const struct unwind_rule *rule,
				 const struct unwind_machine *machine)
{
	/* The vDSO of arm64 describes a frame record that the kernel puts on the stack as well. */
	if (machine == &unwind_machine_arm64)
		return rule->kind == UNWIND_REGISTER && rule->reg == machine->fp;
	return rule->kind == UNWIND_DEREF && rule->reg == machine->sp &&
	       rule->offset == SIGNAL_FRAME_X86_64_SP && rule->add == 0;
}
