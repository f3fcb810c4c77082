// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edges of the perf source: samples are made of real programs' registers, the
 * edges found in them are those that the programs then take.
 */
#include "tests/unit.h"

#include <sched.h>
#include <unistd.h>

#include "daemon/perf_branch.h"
#include "daemon/perf_slot.h"
#include "daemon/source.h"
#include "tests/x86_program.h"
#include "tests/x86_tracee.h"

enum {
	STOPS = 200,
	STEPS_MAX = INTERPRET_STEPS_MAX,
	REGISTERS = 18
};

struct record {
	struct perf_sample sample;
	uint64_t abi;
	uint64_t registers[REGISTERS];
};

struct tally {
	struct perf_branch branch;
	uint32_t visits, wrong;
};

/* In the order of perf's numbers: see asm/perf_regs.h. */
static struct record record_of(pid_t pid, const struct user_regs_struct *regs)
{
	struct record record = {
		.sample = {.header = {.size = sizeof(record)},
			   .pc = regs->rip,
			   .pid = (uint32_t)pid},
		.abi = PERF_SAMPLE_REGS_ABI_64,
		.registers = {regs->rax, regs->rbx, regs->rcx, regs->rdx, regs->rsi, regs->rdi,
			      regs->rbp, regs->rsp, regs->rip, regs->eflags, regs->r8, regs->r9,
			      regs->r10, regs->r11, regs->r12, regs->r13, regs->r14, regs->r15},
	};

	return record;
}

/* Does the program come to the branch, and go there? */
static bool takes(pid_t pid, struct user_regs_struct *regs, uint64_t from, uint64_t to)
{
	int i;

	for (i = 0; i < STEPS_MAX && regs->rip != from; i++) {
		if (!x86_program_step(pid, regs))
			return false;
	}
	return regs->rip == from && x86_program_step(pid, regs) && regs->rip == to;
}

static bool visit(void *context, pid_t pid, const struct user_regs_struct *stopped)
{
	struct tally *tally = context;
	struct user_regs_struct regs = *stopped;
	struct record record = record_of(pid, stopped);
	uint64_t from, to;

	tally->visits++;
	if (perf_branch_find(&tally->branch, &record.sample, &from, &to) &&
	    !takes(pid, &regs, from, to))
		tally->wrong++;
	return true;
}

static void edges_are_taken(void **state)
{
	const struct x86_program *program;
	struct tally tally = {0};

	(void)state;
	for (program = x86_programs; program->name != NULL; program++) {
		perf_branch_refresh(&tally.branch);
		x86_program_run(program, STOPS, visit, &tally);
	}
	perf_branch_deinit(&tally.branch);
	if (tally.visits == 0) {
		print_message("nothing can be traced here\n");
		skip();
	}
	print_message("%u samples, %u edges, %u wrong\n", tally.visits,
		      (unsigned int)tally.branch.edges, tally.wrong);
	assert_int_equal(tally.branch.tried, tally.visits);
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.branch.edges * 5 >= tally.branch.tried);
}

/* Records that are short, or of a 32-bit program, give nothing. */
static void refuses_what_is_not_there(void **state)
{
	static const struct user_regs_struct regs = {.rip = 1};
	struct perf_branch branch = {0};
	struct record record = record_of(1, &regs);
	uint64_t from = 7, to = 7;
	size_t size;

	(void)state;
	for (size = 0; size < sizeof(record); size += 8) {
		record.sample.header.size = (uint16_t)size;
		assert_false(perf_branch_find(&branch, &record.sample, &from, &to));
	}
	record.sample.header.size = sizeof(record);
	record.abi = PERF_SAMPLE_REGS_ABI_32;
	assert_false(perf_branch_find(&branch, &record.sample, &from, &to));
	record.abi = PERF_SAMPLE_REGS_ABI_NONE;
	assert_false(perf_branch_find(&branch, &record.sample, &from, &to));
	assert_int_equal(branch.tried, 0);
	assert_int_equal(from, 7);
	perf_branch_deinit(&branch);
}

/* A register that branches on what is on the stack is not asked. */
static void reads_no_stack(void **state)
{
	static const uint8_t code[] = {0x58, 0x85, 0xc0, 0x75, 0x00}; /* pop; test; jne */
	struct user_regs_struct regs = {.rip = (uintptr_t)code};
	uint64_t stack[2] = {1, 1}, from, to;
	struct perf_branch branch = {0};
	struct record record;

	(void)state;
	regs.rsp = (uintptr_t)stack;
	record = record_of(getpid(), &regs);
	assert_false(perf_branch_find(&branch, &record.sample, &from, &to));
	regs.rip++; /* without the pop it is known */
	record = record_of(getpid(), &regs);
	assert_true(perf_branch_find(&branch, &record.sample, &from, &to));
	assert_int_equal(from, (uintptr_t)code + 3);
	assert_int_equal(to, (uintptr_t)code + 5);
	perf_branch_deinit(&branch);
}

static void sample_take(void *context, const struct perf_sample *sample)
{
	uint64_t from, to;

	if (sample->pid == (uint32_t)getpid())
		perf_branch_find(context, sample, &from, &to);
}

/* What perf itself delivers is laid out as we think. */
static void samples_bring_registers(void **state)
{
	static const struct source_event event = {.type = PERF_TYPE_SOFTWARE,
						  .config = PERF_COUNT_SW_CPU_CLOCK,
						  .period_min = 500000,
						  .period_max = 500000};
	struct perf_slot_config config = {.event = &event, .user_only = true};
	struct perf_branch branch = {0};
	struct perf_slot slot = {0};
	volatile uint64_t sum = 0;
	cpu_set_t here;
	uint64_t i;

	(void)state;
	CPU_ZERO(&here);
	CPU_SET(config.cpu, &here);
	config.registers = perf_branch_registers();
	if (sched_setaffinity(0, sizeof(here), &here) < 0 ||
	    perf_slot_open(&slot, &config, NULL) < 0) {
		print_message("perf cannot be used here\n");
		skip();
	}
	perf_slot_enable(&slot);
	for (i = 0; i < 100000000 && branch.edges < 10; i++) {
		sum += i & 3;
		if (i % 1000000 == 0)
			perf_slot_drain(&slot, UINT64_MAX, sample_take, &branch);
	}
	perf_slot_close(&slot);
	perf_branch_deinit(&branch);
	assert_true(branch.edges >= 10);
	assert_true(branch.edges * 2 > branch.tried);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_are_taken),
		cmocka_unit_test(refuses_what_is_not_there),
		cmocka_unit_test(reads_no_stack),
		cmocka_unit_test(samples_bring_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
