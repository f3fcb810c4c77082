// SPDX-License-Identifier: GPL-2.0-only
/* Code of a kernel at different addresses is the same after masking. */
#include "daemon/code/code_mask.h"

#include <string.h>

#include "db/profile.h"
#include "kmod/core/x86_insn.h"
#include "tests/lib/unit.h"

#define IMAGE_BYTES 0x2000000ULL
#define CODE_OFFSET 0x1000ULL
#define CODE_BYTES 256

/* struct code - code under construction, of an image at @image.start */
struct code {
	struct code_mask_image image;
	uint8_t bytes[CODE_BYTES];
	size_t count;
};

static struct code code_at(uint64_t start)
{
	return (struct code){.image = {.start = start, .end = start + IMAGE_BYTES}};
}

static void put(struct code *code, uint64_t value, size_t bytes)
{
	assert_true(code->count + bytes <= CODE_BYTES);
	memcpy(code->bytes + code->count, &value, bytes);
	code->count += bytes;
}

static uint64_t code_next(const struct code *code)
{
	return code->image.start + CODE_OFFSET + code->count;
}

static uint64_t masked_field(const struct code *code, size_t at, size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, code->bytes + at, bytes);
	return value;
}

static void x86_mask(struct code *code)
{
	code_mask_x86(code->bytes, code->count, code->image.start + CODE_OFFSET, &code->image);
}

/* All kinds of operands that depend on the address of the image, of a module, or of the heap. */
static void x86_put_all(struct code *code, uint64_t module, uint64_t heap)
{
	uint64_t start = code->image.start;

	put(code, 0xc7c748, 3); /* mov $in the image,%rdi */
	put(code, start + 0x5678, 4);
	put(code, 0xc5048b48, 4); /* mov table(,%rax,8),%rax */
	put(code, start + 0x1001000, 4);
	put(code, 0xb848, 2); /* movabs $heap,%rax */
	put(code, heap, 8);
	put(code, 0xe8, 1); /* call in the image */
	put(code, start + 0x9000 - code_next(code) - 4, 4);
	put(code, 0xe8, 1); /* call in a module */
	put(code, module - code_next(code) - 4, 4);
	put(code, 0x840f, 2); /* je to a module */
	put(code, module + 64 - code_next(code) - 4, 4);
	put(code, 0x058b4865, 4); /* mov %gs:per-CPU variable(%rip),%rax */
	put(code, 0x1f840 - code_next(code) - 4, 4);
	put(code, 0x05c748, 3); /* movq $in the image,variable of the image(%rip) */
	put(code, start + 0x1800000 - code_next(code) - 8, 4);
	put(code, start + 0x42, 4);
	put(code, 0x0b0f, 2); /* ud2 */
	put(code, 0xc3, 1);   /* ret */
	put(code, 0x06, 1);   /* no instruction of 64-bit mode, then data */
	put(code, start + 0x77, 8);
}

static void test_x86_operands(void **state)
{
	struct code code = code_at(0xffffffff9a000000);

	(void)state;
	x86_put_all(&code, 0xffffffffc0123000, 0xffff888012345678);
	x86_mask(&code);
	assert_int_equal(masked_field(&code, 3, 4), 0x5678);
	assert_int_equal(masked_field(&code, 11, 4), 0x1001000);
	assert_int_equal(masked_field(&code, 17, 8), 0);
	assert_int_equal((uint32_t)masked_field(&code, 26, 4) + CODE_OFFSET + 30, 0x9000);
	assert_int_equal((uint32_t)masked_field(&code, 31, 4) + CODE_OFFSET + 35,
			 PROFILE_CODE_OUTSIDE_X86);
	assert_int_equal((uint32_t)masked_field(&code, 37, 4) + CODE_OFFSET + 41,
			 PROFILE_CODE_OUTSIDE_X86);
	assert_int_equal((uint32_t)masked_field(&code, 45, 4) + CODE_OFFSET + 49, 0x1f840);
	assert_int_equal((uint32_t)masked_field(&code, 52, 4) + CODE_OFFSET + 60, 0x1800000);
	assert_int_equal(masked_field(&code, 56, 4), 0x42);
}

static void test_x86_is_independent_of_addresses(void **state)
{
	uint64_t random = 1;
	struct code first = code_at(0xffffffff81000000);

	(void)state;
	x86_put_all(&first, 0xffffffffc0000000, 0xffff888000000000);
	x86_mask(&first);
	for (int i = 0; i < 200; i++) {
		struct code other =
			code_at(0xffffffff81000000 + unit_random(&random) % 480 * 0x200000);

		x86_put_all(&other, 0xffffffffc0000000 + unit_random(&random) % 4096 * 0x1000,
			    0xffff888000000000 + unit_random(&random) % (1ULL << 45));
		x86_mask(&other);
		assert_memory_equal(first.bytes, other.bytes, first.count);
	}
}

