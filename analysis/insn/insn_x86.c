// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64, decoded by Zydis, which provides all operands, including hidden ones, and how they are
 * accessed. This file converts them to a struct insn and corrects details that are relevant to
 * dataflow.
 */
#include "analysis/insn/insn.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/insn/insn_x86_class.h"
#include "analysis/insn/insn_x86_operand.h"
#include "analysis/insn/insn_x86_text.h"

static bool zydis_decode(struct insn_x86 *x86, const uint8_t *code, size_t bytes, bool hidden)
{
	ZydisDecoderContext context;
	ZydisDecoder decoder;

	/*
	 * Initialisation is only a few stores; a shared decoder would need a lock or a constructor.
	 */
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeInstruction(&decoder, &context, code, bytes, &x86->zydis)))
		return false;
	/* Knights Corner instructions are not x86-64, although Zydis decodes them. */
	if (x86->zydis.encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX ||
	    (x86->zydis.meta.isa_ext >= ZYDIS_ISA_EXT_KNC &&
	     x86->zydis.meta.isa_ext <= ZYDIS_ISA_EXT_KNCV))
		return false;
	return ZYAN_SUCCESS(ZydisDecoderDecodeOperands(
		&decoder, &context, &x86->zydis, x86->operands,
		hidden ? x86->zydis.operand_count : x86->zydis.operand_count_visible));
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
	case ZYDIS_MNEMONIC_INT3:
		return INSN_FLOW_STOP;
	default:
		return INSN_FLOW_NEXT;
	}
}

static bool flow_is_direct(const struct insn_x86 *x86)
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

/* Zydis' vector widths are those of registers; this is the width of the operation. */
static uint8_t operand_bytes(const struct insn_x86 *x86)
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
		/*
		 * For scalars, use the source, because destinations may have the size of whole
		 * registers.
		 */
		if (operand->size > bits ||
		    (scalar && i > 0 && x86->zydis.meta.category != ZYDIS_CATEGORY_BROADCAST))
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

/* xor r,r and similar: the result is all zeros or all ones, for any value of r. */
static bool zeroes(const struct insn_x86 *x86)
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
	       insn_x86_register_number(a->reg.value) != INSN_REG_X87;
}

/* All bits are equal for any sources: compilers create all ones with AVX-512 in this way. */
static bool ternary_logic_is_constant(const struct insn_x86 *x86)
{
	const ZydisDecodedOperand *table;

	if (x86->zydis.mnemonic != ZYDIS_MNEMONIC_VPTERNLOGD &&
	    x86->zydis.mnemonic != ZYDIS_MNEMONIC_VPTERNLOGQ)
		return false;
	table = &x86->operands[x86->zydis.operand_count_visible - 1];
	return x86->zydis.avx.mask.mode <= ZYDIS_MASK_MODE_DISABLED &&
	       (table->imm.value.u == 0 || table->imm.value.u == 0xff);
}

static void forget_sources(struct insn *insn)
{
	size_t i;

	insn->flags |= INSN_ZEROES;
	for (i = 0; i < INSN_SOURCES; i++) {
		uint8_t source = insn->sources[i];

		if (source != INSN_REG_NONE)
			insn->reads.words[source / 64] &= ~(UINT64_C(1) << (source % 64));
		insn->sources[i] = INSN_REG_NONE;
	}
}

/* Linux' convention; Zydis has only the processor's part. */
static void system_call_add(struct insn *insn, const ZydisDecodedInstruction *zydis)
{
	static const uint8_t by_syscall[] = {X86_RAX, X86_RDI, X86_RSI, X86_RDX,
					     X86_R10, X86_R8,  X86_R9};
	static const uint8_t by_interrupt[] = {X86_RAX, X86_RBX, X86_RCX, X86_RDX,
					       X86_RSI, X86_RDI, X86_RBP};
	const uint8_t *arguments =
		zydis->mnemonic == ZYDIS_MNEMONIC_SYSCALL ? by_syscall : by_interrupt;
	size_t i;

	for (i = 0; i < sizeof(by_syscall); i++)
		insn_regs_add(&insn->reads, arguments[i]);
	insn_regs_add(&insn->writes, X86_RAX);
}

