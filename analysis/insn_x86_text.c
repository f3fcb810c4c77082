// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn_x86_text.h"

#include <errno.h>

int insn_x86_text(char text[INSN_TEXT_BYTES], const ZydisDecodedInstruction *zydis,
		  const ZydisDecodedOperand *operands, uint64_t address)
{
	ZydisFormatter formatter;

	ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
				  ZYDIS_PADDING_DISABLED);
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&formatter, zydis, operands,
							  zydis->operand_count_visible, text,
							  INSN_TEXT_BYTES, address, NULL)))
		return -EINVAL;
	return 0;
}
