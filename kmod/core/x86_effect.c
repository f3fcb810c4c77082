// SPDX-License-Identifier: GPL-2.0-only
#include "x86_effect.h"

#define RAX 1U
#define RCX 2U
#define RDX 4U
#define RBX 8U

static bool in_memory(const struct x86_insn *insn)
{
	return insn->mod != 3;
}

static bool has(const struct x86_insn *insn, u8 prefix)
{
	return insn->prefixes & prefix;
}

/* Return true if there is no prefix that distinguishes vector instructions. */
static bool plain(const struct x86_insn *insn)
{
	return !has(insn, X86_OPERAND_SIZE | X86_REP | X86_REPNE);
}

/* The instruction writes @bytes to the operand that ModRM.rm names, a register or memory. */
static void to_operand(const struct x86_insn *insn, struct x86_effect *effect, u32 bytes)
{
	if (in_memory(insn))
		effect->stores = bytes;
	else
		effect->registers |= 1U << insn->rm;
}

static void to_memory(const struct x86_insn *insn, struct x86_effect *effect, u32 bytes)
{
	if (in_memory(insn))
		effect->stores = bytes;
}

static void to_register(const struct x86_insn *insn, struct x86_effect *effect)
{
	effect->registers |= 1U << insn->reg;
}

/* d8 .. df. Stores of more than 10 bytes are those of the x87 environment and state. */
static bool x87(const struct x86_insn *insn, struct x86_effect *effect)
{
	/* A bit for each ModRM.reg that stores. */
	static const u8 stores[8] = {0, 0xcc, 0, 0x8e, 0, 0xce, 0, 0xce};
	u32 low = insn->opcode & 7, reg = insn->reg & 7;

	if (in_memory(insn)) {
		if (stores[low] >> reg & 1)
			effect->stores = low == 5 && reg == 6	? 108
					 : low == 1 && reg == 6 ? 28
								: 10;
		return true;
	}
	/* fnstsw ax, fcomi and related instructions */
	if (low == 7 && reg == 4)
		effect->registers |= RAX;
	if ((low == 3 || low == 7) && (reg == 5 || reg == 6))
		effect->flags = true;
	return true;
}

/* 0f 01: a few of the register forms */
static bool group_0f01(const struct x86_insn *insn, struct x86_effect *effect)
{
	if (in_memory(insn))
		return false;
	switch ((insn->reg & 7) << 3 | (insn->rm & 7)) {
	case 012: /* clac */
	case 013: /* stac */
	case 050: /* serialize */
		return true;
	case 020: /* xgetbv */
	case 056: /* rdpkru */
		effect->registers |= RAX | RDX;
		return true;
	case 026: /* xtest */
		effect->flags = true;
		return true;
	case 071: /* rdtscp */
		effect->registers |= RAX | RDX | RCX;
		return true;
	default:
		return false;
	}
}

/* 0f ae: state of x87 and vectors, fences, bases of segments */
static bool group_0fae(const struct x86_insn *insn, struct x86_effect *effect)
{
	u32 reg = insn->reg & 7;

	if (in_memory(insn)) {
		/*
		 * fxsave, stmxcsr; xsave, xsaveopt (66: clwb); with f3 these are other instructions
		 */
		if (has(insn, X86_REP))
			return false;
		if (reg == 0 || reg == 3)
			effect->stores = reg == 0 ? 512 : 4;
		effect->anywhere = reg == 4 || reg == 6;
		return true;
	}
	if (has(insn, X86_REP)) {
		/* rdfsbase, rdgsbase; wrfsbase, wrgsbase; incssp */
		if (reg < 2)
			effect->registers |= 1U << insn->rm;
		else if (reg < 4)
			effect->registers |= 1U << (X86_REG_FS_BASE + (reg & 1));
		return reg < 4 || reg == 5;
	}
	/* umwait, tpause; fences */
	effect->flags = reg == 6 && !plain(insn);
	return reg >= 5;
}

/* 0f c7: cmpxchg16b, xsavec and xsaves, rdrand, rdseed, rdpid */
static bool group_0fc7(const struct x86_insn *insn, struct x86_effect *effect)
{
	u32 reg = insn->reg & 7;

	if (in_memory(insn)) {
		if (reg == 1) {
			effect->stores = 16;
			effect->registers |= RAX | RDX;
			effect->flags = true;
			return true;
		}
		effect->anywhere = true;
		return reg >= 3 && reg <= 5;
	}
	effect->registers |= 1U << insn->rm;
	effect->flags = true;
	return reg >= 6;
}

