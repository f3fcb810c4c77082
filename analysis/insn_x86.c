// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64 by way of Zydis, which knows operands, also those that the text hides, and
 * what is read and written of them. Here that becomes a struct insn, and a few
 * things are put right that matter to dataflow.
 */
#include "analysis/insn.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/insn_x86_class.h"
#include "analysis/insn_x86_text.h"

#define REG_CARRY INSN_REG_FLAGS
#define REG_OVERFLOW (INSN_REG_FLAGS + 1)
#define REG_RESULT_FLAGS (INSN_REG_FLAGS + 2)
#define REG_SYSTEM_FLAGS (INSN_REG_FLAGS + 3)

#define RESULT_FLAGS (ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF)
#define SYSTEM_FLAGS (~(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_OF | RESULT_FLAGS))

enum integer_register {
	RAX,
	RCX,
	RDX,
	RBX,
	RSP,
	RBP,
	RSI,
	RDI,
	R8,
	R9,
	R10,
	R11,
};

/* What the stages of decoding one instruction hand on. */
struct x86 {
	ZydisDecodedInstruction zydis;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static bool zydis_decode(struct x86 *x86, const uint8_t *code, size_t bytes, bool hidden)
{
	ZydisDecoderContext context;
	ZydisDecoder decoder;

	/* No more than a few stores; keeping one would need a lock or a constructor. */
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeInstruction(&decoder, &context, code, bytes, &x86->zydis)))
		return false;
	/* Those of Knights Corner are no x86-64, though Zydis knows them. */
	if (x86->zydis.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX ||
	    (x86->zydis.meta.isa_ext >= ZYDIS_ISA_EXT_KNC &&
	     x86->zydis.meta.isa_ext <= ZYDIS_ISA_EXT_KNCV))
		return false;
	return ZYAN_SUCCESS(ZydisDecoderDecodeOperands(
		&decoder, &context, &x86->zydis, x86->operands,
		hidden ? x86->zydis.operand_count : x86->zydis.operand_count_visible));
}

/* Runs of Zydis' registers and insn.h's number of their first. */
static const struct {
	uint16_t first;
	uint16_t last;
	uint8_t number;
	bool one; /* all of them are that number */
} register_runs[] = {
	{ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D, RAX, false},
	{ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15, RAX, false},
	{ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL, RAX, false},
	{ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH, RAX, false},
	{ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B, RSP, false},
	{ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W, RAX, false},
	{ZYDIS_REGISTER_XMM0, ZYDIS_REGISTER_XMM31, INSN_REG_FP, false},
	{ZYDIS_REGISTER_YMM0, ZYDIS_REGISTER_YMM31, INSN_REG_FP, false},
	{ZYDIS_REGISTER_ZMM0, ZYDIS_REGISTER_ZMM31, INSN_REG_FP, false},
	{ZYDIS_REGISTER_K0, ZYDIS_REGISTER_K7, INSN_REG_MASK, false},
	{ZYDIS_REGISTER_ST0, ZYDIS_REGISTER_MM7, INSN_REG_X87, true},
};

static uint8_t register_number(ZydisRegister reg)
{
	size_t i;

	for (i = 0; i < sizeof(register_runs) / sizeof(register_runs[0]); i++) {
		if (reg >= register_runs[i].first && reg <= register_runs[i].last)
			return register_runs[i].one ? register_runs[i].number
						    : (uint8_t)(register_runs[i].number + reg -
								register_runs[i].first);
	}
	return INSN_REG_NONE;
}

static bool register_is_fp(uint8_t number)
{
	return number >= INSN_REG_FP && number != INSN_REG_NONE &&
	       (number < INSN_REG_MASK || number == INSN_REG_X87);
}

static void regs_add_run(struct insn_regs *set, unsigned int first, unsigned int count)
{
	while (count-- > 0)
		insn_regs_add(set, first++);
}

/* Whether what was in the register before shows in what is in it after the write. */
static bool write_merges(const struct x86 *x86, const ZydisDecodedOperand *operand, uint8_t number)
{
	if (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE || number == INSN_REG_X87)
		return true;
	if (number < INSN_REG_FLAGS) /* writing 32 bits clears the others */
		return operand->size < 32 || x86->zydis.mnemonic == ZYDIS_MNEMONIC_BSF ||
		       x86->zydis.mnemonic == ZYDIS_MNEMONIC_BSR;
	/* Upper halves are left out of account: no code has them live beside legacy SSE. */
	return x86->zydis.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && operand->size < 128 &&
	       number < INSN_REG_MASK;
}

