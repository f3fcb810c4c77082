// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arm64 decoder: examples; valid words and their registers, compared with LLVM's disassembler;
 * control flow of a library, compared with objdump; and invariants of any word.
 */
#include "tests/lib/unit.h"

#include <ctype.h>
#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/fixtures/insn_check.h"
#include "tests/fixtures/insn_examples.h"
#include "tests/fixtures/insn_objdump.h"

enum {
	RANDOM_ROUNDS = 400000
};

#define FEATURES                                                                                   \
	"+v8.7a,+neon,+crypto,+sha2,+aes,+sha3,+sm4,+fullfp16,+fp16fml,+dotprod,+bf16,+i8mm,"      \
	"+lse,+rcpc,+rcpc-immo,+mte,+pauth,+bti,+crc,+rand,+tme,+jsconv,+complxnum,+rdm,"          \
	"+altnzcv,+fptoint,+flagm,+sb,+ssbs,+predres,+ccidx,+wfxt,+hbc,+mops,+ecv,+xs"

static void test_examples(void **state)
{
	(void)state;
	insn_examples_run("tests/fixtures/data/insn_arm64.txt", &insn_arm64_decoder);
}

static enum insn_flow flow_of(const char *mnemonic, const char *operands)
{
	static const struct {
		const char *mnemonic;
		enum insn_flow flow;
	} flows[] = {
		{"b", INSN_FLOW_JUMP},		 {"bl", INSN_FLOW_CALL},
		{"br", INSN_FLOW_JUMP_INDIRECT}, {"blr", INSN_FLOW_CALL_INDIRECT},
		{"ret", INSN_FLOW_RETURN},	 {"cbz", INSN_FLOW_BRANCH},
		{"cbnz", INSN_FLOW_BRANCH},	 {"tbz", INSN_FLOW_BRANCH},
		{"tbnz", INSN_FLOW_BRANCH},	 {"brk", INSN_FLOW_STOP},
		{"udf", INSN_FLOW_STOP},	 {"hlt", INSN_FLOW_STOP},
	};
	size_t i;

	(void)operands;
	for (i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		if (strcmp(mnemonic, flows[i].mnemonic) == 0)
			return flows[i].flow;
	}
	return strncmp(mnemonic, "b.", 2) == 0 ? INSN_FLOW_BRANCH : INSN_FLOW_NEXT;
}

static void test_flow_agrees_with_objdump(void **state)
{
	static const char *const prefixes[] = {NULL};

	(void)state;
	insn_objdump_compare("aarch64-linux-gnu-objdump", "/usr/aarch64-linux-gnu/lib/libc.so.6",
			     &insn_arm64_decoder, prefixes, flow_of, 300000);
}

static void word_bytes(uint8_t code[4], uint32_t word)
{
	int i;

	for (i = 0; i < 4; i++)
		code[i] = (uint8_t)(word >> (8 * i));
}

/* Exclude SVE, and system registers, which LLVM also prints where none exist. */
static bool is_comparable(uint32_t word)
{
	return (word >> 25 & 15) > 3 && (word & 0xffc00000) != 0xd5000000;
}

/*
 * Instructions with unused fields that should be ones, or with registers that should differ. LLVM
 * calls other values "potentially undefined", but their effect is known.
 */
static bool has_soft_fields(uint32_t word, const struct insn *insn)
{
	return (word & 0x3f000000) == 0x08000000 || (word & 0xff600000) == 0x9b400000 ||
	       (word & 0x3a000000) == 0x28000000 || insn->memory.pushes ||
	       ((word & 0x3b000000) == 0x38000000 && (word & 31) == (word >> 5 & 31));
}

static void test_validity_agrees_with_objdump(void **state)
{
	LLVMDisasmContextRef llvm = *state;
	uint64_t seed = 3;
	unsigned int round, both = 0;

	for (round = 0; round < RANDOM_ROUNDS; round++) {
		uint32_t word = (uint32_t)unit_random(&seed);
		struct insn insn;
		uint8_t code[4];
		char text[256];
		bool theirs, ours;

		if (!is_comparable(word))
			continue;
		word_bytes(code, word);
		theirs = LLVMDisasmInstruction(llvm, code, 4, 0x1000, text, sizeof(text)) == 4;
		ours = insn_arm64_decoder.decode(&insn, code, 4, 0x1000) == 4;
		if (theirs != ours && !(ours && has_soft_fields(word, &insn)))
			fail_msg("%08x: %s", word, theirs ? text : "LLVM knows none");
		both += ours;
	}
	assert_true(both > RANDOM_ROUNDS / 5);
}

