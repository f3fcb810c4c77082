// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/jit/jit_shape.h"

#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

#if defined(__x86_64__)
#include "kmod/core/x86_insn.h"
#endif

static void digest_add(uint64_t *digest, const void *data, size_t bytes)
{
	*digest = XXH3_64bits_withSeed(data, bytes, *digest);
}

#if defined(__x86_64__)

#define ADDRESS_MIN 65536

/* Return true if a branch from @next by @distance stays in [0, @bytes). */
static bool stays(size_t next, uint64_t distance, size_t bytes)
{
	return next + distance < bytes;
}

static bool is_branch(const struct x86_insn *insn)
{
	if (insn->encoding != X86_LEGACY)
		return false;
	if (insn->map == 0)
		return insn->opcode == 0xe8 || insn->opcode == 0xe9;
	return insn->map == 1 && (insn->opcode & 0xf0) == 0x80;
}

/* mov between rax and an absolute eight-byte address */
static bool is_moffs(const struct x86_insn *insn)
{
	return insn->encoding == X86_LEGACY && insn->map == 0 && (insn->opcode & 0xfc) == 0xa0;
}

static bool is_address(uint64_t value)
{
	int64_t number = (int64_t)value;

	return number >= ADDRESS_MIN || number <= -ADDRESS_MIN;
}

/* Add all decoded fields: prefix bytes without effect are ignored. */
static void insn_add(uint64_t *digest, struct x86_insn *insn, size_t next, size_t bytes)
{
	if (is_branch(insn) ? !stays(next, insn->immediate, bytes) : is_address(insn->immediate))
		insn->immediate = ADDRESS_MIN;
	if (insn->base == X86_REG_IP ? !stays(next, insn->displacement, bytes)
				     : is_moffs(insn) || is_address(insn->displacement))
		insn->displacement = ADDRESS_MIN;
	digest_add(digest, &insn->immediate, sizeof(insn->immediate));
	digest_add(digest, &insn->displacement, sizeof(insn->displacement));
	digest_add(digest, &insn->length,
		   offsetof(struct x86_insn, scale) - offsetof(struct x86_insn, length) + 1);
}

static size_t code_add(uint64_t *digest, const uint8_t *code, size_t bytes)
{
	size_t at = 0;

	while (at < bytes) {
		size_t left = bytes - at;
		struct x86_insn insn;

		memset(&insn, 0, sizeof(insn));
		if (x86_insn_decode(&insn, code + at,
				    left > UINT32_MAX ? UINT32_MAX : (uint32_t)left) < 0)
			break;
		at += insn.length;
		insn_add(digest, &insn, at, bytes);
	}
	return at;
}

#else

/* Bits of an A64 word that are part of an address. */
static uint32_t address_bits(uint32_t word, size_t at, size_t bytes)
{
	int64_t distance;

	if ((word & 0x1f000000) == 0x10000000) /* adr, adrp */
		return 0x60ffffe0;
	if ((word & 0x1f800000) == 0x12800000) /* movz, movk, movn */
		return 0x001fffe0;
	if ((word & 0x3b000000) == 0x18000000) /* ldr (literal) */
		return 0x00ffffe0;
	if ((word & 0x7c000000) != 0x14000000) /* b, bl */
		return 0;
	distance = (int64_t)((uint64_t)word << 38) >> 36;
	return at + (uint64_t)distance < bytes ? 0 : 0x03ffffff;
}

static size_t code_add(uint64_t *digest, const uint8_t *code, size_t bytes)
{
	size_t at;

	for (at = 0; at + 4 <= bytes; at += 4) {
		uint32_t word;

		memcpy(&word, code + at, sizeof(word));
		word &= ~address_bits(word, at, bytes);
		digest_add(digest, &word, sizeof(word));
	}
	return at;
}
#endif

uint64_t jit_shape(const uint8_t *code, size_t bytes)
{
	uint64_t digest = bytes;
	size_t decoded = code_add(&digest, code, bytes);

	digest_add(&digest, code + decoded, bytes - decoded);
	return digest;
}
