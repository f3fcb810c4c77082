// SPDX-License-Identifier: GPL-2.0-only
/* Registers and flags that may be changed at a place, for code with known answers. */
#include "analysis/graph/cfg_create.h"
#include "tests/lib/unit.h"

#include "instrument/codegen/liveness.h"
#include "lib/error.h"

struct example {
	const char *what;
	uint8_t code[24];
	size_t bytes;
	uint32_t insn; /* before it */
	uint32_t live; /* all of these */
	uint32_t dead; /* none of these */
};

#define RAX 0x1U
#define RCX 0x2U
#define RDX 0x4U
#define RDI 0x80U
#define ZERO 0x40000U

static const struct example examples[] = {
	{"compare and branch",
	 {0x39, 0xf7, 0x74, 0x01, 0x90, 0xc3}, /* cmp; je; nop; ret */
	 6,
	 1,
	 ZERO,
	 LIVENESS_CARRY},
	{"before the compare", {0x39, 0xf7, 0x74, 0x01, 0x90, 0xc3}, 6, 0, RDI, LIVENESS_FLAGS},
	{"over a move between",
	 {0x39, 0xf7, 0xb8, 1, 0, 0, 0, 0x72, 0x01, 0x90, 0xc3}, /* cmp; mov $1, %eax; jb */
	 11,
	 1,
	 LIVENESS_CARRY,
	 RAX},
	{"inc keeps the carry", {0xff, 0xc0, 0x72, 0x00, 0xc3}, 5, 0, LIVENESS_CARRY | RAX, ZERO},
	{"a shift by a constant", {0xc1, 0xe8, 0x03, 0x74, 0x00, 0xc3}, 6, 0, RAX, LIVENESS_FLAGS},
	{"a shift by %cl may be by 0", {0xd3, 0xe8, 0x74, 0x00, 0xc3}, 5, 0, RAX | RCX | ZERO, 0},
	{"a shift by %cl of which nobody looks at flags",
	 {0xd3, 0xe8, 0xc3},
	 3,
	 0,
	 RAX | RCX,
	 LIVENESS_FLAGS},
	{"bsf sets flags always", {0x0f, 0xbc, 0xc1, 0x74, 0x00, 0xc3}, 6, 0, RAX | RCX, ZERO},
	{"bt of a register",
	 {0x48, 0x0f, 0xba, 0xe1, 0x3a, 0x72, 0x00, 0xc3},
	 8,
	 0,
	 RCX,
	 LIVENESS_CARRY},
	{"half a register does not end it", {0xb0, 0x01, 0xc3}, 3, 0, RAX, 0},
	{"a byte that is looked at alone", /* sete %al; movzbl %al, %eax; ret */
	 {0x0f, 0x94, 0xc0, 0x0f, 0xb6, 0xc0, 0xc3},
	 7,
	 0,
	 ZERO,
	 RAX},
	{"a byte, then all of it", /* sete %al; mov %eax, %edx; ret */
	 {0x0f, 0x94, 0xc0, 0x89, 0xc2, 0xc3},
	 6,
	 0,
	 RAX,
	 RDX},
	{"another byte", /* mov $1, %ah; movzbl %al, %eax; ret */
	 {0xb4, 0x01, 0x0f, 0xb6, 0xc0, 0xc3},
	 6,
	 0,
	 RAX,
	 0},
	{"a byte that its own address leads to", /* mov (%rax), %al; movzbl %al, %eax; ret */
	 {0x8a, 0x00, 0x0f, 0xb6, 0xc0, 0xc3},
	 6,
	 0,
	 RAX,
	 0},
	{"a byte that is added to", /* add $1, %al; movzbl %al, %eax; ret */
	 {0x04, 0x01, 0x0f, 0xb6, 0xc0, 0xc3},
	 6,
	 0,
	 RAX,
	 0},
	{"a hidden byte", {0xf6, 0xe1, 0xc3}, 3, 0, RAX | RCX, 0},		/* mul %cl; ret */
	{"a compared one", {0x0f, 0xb0, 0x0f, 0xc3}, 4, 0, RAX | RCX | RDI, 0}, /* cmpxchg */
	{"32 bits do", {0xb8, 1, 0, 0, 0, 0xc3}, 6, 0, 0, RAX},
	{"a conditional move does not", {0x0f, 0x44, 0xc1, 0xc3}, 4, 0, RAX | RCX | ZERO, 0},
	{"a call takes registers, not flags",
	 {0xe8, 0, 1, 0, 0, 0xc3},
	 6,
	 0,
	 LIVENESS_REGISTERS,
	 LIVENESS_FLAGS},
	{"a system call's arguments", {0x0f, 0x05, 0xc3}, 3, 0, RAX | RDI | RDX, 0},
	{"nobody is asked to round", /* frndint; mov $1, %edx; ret */
	 {0xd9, 0xfc, 0xba, 1, 0, 0, 0, 0xc3},
	 8,
	 0,
	 RAX,
	 RDX},
	{"a register less itself", {0x19, 0xc0, 0xc3}, 3, 0, LIVENESS_CARRY, RAX | ZERO},
	{"a register less another", {0x19, 0xc8, 0xc3}, 3, 0, LIVENESS_CARRY | RAX | RCX, ZERO},
	{"less memory at itself", {0x19, 0x00, 0xc3}, 3, 0, LIVENESS_CARRY | RAX, ZERO},
	{"a byte of it", {0x18, 0xc0, 0xc3}, 3, 0, LIVENESS_CARRY | RAX, ZERO},
	{"a comparison that may be repeated zero times", /* repz cmpsb; je; ret */
	 {0xf3, 0xa6, 0x74, 0x00, 0xc3},
	 5,
	 0,
	 RCX | RDI | ZERO,
	 LIVENESS_CARRY},
	{"a loop's own", /* again: dec %ecx; jne again; ret */
	 {0xff, 0xc9, 0x75, 0xfc, 0xc3},
	 5,
	 0,
	 RCX,
	 LIVENESS_FLAGS},
};

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		const struct example *example = &examples[i];
		struct liveness liveness;
		struct cfg *cfg;
		uint32_t live;

		assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, example->code,
						      example->bytes, 0x1000, NULL),
				 0);
		assert_int_equal(liveness_find(&liveness, cfg, NULL, false), 0);
		live = liveness_before(&liveness, example->insn);
		if ((live & example->live) != example->live || (live & example->dead) != 0)
			fail_msg("%s: %#x is live", example->what, live);
		liveness_deinit(&liveness);
		cfg_destroy(cfg);
	}
}