/* Constants that are no addresses, and code that has none, stay as they are. */
static void test_x86_keeps_constants(void **state)
{
	static const uint8_t bytes[] = {
		0x48, 0x83, 0xe4, 0xf0,				   /* and $-16,%rsp */
		0x48, 0xc7, 0xc0, 0xf2, 0xff, 0xff, 0xff,	   /* mov $-14,%rax */
		0x48, 0x2d, 0x00, 0x00, 0x00, 0x80,		   /* sub $-0x80000000,%rax */
		0x48, 0xb8, 1,	  2,	3,    4,    5,	  6, 7, 0, /* movabs */
		0x8b, 0x80, 0x00, 0xf0, 0xff, 0xff,		   /* mov -4096(%rax),%eax */
		0xf3, 0x48, 0xa5,				   /* rep movsq */
		0x0f, 0x01, 0xf8,				   /* swapgs */
		0xc3,
	};
	struct code code = code_at(0xffffffff9a000000);

	(void)state;
	memcpy(code.bytes, bytes, sizeof(bytes));
	code.count = sizeof(bytes);
	x86_mask(&code);
	assert_memory_equal(code.bytes, bytes, sizeof(bytes));
}

/* No address of the image is left in any bytes. */
static void test_x86_random_bytes(void **state)
{
	const uint64_t start = 0xffffffff9a000000;
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct code code = code_at(start);
		uint64_t value;

		while (code.count < 64)
			put(&code, unit_random(&random), 1);
		value = start + unit_random(&random) % IMAGE_BYTES;
		memcpy(code.bytes + unit_random(&random) % 56, &value, sizeof(value));
		x86_mask(&code);
		for (size_t at = 0; at < 56; at++) {
			value = masked_field(&code, at, 8);
			if (value >= start && value < start + IMAGE_BYTES)
				fail_msg("an address is left at %zu", at);
		}
	}
}

static void arm64_mask(struct code *code)
{
	code_mask_arm64(code->bytes, code->count, code->image.start + CODE_OFFSET, &code->image);
}

static uint32_t arm64_distance(uint64_t target, uint64_t pc)
{
	return (uint32_t)((target - pc) >> 2 & 0x3ffffff);
}

static uint32_t arm64_adrp(uint64_t target, uint64_t pc)
{
	uint64_t pages = (target >> 12) - (pc >> 12);

	return 0x90000000U | (uint32_t)(pages & 3) << 29 | (uint32_t)(pages >> 2 & 0x7ffff) << 5;
}

static void arm64_put_all(struct code *code, uint64_t module, uint64_t heap)
{
	uint64_t start = code->image.start;

	put(code, 0x94000000U | arm64_distance(start + 0x9000, code_next(code)), 4); /* bl */
	put(code, 0x94000000U | arm64_distance(module, code_next(code)), 4);
	put(code, arm64_adrp(start + 0x1800000, code_next(code)), 4);
	put(code, arm64_adrp(module, code_next(code)), 4);
	put(code, 0xd2800003U | (uint32_t)(heap & 0xffff) << 5, 4); /* movz x3 */
	put(code, 0xf2a00003U | (uint32_t)(heap >> 16 & 0xffff) << 5, 4);
	put(code, 0xf2c00003U | (uint32_t)(heap >> 32 & 0xffff) << 5, 4);
	put(code, 0xf2e00003U | (uint32_t)(heap >> 48 & 0xffff) << 5, 4);
	put(code, start + 0x77, 8); /* a literal */
	put(code, heap, 8);
	put(code, 0xd65f03c0U, 4); /* ret */
}

static void test_arm64_operands(void **state)
{
	const uint64_t start = 0xffff800010000000;
	struct code code = code_at(start);

	(void)state;
	arm64_put_all(&code, start - 0x4000000, 0xffff000012345678);
	arm64_mask(&code);
	assert_int_equal(masked_field(&code, 0, 4) & 0x3ffffff, (0x9000 - CODE_OFFSET) >> 2);
	assert_int_equal(masked_field(&code, 4, 4) & 0x3ffffff,
			 (PROFILE_CODE_OUTSIDE_ARM64 - CODE_OFFSET - 4) >> 2);
	assert_int_equal(masked_field(&code, 8, 4), arm64_adrp(0x1800000, CODE_OFFSET + 8));
	assert_int_equal(masked_field(&code, 12, 4),
			 arm64_adrp(PROFILE_CODE_OUTSIDE_ARM64, CODE_OFFSET + 12));
	assert_int_equal(masked_field(&code, 16, 4), 0xd2800003);
	assert_int_equal(masked_field(&code, 28, 4), 0xf2e00003);
	assert_int_equal(masked_field(&code, 32, 8), 0x77);
	assert_int_equal(masked_field(&code, 40, 8), 0);
	assert_int_equal(masked_field(&code, 48, 4), 0xd65f03c0);
}

static void test_arm64_is_independent_of_addresses(void **state)
{
	struct code first = code_at(0xffff800010000000);
	uint64_t random = 3;

	(void)state;
	arm64_put_all(&first, first.image.start - 0x4000000, 0xffff000012345678);
	arm64_mask(&first);
	for (int i = 0; i < 200; i++) {
		uint64_t start = 0xffff800010000000 + unit_random(&random) % 30000 * 0x200000;
		struct code other = code_at(start);

		arm64_put_all(&other, start - 0x1000 * (1 + unit_random(&random) % 0x4000),
			      0xffff000000000000 + unit_random(&random) % (1ULL << 40));
		arm64_mask(&other);
		assert_memory_equal(first.bytes, other.bytes, first.count);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_operands),
		cmocka_unit_test(test_x86_is_independent_of_addresses),
		cmocka_unit_test(test_x86_keeps_constants),
		cmocka_unit_test(test_x86_random_bytes),
		cmocka_unit_test(test_arm64_operands),
		cmocka_unit_test(test_arm64_is_independent_of_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
