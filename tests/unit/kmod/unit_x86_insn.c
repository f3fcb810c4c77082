// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lengths and effects of x86-64 instructions, compared with Zydis, for all code in some large files
 * and for random bytes.
 */
#include "tests/lib/unit.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kmod/core/x86_effect.h"

enum {
	RANDOM_ROUNDS = 3000000
};

struct decoded {
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

struct tally {
	uint64_t insns, refused, effects;
};

static ZydisDecoder decoder;

static void fail_at(const uint8_t *code, const char *what, unsigned int ours, unsigned int theirs)
{
	char text[3 * X86_INSN_BYTES_MAX + 1];
	size_t i;

	for (i = 0; i < X86_INSN_BYTES_MAX; i++)
		snprintf(text + 3 * i, 4, "%02x ", code[i]);
	fail_msg("%s: %s: %u, not %u", text, what, ours, theirs);
}

/* Return the general registers written, in the format of x86_effect. */
static uint32_t registers_written(const struct decoded *decoded)
{
	uint32_t written = 0;
	size_t i;

	for (i = 0; i < decoded->insn.operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoded->operands[i];
		ZydisRegister reg;

		if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER ||
		    !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64,
						       operand->reg.value);
		if (ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR64)
			written |= 1U << ZydisRegisterGetId(reg);
	}
	return written;
}

static uint32_t bytes_stored(const struct decoded *decoded)
{
	uint32_t most = 0;
	size_t i;

	for (i = 0; i < decoded->insn.operand_count; i++) {
		const ZydisDecodedOperand *operand = &decoded->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && operand->size / 8 > most)
			most = operand->size / 8;
	}
	return most;
}

static bool flags_written(const struct decoded *decoded)
{
	const ZydisAccessedFlags *flags = decoded->insn.cpu_flags;

	return flags != NULL &&
	       (flags->modified | flags->set_0 | flags->set_1 | flags->undefined) & 0xcd5;
}

static void effects_compare(const struct x86_insn *insn, const struct decoded *decoded,
			    const uint8_t *code, struct tally *tally)
{
	struct x86_effect effect;

	if (!x86_effect_of(insn, &effect))
		return;
	tally->effects++;
	if (registers_written(decoded) & ~effect.registers)
		fail_at(code, "registers", effect.registers, registers_written(decoded));
	if (flags_written(decoded) && !effect.flags)
		fail_at(code, "flags", 0, 1);
	if (bytes_stored(decoded) > effect.stores && !effect.anywhere)
		fail_at(code, "bytes stored", effect.stores, bytes_stored(decoded));
}

/* Compare one instruction. Return its length by Zydis, or 1 if it is invalid. */
static size_t insn_compare(const uint8_t *code, size_t bytes, struct tally *tally)
{
	struct decoded decoded;
	struct x86_insn insn;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderDecodeFull(&decoder, code, bytes, &decoded.insn, decoded.operands)))
		return 1;
	tally->insns++;
	if (x86_insn_decode(&insn, code, bytes < 64 ? (u32)bytes : 64) != 0) {
		tally->refused++;
		if (getenv("SHOW_REFUSED") != NULL)
			print_message("refused %02x %02x %02x %02x %02x\n", code[0], code[1],
				      code[2], code[3], code[4]);
		return decoded.insn.length;
	}
	if (insn.length != decoded.insn.length)
		fail_at(code, "length", insn.length, decoded.insn.length);
	effects_compare(&insn, &decoded, code, tally);
	return decoded.insn.length;
}

static void code_compare(const uint8_t *code, size_t bytes, struct tally *tally)
{
	size_t at = 0;

	while (at + 64 <= bytes)
		at += insn_compare(code + at, bytes - at, tally);
}

static void segments_compare(const uint8_t *file, size_t bytes, struct tally *tally)
{
	const Elf64_Ehdr *header = (const void *)file;
	const Elf64_Phdr *segment = (const void *)(file + header->e_phoff);
	int i;

	for (i = 0; i < header->e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD && segment[i].p_flags & PF_X &&
		    segment[i].p_offset + segment[i].p_filesz <= bytes)
			code_compare(file + segment[i].p_offset, segment[i].p_filesz, tally);
	}
}

