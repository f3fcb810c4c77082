// SPDX-License-Identifier: GPL-2.0-only
/* Interpreted instructions that few machines have, or that random tests rarely reach. */
#include "tests/lib/unit.h"

#include <stdint.h>
#include <string.h>

#include "kmod/core/interpret.h"

#define CODE 0x10000000ULL
#define DATA 0x20000000ULL
#define FLAG_RF 0x10000ULL

enum {
	RAX = 0,
	RSP = 4
};

struct scene {
	uint8_t code[64];
	uint64_t data[16];
};

static bool scene_read(void *context, u64 address, void *to, size_t bytes)
{
	const struct scene *scene = context;

	if (address - CODE <= sizeof(scene->code) - bytes) {
		memcpy(to, scene->code + (address - CODE), bytes);
		return true;
	}
	if (address - DATA > sizeof(scene->data) - bytes)
		return false;
	memcpy(to, (const uint8_t *)scene->data + (address - DATA), bytes);
	return true;
}

/* Return a state in which all registers are known and contain DATA. */
static struct interpret_state all_known(void)
{
	struct interpret_state state = {.pc = CODE, .flags = 2, .flags_known = ~0ULL, .known = ~0U};
	size_t i;

	for (i = 0; i < sizeof(state.reg) / sizeof(state.reg[0]); i++)
		state.reg[i] = DATA;
	return state;
}

static enum interpret_end arm64_run(uint32_t first, uint32_t second)
{
	const uint32_t code[] = {first, second, 0};
	struct interpret_state state = all_known();
	struct interpret_edge edge;
	struct scene scene = {{0}, {0}};

	memcpy(scene.code, code, sizeof(code));
	return interpret_arm64(&state, scene_read, &scene, &edge);
}

static void test_rdrand_sets_flags(void **state)
{
	const uint32_t branch_equal = 0x54000040;

	(void)state;
	/* mrs x0, cntvct_el0; rndr; rndrrs */
	assert_int_equal(arm64_run(0xd53be040, branch_equal), INTERPRET_EDGE);
	assert_int_equal(arm64_run(0xd53b2400, branch_equal), INTERPRET_UNKNOWN);
	assert_int_equal(arm64_run(0xd53b2420, branch_equal), INTERPRET_UNKNOWN);
}

static void test_chkfeat_changes_x16(void **state)
{
	const uint32_t branch_zero_x16 = 0xb4000050, branch_zero_x17 = 0xb4000051;

	(void)state;
	/* hint #41; chkfeat x16 */
	assert_int_equal(arm64_run(0xd503253f, branch_zero_x16), INTERPRET_EDGE);
	assert_int_equal(arm64_run(0xd503251f, branch_zero_x16), INTERPRET_UNKNOWN);
	assert_int_equal(arm64_run(0xd503251f, branch_zero_x17), INTERPRET_EDGE);
}

static void test_xadd_stores_to_loaded_address(void **state)
{
	/* xadd %rax, (%rax); mov (%rbx), %rcx; jmp *%rcx */
	struct scene scene = {{0x48, 0x0f, 0xc1, 0x00, 0x48, 0x8b, 0x0b, 0xff, 0xe1}, {8}};
	struct interpret_state registers = all_known();
	struct interpret_edge edge;

	(void)state;
	assert_int_equal(interpret_x86_64(&registers, scene_read, &scene, &edge), INTERPRET_EDGE);
	assert_int_equal(edge.to, DATA + 8);
	assert_int_equal(registers.reg[RAX], 8);
}

static void test_pushed_flags_have_no_resume_flag(void **state)
{
	/* pushf; pop %rcx; jmp *%rcx */
	struct scene scene = {{0x9c, 0x59, 0xff, 0xe1}, {0}};
	struct interpret_state registers = all_known();
	struct interpret_edge edge;

	(void)state;
	registers.reg[RSP] = DATA + 64;
	registers.flags = FLAG_RF | 0x246;
	assert_int_equal(interpret_x86_64(&registers, scene_read, &scene, &edge), INTERPRET_EDGE);
	assert_int_equal(edge.to, 0x246);
}

/* Run an EVEX instruction, then jmp *%rax. */
static enum interpret_end evex_run(uint8_t map, uint8_t prefix, uint8_t opcode)
{
	struct scene scene = {
		{0x62, (uint8_t)(0xf0 | map), (uint8_t)(0x7c | prefix), 0x08, opcode, 0xc0}, {0}};
	struct interpret_state registers = all_known();
	struct interpret_edge edge;
	size_t length = map == 3 ? 7 : 6;

	scene.code[length] = 0xff;
	scene.code[length + 1] = 0xe0;
	return interpret_x86_64(&registers, scene_read, &scene, &edge);
}

static void test_refuses_unknown_evex(void **state)
{
	static const struct {
		uint8_t map, prefix, opcode;
		enum interpret_end end;
	} cases[] = {
		{5, 0, 0x58, INTERPRET_EDGE},	 /* vaddph */
		{5, 2, 0x2c, INTERPRET_UNKNOWN}, /* vcvttsh2si */
		{5, 1, 0x7e, INTERPRET_UNKNOWN}, /* vmovw */
		/* AVX10.2: vcvttss2usis, vcvttss2sis, vcvttsd2usis, vcvttsd2sis */
		{5, 2, 0x6c, INTERPRET_UNSUPPORTED},
		{5, 2, 0x6d, INTERPRET_UNSUPPORTED},
		{5, 3, 0x6c, INTERPRET_UNSUPPORTED},
		{5, 3, 0x6d, INTERPRET_UNSUPPORTED},
		{6, 1, 0x98, INTERPRET_EDGE}, /* vfmadd132ph */
		{6, 1, 0x80, INTERPRET_UNSUPPORTED},
		{3, 1, 0x25, INTERPRET_EDGE},	 /* vpternlogd */
		{3, 1, 0x16, INTERPRET_UNKNOWN}, /* vpextrd */
		{3, 1, 0x80, INTERPRET_UNSUPPORTED},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(evex_run(cases[i].map, cases[i].prefix, cases[i].opcode),
				 cases[i].end);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rdrand_sets_flags),
		cmocka_unit_test(test_chkfeat_changes_x16),
		cmocka_unit_test(test_xadd_stores_to_loaded_address),
		cmocka_unit_test(test_pushed_flags_have_no_resume_flag),
		cmocka_unit_test(test_refuses_unknown_evex),
	};

	return cmocka_run_group_tests_name("interpret_cases", tests, NULL, NULL);
}
