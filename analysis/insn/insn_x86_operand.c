// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/insn_x86_operand.h"

#define REG_CARRY INSN_REG_FLAGS
#define REG_OVERFLOW (INSN_REG_FLAGS + 1)
#define REG_RESULT_FLAGS (INSN_REG_FLAGS + 2)
#define REG_SYSTEM_FLAGS (INSN_REG_FLAGS + 3)

#define RESULT_FLAGS (ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF)
#define SYSTEM_FLAGS (~(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_OF | RESULT_FLAGS))

#define RUN4(first, number)                                                                        \
	[(first)] = (number) + 1, [(first) + 1] = (number) + 2, [(first) + 2] = (number) + 3,      \
	[(first) + 3] = (number) + 4
#define RUN8(first, number) RUN4(first, number), RUN4((first) + 4, (number) + 4)
#define RUN16(first, number) RUN8(first, number), RUN8((first) + 8, (number) + 8)
#define RUN32(first, number) RUN16(first, number), RUN16((first) + 16, (number) + 16)

/* The number plus one; 0: none. */
static const uint8_t register_numbers[ZYDIS_REGISTER_MAX_VALUE + 1] = {
	RUN4(ZYDIS_REGISTER_AL, X86_RAX),
	RUN4(ZYDIS_REGISTER_AH, X86_RAX),
	RUN4(ZYDIS_REGISTER_SPL, X86_RSP),
	RUN8(ZYDIS_REGISTER_R8B, X86_R8),
	RUN16(ZYDIS_REGISTER_AX, X86_RAX),
	RUN16(ZYDIS_REGISTER_EAX, X86_RAX),
	RUN16(ZYDIS_REGISTER_RAX, X86_RAX),
	RUN32(ZYDIS_REGISTER_XMM0, INSN_REG_FP),
	RUN32(ZYDIS_REGISTER_YMM0, INSN_REG_FP),
	RUN32(ZYDIS_REGISTER_ZMM0, INSN_REG_FP),
	RUN8(ZYDIS_REGISTER_K0, INSN_REG_MASK),
	/* The x87 stack, its control registers and MMX are one register. */
	[ZYDIS_REGISTER_ST0... ZYDIS_REGISTER_MM7] = INSN_REG_X87 + 1,
};

uint8_t insn_x86_register_number(ZydisRegister reg)
{
	return (uint8_t)(register_numbers[reg] - 1); /* 0 becomes INSN_REG_NONE */
}

_Static_assert(INSN_REG_NONE == UINT8_MAX, "register_numbers relies on it");

static bool register_is_fp(uint8_t number)
{
	return number >= INSN_REG_FP && number != INSN_REG_NONE &&
	       (number < INSN_REG_MASK || number == INSN_REG_X87);
}

void insn_x86_add_run(struct insn_regs *set, unsigned int first, unsigned int count)
{
	while (count-- > 0)
		insn_regs_add(set, first++);
}

static bool write_is_conditional(const struct insn_x86 *x86, const ZydisDecodedOperand *operand)
{
	return operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE ||
	       x86->zydis.mnemonic == ZYDIS_MNEMONIC_BSF ||
	       x86->zydis.mnemonic == ZYDIS_MNEMONIC_BSR;
}

/* Return true if a write preserves a part of the register's previous value. */
static bool write_merges(const struct insn_x86 *x86, const ZydisDecodedOperand *operand,
			 uint8_t number)
{
	if (number == INSN_REG_X87)
		return true;
	if (number < INSN_REG_FLAGS) /* writing 32 bits clears the upper half */
		return operand->size < 32;
	/* Upper halves are ignored: in real code they are not live together with legacy SSE. */
	return x86->zydis.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && operand->size < 128 &&
	       number < INSN_REG_MASK;
}

static bool operand_is_no_mask(const struct insn_x86 *x86, const ZydisDecodedOperand *operand)
{
	return operand->encoding == ZYDIS_OPERAND_ENCODING_MASK &&
	       x86->zydis.avx.mask.mode == ZYDIS_MASK_MODE_DISABLED;
}

static void register_add(struct insn *insn, const struct insn_x86 *x86,
			 const ZydisDecodedOperand *operand)
{
	uint8_t number = insn_x86_register_number(operand->reg.value);
	unsigned int count = operand->attributes & ZYDIS_OATTRIB_IS_MULTISOURCE4 ? 4 : 1;

	if (number == INSN_REG_NONE || operand_is_no_mask(x86, operand))
		return;
	if (register_is_fp(number))
		insn->flags |= INSN_FP;
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		insn_x86_add_run(&insn->reads, number & ~(count - 1), count);
	if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
		return;
	insn_regs_add(&insn->writes, number);
	if (write_is_conditional(x86, operand)) {
		insn->flags |= INSN_CONDITIONAL;
		insn_regs_add(&insn->reads, number);
	} else if (write_merges(x86, operand, number)) {
		insn_regs_add(&insn->reads, number);
	}
	if (insn->destination == INSN_REG_NONE && number != X86_RSP)
		insn->destination = number;
}