static bool operand_is_no_mask(const struct x86 *x86, const ZydisDecodedOperand *operand)
{
	return operand->encoding == ZYDIS_OPERAND_ENCODING_MASK &&
	       x86->zydis.avx.mask.mode == ZYDIS_MASK_MODE_DISABLED;
}

static void register_add(struct insn *insn, const struct x86 *x86,
			 const ZydisDecodedOperand *operand)
{
	uint8_t number = register_number(operand->reg.value);
	unsigned int count = operand->attributes & ZYDIS_OATTRIB_IS_MULTISOURCE4 ? 4 : 1;

	if (number == INSN_REG_NONE || operand_is_no_mask(x86, operand))
		return;
	if (register_is_fp(number))
		insn->flags |= INSN_FP;
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		regs_add_run(&insn->reads, number & ~(count - 1), count);
	if ((operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0)
		return;
	insn_regs_add(&insn->writes, number);
	if (write_merges(x86, operand, number))
		insn_regs_add(&insn->reads, number);
	if (insn->destination == INSN_REG_NONE && number != RSP)
		insn->destination = number;
}

/* The operand is an address, but nothing is loaded from there or stored to it. */
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
	memory->base = register_number(mem->base);
	memory->index = register_number(mem->index);
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

/* @first: no memory operand came before it; the visible one comes before those of the stack. */
static void memory_add(struct insn *insn, const struct x86 *x86, const ZydisDecodedOperand *operand,
		       bool first)
{
	const ZydisDecodedOperandMem *mem = &operand->mem;

	insn_regs_add(&insn->reads, register_number(mem->base));
	insn_regs_add(&insn->reads, register_number(mem->index));
	if (first)
		memory_operand_set(insn, &x86->zydis, operand);
	if (is_string(&x86->zydis)) /* moves on, which Zydis forgets with some prefixes */
		insn_regs_add(&insn->writes, register_number(mem->base));
	if (mem->type == ZYDIS_MEMOP_TYPE_AGEN || only_addresses(&x86->zydis))
		return;
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		insn->flags |= INSN_READS_MEMORY;
	if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
		insn->flags |= INSN_WRITES_MEMORY;
}

static void source_add(struct insn *insn, const struct x86 *x86, const ZydisDecodedOperand *operand,
		       unsigned int *count)
{
	uint8_t number;

	if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || *count == INSN_SOURCES ||
	    (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) == 0 ||
	    operand_is_no_mask(x86, operand))
		return;
	number = register_number(operand->reg.value);
	if (number == INSN_REG_NONE ||
	    (number == RSP && operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN))
		return;
	insn->sources[(*count)++] = number;
}

/* AT&T's order is the reverse of Intel's, which is Zydis'; hidden ones come last. */
static void sources_set(struct insn *insn, const struct x86 *x86)
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

static void operands_add(struct insn *insn, const struct x86 *x86)
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
	insn->memory.pushes = hidden_memory && insn_regs_has(&insn->writes, RSP);
	sources_set(insn, x86);
}

static void flag_add(struct insn *insn, unsigned int reg, bool read, bool written, bool merges)
{
	if (read || (written && merges))
		insn_regs_add(&insn->reads, reg);
	if (written)
		insn_regs_add(&insn->writes, reg);
}

/*
 * Flags that an instruction leaves undefined count as written, but for those of bt
 * and its like: they define the carry only and keep ZF, and all processors then
 * keep the others too.
 */
