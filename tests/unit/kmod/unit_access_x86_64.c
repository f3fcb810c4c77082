// SPDX-License-Identifier: GPL-2.0-only
/* Addresses of data near a sample: code assembled here, registers chosen by each test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kmod/core/access.h"

#define RAX 0
#define RCX 1
#define RDX 2
#define RBX 3
#define RSP 4
#define RSI 6
#define RDI 7

/* The code is read as data and never executed. NAME_0, NAME_1 ... are its instructions. */
#define LABEL(name) ".globl " #name "\n.hidden " #name "\n" #name ":\n"
#define CODE(name) extern const uint8_t name[]

__asm__(".text\n" LABEL(gather_0) "mov (%rsi,%rcx,4), %eax\n" /* the index */
	LABEL(gather_1) "mov 16(%rdi,%rax,8), %rbx\n"	      /* the element */
	LABEL(gather_2) "add %rbx, %rdx\n" LABEL(gather_3) "add $1, %rcx\n" LABEL(
		gather_4) "jmp gather_0\n");
CODE(gather_0);
CODE(gather_1);
CODE(gather_2);
CODE(gather_3);
CODE(gather_4);

__asm__(LABEL(chase_0) "mov (%rax), %rax\n" LABEL(chase_1) "dec %rcx\n" LABEL(
	chase_2) "jne chase_0\n" LABEL(chase_3) "ret\n");
CODE(chase_0);
CODE(chase_1);

__asm__(LABEL(stream_0) "movups (%rdi), %xmm0\n" LABEL(stream_1) "lea 8(%rdx), %rbx\n" LABEL(
	stream_2) "prefetcht0 256(%rdi)\n" LABEL(stream_3) "add $16, %rdi\n" LABEL(stream_4) "jmp "
											     "strea"
											     "m_"
											     "0\n");
CODE(stream_0);
CODE(stream_1);
CODE(stream_3);
CODE(stream_4);

__asm__(LABEL(mask_0) "mov (%rdi), %rbx\n" LABEL(mask_1) "and $-64, %rdi\n" LABEL(
	mask_2) "mov 8(%rdi), %rdx\n" LABEL(mask_3) "ud2\n");
CODE(mask_0);
CODE(mask_1);
CODE(mask_2);
CODE(mask_3);

/* Data is not readable: its values are unknown. */
static bool read_code(void *context, u64 address, void *to, size_t bytes)
{
	(void)context;
	if (address - (uintptr_t)gather_0 >= 4096)
		return false;
	memcpy(to, (const void *)(uintptr_t)address, bytes);
	return true;
}

/* struct arrivals - control arrives at @to[i] from @from[i] */
struct arrivals {
	const uint8_t *to[4];
	const uint8_t *from[4];
	unsigned int follows;
};

static bool find_before(void *context, u64 pc, u64 *ret)
{
	const struct arrivals *arrivals = context;

	for (int i = 0; i < 4; i++) {
		if (arrivals->to[i] != NULL && (uintptr_t)arrivals->to[i] == pc) {
			*ret = (uintptr_t)arrivals->from[i];
			return true;
		}
	}
	return false;
}

static void count_steps(void *context, u64 from, u64 to)
{
	struct arrivals *arrivals = context;

	assert_int_not_equal(from, to);
	arrivals->follows++;
}

static struct interpret_state state_at(const uint8_t *pc)
{
	struct interpret_state state = {.pc = (uintptr_t)pc, .known = 0xffff};

	for (unsigned int reg = 0; reg < 16; reg++)
		state.reg[reg] = 0x100000 * (reg + 1);
	return state;
}

static struct access_list find(const struct interpret_state *state, struct arrivals *arrivals)
{
	const struct access_input input = {read_code, find_before, count_steps, arrivals};
	struct access_list list;

	access_find_x86_64(state, &input, &list);
	return list;
}

static const struct access *access_at(const struct access_list *list, const uint8_t *pc)
{
	for (u32 i = 0; i < list->count; i++) {
		if (list->item[i].pc == (uintptr_t)pc)
			return &list->item[i];
	}
	return NULL;
}

static void test_sampled_load_has_the_address_of_its_registers(void **unused)
{
	struct interpret_state state = state_at(gather_1);
	struct arrivals arrivals = {.follows = 0};
	struct access_list list = find(&state, &arrivals);
	const struct access *element = access_at(&list, gather_1);

	(void)unused;
	assert_non_null(element);
	assert_ptr_equal(element, &list.item[list.nearest]);
	assert_int_equal(element->address, state.reg[RDI] + 8 * state.reg[RAX] + 16);
	/* The next element depends on an index that is not known. */
	assert_false(element->has_stride);
	assert_int_not_equal(arrivals.follows, 0);
}

