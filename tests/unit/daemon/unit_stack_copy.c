// SPDX-License-Identifier: GPL-2.0-only
/* Copies of stacks from BPF programs: reading them, and refusing malformed ones. */
#include "tests/lib/unit.h"

#include "daemon/source/bpf/stack_copy.h"
#include "daemon/source/source_stack.h"
#include "daemon/source/stack_copy_read.h"
#include "kmod/uapi/dcpi_uapi.h"

#define HEAD offsetof(struct stack_copy_record, stack)

static struct stack_copy_record copy;

static int setup(void **state)
{
	(void)state;
	copy = (struct stack_copy_record){
		.pid = 17, .generation = 3, .kernel_count = 2, .stack_bytes = 100, .is_user = 1};
#if defined(__x86_64__)
	copy.words[17] = 0x33;
#endif
	copy.words[STACK_COPY_SP] = 0x7000;
	return 0;
}

static void a_copy_is_a_stack(void **state)
{
	struct source_stack stack;

	(void)state;
	assert_true(stack_copy_read(&stack, &copy, HEAD + 100));
	assert_int_equal(dcpi_tag_pid(stack.tag), 17);
	assert_int_equal(stack.kernel_count, 2);
	assert_ptr_equal(stack.kernel, copy.kernel);
	assert_ptr_equal(stack.stack, copy.stack);
	assert_int_equal(stack.stack_bytes, 100);
	assert_int_equal(stack.registers.reg[unwind_machine_here()->sp], 0x7000);
	assert_false(stack.is_off_cpu);
}

static void threads_of_the_kernel_have_no_user_stack(void **state)
{
	struct source_stack stack;

	(void)state;
	copy.is_user = 0;
	copy.stack_bytes = 0;
	assert_true(stack_copy_read(&stack, &copy, HEAD));
	assert_false(stack.user_allowed);
	assert_int_equal(stack.registers.known, 0);
	assert_int_equal(stack.stack_bytes, 0);
}

static void wrong_lengths_are_refused(void **state)
{
	struct source_stack stack;

	(void)state;
	assert_false(stack_copy_read(&stack, &copy, HEAD + 99));
	assert_false(stack_copy_read(&stack, &copy, HEAD - 1));
	assert_false(stack_copy_read(&stack, &copy, 0));
	copy.stack_bytes = sizeof(copy.stack) + 1;
	assert_false(stack_copy_read(&stack, &copy, SIZE_MAX));
	copy.stack_bytes = 0;
	copy.kernel_count = STACK_COPY_KERNEL + 1;
	assert_false(stack_copy_read(&stack, &copy, HEAD));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_copy_is_a_stack, setup),
		cmocka_unit_test_setup(threads_of_the_kernel_have_no_user_stack, setup),
		cmocka_unit_test_setup(wrong_lengths_are_refused, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
