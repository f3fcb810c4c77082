// SPDX-License-Identifier: GPL-2.0-only
/* Registers passed on by code, and their uses by other code, for code with known results. */
#include "analysis/graph/cfg_create.h"
#include "tests/lib/unit.h"

#include "instrument/clone/reg_summary_flow.h"
#include "lib/error.h"

#define RSI 0x40U
#define RDI 0x80U
#define R9 0x200U
#define R10 0x400U
#define R11 0x800U

/* @uses, @ends: of its call, or jump out; @live_after: registers used after its returns */
struct example {
	const char *what;
	uint8_t code[20];
	size_t bytes;
	uint16_t uses;
	uint16_t ends;
	uint16_t live_after;
	uint16_t in;
	uint16_t given;
};

static const struct example examples[] = {
	{"a result for nobody", {0x49, 0x89, 0xfa, 0xc3}, 4, 0, 0, 0, RDI, R10}, /* mov %rdi, %r10
										  */
	{"a result for the caller", {0x49, 0x89, 0xfa, 0xc3}, 4, 0, 0, R10, RDI, 0},
	{"what passes through", {0x90, 0xc3}, 2, 0, 0, R9 | R11, R9 | R11, 0},
	{"given back", {0x57, 0x5f, 0xc3}, 3, 0, 0, 0, RDI, RDI}, /* push %rdi; pop %rdi; ret */
	{"the stack pointer taken back", {0x51, 0x5f, 0xc3}, 3, 0, 0, 0, 0, 0}, /* push %rcx; pop
										   %rdi */
	{"pushed to align the stack", /* push %r10; add $8, %rsp; ret */
	 {0x41, 0x52, 0x48, 0x83, 0xc4, 0x08, 0xc3},
	 7,
	 0,
	 0,
	 0,
	 0,
	 0},
	{"pushed to be kept", /* push %r10; pop %r10; ret */
	 {0x41, 0x52, 0x41, 0x5a, 0xc3},
	 5,
	 0,
	 0,
	 0,
	 R10,
	 R10},
	{"pushed, and taken from the stack", /* push %r10; mov (%rsp), %r10; add $8, %rsp; ret */
	 {0x41, 0x52, 0x4c, 0x8b, 0x14, 0x24, 0x48, 0x83, 0xc4, 0x08, 0xc3},
	 11,
	 0,
	 0,
	 0,
	 R10,
	 R10},
	{"an argument on the stack", /* push %rsi; add $8, %rsp; ret */
	 {0x56, 0x48, 0x83, 0xc4, 0x08, 0xc3},
	 6,
	 0,
	 0,
	 0,
	 RSI,
	 0},
	{"read behind a call", /* call; mov %r11, %rax; ret */
	 {0xe8, 0, 1, 0, 0, 0x4c, 0x89, 0xd8, 0xc3},
	 9,
	 RDI,
	 0,
	 0,
	 RDI | R11,
	 0},
	{"behind one that ends it",
	 {0xe8, 0, 1, 0, 0, 0x4c, 0x89, 0xd8, 0xc3},
	 9,
	 RDI,
	 R11,
	 0,
	 RDI,
	 0},
	{"for the one that is called", /* mov %rdi, %r10; call; ret */
	 {0x49, 0x89, 0xfa, 0xe8, 0, 1, 0, 0, 0xc3},
	 9,
	 R10,
	 0,
	 0,
	 RDI,
	 0},
	{"for one that does not want it",
	 {0x49, 0x89, 0xfa, 0xe8, 0, 1, 0, 0, 0xc3},
	 9,
	 0,
	 0,
	 0,
	 RDI,
	 R10},
	{"by a jump", {0x49, 0x89, 0xfa, 0xe9, 0, 1, 0, 0}, 8, R10 | R9, 0, R11, R9 | RDI, 0},
	{"where it goes itself", {0x41, 0xff, 0xe3}, 3, 0, 0, 0, R11, 0}, /* jmp *%r11 */
	{"round a loop", /* 1: dec %r10; jne 1b; ret */
	 {0x49, 0xff, 0xca, 0x75, 0xfb, 0xc3},
	 6,
	 0,
	 0,
	 0,
	 R10,
	 0},
	{"for its flags", {0x49, 0xf7, 0xdb, 0x72, 0x00, 0xc3}, 6, 0, 0, 0, R11, 0}, /* neg %r11; jb
										      */
	{"not for its flags", {0x49, 0xf7, 0xdb, 0xc3}, 4, 0, 0, 0, R11, R11},
	{"a lowest byte that was set", /* sete %r10b; movzbl %r10b, %eax; ret */
	 {0x41, 0x0f, 0x94, 0xc2, 0x41, 0x0f, 0xb6, 0xc2, 0xc3},
	 9,
	 0,
	 0,
	 0,
	 0,
	 0},
};

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		const struct example *example = &examples[i];
		struct reg_summary_ends ends = {.uses = &example->uses,
						.ends = &example->ends,
						.live_after = example->live_after};
		struct reg_summary_flow flow;
		bool grown = false;
		struct cfg *cfg;
		uint16_t in;

		assert_int_equal(cfg_create_from_code(&cfg, &insn_x86_decoder, example->code,
						      example->bytes, 0x1000, NULL),
				 0);
		assert_true(cfg->call_count <= 1);
		assert_int_equal(reg_summary_flow_make(&flow, cfg), 0);
		in = reg_summary_flow_solve(&flow, &ends, &grown);
		if (in != example->in || reg_summary_flow_outgoing(&flow, &ends) != example->given)
			fail_msg("%s: %#x in, %#x given", example->what, in,
				 reg_summary_flow_outgoing(&flow, &ends));
		assert_int_equal(grown, in != 0);
		grown = false;
		assert_int_equal(reg_summary_flow_solve(&flow, &ends, &grown), in);
		assert_false(grown);
		reg_summary_flow_reset(&flow);
		assert_int_equal(reg_summary_flow_begin(&flow, 0), 0);
		reg_summary_flow_deinit(&flow);
		cfg_destroy(cfg);
	}
}