static void flags_add(struct insn *insn, const struct x86 *x86)
{
	const ZydisAccessedFlags *flags = x86->zydis.cpu_flags;
	uint32_t defined, written;
	bool merges = false;
	unsigned int i;

	if (flags == NULL || x86->zydis.meta.category == ZYDIS_CATEGORY_SYSCALL ||
	    x86->zydis.meta.category == ZYDIS_CATEGORY_INTERRUPT)
		return; /* the system gives them back as they were */
	/* Shifts by %cl, rep cmps: nothing is written if the count is 0. */
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

static enum insn_flow flow(const ZydisDecodedInstruction *zydis, bool direct)
{
	switch (zydis->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return direct ? INSN_FLOW_BRANCH : INSN_FLOW_NEXT; /* xend */
	case ZYDIS_CATEGORY_UNCOND_BR:
		if (zydis->mnemonic == ZYDIS_MNEMONIC_XABORT)
			return INSN_FLOW_NEXT;
		return direct ? INSN_FLOW_JUMP : INSN_FLOW_JUMP_INDIRECT;
	case ZYDIS_CATEGORY_CALL:
		return direct ? INSN_FLOW_CALL : INSN_FLOW_CALL_INDIRECT;
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_SYSRET:
		return INSN_FLOW_RETURN;
	default:
		break;
	}
	switch (zydis->mnemonic) {
	case ZYDIS_MNEMONIC_UIRET:
		return INSN_FLOW_RETURN;
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
		return INSN_FLOW_STOP;
	default:
		return INSN_FLOW_NEXT;
	}
}

static bool flow_is_direct(const struct x86 *x86)
{
	return x86->zydis.operand_count_visible > 0 &&
	       x86->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       x86->operands[0].imm.is_relative;
}

static bool serializes(const ZydisDecodedInstruction *zydis)
{
	switch (zydis->mnemonic) {
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_SERIALIZE:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_RSM:
	case ZYDIS_MNEMONIC_WRMSR:
	case ZYDIS_MNEMONIC_INVD:
	case ZYDIS_MNEMONIC_WBINVD:
	case ZYDIS_MNEMONIC_INVLPG:
	case ZYDIS_MNEMONIC_INVEPT:
	case ZYDIS_MNEMONIC_INVVPID:
	case ZYDIS_MNEMONIC_INVPCID:
	case ZYDIS_MNEMONIC_LGDT:
	case ZYDIS_MNEMONIC_LIDT:
	case ZYDIS_MNEMONIC_LLDT:
	case ZYDIS_MNEMONIC_LTR:
		return true;
	default:
		return false;
	}
}

/* Zydis' vector widths are of registers; what counts is how much of them is worked on. */
static uint8_t operand_bytes(const struct x86 *x86)
{
	unsigned int i, bits = 0;

	for (i = 0; i < x86->zydis.operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &x86->operands[i];
		bool scalar = operand->element_count == 1 &&
			      operand->element_type >= ZYDIS_ELEMENT_TYPE_FLOAT16 &&
			      operand->element_type <= ZYDIS_ELEMENT_TYPE_FLOAT64;

		if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ||
		    (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		     operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN) ||
		    operand->encoding == ZYDIS_OPERAND_ENCODING_MASK)
			continue;
		if (scalar && i > 0 && x86->zydis.meta.category != ZYDIS_CATEGORY_BROADCAST)
			bits = operand->size;
		else if (operand->size > bits)
			bits = operand->size;
	}
	if (bits == 0)
		bits = x86->zydis.operand_width;
	if (bits > 512)
		return 0;
	return bits <= 8 ? 1 : (uint8_t)(1U << (32 - __builtin_clz(bits / 8 - 1)));
}

static bool is_zeroing_mnemonic(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_VXORPD:
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VPXORD:
	case ZYDIS_MNEMONIC_VPXORQ:
	case ZYDIS_MNEMONIC_PSUBB:
	case ZYDIS_MNEMONIC_PSUBW:
	case ZYDIS_MNEMONIC_PSUBD:
	case ZYDIS_MNEMONIC_PSUBQ:
	case ZYDIS_MNEMONIC_VPSUBB:
	case ZYDIS_MNEMONIC_VPSUBW:
	case ZYDIS_MNEMONIC_VPSUBD:
	case ZYDIS_MNEMONIC_VPSUBQ:
	case ZYDIS_MNEMONIC_PCMPEQB:
	case ZYDIS_MNEMONIC_PCMPEQW:
	case ZYDIS_MNEMONIC_PCMPEQD:
	case ZYDIS_MNEMONIC_PCMPEQQ:
	case ZYDIS_MNEMONIC_VPCMPEQB:
	case ZYDIS_MNEMONIC_VPCMPEQW:
	case ZYDIS_MNEMONIC_VPCMPEQD:
	case ZYDIS_MNEMONIC_VPCMPEQQ:
	case ZYDIS_MNEMONIC_PCMPGTB:
	case ZYDIS_MNEMONIC_PCMPGTW:
	case ZYDIS_MNEMONIC_PCMPGTD:
	case ZYDIS_MNEMONIC_PCMPGTQ:
	case ZYDIS_MNEMONIC_VPCMPGTB:
	case ZYDIS_MNEMONIC_VPCMPGTW:
	case ZYDIS_MNEMONIC_VPCMPGTD:
	case ZYDIS_MNEMONIC_VPCMPGTQ:
		return true;
	default:
		return false;
	}
}

