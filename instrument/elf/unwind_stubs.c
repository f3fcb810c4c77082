// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/elf/unwind_stubs.h"

#include <dwarf.h>
#include <string.h>

#include "instrument/elf/unwind_insn.h"

#define STUB_BYTES 16
#define PUSHED_AT 11 /* after jmp *slot, push $number */

bool unwind_stubs_divide(struct unwind_frame *rest, struct unwind_frame *head)
{
	/* rsp + 8 + ((rip & 15) >= 11) * 8 */
	static const uint8_t formula[] = {
		DW_CFA_def_cfa_expression,
		11,
		DW_OP_breg7,
		8,
		DW_OP_breg16,
		0,
		DW_OP_lit15,
		DW_OP_and,
		DW_OP_lit0 + PUSHED_AT,
		DW_OP_ge,
		DW_OP_lit3,
		DW_OP_shl,
		DW_OP_plus,
	};
	struct bounded_reader reader;
	uint64_t before = 0, advance;

	*head = *rest;
	bounded_reader_init(&reader, rest->program, rest->program_bytes);
	while (bounded_reader_left(&reader) < sizeof(formula) ||
	       memcmp(reader.position, formula, sizeof(formula)) != 0) {
		if (unwind_insn_next(&reader, &advance) <= 0)
			return false;
		before += advance;
	}
	head->program_bytes = rest->program_bytes - bounded_reader_left(&reader);
	bounded_reader_bytes(&reader, sizeof(formula));
	while (bounded_reader_left(&reader) > 0) {
		if (bounded_reader_u8(&reader) != DW_CFA_nop)
			return false;
	}
	if ((rest->start + before) % STUB_BYTES != 0 || before == 0 || before >= rest->bytes ||
	    rest->handlers != 0)
		return false;
	head->bytes = before;
	rest->start += before;
	rest->bytes -= before;
	return true;
}

bool unwind_stubs_next(struct unwind_frame *rest, struct unwind_frame *stub)
{
	/* Before that, the CIE applies: the return address is on top of the stack. */
	static const uint8_t program[] = {DW_CFA_advance_loc | PUSHED_AT, DW_CFA_def_cfa_offset,
					  2 * sizeof(uint64_t)};

	if (rest->bytes < STUB_BYTES)
		return false;
	*stub = *rest;
	stub->entry = 0;
	stub->bytes = STUB_BYTES;
	stub->program = program;
	stub->program_bytes = sizeof(program);
	rest->start += STUB_BYTES;
	rest->bytes -= STUB_BYTES;
	return true;
}