/* Add registers that Zydis omits because they are too many to list. */
static void whole_state_add(struct insn *insn, const ZydisDecodedInstruction *zydis)
{
	switch (zydis->mnemonic) {
	case ZYDIS_MNEMONIC_FXRSTOR:
	case ZYDIS_MNEMONIC_FXRSTOR64:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_XRSTOR64:
	case ZYDIS_MNEMONIC_XRSTORS:
	case ZYDIS_MNEMONIC_XRSTORS64:
		/* Not all are restored, so their previous values are still used. */
		insn_x86_add_run(&insn->writes, INSN_REG_FP, INSN_REG_X87 + 1 - INSN_REG_FP);
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
	insn_x86_add_run(&insn->reads, INSN_REG_FP, INSN_REG_X87 + 1 - INSN_REG_FP);
	insn->flags |= INSN_FP;
}

static void exceptions_add(struct insn *insn, const struct insn_x86 *x86)
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
		insn->flags |= INSN_FP;
		break;
	case ZYDIS_MNEMONIC_VZEROALL:
		insn_x86_add_run(&insn->writes, INSN_REG_FP, 16);
		insn->flags |= INSN_ZEROES | INSN_FP;
		break;
	case ZYDIS_MNEMONIC_CLZERO: /* Zydis treats the address as a register */
		insn_regs_add(&insn->reads, X86_RAX);
		insn->memory.base = X86_RAX;
		insn->flags |= INSN_WRITES_MEMORY;
		break;
	case ZYDIS_MNEMONIC_VP2INTERSECTD:
	case ZYDIS_MNEMONIC_VP2INTERSECTQ: /* a pair of masks; Zydis has only the even one */
		if (insn->destination != INSN_REG_NONE)
			insn_x86_add_run(&insn->writes, insn->destination & ~1U, 2);
		break;
	default:
		whole_state_add(insn, &x86->zydis);
		break;
	}
	if (zeroes(x86) || ternary_logic_is_constant(x86))
		forget_sources(insn);
}

static unsigned int register_kinds(const struct insn_x86 *x86)
{
	unsigned int i, kinds = 0;

	for (i = 0; i < x86->zydis.operand_count_visible; i++) {
		const ZydisDecodedOperand *operand = &x86->operands[i];
		uint8_t number;

		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    operand->encoding == ZYDIS_OPERAND_ENCODING_MASK)
			continue;
		number = insn_x86_register_number(operand->reg.value);
		if (number == INSN_REG_NONE)
			kinds |= INSN_X86_SYSTEM;
		else
			kinds |= number < INSN_REG_FLAGS ? INSN_X86_INTEGER : INSN_X86_VECTOR;
	}
	return kinds;
}

/* Return true for moves to control and debug registers, except %cr8. */
/* Return INSN_LEAVES for system calls, hypercalls, and instructions that hypervisors emulate. */
static uint16_t leaving(const ZydisDecodedInstruction *zydis)
{
	switch (zydis->mnemonic) {
	case ZYDIS_MNEMONIC_CPUID:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_IN:
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_OUT:
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_SYSENTER:
	case ZYDIS_MNEMONIC_TDCALL:
	case ZYDIS_MNEMONIC_VMCALL:
	case ZYDIS_MNEMONIC_VMMCALL:
		return INSN_LEAVES;
	default:
		return 0;
	}
}

static bool writes_control(const struct insn_x86 *x86)
{
	ZydisRegister reg;

	if (x86->zydis.mnemonic != ZYDIS_MNEMONIC_MOV ||
	    x86->operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER)
		return false;
	reg = x86->operands[0].reg.value;
	return reg >= ZYDIS_REGISTER_CR0 && reg <= ZYDIS_REGISTER_DR15 && reg != ZYDIS_REGISTER_CR8;
}