/* xor r,r and the like: the result is all zeroes or all ones, whatever was in r. */
static bool zeroes(const struct x86 *x86)
{
	unsigned int count = x86->zydis.operand_count_visible;
	const ZydisDecodedOperand *a, *b;

	if (count < 2 || x86->zydis.avx.mask.mode > ZYDIS_MASK_MODE_DISABLED ||
	    !is_zeroing_mnemonic(x86->zydis.mnemonic))
		return false;
	a = &x86->operands[count - 2];
	b = &x86->operands[count - 1];
	return a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       a->reg.value == b->reg.value && a->size >= 32 &&
	       register_number(a->reg.value) != INSN_REG_X87;
}

static void forget_sources(struct insn *insn)
{
	uint8_t source = insn->sources[0];

	insn->flags |= INSN_ZEROES;
	insn->reads.words[source / 64] &= ~(UINT64_C(1) << (source % 64));
	memset(insn->sources, INSN_REG_NONE, sizeof(insn->sources));
}

/* By Linux' convention; what Zydis has is the processor's part in it. */
static void system_call_add(struct insn *insn, const ZydisDecodedInstruction *zydis)
{
	static const uint8_t by_syscall[] = {RAX, RDI, RSI, RDX, R10, R8, R9};
	static const uint8_t by_interrupt[] = {RAX, RBX, RCX, RDX, RSI, RDI, RBP};
	const uint8_t *arguments =
		zydis->mnemonic == ZYDIS_MNEMONIC_SYSCALL ? by_syscall : by_interrupt;
	size_t i;

	for (i = 0; i < sizeof(by_syscall); i++)
		insn_regs_add(&insn->reads, arguments[i]);
	insn_regs_add(&insn->writes, RAX);
}

/* Registers that Zydis leaves out because they are too many to list. */
static void whole_state_add(struct insn *insn, const ZydisDecodedInstruction *zydis)
{
	switch (zydis->mnemonic) {
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
	case ZYDIS_MNEMONIC_XRSTORS:
	case ZYDIS_MNEMONIC_XRSTORS64:
		/* Not all are restored, so what was in them still matters. */
		regs_add_run(&insn->writes, INSN_REG_FP, INSN_REG_X87 + 1 - INSN_REG_FP);
		break;
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXSAVE64:
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVE64:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEC64:
	case ZYDIS_MNEMONIC_XSAVES:
	case ZYDIS_MNEMONIC_XSAVES64:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XSAVEOPT64:
		break;
	default:
		return;
	}
	regs_add_run(&insn->reads, INSN_REG_FP, INSN_REG_X87 + 1 - INSN_REG_FP);
	insn->flags |= INSN_FP;
}

static void exceptions_add(struct insn *insn, const struct x86 *x86)
{
	switch (x86->zydis.mnemonic) {
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_INT:
		system_call_add(insn, &x86->zydis);
		break;
	case ZYDIS_MNEMONIC_EMMS:
	case ZYDIS_MNEMONIC_FEMMS:
		insn_regs_add(&insn->reads, INSN_REG_X87);
		insn_regs_add(&insn->writes, INSN_REG_X87);
		break;
	case ZYDIS_MNEMONIC_VZEROALL:
		regs_add_run(&insn->writes, INSN_REG_FP, 16);
		insn->flags |= INSN_ZEROES | INSN_FP;
		break;
	case ZYDIS_MNEMONIC_VP2INTERSECTD:
	case ZYDIS_MNEMONIC_VP2INTERSECTQ: /* a pair of masks; Zydis has the even one */
		if (insn->destination != INSN_REG_NONE)
			regs_add_run(&insn->writes, insn->destination & ~1U, 2);
		break;
	default:
		whole_state_add(insn, &x86->zydis);
		break;
	}
	if (zeroes(x86))
		forget_sources(insn);
}

static unsigned int register_kinds(const struct x86 *x86)
{
	unsigned int i, kinds = 0;

	for (i = 0; i < x86->zydis.operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &x86->operands[i];
		uint8_t number;

		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    operand->encoding == ZYDIS_OPERAND_ENCODING_MASK)
			continue;
		number = register_number(operand->reg.value);
		if (number == INSN_REG_NONE)
			kinds |= INSN_X86_SYSTEM;
		else
			kinds |= number < INSN_REG_FLAGS ? INSN_X86_INTEGER : INSN_X86_VECTOR;
	}
	return kinds;
}