static bool file_compare(const char *path, struct tally *tally)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *file;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) < 0)
		abort();
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return false;
	segments_compare(file, (size_t)st.st_size, tally);
	munmap(file, (size_t)st.st_size);
	return true;
}

static void test_agrees_with_disassembler_on_programs(void **state)
{
	static const char *const paths[] = {
		"/lib/x86_64-linux-gnu/libc.so.6",
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
		"/usr/bin/perl",
		"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	};
	struct tally all = {0};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct tally tally = {0};

		if (!file_compare(paths[i], &tally))
			continue;
		print_message("%s: %llu instructions, %llu refused, %llu by effect\n", paths[i],
			      (unsigned long long)tally.insns, (unsigned long long)tally.refused,
			      (unsigned long long)tally.effects);
		all.insns += tally.insns;
		all.refused += tally.refused;
	}
	assert_true(all.insns > 100000);
	assert_true(all.refused * 1000 < all.insns);
}

static uint8_t *vector_prefix(uint8_t *to, uint64_t random)
{
	static const uint8_t maps[] = {1, 2, 3, 5, 6};

	if (random & 3) {
		*to++ = 0xc4;
		*to++ = (uint8_t)((random >> 8 & 0xe0) | (1 + (random >> 4) % 3));
		*to++ = (uint8_t)(random >> 24);
		return to;
	}
	*to++ = 0x62;
	*to++ = (uint8_t)((random >> 8 & 0xf0) | maps[(random >> 4) % 5]);
	*to++ = (uint8_t)(random >> 24 | 4);
	*to++ = (uint8_t)(random >> 32);
	return to;
}

/* Random bytes, also with prefixes that make valid instructions more frequent. */
static void test_agrees_with_disassembler_on_random_bytes(void **state)
{
	uint64_t seed = 3, random;
	struct tally tally = {0};
	uint8_t code[64], *to;
	int round;
	size_t i;

	(void)state;
	for (round = 0; round < RANDOM_ROUNDS; round++) {
		for (i = 0; i < sizeof(code); i += 8) {
			random = unit_random(&seed);
			memcpy(code + i, &random, sizeof(random));
		}
		to = code;
		random = unit_random(&seed);
		if (random % 3 == 0)
			to = vector_prefix(to, random >> 8);
		else if (random % 3 == 1)
			*to = 0x0f;
		insn_compare(code, sizeof(code), &tally);
	}
	print_message("%llu instructions, %llu refused, %llu by effect\n",
		      (unsigned long long)tally.insns, (unsigned long long)tally.refused,
		      (unsigned long long)tally.effects);
	assert_true(tally.insns > RANDOM_ROUNDS / 4);
	assert_true(tally.refused * 4 < tally.insns);
}

/* For every truncated instruction, more bytes are requested until it is complete. */
static void test_requests_more_bytes(void **state)
{
	static const uint8_t codes[][X86_INSN_BYTES_MAX] = {
		{0x90},
		{0x48, 0x8b, 0x84, 0xc8, 1, 2, 3, 4},
		{0x66, 0x0f, 0x3a, 0x0f, 0xc1, 8},
		{0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8},
		{0x62, 0xf1, 0x7c, 0x48, 0x28, 0x84, 0xc8, 1, 2, 3, 4},
		{0xc5, 0xf8, 0x77},
	};
	static const u32 lengths[] = {1, 8, 6, 10, 11, 3};
	struct x86_insn insn;
	size_t i;
	u32 bytes;

	(void)state;
	for (i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (bytes = 0; bytes < lengths[i]; bytes++)
			assert_int_equal(x86_insn_decode(&insn, codes[i], bytes), -ENODATA);
		assert_int_equal(x86_insn_decode(&insn, codes[i], bytes), 0);
		assert_int_equal(insn.length, bytes);
	}
}

static int set_up(void **state)
{
	(void)state;
	return ZYAN_SUCCESS(
		       ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))
		       ? 0
		       : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_disassembler_on_programs),
		cmocka_unit_test(test_agrees_with_disassembler_on_random_bytes),
		cmocka_unit_test(test_requests_more_bytes),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
