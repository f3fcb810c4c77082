// SPDX-License-Identifier: GPL-2.0-only
/*
 * Zydis' AT&T syntax, with additions: names and suffixes as in GNU tools, and the asterisk of
 * indirect jumps.
 */
#include "analysis/insn/insn_x86_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <Zycore/Format.h>

struct rename {
	const char *zydis;
	const char *gnu;
};

static const struct rename conditions[] = {
	{"z", "e"}, {"nz", "ne"}, {"nb", "ae"}, {"nbe", "a"}, {"nl", "ge"}, {"nle", "g"},
};

static const struct rename mnemonics[] = {
	{"cbw", "cbtw"}, {"cwde", "cwtl"}, {"cdqe", "cltq"},
	{"cwd", "cwtd"}, {"cdq", "cltd"},  {"cqo", "cqto"},
};

static const char *rename_find(const struct rename *renames, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (strcmp(renames[i].zydis, name) == 0)
			return renames[i].gnu;
	}
	return name;
}

static size_t condition_prefix(const ZydisDecodedInstruction *zydis)
{
	switch (zydis->meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		return strlen("j");
	case ZYDIS_CATEGORY_SETCC:
		return strlen("set");
	case ZYDIS_CATEGORY_CMOV:
		return strlen("cmov");
	default:
		return 0;
	}
}

static const char *integer_suffix(unsigned int bits)
{
	switch (bits) {
	case 8:
		return "b";
	case 16:
		return "w";
	case 32:
		return "l";
	case 64:
		return "q";
	default:
		return "";
	}
}

static const char *x87_suffix(const char *name, const ZydisDecodedOperand *memory)
{
	bool integer = name[0] == 'f' && name[1] == 'i';

	if (!integer && memory->element_type != ZYDIS_ELEMENT_TYPE_FLOAT32 &&
	    memory->element_type != ZYDIS_ELEMENT_TYPE_FLOAT64 &&
	    memory->element_type != ZYDIS_ELEMENT_TYPE_FLOAT80)
		return ""; /* control words, environments */
	switch (memory->size) {
	case 16:
		return "s";
	case 32:
		return integer ? "l" : "s";
	case 64:
		return integer ? "ll" : "l";
	default:
		return "t";
	}
}

/* Return the memory operand if no register name determines its size. */
static const ZydisDecodedOperand *unsized_memory(const ZydisDecodedInstruction *zydis,
						 const ZydisDecodedOperand *operands)
{
	const ZydisDecodedOperand *memory = NULL;
	unsigned int i;

	for (i = 0; i < zydis->operand_count_visible; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			memory = &operands[i];
		else if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
			 operands[i].visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
			 zydis->meta.category != ZYDIS_CATEGORY_CONVERT &&
			 zydis->meta.category != ZYDIS_CATEGORY_WIDENOP)
			return NULL;
	}
	return memory;
}

static const char *suffix(const ZydisDecodedInstruction *zydis, const ZydisDecodedOperand *operands)
{
	const ZydisDecodedOperand *memory = unsized_memory(zydis, operands);

	if (memory == NULL)
		return "";
	switch (zydis->meta.category) {
	case ZYDIS_CATEGORY_X87_ALU:
		return x87_suffix(ZydisMnemonicGetString(zydis->mnemonic), memory);
	case ZYDIS_CATEGORY_CONVERT: /* cvtsi2sd and similar; others have registers */
		if (memory->element_type != ZYDIS_ELEMENT_TYPE_INT || memory->size > 64 ||
		    operands[0].size == 128)
			return "";
		return integer_suffix(memory->size);
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_BITBYTE:
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_ROTATE:
	case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_WIDENOP:
		return integer_suffix(memory->size);
	default:
		return "";
	}
}

static void mnemonic_write(char text[32], const ZydisDecodedInstruction *zydis,
			   const ZydisDecodedOperand *operands)
{
	const char *name = ZydisMnemonicGetString(zydis->mnemonic);
	size_t prefix = condition_prefix(zydis);

	switch (zydis->mnemonic) {
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
		snprintf(text, 32, "%.4s%s%s", name, integer_suffix(operands[1].size),
			 integer_suffix(operands[0].size));
		return;
	case ZYDIS_MNEMONIC_MOV:
		if (zydis->raw.imm[0].size == 64 || zydis->raw.disp.size == 64) {
			snprintf(text, 32, "movabs");
			return;
		}
		break;
	default:
		break;
	}
	if (prefix > 0)
		snprintf(text, 32, "%.*s%s", (int)prefix, name,
			 rename_find(conditions, sizeof(conditions) / sizeof(conditions[0]),
				     name + prefix));
	else
		snprintf(text, 32, "%s%s%s",
			 zydis->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? "l" : "",
			 rename_find(mnemonics, sizeof(mnemonics) / sizeof(mnemonics[0]), name),
			 suffix(zydis, operands));
	if (zydis->meta.category == ZYDIS_CATEGORY_STRINGOP && text[strlen(text) - 1] == 'd')
		text[strlen(text) - 1] = 'l';
}

