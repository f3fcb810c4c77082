// SPDX-License-Identifier: GPL-2.0-only
#include "x86_insn.h"

/*
 * Layout of the bytes after an opcode, one letter per opcode:
 *   .  nothing          m  ModRM            x  refused
 *   b  imm8             B  ModRM, imm8
 *   z  imm16/32         Z  ModRM, imm16/32
 *   v  imm16/32/64      w  imm16            e  imm16, imm8
 *   o  an address       J  rel32            3, 4  ModRM, test has an immediate
 */
static const char one_byte[] = "mmmmbzxxmmmmbzxx" /* 00 */
			       "mmmmbzxxmmmmbzxx"
			       "mmmmbzxxmmmmbzxx" /* 20 */
			       "mmmmbzxxmmmmbzxx"
			       "xxxxxxxxxxxxxxxx" /* 40 */
			       "................"
			       "xxxmxxxxzZbB...." /* 60 */
			       "bbbbbbbbbbbbbbbb"
			       "BZxBmmmmmmmmmmmm" /* 80 */
			       "..........x....."
			       "oooo....bz......" /* a0 */
			       "bbbbbbbbvvvvvvvv"
			       "BBw.xxBZe.w..bx." /* c0 */
			       "mmmmxxx.mmmmmmmm"
			       "bbbbbbbbJJxb...." /* e0 */
			       "x.xx..34......mm";

static const char two_bytes[] = "mmmmx.....x.xm.x" /* 00 */
				"mmmmmmmmmmmmmmmm"
				"mmmmxxxxmmmmmmmm" /* 20 */
				"......xxxxxxxxxx"
				"mmmmmmmmmmmmmmmm" /* 40 */
				"mmmmmmmmmmmmmmmm"
				"mmmmmmmmmmmmmmmm" /* 60 */
				"BBBBmmm.mmxxmmmm"
				"JJJJJJJJJJJJJJJJ" /* 80 */
				"mmmmmmmmmmmmmmmm"
				"...mBmxx...mBmmm" /* a0 */
				"mmmmmmmmmxBmmmmm"
				"mmBmBBBm........" /* c0 */
				"mmmmmmmmmmmmmmmm"
				"mmmmmmmmmmmmmmmm" /* e0 */
				"mmmmmmmmmmmmmmmx";

/* Reads bytes. Past the end, @short_of is set and zeros are returned. */
struct cursor {
	const u8 *code;
	u32 bytes;
	u32 at;
	bool short_of;
};

static u8 byte_peek(struct cursor *cursor)
{
	if (cursor->at >= cursor->bytes || cursor->at >= X86_INSN_BYTES_MAX) {
		cursor->short_of = true;
		return 0;
	}
	return cursor->code[cursor->at];
}

static u8 byte_next(struct cursor *cursor)
{
	u8 byte = byte_peek(cursor);

	cursor->at++;
	return byte;
}

/* Read @bytes little-endian bytes as a signed number. */
static u64 number_next(struct cursor *cursor, u32 bytes)
{
	u64 value = 0, sign = 1ULL << (8 * bytes - 1);
	u32 i;

	for (i = 0; i < bytes; i++)
		value |= (u64)byte_next(cursor) << 8 * i;
	return (value ^ sign) - sign;
}

static u8 prefix_of(u8 byte)
{
	switch (byte) {
	case 0x66:
		return X86_OPERAND_SIZE;
	case 0xf2:
		return X86_REPNE;
	case 0xf3:
		return X86_REP;
	case 0xf0:
		return X86_LOCK;
	case 0x67:
		return X86_ADDRESS_SIZE;
	case 0x64:
		return X86_FS;
	case 0x65:
		return X86_GS;
	default:
		return 0;
	}
}

static bool ignored_prefix(u8 byte)
{
	return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e;
}

/*
 * The last REX prefix counts if no other prefix follows it. The last one of fs and gs counts, and
 * the last one of f2 and f3.
 */
static u8 prefixes_next(struct x86_insn *insn, struct cursor *cursor)
{
	u8 byte, prefix, rex = 0;

	for (;; cursor->at++) {
		byte = byte_peek(cursor);
		prefix = prefix_of(byte);
		if (prefix & (X86_FS | X86_GS))
			insn->prefixes &= (u8) ~(X86_FS | X86_GS);
		if (prefix & (X86_REP | X86_REPNE))
			insn->prefixes &= (u8) ~(X86_REP | X86_REPNE);
		insn->prefixes |= prefix;
		if ((byte & 0xf0) == 0x40)
			rex = byte;
		else if (prefix != 0 || ignored_prefix(byte))
			rex = 0;
		else
			return rex;
	}
}