static bool is_conditional(const struct insn *insn, const struct x86 *x86)
{
	unsigned int i;

	if (insn->class == INSN_STRING || insn->flow != INSN_FLOW_NEXT)
		return false;
	for (i = 0; i < x86->zydis.operand_count; i++) {
		const ZydisDecodedOperand *operand = &x86->operands[i];

		if (operand->actions & ZYDIS_OPERAND_ACTION_CONDWRITE &&
		    (operand->type == ZYDIS_OPERAND_TYPE_MEMORY ||
		     (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		      register_number(operand->reg.value) != INSN_REG_NONE)))
			return true;
	}
	return x86->zydis.mnemonic == ZYDIS_MNEMONIC_BSF ||
	       x86->zydis.mnemonic == ZYDIS_MNEMONIC_BSR;
}

/* Moves to control and debug registers do, but for %cr8. */
static bool writes_control(const struct x86 *x86)
{
	ZydisRegister reg = x86->operands[0].reg.value;

	return x86->zydis.mnemonic == ZYDIS_MNEMONIC_MOV &&
	       x86->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && reg >= ZYDIS_REGISTER_CR0 &&
	       reg <= ZYDIS_REGISTER_DR15 && reg != ZYDIS_REGISTER_CR8;
}

/* lea of a known address */
static void load_address_set(struct insn *insn, const struct x86 *x86)
{
	if (x86->zydis.mnemonic != ZYDIS_MNEMONIC_LEA || insn->memory.base != INSN_REG_NONE ||
	    insn->memory.index != INSN_REG_NONE)
		return;
	insn->immediate = insn->memory.displacement;
	if (x86->zydis.operand_width == 32)
		insn->immediate &= UINT32_MAX;
}

static void kind_set(struct insn *insn, const struct x86 *x86)
{
	unsigned int kinds = register_kinds(x86);

	insn->flow = (uint8_t)flow(&x86->zydis, flow_is_direct(x86));
	insn->class = (uint8_t)insn_x86_class(&x86->zydis, kinds, insn->flags);
	insn->operand_bytes = operand_bytes(x86);
	if (x86->zydis.meta.category == ZYDIS_CATEGORY_CALL)
		insn->flags |= INSN_LINKS;
	if (serializes(&x86->zydis) || writes_control(x86))
		insn->flags |= INSN_SERIALIZES;
	if (is_conditional(insn, x86))
		insn->flags |= INSN_CONDITIONAL;
}

static bool has_no_effect(const ZydisDecodedInstruction *zydis)
{
	return zydis->meta.category == ZYDIS_CATEGORY_NOP ||
	       zydis->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       zydis->mnemonic == ZYDIS_MNEMONIC_UD0 || zydis->mnemonic == ZYDIS_MNEMONIC_UD1;
}

static size_t decode(struct insn *ret, const uint8_t *code, size_t bytes, uint64_t address)
{
	struct x86 x86;

	if (!zydis_decode(&x86, code, bytes, true))
		return 0;
	*ret = (struct insn){
		.address = address,
		.opcode = x86.zydis.mnemonic,
		.bytes = x86.zydis.length,
		.destination = INSN_REG_NONE,
		.memory = {.base = INSN_REG_NONE, .index = INSN_REG_NONE},
	};
	memset(ret->sources, INSN_REG_NONE, sizeof(ret->sources));
	if (!has_no_effect(&x86.zydis)) {
		operands_add(ret, &x86);
		flags_add(ret, &x86);
		exceptions_add(ret, &x86);
		load_address_set(ret, &x86);
	}
	kind_set(ret, &x86);
	return ret->bytes;
}

static int format(char text[INSN_TEXT_BYTES], const uint8_t *code, size_t bytes, uint64_t address)
{
	struct x86 x86;

	if (!zydis_decode(&x86, code, bytes, false)) {
		if (bytes > 0)
			snprintf(text, INSN_TEXT_BYTES, ".byte 0x%02x", code[0]);
		else
			text[0] = '\0';
		return -EINVAL;
	}
	return insn_x86_text(text, &x86.zydis, x86.operands, address);
}

const struct insn_decoder insn_x86_decoder = {
	.isa = INSN_ISA_X86_64,
	.name = "x86-64",
	.machine = EM_X86_64,
	.alignment = 1,
	.stack_pointer = RSP,
	.decode = decode,
	.format = format,
};