static void test_later_load_follows_the_loop_counter(void **unused)
{
	struct interpret_state state = state_at(gather_1);
	struct arrivals arrivals = {.follows = 0};
	struct access_list list = find(&state, &arrivals);
	const struct access *index = access_at(&list, gather_0);

	(void)unused;
	assert_non_null(index);
	assert_int_equal(index->address, state.reg[RSI] + 4 * (state.reg[RCX] + 1));
	assert_true(index->has_stride);
	assert_int_equal(index->stride, 4);
}

static void test_earlier_load_is_found_through_an_addition(void **unused)
{
	struct interpret_state state = state_at(gather_4);
	struct arrivals arrivals = {
		.to = {gather_4, gather_3, gather_2},
		.from = {gather_3, gather_2, gather_1},
	};
	struct access_list list = find(&state, &arrivals);
	const struct access *element = access_at(&list, gather_1);

	(void)unused;
	assert_non_null(element);
	/* The addition and the jump have no operand in memory. */
	assert_ptr_equal(element, &list.item[list.nearest]);
	assert_int_equal(element->address, state.reg[RDI] + 8 * state.reg[RAX] + 16);
}

static void test_earlier_load_over_its_own_base_is_unknown(void **unused)
{
	struct interpret_state state = state_at(chase_1);
	struct arrivals arrivals = {.to = {chase_1}, .from = {chase_0}};
	struct access_list list = find(&state, &arrivals);
	const struct access *next = access_at(&list, chase_0);

	(void)unused;
	/* But the loaded pointer is the address of the next execution. */
	state.flags_known = ~0ULL;
	list = find(&state, &arrivals);
	next = access_at(&list, chase_0);
	assert_non_null(next);
	assert_int_equal(next->address, state.reg[RAX]);
	assert_false(next->has_stride);
}

static void test_unknown_flags_end_the_search(void **unused)
{
	struct interpret_state state = state_at(chase_1 + 3);
	struct arrivals arrivals = {.follows = 0};
	struct access_list list = find(&state, &arrivals);

	(void)unused;
	assert_int_equal(list.count, 0);
	assert_int_equal(list.nearest, ACCESS_MAX);
}

static void test_stream_has_its_stride_and_hints_are_no_data(void **unused)
{
	struct interpret_state state = state_at(stream_1);
	struct arrivals arrivals = {.to = {stream_1}, .from = {stream_0}};
	struct access_list list = find(&state, &arrivals);
	const struct access *load = access_at(&list, stream_0);

	(void)unused;
	assert_int_equal(list.count, 1);
	assert_non_null(load);
	assert_int_equal(load->address, state.reg[RDI]);
	assert_true(load->has_stride);
	assert_int_equal(load->stride, 16);
}

static void test_arrival_over_a_jump(void **unused)
{
	struct interpret_state state = state_at(stream_0);
	struct arrivals arrivals = {
		.to = {stream_0, stream_4},
		.from = {stream_4, stream_3},
	};
	struct access_list list = find(&state, &arrivals);
	const struct access *load = access_at(&list, stream_0);

	(void)unused;
	assert_int_equal(load->address, state.reg[RDI]);
	assert_int_equal(load->stride, 16);
}

static void test_other_operations_are_not_inverted(void **unused)
{
	struct interpret_state state = state_at(mask_3);
	struct arrivals arrivals = {
		.to = {mask_3, mask_2, mask_1},
		.from = {mask_2, mask_1, mask_0},
	};
	struct access_list list = find(&state, &arrivals);

	(void)unused;
	assert_non_null(access_at(&list, mask_2));
	assert_int_equal(access_at(&list, mask_2)->address, state.reg[RDI] + 8);
	assert_null(access_at(&list, mask_0));
}

static void test_unknown_registers_give_no_address(void **unused)
{
	struct interpret_state state = state_at(gather_1);
	struct arrivals arrivals = {.follows = 0};
	struct access_list list;

	(void)unused;
	state.known &= ~(1U << RDI);
	list = find(&state, &arrivals);
	assert_null(access_at(&list, gather_1));
	assert_non_null(access_at(&list, gather_0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sampled_load_has_the_address_of_its_registers),
		cmocka_unit_test(test_later_load_follows_the_loop_counter),
		cmocka_unit_test(test_earlier_load_is_found_through_an_addition),
		cmocka_unit_test(test_earlier_load_over_its_own_base_is_unknown),
		cmocka_unit_test(test_unknown_flags_end_the_search),
		cmocka_unit_test(test_stream_has_its_stride_and_hints_are_no_data),
		cmocka_unit_test(test_arrival_over_a_jump),
		cmocka_unit_test(test_other_operations_are_not_inverted),
		cmocka_unit_test(test_unknown_registers_give_no_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
