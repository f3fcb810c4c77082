// SPDX-License-Identifier: GPL-2.0-only
/*
 * The x86-64 decoder: examples, lengths and control flow of whole libraries, compared with objdump,
 * and invariants of any bytes. (tests/unit/analysis/unit_insn_x86_effect.c compares registers with
 * the processor's behavior.)
 */
#include "tests/lib/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/fixtures/insn_check.h"
#include "tests/fixtures/insn_examples.h"
#include "tests/fixtures/insn_objdump.h"

enum {
	RANDOM_ROUNDS = 300000
};

static void test_examples(void **state)
{
	(void)state;
	insn_examples_run("tests/fixtures/data/insn_x86.txt", &insn_x86_decoder);
}

static bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Return the control flow of objdump's mnemonic. */
static enum insn_flow flow_of(const char *mnemonic, const char *operands)
{
	bool indirect = operands[0] == '*';

	if (starts_with(mnemonic, "jmp"))
		return indirect ? INSN_FLOW_JUMP_INDIRECT : INSN_FLOW_JUMP;
	if (starts_with(mnemonic, "call"))
		return indirect ? INSN_FLOW_CALL_INDIRECT : INSN_FLOW_CALL;
	if (mnemonic[0] == 'j' || starts_with(mnemonic, "loop") || starts_with(mnemonic, "xbegin"))
		return INSN_FLOW_BRANCH;
	if (starts_with(mnemonic, "ret") || starts_with(mnemonic, "iret") ||
	    starts_with(mnemonic, "lret"))
		return INSN_FLOW_RETURN;
	if (strcmp(mnemonic, "ud2") == 0 || strcmp(mnemonic, "int3") == 0)
		return INSN_FLOW_STOP;
	return INSN_FLOW_NEXT;
}

static void test_flow_agrees_with_objdump(void **state)
{
	static const char *const prefixes[] = {"bnd",  "notrack", "data16", "repz",  "rep",
					       "lock", "cs",	  "ds",	    "rex.W", NULL};

	(void)state;
	insn_objdump_compare("objdump", "/usr/lib/x86_64-linux-gnu/libc.so.6", &insn_x86_decoder,
			     prefixes, flow_of, 300000);
}

/* Random bytes after the usual prefixes reach all opcode maps. */
static void test_any_bytes_are_consistent(void **state)
{
	static const uint8_t starts[] = {0x0f, 0x66, 0xf2, 0xf3, 0x48, 0xc4, 0xc5, 0x62, 0x8f};
	uint64_t seed = 7;
	unsigned int round;

	(void)state;
	for (round = 0; round < RANDOM_ROUNDS; round++) {
		uint8_t code[16];
		uint64_t random = unit_random(&seed);
		const char *wrong;
		size_t i;

		memcpy(code, &random, 8);
		random = unit_random(&seed);
		memcpy(code + 8, &random, 8);
		for (i = 0; i < round % 4; i++)
			code[i] = starts[unit_random(&seed) % sizeof(starts)];
		wrong = insn_check_bytes(code, unit_random(&seed) % 17, round, &insn_x86_decoder);
		if (wrong != NULL)
			fail_msg("round %u: %02x %02x %02x %02x %02x: %s", round, code[0], code[1],
				 code[2], code[3], code[4], wrong);
	}
}

/* Only sti has the delay of an instruction. */
static void test_interrupts_are_enabled(void **state)
{
	static const struct {
		uint8_t code[2];
		uint16_t flags;
	} cases[] = {
		{{0xfb, 0x90}, INSN_UNMASKS | INSN_UNMASKS_LATE}, /* sti */
		{{0x9d, 0x90}, INSN_UNMASKS},			  /* popfq */
		{{0x66, 0x9d}, INSN_UNMASKS},			  /* popfw */
		{{0xfa, 0x90}, 0},				  /* cli */
		{{0x9c, 0x90}, 0},				  /* pushfq */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn insn;

		assert_true(insn_x86_decoder.decode(&insn, cases[i].code, sizeof(cases[i].code),
						    0x1000) > 0);
		assert_int_equal(insn.flags & (INSN_UNMASKS | INSN_UNMASKS_LATE), cases[i].flags);
	}
}

/* They take an unknown time. */
static void test_instructions_leave_the_program(void **state)
{
	static const struct {
		uint8_t code[3];
		bool leaves;
	} cases[] = {
		{{0x0f, 0x05, 0x90}, true},  /* syscall */
		{{0x0f, 0x01, 0xc1}, true},  /* vmcall */
		{{0xe6, 0x80, 0x90}, true},  /* out %al, $0x80 */
		{{0xf4, 0x90, 0x90}, true},  /* hlt */
		{{0x0f, 0xa2, 0x90}, true},  /* cpuid */
		{{0x0f, 0x31, 0x90}, false}, /* rdtsc */
		{{0xc3, 0x90, 0x90}, false}, /* ret */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct insn insn;

		assert_true(insn_x86_decoder.decode(&insn, cases[i].code, sizeof(cases[i].code),
						    0x1000) > 0);
		assert_int_equal((insn.flags & INSN_LEAVES) != 0, cases[i].leaves);
	}
}

static void test_decoders_are_found_by_machine(void **state)
{
	(void)state;
	assert_ptr_equal(insn_decoder_find(62), &insn_x86_decoder);
	assert_ptr_equal(insn_decoder_find(183), &insn_arm64_decoder);
	assert_ptr_equal(insn_decoder_find(0x9026), &insn_alpha_decoder);
	assert_null(insn_decoder_find(8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_flow_agrees_with_objdump),
		cmocka_unit_test(test_any_bytes_are_consistent),
		cmocka_unit_test(test_interrupts_are_enabled),
		cmocka_unit_test(test_instructions_leave_the_program),
		cmocka_unit_test(test_decoders_are_found_by_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