/* Return true if the operand is an address that is neither loaded nor stored. */
static bool only_addresses(const ZydisDecodedInstruction *zydis)
{
	switch (zydis->meta.category) {
	case ZYDIS_CATEGORY_PREFETCH:
	case ZYDIS_CATEGORY_PREFETCHWT1:
	case ZYDIS_CATEGORY_CLDEMOTE:
	case ZYDIS_CATEGORY_CLFLUSHOPT:
	case ZYDIS_CATEGORY_CLWB:
		return true;
	default:
		return zydis->mnemonic == ZYDIS_MNEMONIC_CLFLUSH ||
		       zydis->mnemonic == ZYDIS_MNEMONIC_INVLPG;
	}
}

static uint8_t memory_bytes(const ZydisDecodedInstruction *zydis,
			    const ZydisDecodedOperand *operand)
{
	if (operand->mem.type != ZYDIS_MEMOP_TYPE_MEM || operand->size / 8 > 64 ||
	    zydis->attributes &
		    (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		return 0;
	return (uint8_t)(operand->size / 8);
}

static void memory_operand_set(struct insn *insn, const ZydisDecodedInstruction *zydis,
			       const ZydisDecodedOperand *operand)
{
	const ZydisDecodedOperandMem *mem = &operand->mem;
	struct insn_memory *memory = &insn->memory;

	memory->bytes = memory_bytes(zydis, operand);
	memory->base = insn_x86_register_number(mem->base);
	memory->index = insn_x86_register_number(mem->index);
	memory->scale = mem->scale > 1 ? (uint8_t)__builtin_ctz(mem->scale) : 0;
	memory->displacement = mem->disp.has_displacement ? mem->disp.value : 0;
	memory->segment = mem->segment == ZYDIS_REGISTER_FS || mem->segment == ZYDIS_REGISTER_GS;
	if (mem->base == ZYDIS_REGISTER_RIP || mem->base == ZYDIS_REGISTER_EIP) {
		memory->pc_relative = true;
		memory->displacement =
			(int64_t)((uint64_t)memory->displacement + insn->address + insn->bytes);
		if (mem->base == ZYDIS_REGISTER_EIP)
			memory->displacement &= UINT32_MAX;
	}
}

static bool is_string(const ZydisDecodedInstruction *zydis)
{
	return zydis->meta.category == ZYDIS_CATEGORY_STRINGOP ||
	       zydis->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/* @first: no memory operand came before it; the visible one comes before stack operands. */
static void memory_add(struct insn *insn, const struct insn_x86 *x86,
		       const ZydisDecodedOperand *operand, bool first)
{
	const ZydisDecodedOperandMem *mem = &operand->mem;

	insn_regs_add(&insn->reads, insn_x86_register_number(mem->base));
	insn_regs_add(&insn->reads, insn_x86_register_number(mem->index));
	if (register_is_fp(insn_x86_register_number(mem->index)))
		insn->flags |= INSN_FP;
	if (first)
		memory_operand_set(insn, &x86->zydis, operand);
	if (is_string(&x86->zydis)) /* advances, which Zydis omits with some prefixes */
		insn_regs_add(&insn->writes, insn_x86_register_number(mem->base));
	if (mem->type == ZYDIS_MEMOP_TYPE_AGEN || only_addresses(&x86->zydis))
		return;
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		insn->flags |= INSN_READS_MEMORY;
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		insn->flags |= INSN_WRITES_MEMORY;
	if (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		insn->flags |= INSN_CONDITIONAL;
}

static void source_add(struct insn *insn, const struct insn_x86 *x86,
		       const ZydisDecodedOperand *operand, unsigned int *count)
{
	uint8_t number;

	if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || *count == INSN_SOURCES ||
	    (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) == 0 ||
	    operand_is_no_mask(x86, operand))
		return;
	number = insn_x86_register_number(operand->reg.value);
	if (number == INSN_REG_NONE ||
	    (number == X86_RSP && operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN))
		return;
	insn->sources[(*count)++] = number;
}

/* AT&T's order is the reverse of Intel's, which Zydis uses; hidden operands come last. */
static void sources_set(struct insn *insn, const struct insn_x86 *x86)
{
	unsigned int i, count = 0;

	for (i = x86->zydis.operand_count_visible; i-- > 0;)
		source_add(insn, x86, &x86->operands[i], &count);
	for (i = x86->zydis.operand_count_visible; i < x86->zydis.operand_count; i++)
		source_add(insn, x86, &x86->operands[i], &count);
}

static void immediate_set(struct insn *insn, const ZydisDecodedInstruction *zydis,
			  const ZydisDecodedOperand *operand)
{
	if (operand->imm.is_relative) {
		insn->target = insn->address + insn->bytes + operand->imm.value.u;
		return;
	}
	if (insn->immediate != 0)
		return;
	insn->immediate = operand->imm.value.s;
	if (zydis->mnemonic == ZYDIS_MNEMONIC_MOV && zydis->operand_width == 32)
		insn->immediate &= UINT32_MAX;
}

/* For an extended register; bits 8 to 15 have no number of bytes. */
static void extension_set(struct insn *insn, const struct insn_x86 *x86)
{
	const ZydisDecodedOperand *source = &x86->operands[1];

	if ((x86->zydis.mnemonic != ZYDIS_MNEMONIC_MOVZX &&
	     x86->zydis.mnemonic != ZYDIS_MNEMONIC_MOVSX) ||
	    source->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    (source->reg.value >= ZYDIS_REGISTER_AH && source->reg.value <= ZYDIS_REGISTER_BH))
		return;
	insn->immediate = source->size / 8;
}

static bool is_lowest_byte(ZydisRegister reg)
{
	return reg >= ZYDIS_REGISTER_AL && reg <= ZYDIS_REGISTER_R15B &&
	       (reg < ZYDIS_REGISTER_AH || reg > ZYDIS_REGISTER_BH);
}

static bool is_extended_to(const struct insn_x86 *x86, const ZydisDecodedOperand *operand)
{
	return operand == &x86->operands[0] && (x86->zydis.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
						x86->zydis.mnemonic == ZYDIS_MNEMONIC_MOVSX);
}

/*
 * Return true if all integer registers are visible operands and only their lowest bytes are used.
 */
static bool has_low_bytes(const struct insn_x86 *x86)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < x86->zydis.operand_count; i++) {
		const ZydisDecodedOperand *operand = &x86->operands[i];

		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    insn_x86_register_number(operand->reg.value) >= INSN_REG_FLAGS ||
		    is_extended_to(x86, operand))
			continue;
		if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN ||
		    !is_lowest_byte(operand->reg.value))
			return false;
		count++;
	}
	return count > 0;
}