/* Find the registers in a text, with the numbers of insn.h. */
static struct insn_regs registers_named(const char *text)
{
	struct insn_regs named = {{0}};
	const char *at = text;

	while (*at != '\0') {
		size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz0123456789_");
		bool number = length >= 2 && length <= 3 && isdigit((unsigned char)at[1]) &&
			      (length == 2 || isdigit((unsigned char)at[2]));
		unsigned int reg = number ? (unsigned int)atoi(at + 1) : 0;

		if (number && (at[0] == 'x' || at[0] == 'w'))
			insn_regs_add(&named, reg);
		else if (number && strchr("bhsdqv", at[0]) != NULL)
			insn_regs_add(&named, INSN_REG_FP + reg);
		else if ((length == 2 && strncmp(at, "sp", 2) == 0) ||
			 (length == 3 && strncmp(at, "wsp", 3) == 0))
			insn_regs_add(&named, 31);
		at += length > 0 ? length : 1;
	}
	return named;
}

/* All registers in the text are read or written, and almost no others. */
static void test_registers_agree_with_text(void **state)
{
	LLVMDisasmContextRef llvm = *state;
	uint64_t seed = 5;
	unsigned int round;

	for (round = 0; round < RANDOM_ROUNDS; round++) {
		uint32_t word = (uint32_t)unit_random(&seed);
		struct insn_regs named, ours;
		struct insn insn;
		uint8_t code[4];
		char text[256];

		word_bytes(code, word);
		if (!is_comparable(word) ||
		    LLVMDisasmInstruction(llvm, code, 4, 0x1000, text, sizeof(text)) != 4 ||
		    insn_arm64_decoder.decode(&insn, code, 4, 0x1000) != 4 ||
		    insn.class == INSN_SYSTEM || insn.class == INSN_PREFETCH)
			continue;
		named = registers_named(strchr(text + 1, '\t') != NULL ? strchr(text + 1, '\t')
								       : "");
		ours.words[0] = (insn.reads.words[0] | insn.writes.words[0]) & UINT32_MAX;
		ours.words[1] = insn.reads.words[1] | insn.writes.words[1];
		if (insn.flags & INSN_LINKS || insn.flow == INSN_FLOW_RETURN)
			named.words[0] |= ours.words[0] & UINT64_C(0xc0000000);
		if (named.words[0] != ours.words[0] || named.words[1] != ours.words[1])
			fail_msg("%08x %s: registers %lx %lx, not %lx %lx", word, text,
				 (unsigned long)ours.words[0], (unsigned long)ours.words[1],
				 (unsigned long)named.words[0], (unsigned long)named.words[1]);
	}
}

static const char *llvm_text(LLVMDisasmContextRef llvm, const uint8_t code[4], char text[256])
{
	size_t i;

	if (LLVMDisasmInstruction(llvm, (uint8_t *)(uintptr_t)code, 4, 0x1000, text, 256) != 4)
		return NULL;
	for (i = 0; text[i] != '\0'; i++) {
		if (text[i] == '\t')
			text[i] = ' ';
	}
	text[strcspn(text, "/")] = '\0'; /* remove the comment */
	return text + 1;
}