static void implied_prefix(struct x86_insn *insn, u8 pp)
{
	static const u8 prefix[] = {0, X86_OPERAND_SIZE, X86_REP, X86_REPNE};

	insn->prefixes |= prefix[pp & 3];
}

/* Returns the REX bits W R X B. */
static u8 vex_next(struct x86_insn *insn, struct cursor *cursor, u8 first)
{
	u8 a = byte_next(cursor), b = first == 0xc5 ? a : byte_next(cursor), rex = ~a >> 5 & 4;

	insn->encoding = X86_VEX;
	insn->map = 1;
	if (first == 0xc4) {
		insn->map = a & 0x1f;
		rex = (~a >> 5 & 7) | (b >> 4 & 8);
	}
	insn->vvvv = ~b >> 3 & 15;
	insn->vector_bytes = b & 4 ? 32 : 16;
	implied_prefix(insn, b);
	return rex;
}

static u8 evex_next(struct x86_insn *insn, struct cursor *cursor)
{
	u8 a = byte_next(cursor), b = byte_next(cursor), c = byte_next(cursor);

	(void)c;
	insn->encoding = X86_EVEX;
	insn->map = a & 7;
	insn->vvvv = ~b >> 3 & 15;
	insn->vector_bytes = 64;
	implied_prefix(insn, b);
	/* Check the fixed bits. With other values the encoding is APX or undefined. */
	if (a & 8 || !(b & 4))
		insn->map = 0;
	return (~a >> 5 & 7) | (b >> 4 & 8);
}

/* Prefixes up to the opcode. Returns the REX bits. */
static u8 opcode_next(struct x86_insn *insn, struct cursor *cursor)
{
	u8 rex = prefixes_next(insn, cursor), byte = byte_next(cursor);
	bool prefixed =
		rex != 0 || insn->prefixes & (X86_OPERAND_SIZE | X86_REPNE | X86_REP | X86_LOCK);

	insn->rex = rex != 0;
	insn->vector_bytes = 16;
	if (byte == 0xc4 || byte == 0xc5)
		rex = vex_next(insn, cursor, byte);
	else if (byte == 0x62)
		rex = evex_next(insn, cursor);
	if (insn->encoding != X86_LEGACY) {
		if (prefixed)
			insn->map = 0;
		byte = byte_next(cursor);
	} else if (byte == 0x0f) {
		insn->map = 1;
		byte = byte_next(cursor);
		if (byte == 0x38 || byte == 0x3a) {
			insn->map = byte == 0x38 ? 2 : 3;
			byte = byte_next(cursor);
		}
	}
	insn->opcode = byte;
	insn->rm = (byte & 7) | (rex & 1) << 3; /* unless ModRM overrides it */
	insn->wide = rex & 8;
	return rex;
}

static void memory_operand(struct x86_insn *insn, struct cursor *cursor, u8 rex)
{
	u8 sib, displacement = insn->mod == 1 ? 1 : insn->mod == 2 ? 4 : 0;

	insn->base = insn->rm;
	if ((insn->rm & 7) == 4) {
		sib = byte_next(cursor);
		insn->scale = sib >> 6;
		insn->index = (sib >> 3 & 7) | (rex & 2) << 2;
		if (insn->index == 4)
			insn->index = X86_REG_NONE;
		insn->base = (sib & 7) | (rex & 1) << 3;
		if ((sib & 7) == 5 && insn->mod == 0) {
			insn->base = X86_REG_NONE;
			displacement = 4;
		}
	} else if ((insn->rm & 7) == 5 && insn->mod == 0) {
		insn->base = X86_REG_IP;
		displacement = 4;
	}
	if (displacement > 0)
		insn->displacement = number_next(cursor, displacement);
}

static void modrm_next(struct x86_insn *insn, struct cursor *cursor, u8 rex)
{
	u8 modrm = byte_next(cursor);

	insn->mod = modrm >> 6;
	insn->reg = (modrm >> 3 & 7) | (rex & 4) << 1;
	insn->rm = (modrm & 7) | (rex & 1) << 3;
	/* Moves to and from control registers have no memory operand. */
	if (insn->map == 1 && insn->encoding == X86_LEGACY && insn->opcode >= 0x20 &&
	    insn->opcode <= 0x23)
		insn->mod = 3;
	if (insn->mod != 3)
		memory_operand(insn, cursor, rex);
}