static ZyanStatus print_mnemonic(const ZydisFormatter *formatter, ZydisFormatterBuffer *buffer,
				 ZydisFormatterContext *context)
{
	ZyanString *string;
	char text[32];

	(void)formatter;
	mnemonic_write(text, context->instruction, context->operands);
	ZYAN_CHECK(ZydisFormatterBufferAppend(buffer, ZYDIS_TOKEN_MNEMONIC));
	ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &string));
	return ZyanStringAppendFormat(string, "%s", text);
}

static ZyanStatus before_operand(const ZydisFormatter *formatter, ZydisFormatterBuffer *buffer,
				 ZydisFormatterContext *context)
{
	ZydisInstructionCategory category = context->instruction->meta.category;
	ZyanString *string;

	(void)formatter;
	if ((category != ZYDIS_CATEGORY_CALL && category != ZYDIS_CATEGORY_UNCOND_BR) ||
	    context->operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return ZYAN_STATUS_SUCCESS;
	ZYAN_CHECK(ZydisFormatterBufferAppend(buffer, ZYDIS_TOKEN_DELIMITER));
	ZYAN_CHECK(ZydisFormatterBufferGetString(buffer, &string));
	return ZyanStringAppendFormat(string, "*");
}

/* Zydis passes hooks as pointers to data, and returns the previous one. */
static void hook_set(ZydisFormatter *formatter, ZydisFormatterFunction which,
		     ZydisFormatterFunc function)
{
	union {
		ZydisFormatterFunc function;
		const void *pointer;
	} hook = {.function = function};

	ZydisFormatterSetHook(formatter, which, &hook.pointer);
}

static void formatter_init(ZydisFormatter *formatter)
{
	ZydisFormatterInit(formatter, ZYDIS_FORMATTER_STYLE_ATT);
	hook_set(formatter, ZYDIS_FORMATTER_FUNC_PRINT_MNEMONIC, print_mnemonic);
	hook_set(formatter, ZYDIS_FORMATTER_FUNC_PRE_OPERAND, before_operand);
	ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE);
	ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
				  ZYDIS_PADDING_DISABLED);
}

/* Remove the asterisk that Zydis puts before absolute addresses, after the segment. */
static void second_star_remove(char text[INSN_TEXT_BYTES])
{
	char *star = strchr(text, '*');

	if (star != NULL)
		star = strchr(star + 1, '*');
	if (star != NULL)
		memmove(star, star + 1, strlen(star));
}

/* Append the address of a PC-relative operand to the text. */
static void address_append(char text[INSN_TEXT_BYTES], const ZydisDecodedInstruction *zydis,
			   const ZydisDecodedOperand *operands, uint64_t address)
{
	size_t length = strlen(text);
	ZyanU64 absolute;
	unsigned int i;

	for (i = 0; i < zydis->operand_count_visible; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (operands[i].mem.base == ZYDIS_REGISTER_RIP ||
		     operands[i].mem.base == ZYDIS_REGISTER_EIP) &&
		    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(zydis, &operands[i], address, &absolute)))
			snprintf(text + length, INSN_TEXT_BYTES - length, " # 0x%llx",
				 (unsigned long long)absolute);
	}
}

int insn_x86_text(char text[INSN_TEXT_BYTES], const ZydisDecodedInstruction *zydis,
		  const ZydisDecodedOperand *operands, uint64_t address)
{
	ZydisDecodedInstruction shown = *zydis;
	ZydisFormatter formatter;

	/* nopw (..): the register operand is not relevant */
	if (zydis->meta.category == ZYDIS_CATEGORY_WIDENOP && zydis->operand_count_visible > 1)
		shown.operand_count_visible = 1;
	formatter_init(&formatter);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, &shown, operands,
							  shown.operand_count_visible, text,
							  INSN_TEXT_BYTES, address, NULL)))
		return -EINVAL;
	second_star_remove(text);
	address_append(text, zydis, operands, address);
	return 0;
}