void insn_x86_operands_add(struct insn *insn, const struct insn_x86 *x86)
{
	bool first_memory = true, hidden_memory = false;
	unsigned int i;

	for (i = 0; i < x86->zydis.operand_count; i++) {
		const ZydisDecodedOperand *operand = &x86->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			register_add(insn, x86, operand);
		} else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
			memory_add(insn, x86, operand, first_memory);
			first_memory = false;
			hidden_memory |= operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN;
		} else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
			immediate_set(insn, &x86->zydis, operand);
		}
	}
	extension_set(insn, x86);
	insn->memory.pushes = hidden_memory && insn_regs_has(&insn->writes, X86_RSP);
	sources_set(insn, x86);
	if (has_low_bytes(x86))
		insn->flags |= INSN_LOW_BYTES;
}

static void flag_add(struct insn *insn, unsigned int reg, bool read, bool written, bool merges)
{
	if (read || (written && merges))
		insn_regs_add(&insn->reads, reg);
	if (written)
		insn_regs_add(&insn->writes, reg);
}

/*
 * Flags that an instruction leaves undefined count as written. Exceptions are bt and similar
 * instructions: they define only the carry and preserve ZF, and all processors also preserve the
 * others.
 */
void insn_x86_flags_add(struct insn *insn, const struct insn_x86 *x86)
{
	const ZydisAccessedFlags *flags = x86->zydis.cpu_flags;
	uint32_t defined, written;
	bool merges = false;
	unsigned int i;

	if (flags == NULL || x86->zydis.meta.category == ZYDIS_CATEGORY_SYSCALL ||
	    x86->zydis.meta.category == ZYDIS_CATEGORY_INTERRUPT)
		return; /* the system restores them */
	/* Shifts by %cl, rep cmps: no flag is written if the count is 0. */
	for (i = x86->zydis.operand_count_visible; i < x86->zydis.operand_count; i++)
		merges |= x86->operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			  x86->operands[i].reg.value == ZYDIS_REGISTER_RFLAGS &&
			  x86->operands[i].actions & ZYDIS_OPERAND_ACTION_CONDWRITE;
	defined = flags->modified | flags->set_0 | flags->set_1;
	written = defined | flags->undefined;
	if ((defined & RESULT_FLAGS) == 0 && (written & RESULT_FLAGS) != RESULT_FLAGS)
		written &= ~(uint32_t)RESULT_FLAGS;
	flag_add(insn, REG_CARRY, flags->tested & ZYDIS_CPUFLAG_CF, written & ZYDIS_CPUFLAG_CF,
		 merges);
	flag_add(insn, REG_OVERFLOW, flags->tested & ZYDIS_CPUFLAG_OF, written & ZYDIS_CPUFLAG_OF,
		 merges);
	flag_add(insn, REG_RESULT_FLAGS, flags->tested & RESULT_FLAGS, written & RESULT_FLAGS,
		 merges || (written & RESULT_FLAGS) != RESULT_FLAGS);
	flag_add(insn, REG_SYSTEM_FLAGS, flags->tested & SYSTEM_FLAGS, written & SYSTEM_FLAGS,
		 true);
}
