// SPDX-License-Identifier: GPL-2.0-only
/* Runs of branch records: their contents and weights, and records that form no run. */
#include "tests/lib/unit.h"

#include <linux/perf_event.h>
#include <math.h>

#include "daemon/import/branch_stack.h"

#define PERIOD 1000
#define STACK_MAX (3 * (BRANCH_RUNS_MAX + 50))

/* struct stack - the last branch first */
struct stack {
	uint64_t words[STACK_MAX];
	size_t count;
	struct branch_run runs[BRANCH_RUNS_MAX];
	struct branch_stack_faults faults;
};

static const struct perfdata_event cycles = {.unit = "cycles"};
static const struct perfdata_event branches = {.unit = "events"};

static void add(struct stack *stack, uint64_t from, uint64_t to, uint64_t flags)
{
	stack->words[stack->count++] = from;
	stack->words[stack->count++] = to;
	stack->words[stack->count++] = flags;
}

static size_t runs(struct stack *stack, const struct perfdata_event *event)
{
	const struct perfdata_words words = {(const uint8_t *)stack->words, stack->count};

	return branch_stack_runs(stack->runs, &words, event, PERIOD, &stack->faults);
}

static uint64_t took(uint64_t cycle_count)
{
	return cycle_count << 4;
}

/* The oldest record has no run of its own. */
static void test_runs(void **state)
{
	struct stack stack = {.count = 0};

	(void)state;
	add(&stack, 0x130, 0x100, took(7));
	add(&stack, 0x218, 0x120, took(5));
	add(&stack, 0x110, 0x200, took(9));
	assert_int_equal(runs(&stack, &cycles), 2);
	assert_int_equal(stack.runs[0].start, 0x120);
	assert_int_equal(stack.runs[0].end, 0x130);
	assert_int_equal(stack.runs[0].target, 0x100);
	assert_int_equal(stack.runs[0].cycles, 7);
	assert_int_equal(stack.runs[1].start, 0x200);
	assert_int_equal(stack.runs[1].end, 0x218);
	assert_int_equal(stack.runs[1].cycles, 5);
	assert_int_equal(stack.faults.invalid + stack.faults.speculative, 0);
}

/* A loop whose iterations take 10 cycles: 100 executions in a period of 1000 cycles. */
static void test_weights(void **state)
{
	struct stack stack = {.count = 0};
	double sum = 0;

	(void)state;
	for (int i = 0; i < 32; i++)
		add(&stack, 0x110, 0x100, took(10));
	assert_int_equal(runs(&stack, &cycles), 31);
	for (int i = 0; i < 31; i++)
		sum += stack.runs[i].weight;
	assert_true(fabs(sum - 100) < 1e-9);
	/* A stack of an event that counts branches represents its period of branches. */
	assert_int_equal(runs(&stack, &branches), 31);
	assert_true(fabs(stack.runs[0].weight - PERIOD / 31.0) < 1e-9);
}

/* A run that takes long changes the weights of the others, and not its own. */
static void test_weight_of_slow_run(void **state)
{
	struct stack stack = {.count = 0};

	(void)state;
	for (int i = 0; i < 32; i++)
		add(&stack, 0x110, 0x100, took(i == 10 ? 1000 : 10));
	runs(&stack, &cycles);
	assert_true(fabs(stack.runs[10].weight - 100 / 31.0) < 1e-9);
	assert_true(stack.runs[20].weight < 1);
	/* The run before leads to it. */
	assert_true(fabs(stack.runs[11].weight - 100 / 31.0) < 1e-9);
}

static void test_no_cycles(void **state)
{
	struct stack stack = {.count = 0};

	(void)state;
	for (int i = 0; i < 16; i++)
		add(&stack, 0x110, 0x100, 0);
	assert_int_equal(runs(&stack, &cycles), 15);
	assert_true(stack.runs[3].weight == 0);
}

/* Branches that never retired are as if they had not been recorded. */
static void test_wrong_path(void **state)
{
	struct stack stack = {.count = 0};

	(void)state;
	add(&stack, 0x130, 0x100, 0);
	add(&stack, 0x999, 0x900, UINT64_C(1) << 24);
	add(&stack, 0x110, 0x120, UINT64_C(3) << 24);
	assert_int_equal(runs(&stack, &cycles), 1);
	assert_int_equal(stack.runs[0].start, 0x120);
	assert_int_equal(stack.runs[0].end, 0x130);
	assert_int_equal(stack.faults.speculative, 1);
}

static void test_no_runs(void **state)
{
	struct stack stack = {.count = 0};

	(void)state;
	add(&stack, 0x100, 0x500, 0); /* before the target of the branch before */
	add(&stack, 0x10, 0x300, 0);  /* withheld by the kernel */
	add(&stack, 0x400, 0, 0);
	add(&stack, 0x400, 0x500, 8); /* aborted transaction */
	add(&stack, 0x110, 0x300, 0);
	add(&stack, 0xffffffff81000000, 0x110, 0); /* from user space into the kernel: no code */
	add(&stack, 0x110, 0x200, 0);
	assert_int_equal(runs(&stack, &cycles), 1);
	assert_int_equal(stack.runs[0].end, 0x110);
	assert_int_equal(stack.faults.invalid, 2);
	stack.count = 0;
	assert_int_equal(runs(&stack, &cycles), 0);
	add(&stack, 0x110, 0x100, 0);
	assert_int_equal(runs(&stack, &cycles), 0);
}

static void test_many(void **state)
{
	struct stack stack = {.count = 0};

	(void)state;
	while (stack.count < STACK_MAX)
		add(&stack, 0x110, 0x100, took(1));
	assert_int_equal(runs(&stack, &cycles), BRANCH_RUNS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_weight_of_slow_run),
		cmocka_unit_test(test_no_cycles),
		cmocka_unit_test(test_wrong_path),
		cmocka_unit_test(test_no_runs),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