/* Return INSN_UNMASKS and INSN_UNMASKS_LATE for instructions that may set the interrupt flag. */
static uint16_t unmasking(const ZydisDecodedInstruction *zydis)
{
	switch (zydis->mnemonic) {
	case ZYDIS_MNEMONIC_STI:
		return INSN_UNMASKS | INSN_UNMASKS_LATE;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFD:
	case ZYDIS_MNEMONIC_POPFQ:
		return INSN_UNMASKS;
	default:
		return 0;
	}
}

/* lea of a constant address */
static void load_address_set(struct insn *insn, const struct insn_x86 *x86)
{
	if (x86->zydis.mnemonic != ZYDIS_MNEMONIC_LEA || insn->memory.base != INSN_REG_NONE ||
	    insn->memory.index != INSN_REG_NONE)
		return;
	insn->immediate = insn->memory.displacement;
	if (x86->zydis.operand_width == 32)
		insn->immediate &= UINT32_MAX;
}

static void kind_set(struct insn *insn, const struct insn_x86 *x86)
{
	unsigned int kinds = register_kinds(x86);

	insn->flow = (uint8_t)flow(&x86->zydis, flow_is_direct(x86));
	insn->class = (uint8_t)insn_x86_class(&x86->zydis, kinds, insn->flags);
	insn->operand_bytes = operand_bytes(x86);
	if (insn->class == INSN_FP_CONVERT) /* also from memory to an integer register */
		insn->flags |= INSN_FP;
	if (x86->zydis.meta.category == ZYDIS_CATEGORY_CALL)
		insn->flags |= INSN_LINKS;
	insn->flags |= unmasking(&x86->zydis) | leaving(&x86->zydis);
	if (serializes(&x86->zydis) || writes_control(x86))
		insn->flags |= INSN_SERIALIZES;
	/* The count of rep and the flag of xbegin are not destinations. */
	if (insn->class == INSN_STRING || insn->flow != INSN_FLOW_NEXT)
		insn->flags &= (uint16_t)~INSN_CONDITIONAL;
}

static bool has_no_effect(const ZydisDecodedInstruction *zydis)
{
	return zydis->meta.category == ZYDIS_CATEGORY_NOP ||
	       zydis->meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       zydis->mnemonic == ZYDIS_MNEMONIC_UD0 || zydis->mnemonic == ZYDIS_MNEMONIC_UD1;
}

static size_t insn_x86_decode(struct insn *ret, const uint8_t *code, size_t bytes, uint64_t address)
{
	struct insn_x86 x86;

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
		insn_x86_operands_add(ret, &x86);
		insn_x86_flags_add(ret, &x86);
		exceptions_add(ret, &x86);
		load_address_set(ret, &x86);
	}
	kind_set(ret, &x86);
	return ret->bytes;
}

static int format(char text[INSN_TEXT_BYTES], const uint8_t *code, size_t bytes, uint64_t address)
{
	struct insn_x86 x86;

	if (zydis_decode(&x86, code, bytes, false) &&
	    insn_x86_text(text, &x86.zydis, x86.operands, address) == 0)
		return 0;
	if (bytes > 0)
		snprintf(text, INSN_TEXT_BYTES, ".byte 0x%02x", code[0]);
	else
		text[0] = '\0';
	return -EINVAL;
}

const struct insn_decoder insn_x86_decoder = {
	.isa = INSN_ISA_X86_64,
	.name = "x86-64",
	.machine = EM_X86_64,
	.alignment = 1,
	.stack_pointer = X86_RSP,
	.frame_pointer = 5,
	.argument = X86_RDI,
	.decode = insn_x86_decode,
	.format = format,
};