/* Flags live after a call imply a private reg_summary: then flags are live across all calls. */
static void test_across(void **state)
{
	static const uint8_t code[] = {0xe8, 0, 1, 0, 0, 0x74, 0x00, 0xc3}; /* call; je; ret */
	struct liveness liveness;
	struct cfg *cfg;

	(void)state;
	assert_int_equal(
		cfg_create_from_code(&cfg, &insn_x86_decoder, code, sizeof(code), 0x1000, NULL), 0);
	assert_int_equal(liveness_find(&liveness, cfg, NULL, false), 0);
	assert_true(liveness_crosses(&liveness));
	liveness_deinit(&liveness);
	assert_int_equal(liveness_find(&liveness, cfg, NULL, true), 0);
	assert_int_equal(liveness_before(&liveness, 0) & LIVENESS_FLAGS, LIVENESS_FLAGS);
	assert_int_equal(liveness_before(&liveness, 2) & LIVENESS_FLAGS, LIVENESS_FLAGS);
	liveness_deinit(&liveness);
	cfg_destroy(cfg);
}

/* Compilers inline strcmp() as a repeated comparison, whose count may have been 0 as far as is
 * known here: that is no convention between procedures. */
static void test_strings_do_not_cross(void **state)
{
	static const uint8_t code[] = {0xe8, 0,	   1,	 0,    0,     /* call */
				       0xf3, 0xa6, 0x74, 0x00, 0xc3}; /* repz cmpsb; je; ret */
	struct liveness liveness;
	struct cfg *cfg;

	(void)state;
	assert_int_equal(
		cfg_create_from_code(&cfg, &insn_x86_decoder, code, sizeof(code), 0x1000, NULL), 0);
	assert_int_equal(liveness_find(&liveness, cfg, NULL, false), 0);
	assert_false(liveness_crosses(&liveness));
	liveness_deinit(&liveness);
	cfg_destroy(cfg);
	assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, code + 5, 5, 0x1000, NULL),
			 0);
	assert_int_equal(liveness_find(&liveness, cfg, NULL, false), 0);
	assert_false(liveness_crosses(&liveness));
	liveness_deinit(&liveness);
	cfg_destroy(cfg);
}