/* Text where Capstone has none: atomics, pointer authentication, hints. */
static void test_text_agrees_with_llvm(void **state)
{
	static const struct {
		uint32_t free;
		uint32_t value;
	} spaces[] = {
		{0xc0dff3ff, 0x38200000}, {0xc05f83ff, 0x08a07c00}, {0x405f83ff, 0x08207c00},
		{0x000003ff, 0xdac10000}, {0x00003fff, 0xdac10000}, {0x00000fe0, 0xd503201f},
		{0x01600fff, 0xd61f0000}, {0x001f03ff, 0x9ac03000},
	};
	uint64_t seed = 13;
	unsigned int round, compared = 0;

	for (round = 0; round < RANDOM_ROUNDS / 4; round++) {
		size_t space = unit_random(&seed) % (sizeof(spaces) / sizeof(spaces[0]));
		uint32_t word =
			spaces[space].value | ((uint32_t)unit_random(&seed) & spaces[space].free);
		char ours[INSN_TEXT_BYTES], buffer[256];
		const char *theirs;
		uint8_t code[4];

		word_bytes(code, word);
		theirs = llvm_text(*state, code, buffer);
		if (theirs == NULL ||
		    insn_arm64_decoder.format(ours, code, sizeof(code), 0x1000) != 0 ||
		    strncmp(ours, ".inst", 5) == 0 || strncmp(ours, "hint", 4) == 0)
			continue;
		compared++;
		if (strncmp(ours, theirs, strlen(ours)) != 0 ||
		    strspn(theirs + strlen(ours), " ") != strlen(theirs + strlen(ours)))
			fail_msg("%08x: %s, not %s", word, ours, theirs);
	}
	assert_true(compared > RANDOM_ROUNDS / 16);
}

static void test_any_word_is_consistent(void **state)
{
	uint64_t seed = 11;
	unsigned int round;

	(void)state;
	for (round = 0; round < RANDOM_ROUNDS; round++) {
		uint32_t word = (uint32_t)unit_random(&seed);
		const char *wrong;
		uint8_t code[4];

		word_bytes(code, word);
		wrong = insn_check_bytes(code, round % 64 == 0 ? round / 64 % 4 : 4,
					 UINT64_C(4) * round, &insn_arm64_decoder);
		if (wrong != NULL)
			fail_msg("%08x: %s", word, wrong);
	}
}

/* msr daifclr must contain the bit of interrupts. */
static void test_interrupts_are_enabled(void **state)
{
	static const struct {
		uint32_t word;
		uint16_t flags;
	} cases[] = {
		{0xd50342ff, INSN_UNMASKS}, /* msr daifclr, #2 */
		{0xd50343ff, INSN_UNMASKS}, /* msr daifclr, #3 */
		{0xd50348ff, 0},	    /* msr daifclr, #8 */
		{0xd50342df, 0},	    /* msr daifset, #2 */
		{0xd51b4220, INSN_UNMASKS}, /* msr daif, x0 */
		{0xd51b4213, 0},	    /* msr nzcv, x19 */
		{0xd53b4220, 0},	    /* mrs x0, daif */
		{0xd5184600, INSN_UNMASKS}, /* msr icc_pmr_el1, x0 */
		{0xd5384600, 0},	    /* mrs x0, icc_pmr_el1 */
		{0xd4000001, INSN_LEAVES},  /* svc #0 */
		{0xd4000002, INSN_LEAVES},  /* hvc #0 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn insn;
		uint8_t code[4];

		word_bytes(code, cases[i].word);
		assert_int_equal(insn_arm64_decoder.decode(&insn, code, 4, 0x1000), 4);
		assert_int_equal(insn.flags & (INSN_UNMASKS | INSN_UNMASKS_LATE | INSN_LEAVES),
				 cases[i].flags);
	}
}

static int llvm_open(void **state)
{
	LLVMInitializeAArch64TargetInfo();
	LLVMInitializeAArch64TargetMC();
	LLVMInitializeAArch64Disassembler();
	*state =
		LLVMCreateDisasmCPUFeatures("aarch64-linux-gnu", "", FEATURES, NULL, 0, NULL, NULL);
	return *state != NULL ? 0 : -1;
}

static int llvm_close(void **state)
{
	LLVMDisasmDispose(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_flow_agrees_with_objdump),
		cmocka_unit_test(test_validity_agrees_with_objdump),
		cmocka_unit_test(test_registers_agree_with_text),
		cmocka_unit_test(test_text_agrees_with_llvm),
		cmocka_unit_test(test_any_word_is_consistent),
		cmocka_unit_test(test_interrupts_are_enabled),
	};

	return cmocka_run_group_tests(tests, llvm_open, llvm_close);
}
