// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/stack_switch.h"

#include "instrument/clone/calls_name.h"

enum {
	RDX = 2,
	RSP = 4,
	RBP = 5,
	RSI = 6,
	RDI = 7,
};

static bool is_of_frame(const struct insn_memory *memory)
{
	return memory->base == RSP || memory->base == RBP;
}

/* Return true if the instruction switches stacks. In a block with variable-length arrays, compilers
 * keep the stack pointer in the frame or in a register; restoring it from there is not a switch. */
static bool switches(const struct insn *insn)
{
	if (insn->destination != RSP || insn->flow != INSN_FLOW_NEXT)
		return false;
	if (insn->flags & INSN_READS_MEMORY)
		return insn->class == INSN_LOAD && !insn->memory.pushes &&
		       !is_of_frame(&insn->memory);
	return insn->class == INSN_ALU && !insn_regs_has(&insn->reads, RSP) &&
	       (insn->sources[0] == RDI || insn->sources[0] == RSI || insn->sources[0] == RDX);
}

bool stack_switch_find(const struct image_code *code, const struct cfg *cfg)
{
	static const char *const names[] = {"swapcontext", "setcontext"};

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		if (switches(&cfg->insns[i]))
			return true;
	}
	return calls_name(code, cfg, names, sizeof(names) / sizeof(names[0]));
}
