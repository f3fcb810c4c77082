// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/insn/a64_integer.h"

#define NM_D (A64_N | A64_M | A64_WD)

static const struct a64_pattern immediates[] = {
	{0x3f800000, 0x11000000, A64_NS | A64_WDS, INSN_ALU, A64_ANY, 0},	  /* add, sub */
	{0x3f800000, 0x31000000, A64_NS | A64_WD | A64_FW, INSN_ALU, A64_ANY, 0}, /* adds, subs */
	{0x9f000000, 0x90000000, A64_WD, INSN_ALU, A64_ANY, 0},			  /* adrp */
	{0x7f800000, 0x52800000, A64_WD, INSN_ALU, A64_WIDE, 0},		  /* movz */
	{0x7f800000, 0x12800000, A64_WD, INSN_ALU, A64_WIDE, 0},		  /* movn */
	{0x7f800000, 0x72800000, A64_D | A64_WD, INSN_ALU, A64_WIDE, 0},	  /* movk */
	{0x7f800000, 0x53000000, A64_N | A64_WD, INSN_SHIFT, A64_BITFIELD, 0},	  /* ubfm */
	{0x7f800000, 0x13000000, A64_N | A64_WD, INSN_SHIFT, A64_BITFIELD, 0},	  /* sbfm */
	{0x7f800000, 0x33000000, A64_N | A64_D | A64_WD, INSN_SHIFT, A64_BITFIELD, 0}, /* bfm */
	{0x7fa00000, 0x13800000, NM_D, INSN_SHIFT, A64_BITFIELD, 0},		       /* extr */
	{0x7f800000, 0x72000000, A64_N | A64_WD | A64_FW, INSN_ALU, A64_BITMASK, 0},   /* ands */
	{0x1f800000, 0x12000000, A64_N | A64_WDS, INSN_ALU, A64_BITMASK, 0}, /* and orr eor */
	{0x9f000000, 0x10000000, A64_WD, INSN_ALU, A64_ANY, 0},		     /* adr */
	{0xbfc0c000, 0x91800000, A64_NS | A64_WDS, INSN_ALU, A64_ANY, 0},    /* addg, subg */
};

/* Return the immediate operand; for loads of addresses and constants, the value itself. */
static int64_t immediate(const struct insn *insn, uint32_t word)
{
	bool wide = word >> 31 != 0;
	int64_t rotate;
	int64_t offset = a64_signed(word, 5, 19) * 4 + a64_bits(word, 29, 2);
	uint64_t value = (uint64_t)a64_bits(word, 5, 16) << 16 * a64_bits(word, 21, 2);

	switch (a64_bits(word, 23, 3)) {
	case 0:
	case 1:
		if (wide)
			return (int64_t)((insn->address & ~UINT64_C(0xfff)) +
					 (uint64_t)offset * 4096);
		return (int64_t)(insn->address + (uint64_t)offset);
	case 2:
		return (int64_t)a64_bits(word, 10, 12) << 12 * a64_bits(word, 22, 1);
	case 3: /* tags: in granules */
		return (int64_t)a64_bits(word, 16, 6) * 16;
	case 4:
		(void)a64_logical_immediate(&value, word, wide);
		return (int64_t)value;
	case 5:
		if (a64_bits(word, 29, 2) != 0)
			return (int64_t)value;
		return (int64_t)(wide ? ~value : ~value & UINT32_MAX);
	case 6: /* bit fields: left or right shift */
		rotate = a64_bits(word, 16, 6);
		return a64_bits(word, 10, 6) < rotate ? (wide ? 64 : 32) - rotate : rotate;
	default:
		return a64_bits(word, 10, 6);
	}
}

bool a64_immediate_decode(struct insn *insn, uint32_t word)
{
	const struct a64_pattern *pattern = a64_match(immediates, A64_COUNT(immediates), word);

	if (pattern == NULL)
		return false;
	a64_apply(insn, pattern, word);
	insn->immediate = immediate(insn, word);
	if (a64_bits(word, 24, 5) == 0x10) /* adr: no bit for the width */
		insn->operand_bytes = 8;
	return true;
}