/* Callers may rely on a register that is never written: it is not free. */
static void test_free_register(void **state)
{
	static const uint8_t code[] = {0xb8, 1, 0, 0, 0, 0x89, 0xc2, 0xc3}; /* mov; mov; ret */
	struct liveness liveness;
	struct cfg *cfg;

	(void)state;
	assert_int_equal(
		cfg_create_from_code(&cfg, &insn_x86_decoder, code, sizeof(code), 0x1000, NULL), 0);
	assert_int_equal(liveness_find(&liveness, cfg, NULL, false), 0);
	assert_int_equal(liveness_free_registers(&liveness, liveness_before(&liveness, 0)),
			 1U << 0 | 1U << 2);
	assert_int_equal(liveness_free_registers(&liveness, liveness_before(&liveness, 1)),
			 1U << 2);
	assert_int_equal(liveness_free_registers(&liveness, liveness_before(&liveness, 2)), 0);
	liveness_deinit(&liveness);
	cfg_destroy(cfg);
}

/* Registers read after the first block, which ends with a branch over one instruction. */
static void test_is_read(void **state)
{
	static const struct {
		uint8_t code[10];
		size_t bytes;
		uint32_t set;
		int read;
	} cases[] = {
		/* je 1f; nop; 1: ret */
		{{0x74, 0x01, 0x90, 0xc3}, 4, RAX | RDX, 0},
		/* je 1f; mov %eax, %ecx; 1: ret */
		{{0x74, 0x02, 0x89, 0xc1, 0xc3}, 5, RAX, 1},
		{{0x74, 0x02, 0x89, 0xc1, 0xc3}, 5, RCX, 0},
		/* je 1f; nop; 1: xor %eax, %eax; mov %eax, %ecx; ret */
		{{0x74, 0x01, 0x90, 0x31, 0xc0, 0x89, 0xc1, 0xc3}, 8, RAX, 0},
		/* je 1f; xor %eax, %eax; 1: mov %eax, %ecx; ret */
		{{0x74, 0x02, 0x31, 0xc0, 0x89, 0xc1, 0xc3}, 7, RAX, 1},
		/* je 1f; nop; 1: mov %al, %cl; jmp 1b */
		{{0x74, 0x01, 0x90, 0x88, 0xc1, 0xeb, 0xfc}, 7, RAX, 1},
		/* je 1f; nop; 1: sete %cl; test %cl, %cl; ret */
		{{0x74, 0x01, 0x90, 0x0f, 0x94, 0xc1, 0x84, 0xc9, 0xc3}, 9, RCX, 0},
		/* je 1f; nop; 1: sete %cl; mov %ecx, %eax; ret */
		{{0x74, 0x01, 0x90, 0x0f, 0x94, 0xc1, 0x89, 0xc8, 0xc3}, 9, RCX, 1},
		/* je 1f; syscall; 1: ret */
		{{0x74, 0x02, 0x0f, 0x05, 0xc3}, 5, RDI, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct liveness liveness;
		struct error err;
		struct cfg *cfg;

		assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, cases[i].code,
						      cases[i].bytes, 0x1000, &err),
				 0);
		assert_int_equal(liveness_find(&liveness, cfg, NULL, false), 0);
		assert_int_equal(liveness_is_read(&liveness, 0, cases[i].set), cases[i].read);
		liveness_deinit(&liveness);
		cfg_destroy(cfg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_across),
		cmocka_unit_test(test_strings_do_not_cross),
		cmocka_unit_test(test_free_register),
		cmocka_unit_test(test_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