/* Return true for opcodes of map 1 that VEX or EVEX may encode. */
static bool vector_opcode(u8 opcode)
{
	static const u8 groups[32] = {
		[0x10 / 8] = 0xff, [0x28 / 8] = 0xff, [0x40 / 8] = 0xf6, [0x48 / 8] = 0x0c,
		[0x50 / 8] = 0xff, [0x58 / 8] = 0xff, [0x60 / 8] = 0xff, [0x68 / 8] = 0xff,
		[0x70 / 8] = 0xff, [0x78 / 8] = 0xf3, [0x90 / 8] = 0x0f, [0x98 / 8] = 0x03,
		[0xa8 / 8] = 0x40, [0xc0 / 8] = 0x74, [0xd0 / 8] = 0xff, [0xd8 / 8] = 0xff,
		[0xe0 / 8] = 0xff, [0xe8 / 8] = 0xff, [0xf0 / 8] = 0xff, [0xf8 / 8] = 0x7f,
	};

	return groups[opcode / 8] >> opcode % 8 & 1;
}

static char layout_of(const struct x86_insn *insn)
{
	bool legacy = insn->encoding == X86_LEGACY;

	if (insn->map == 0 && legacy)
		return one_byte[insn->opcode];
	if (insn->map == 1 && !legacy && !vector_opcode(insn->opcode))
		return 'x';
	if (insn->map == 1)
		return two_bytes[insn->opcode];
	if (insn->map == 2)
		return 'm';
	if (insn->map == 3)
		return 'B';
	if (insn->encoding == X86_EVEX && (insn->map == 5 || insn->map == 6))
		return 'm';
	return 'x';
}

static void immediate_next(struct x86_insn *insn, struct cursor *cursor, char layout)
{
	bool narrow = insn->prefixes & X86_OPERAND_SIZE && !insn->wide;
	u32 bytes;

	switch (layout) {
	case 'b':
	case 'B':
		insn->immediate = number_next(cursor, 1);
		break;
	case 'v':
		bytes = insn->wide ? 8 : narrow ? 2 : 4;
		insn->immediate = number_next(cursor, bytes);
		break;
	case 'z':
	case 'Z':
		insn->immediate = number_next(cursor, narrow ? 2 : 4);
		break;
	case 'J':
		insn->immediate = number_next(cursor, 4);
		break;
	case 'w':
		insn->immediate = number_next(cursor, 2) & 0xffff;
		break;
	case 'e':
		insn->immediate = number_next(cursor, 3);
		break;
	case 'o':
		insn->displacement = insn->prefixes & X86_ADDRESS_SIZE ? (u32)number_next(cursor, 4)
								       : number_next(cursor, 8);
		break;
	default:
		break;
	}
}

/* Return true for refused encodings that the layout letter does not mark. */
static bool refused(const struct x86_insn *insn, char layout)
{
	bool legacy = insn->encoding == X86_LEGACY;

	if (layout == 'x')
		return true;
	/* Intel and AMD disagree on the length of these instructions. */
	if (layout == 'J' && insn->prefixes & X86_OPERAND_SIZE)
		return true;
	if (legacy && insn->map == 0 && insn->opcode == 0x8f) /* pop; else XOP */
		return insn->reg & 7;
	/* SSE4a has immediates here. */
	return legacy && insn->map == 1 && (insn->opcode == 0x78 || insn->opcode == 0x79);
}

int x86_insn_decode(struct x86_insn *insn, const u8 *code, u32 bytes)
{
	struct cursor cursor = {.code = code, .bytes = bytes};
	u8 rex;
	char layout;

	memset(insn, 0, sizeof(*insn));
	insn->base = X86_REG_NONE;
	insn->index = X86_REG_NONE;
	rex = opcode_next(insn, &cursor);
	layout = layout_of(insn);
	if (cursor.short_of)
		return cursor.at > X86_INSN_BYTES_MAX ? -EINVAL : -ENODATA;
	if (layout == 'm' || layout == 'B' || layout == 'Z' || layout == '3' || layout == '4')
		modrm_next(insn, &cursor, rex);
	if ((layout == '3' || layout == '4') && (insn->reg & 7) < 2)
		layout = layout == '3' ? 'B' : 'Z';
	immediate_next(insn, &cursor, layout);
	if (cursor.at > X86_INSN_BYTES_MAX || refused(insn, layout))
		return -EINVAL;
	if (cursor.short_of)
		return -ENODATA;
	insn->length = (u8)cursor.at;
	return 0;
}