/* 0f, except for instructions on vectors */
static bool two_byte_system(const struct x86_insn *insn, struct x86_effect *effect)
{
	switch (insn->opcode) {
	case 0x01:
		return group_0f01(insn, effect);
	case 0x0d: /* prefetchw */
	case 0x18 ... 0x1d:
	case 0x1f:
		return true;
	case 0x1e: /* endbr64, nops, and rdssp */
		if (has(insn, X86_REP) && (insn->reg & 7) == 1)
			to_operand(insn, effect, 0);
		return true;
	case 0x20: /* from control and debug registers */
	case 0x21:
		effect->registers |= 1U << insn->rm;
		return true;
	case 0x31: /* rdtsc, rdmsr, rdpmc */
	case 0x32:
	case 0x33:
		effect->registers |= RAX | RDX;
		return true;
	case 0xa2: /* cpuid */
		effect->registers |= RAX | RBX | RCX | RDX;
		return true;
	case 0xae:
		return group_0fae(insn, effect);
	case 0xc7:
		return group_0fc7(insn, effect);
	default:
		return false;
	}
}

static bool two_byte_vector(const struct x86_insn *insn, struct x86_effect *effect)
{
	bool rep = has(insn, X86_REP);

	switch (insn->opcode) {
	case 0x11: /* moves of vectors into memory */
	case 0x13:
	case 0x17:
	case 0x29:
	case 0x2b:
	case 0x7f:
	case 0xd6:
	case 0xe7:
	case 0xc3: /* movnti */
	case 0x91: /* kmov */
		to_memory(insn, effect, insn->vector_bytes);
		break;
	case 0x7e: /* movd, movq; with f3 the reverse direction */
		if (!rep)
			to_operand(insn, effect, 8);
		break;
	case 0xf7: /* maskmovq, maskmovdqu: at rdi */
		effect->anywhere = true;
		break;
	case 0x50: /* movmsk, pmovmskb, pextrw, kmov */
	case 0xd7:
	case 0xc5:
	case 0x93:
		to_register(insn, effect);
		break;
	case 0x2c: /* conversions to integers; without f2 or f3 to MMX */
	case 0x2d:
	case 0x78:
	case 0x79:
		if (has(insn, X86_REP | X86_REPNE))
			to_register(insn, effect);
		break;
	case 0x2e: /* ucomis, comis; kortest, ktest */
	case 0x2f:
	case 0x98:
	case 0x99:
		effect->flags = true;
		break;
	default:
		break;
	}
	return true;
}

/* BMI in VEX' map 2: bls*, andn; bzhi, pdep, pext; mulx; bextr and shifts */
static void bit_manipulation(const struct x86_insn *insn, struct x86_effect *effect)
{
	if (insn->opcode == 0xf3)
		effect->registers |= 1U << insn->vvvv;
	else
		to_register(insn, effect);
	if (insn->opcode == 0xf6)
		effect->registers |= 1U << insn->vvvv;
	effect->flags = true;
}

static bool map_2_legacy(const struct x86_insn *insn, struct x86_effect *effect)
{
	switch (insn->opcode) {
	case 0x17: /* ptest */
		effect->flags = true;
		return true;
	case 0xf0: /* movbe, crc32 */
		to_register(insn, effect);
		return true;
	case 0xf1:
		if (has(insn, X86_REPNE))
			to_register(insn, effect);
		else
			to_memory(insn, effect, 8);
		return true;
	case 0xf6: /* adcx, adox */
		to_register(insn, effect);
		effect->flags = true;
		return has(insn, X86_OPERAND_SIZE | X86_REP);
	case 0xf9: /* movdiri */
		to_memory(insn, effect, 8);
		return plain(insn);
	default: /* SSSE3, SSE4, AES, SHA; but neither VMX nor key locker */
		return insn->opcode < 0x80 ||
		       (insn->opcode >= 0xc8 && insn->opcode <= 0xdf && !has(insn, X86_REP));
	}
}

static bool map_2_vector(const struct x86_insn *insn, struct x86_effect *effect)
{
	bool evex = insn->encoding == X86_EVEX;
	u32 low = insn->opcode & 15;

	switch (insn->opcode) {
	case 0x0e: /* vtest, vptest */
	case 0x0f:
	case 0x17:
		effect->flags = !evex;
		break;
	case 0x10 ... 0x15: /* moves with truncation */
	case 0x20 ... 0x25:
	case 0x30 ... 0x35:
		if (evex && has(insn, X86_REP) && low < 6)
			to_memory(insn, effect, 64);
		break;
	case 0x2e: /* moves with a mask, and compressed */
	case 0x2f:
	case 0x8e:
	case 0x63:
	case 0x8a:
	case 0x8b:
		to_memory(insn, effect, 64);
		break;
	case 0xa0 ... 0xa3: /* scatter */
		effect->anywhere = true;
		break;
	case 0xf2:
	case 0xf3:
	case 0xf5:
	case 0xf6:
	case 0xf7:
		bit_manipulation(insn, effect);
		return !evex;
	case 0x48 ... 0x4b: /* AMX tiles, except vrcp14 and related instructions */
	case 0x5c ... 0x5e:
	case 0x6c:
		return evex;
	default: /* 0xe0: compare and add */
		return insn->opcode < 0xe0;
	}
	return true;
}