static void see_call(void *context, uint32_t call, uint16_t live)
{
	uint16_t *seen = context;

	seen[call] = live;
}

/* call; mov %r11, %rdi; call; mov %r10, %rax; ret: registers that are used after each call */
static void test_visit(void **state)
{
	static const uint8_t code[] = {0xe8, 0, 1, 0, 0,    0x4c, 0x89, 0xdf, 0xe8,
				       0,    1, 0, 0, 0x4c, 0x89, 0xd0, 0xc3};
	const uint16_t uses[2] = {0, RDI}, over[2] = {0, R10};
	struct reg_summary_ends ends = {.uses = uses, .live_after = R9};
	struct reg_summary_flow flow;
	uint16_t seen[2] = {0};
	struct cfg *cfg;

	(void)state;
	assert_int_equal(
		cfg_create_from_code(&cfg, &insn_x86_decoder, code, sizeof(code), 0x1000, NULL), 0);
	assert_int_equal(reg_summary_flow_make(&flow, cfg), 0);
	assert_int_equal(reg_summary_flow_reads(&flow), 0);
	assert_int_equal(reg_summary_flow_solve(&flow, &ends, NULL), R9 | R10 | R11);
	reg_summary_flow_visit(&flow, &ends, see_call, seen);
	assert_int_equal(seen[0], R9 | R10 | R11);
	assert_int_equal(seen[1], R9 | R10);
	reg_summary_flow_reset(&flow);
	ends.ends = over;
	assert_int_equal(reg_summary_flow_solve(&flow, &ends, NULL), R9 | R11);
	reg_summary_flow_visit(&flow, &ends, see_call, seen);
	assert_int_equal(seen[0], R9 | R11);
	assert_int_equal(seen[1], R9 | R10);
	reg_summary_flow_deinit(&flow);
	cfg_destroy(cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_visit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