static const struct a64_pattern registers[] = {
	{0x7f000000, 0x6a000000, NM_D | A64_FW, INSN_ALU, A64_SHIFT, 0}, /* ands, bics */
	{0x1f000000, 0x0a000000, NM_D, INSN_ALU, A64_SHIFT, 0},		 /* and orr eor .. */
	{0x3f200000, 0x0b000000, NM_D, INSN_ALU, A64_NO_ROR, 0},	 /* add, sub */
	{0x3f200000, 0x2b000000, NM_D | A64_FW, INSN_ALU, A64_NO_ROR, 0},
	{0x3fe00000, 0x0b200000, A64_NS | A64_M | A64_WDS, INSN_ALU, A64_EXTEND, 0},
	{0x3fe00000, 0x2b200000, A64_NS | A64_M | A64_WD | A64_FW, INSN_ALU, A64_EXTEND, 0},
	{0x3fe00800, 0x1a800000, NM_D | A64_FR, INSN_CMOV, A64_ANY, 0},			 /* csel */
	{0x3fe00c10, 0x3a400000, A64_N | A64_M | A64_FR | A64_FW, INSN_ALU, A64_ANY, 0}, /* ccmp */
	{0x3fe00c10, 0x3a400800, A64_N | A64_FR | A64_FW, INSN_ALU, A64_ANY, 0},
	{0x7fe00000, 0x1b000000, NM_D | A64_A, INSN_MULTIPLY, A64_ANY, 0}, /* madd, msub */
	{0xff600000, 0x9b200000, NM_D | A64_A, INSN_MULTIPLY, A64_ANY, 0}, /* smaddl .. */
	{0xff608000, 0x9b400000, NM_D, INSN_MULTIPLY, A64_ANY, 0},	   /* smulh, umulh */
	{0x7fe0f000, 0x1ac02000, NM_D, INSN_SHIFT, A64_ANY, 0},		   /* lslv .. */
	{0x7fe0f800, 0x1ac00800, NM_D, INSN_DIVIDE, A64_ANY, 0},	   /* udiv, sdiv */
	{0x7ffff800, 0x5ac00000, A64_N | A64_WD, INSN_SHIFT, A64_ANY, 0},  /* rbit, rev16 */
	{0x7ffffc00, 0x5ac00800, A64_N | A64_WD, INSN_SHIFT, A64_ANY, 0},  /* rev, rev32 */
	{0xfffffc00, 0xdac00c00, A64_N | A64_WD, INSN_SHIFT, A64_ANY, 0},  /* rev */
	{0x7ffff800, 0x5ac01000, A64_N | A64_WD, INSN_SHIFT, A64_ANY, 0},  /* clz, cls */
	{0x3fe0fc00, 0x1a000000, NM_D | A64_FR, INSN_ALU, A64_ANY, 0},	   /* adc, sbc */
	{0x3fe0fc00, 0x3a000000, NM_D | A64_FR | A64_FW, INSN_ALU, A64_ANY, 0},
	{0x7fe0e000, 0x1ac04000, NM_D, INSN_CRYPTO, A64_CRC, 0},		  /* crc32 */
	{0xffffe000, 0xdac10000, A64_D | A64_NS | A64_WD, INSN_ALU, A64_ANY, 0},  /* pacia .. */
	{0xffffe3e0, 0xdac123e0, A64_D | A64_WD, INSN_ALU, A64_ANY, 0},		  /* paciza .. */
	{0xfffffbe0, 0xdac143e0, A64_D | A64_WD, INSN_ALU, A64_ANY, 0},		  /* xpaci */
	{0xffe0fc00, 0x9ac03000, A64_N | A64_MS | A64_WD, INSN_ALU, A64_ANY, 0},  /* pacga */
	{0xffe0fc00, 0x9ac00000, A64_NS | A64_MS | A64_WD, INSN_ALU, A64_ANY, 0}, /* subp */
	{0xffe0fc00, 0xbac00000, A64_NS | A64_MS | A64_WD | A64_FW, INSN_ALU, A64_ANY,
	 0},									  /* subps */
	{0xffe0fc00, 0x9ac01000, A64_NS | A64_M | A64_WDS, INSN_ALU, A64_ANY, 0}, /* irg */
	{0xffe0fc00, 0x9ac01400, A64_NS | A64_M | A64_WD, INSN_ALU, A64_ANY, 0},  /* gmi */
	{0xffe07c10, 0xba000400, A64_N | A64_FR | A64_FW, INSN_ALU, A64_ANY, 0},  /* rmif */
	{0xffffbc1f, 0x3a00080d, A64_N | A64_FR | A64_FW, INSN_ALU, A64_ANY, 0},  /* setf8 .. */
};

bool a64_register_decode(struct insn *insn, uint32_t word)
{
	const struct a64_pattern *pattern = a64_match(registers, A64_COUNT(registers), word);

	if (pattern == NULL)
		return false;
	a64_apply(insn, pattern, word);
	if ((word & 0x1fe00800) == 0x1a400800) /* ccmp with an immediate */
		insn->immediate = a64_bits(word, 16, 5);
	return true;
}