/* Instructions of map 3 that use only vectors and masks, in any encoding. */
static bool vector_map_3(u8 opcode)
{
	switch (opcode) {
	case 0x00 ... 0x0f: /* permute, blend, round, align */
	case 0x18:
	case 0x1a:
	case 0x1e: /* compare */
	case 0x1f:
	case 0x20 ... 0x27: /* insert, shuffle, vpternlog, vgetmant */
	case 0x30 ... 0x33: /* shifts of masks */
	case 0x38:
	case 0x3a:
	case 0x3e:
	case 0x3f:
	case 0x40 ... 0x44: /* dpps, mpsadbw, pclmulqdq */
	case 0x46:
	case 0x48 ... 0x4c:
	case 0x50 ... 0x57: /* vrange, vfixupimm, vreduce */
	case 0x5c ... 0x5f: /* multiply and add */
	case 0x66 ... 0x73: /* vfpclass, vpshld */
	case 0x78 ... 0x7f:
	case 0xc2: /* vcmpph */
	case 0xcc: /* sha1rnds4, gf2p8affine, aeskeygenassist */
	case 0xce:
	case 0xcf:
	case 0xde:
	case 0xdf:
		return true;
	default:
		return false;
	}
}

static bool map_3(const struct x86_insn *insn, struct x86_effect *effect)
{
	bool legacy = insn->encoding == X86_LEGACY;

	switch (insn->opcode) {
	case 0x14 ... 0x17: /* pextr, extractps */
		to_operand(insn, effect, 8);
		return true;
	case 0x19: /* vextract, vcvtps2ph */
	case 0x1b:
	case 0x39:
	case 0x3b:
	case 0x1d:
		to_memory(insn, effect, legacy ? 0 : 64);
		return true;
	case 0x60 ... 0x63: /* pcmpstr */
		effect->flags = true;
		effect->registers |= insn->opcode & 1 ? RCX : 0;
		return true;
	case 0xf0: /* rorx, hreset */
		to_register(insn, effect);
		return insn->encoding == X86_VEX;
	default:
		return vector_map_3(insn->opcode);
	}
}

/* Half precision: EVEX only. Later extensions write general registers, too. */
static bool map_5(const struct x86_insn *insn, struct x86_effect *effect)
{
	switch (insn->opcode) {
	case 0x11:
		to_memory(insn, effect, 64);
		return true;
	case 0x7e:
		to_operand(insn, effect, 8);
		return true;
	case 0x2c:
	case 0x2d:
	case 0x78:
	case 0x79:
		if (has(insn, X86_REP))
			to_register(insn, effect);
		return true;
	case 0x2e:
	case 0x2f:
		effect->flags = true;
		return true;
	case 0x10: /* moves, conversions, arithmetic */
	case 0x1d:
	case 0x2a:
	case 0x51:
	case 0x58 ... 0x5f:
	case 0x6e:
	case 0x7a ... 0x7d:
		return true;
	default:
		return false;
	}
}

/* Half precision, too: instructions on vectors only */
static bool map_6(u8 opcode)
{
	switch (opcode) {
	case 0x13: /* a conversion */
	case 0x2c: /* scale, exponent, reciprocal, products of complex numbers */
	case 0x2d:
	case 0x42:
	case 0x43:
	case 0x4c ... 0x4f:
	case 0x56:
	case 0x57:
	case 0xd6:
	case 0xd7:
	case 0x96 ... 0x9f: /* multiply and add */
	case 0xa6 ... 0xaf:
	case 0xb6 ... 0xbf:
		return true;
	default:
		return false;
	}
}

/* Instructions of map 0; x86_data.c interprets the others, which use general registers. */
static bool one_byte(const struct x86_insn *insn, struct x86_effect *effect)
{
	if (insn->opcode >= 0xd8 && insn->opcode <= 0xdf)
		return x87(insn, effect);
	return insn->opcode == 0x9b; /* fwait */
}

static bool vector_opcode(const struct x86_insn *insn)
{
	u8 opcode = insn->opcode;

	if (insn->encoding != X86_LEGACY)
		return opcode != 0xae;
	return (opcode >= 0x10 && opcode <= 0x17) || (opcode >= 0x28 && opcode <= 0x2f) ||
	       (opcode >= 0x50 && opcode <= 0x77) || (opcode >= 0x7c && opcode <= 0x7f) ||
	       (opcode >= 0xc2 && opcode <= 0xc6) || (opcode >= 0xd0 && opcode <= 0xfe);
}

bool x86_effect_of(const struct x86_insn *insn, struct x86_effect *effect)
{
	memset(effect, 0, sizeof(*effect));
	switch (insn->map) {
	case 0:
		return one_byte(insn, effect);
	case 1:
		if (vector_opcode(insn))
			return two_byte_vector(insn, effect);
		return two_byte_system(insn, effect);
	case 2:
		return insn->encoding == X86_LEGACY ? map_2_legacy(insn, effect)
						    : map_2_vector(insn, effect);
	case 3:
		return map_3(insn, effect);
	case 5:
		return map_5(insn, effect);
	case 6:
		return map_6(insn->opcode);
	default:
		return false;
	}
}
