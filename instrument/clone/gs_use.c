// SPDX-License-Identifier: GPL-2.0-only
#include "instrument/clone/gs_use.h"

#include <asm/prctl.h>
#include <sys/syscall.h>

#include "instrument/clone/calls_name.h"

#define PREFIX_GS 0x65
#define PREFIX_REP 0xf3
#define SEGMENT_GS 5 /* number of %gs in ModRM.reg */
#define WRGSBASE 3   /* extension of 0f ae in ModRM.reg */

/* The encoding of an instruction; @opcode: offset of the opcode, after all prefixes. */
struct encoding {
	const uint8_t *bytes;
	size_t count;
	size_t opcode;
	bool by_gs;
	bool repeats;
};

/* Legacy prefixes; REX follows them. */
static bool is_prefix(uint8_t byte)
{
	return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 ||
	       byte == PREFIX_GS || byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 ||
	       byte == PREFIX_REP;
}

static bool read_encoding(struct encoding *ret, const struct elf_image *image,
			  const struct insn *insn)
{
	*ret = (struct encoding){
		.bytes = elf_image_at(image, insn->address, insn->bytes),
		.count = insn->bytes,
	};
	if (ret->bytes == NULL)
		return false;
	while (ret->opcode < ret->count && is_prefix(ret->bytes[ret->opcode])) {
		ret->by_gs |= ret->bytes[ret->opcode] == PREFIX_GS;
		ret->repeats |= ret->bytes[ret->opcode] == PREFIX_REP;
		ret->opcode++;
	}
	if (ret->opcode < ret->count && (ret->bytes[ret->opcode] & 0xf0) == 0x40)
		ret->opcode++;
	return ret->opcode < ret->count;
}

static unsigned int modrm_reg(const struct encoding *encoding, size_t at)
{
	return at < encoding->count ? encoding->bytes[at] >> 3 & 7 : 8;
}

static bool writes_gs(const struct encoding *encoding)
{
	const uint8_t *opcode = encoding->bytes + encoding->opcode;

	if (encoding->opcode + 1 >= encoding->count)
		return false;
	if (opcode[0] == 0x8e)
		return modrm_reg(encoding, encoding->opcode + 1) == SEGMENT_GS;
	return encoding->repeats && opcode[0] == 0x0f && opcode[1] == 0xae &&
	       modrm_reg(encoding, encoding->opcode + 2) == WRGSBASE;
}

/* Return true for a move of a constant to a register. */
static bool is_constant(const struct insn *insn, int64_t value)
{
	return insn->class == INSN_ALU && insn->immediate == value &&
	       insn->destination != INSN_REG_NONE &&
	       (insn->reads.words[0] | insn->reads.words[1]) == 0;
}

bool gs_use_find(const struct elf_image *image, const struct image_code *code,
		 const struct cfg *cfg)
{
	static const char *const name[] = {"arch_prctl"};
	bool number = false, sets = false;

	for (uint32_t i = 0; i < cfg->insn_count; i++) {
		const struct insn *insn = &cfg->insns[i];
		struct encoding encoding;

		if (!read_encoding(&encoding, image, insn))
			continue;
		if (encoding.by_gs && insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY))
			return true;
		if (writes_gs(&encoding))
			return true;
		number |= is_constant(insn, SYS_arch_prctl);
		sets |= is_constant(insn, ARCH_SET_GS);
	}
	return sets && (number || calls_name(code, cfg, name, 1));
}
