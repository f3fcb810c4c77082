// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk over frames, at each instruction of a process that is executed step by step.
 *
 * The truth is a list of return addresses that calls put on the stack: it does not depend on call
 * frame information. An entry ends when the stack pointer is above its slot, so it is valid for
 * returns and long jumps.
 */
#include "tests/lib/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/unwind/unwind_build.h"
#include "daemon/unwind/unwind_step.h"
#include "lib/cleanup.h"
#include "tests/fixtures/unwind_target.h"

#define IMAGES_MAX 64
#define FRAMES_MAX (UNWIND_FRAMES_MAX + 16)
/* Where a frame on the stack has this many callers, only some instructions are checked. */
#define DEEP 40
#define DEEP_STRIDE 97

struct image {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	char path[256];
	struct unwind_table *table;
};

/* struct called - a call; @slot: of the return address; @exact: a signal interrupted that PC */
struct called {
	uint64_t slot;
	uint64_t pc;
	bool exact;
};

struct process {
	pid_t pid;
	struct image images[IMAGES_MAX];
	size_t image_count;
	struct called calls[FRAMES_MAX];
	size_t call_count;
	uint64_t base[FRAMES_MAX];
	size_t base_count;
	uint64_t found[FRAMES_MAX];
	size_t found_count;
	uint64_t ends[UNWIND_ENDS];
	uint64_t wrong;
	uint64_t deepest;
};

static bool memory_get(const struct process *process, uint64_t address, void *to, size_t bytes)
{
	struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)address, bytes};

	return process_vm_readv(process->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

static enum unwind_end word_read(void *context, uint64_t address, uint64_t *ret)
{
	return memory_get(context, address, ret, sizeof(*ret)) ? UNWIND_END_COMPLETE
							       : UNWIND_END_UNREADABLE;
}

static enum unwind_where rule_find(void *context, uint64_t pc, const struct unwind_rule **ret)
{
	struct process *process = context;

	assert_true(process->found_count < FRAMES_MAX);
	process->found[process->found_count++] = pc;
	for (size_t i = 0; i < process->image_count; i++) {
		const struct image *image = &process->images[i];

		if (pc < image->start || pc >= image->end)
			continue;
		if (image->table == NULL)
			return UNWIND_WHERE_NO_TABLE;
		*ret = unwind_table_find(image->table, pc - image->start + image->offset);
		return UNWIND_WHERE_RULE;
	}
	return UNWIND_WHERE_NO_IMAGE;
}

static void image_add(struct process *process, const char *line)
{
	struct image *image = &process->images[process->image_count];
	struct unwind_file file;
	char mode[8];

	if (process->image_count == IMAGES_MAX ||
	    sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &image->start, &image->end, mode,
		   &image->offset, image->path) != 5 ||
	    mode[2] != 'x' || image->path[0] != '/')
		return;
	file = (struct unwind_file){.fd = open(image->path, O_RDONLY | O_CLOEXEC)};
	unwind_build(&image->table, &file);
	close(file.fd);
	process->image_count++;
}

static void images_read(struct process *process)
{
	_cleanup_free_ char *line = NULL;
	size_t capacity = 0;
	char path[64];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", process->pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (getline(&line, &capacity, maps) > 0)
		image_add(process, line);
	fclose(maps);
}

/* By DWARF number. */
static struct unwind_registers registers_of(const struct user_regs_struct *regs)
{
	return (struct unwind_registers){
		.pc = regs->rip,
		.reg = {regs->rax, regs->rdx, regs->rcx, regs->rbx, regs->rsi, regs->rdi, regs->rbp,
			regs->rsp, regs->r8, regs->r9, regs->r10, regs->r11, regs->r12, regs->r13,
			regs->r14, regs->r15},
		.known = 0xffff,
	};
}

static enum unwind_end walk(struct process *process, const struct user_regs_struct *regs)
{
	struct unwind_registers registers = registers_of(regs);
	struct unwind_walk walk = {
		.machine = &unwind_machine_x86_64,
		.memory = {word_read, process},
		.find = rule_find,
		.context = process,
	};

	process->found_count = 0;
	return unwind_walk(&walk, &registers);
}

static bool is_same(const struct process *process, uint64_t pc)
{
	size_t at = 0;

	if (process->found_count != 1 + process->call_count + process->base_count ||
	    process->found[at++] != pc)
		return false;
	for (size_t i = process->call_count; i-- > 0;) {
		const struct called *called = &process->calls[i];

		if (process->found[at++] != called->pc - !called->exact)
			return false;
	}
	return memcmp(&process->found[at], process->base,
		      process->base_count * sizeof(*process->base)) == 0;
}

static void instruction_check(struct process *process, const struct user_regs_struct *regs)
{
	enum unwind_end end = walk(process, regs);

	process->ends[end]++;
	if (end == UNWIND_END_COMPLETE && !is_same(process, regs->rip) && process->wrong++ < 5)
		print_message("wrong at %#llx: %zu frames, %zu calls\n", regs->rip,
			      process->found_count, process->call_count);
	if (end != UNWIND_END_COMPLETE && process->ends[end] <= 3)
		print_message("%s at %#llx, frame %zu at %#lx\n", unwind_end_name(end, false),
			      regs->rip, process->found_count,
			      process->found[process->found_count - 1]);
}

/* Return true for call instructions: E8, or FF with /2, after prefixes. */
static bool is_call(const struct process *process, uint64_t pc)
{
	uint8_t code[16] = {0};
	size_t i = 0;

	memory_get(process, pc, code, sizeof(code));
	while (i < 4 && (code[i] == 0xf2 || code[i] == 0x3e || code[i] == 0x66 || code[i] == 0x67 ||
			 (code[i] & 0xf0) == 0x40))
		i++;
	return code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2);
}

static void call_add(struct process *process, uint64_t slot, uint64_t pc, bool exact)
{
	assert_true(process->call_count < FRAMES_MAX);
	process->calls[process->call_count++] = (struct called){slot, pc, exact};
	if (process->call_count > process->deepest)
		process->deepest = process->call_count;
}

static void calls_end(struct process *process, uint64_t sp)
{
	while (process->call_count > 0 && process->calls[process->call_count - 1].slot < sp)
		process->call_count--;
}

static void registers_get(const struct process *process, struct user_regs_struct *regs)
{
	assert_int_equal(ptrace(PTRACE_GETREGS, process->pid, NULL, regs), 0);
}

/* Execute an instruction. Return: the signal that stopped the process; 0: it ended. */
static int step(const struct process *process, int signal)
{
	int status;

	assert_int_equal(ptrace(PTRACE_SINGLESTEP, process->pid, NULL, (void *)(long)signal), 0);
	assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
	return WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
}

/* The handler is about to begin: the kernel has put a frame on the stack. */
static void signal_enter(struct process *process, const struct user_regs_struct *before,
			 const struct user_regs_struct *now)
{
	uint64_t restorer = 0;

	assert_true(memory_get(process, now->rsp, &restorer, sizeof(restorer)));
	/* The frame ends when its saved registers do. */
	call_add(process, now->rsp + 200, before->rip, true);
	call_add(process, now->rsp, restorer, false);
}

static void call_note(struct process *process, const struct user_regs_struct *before,
		      const struct user_regs_struct *now)
{
	uint64_t pc = 0;

	if (now->rsp != before->rsp - 8 || !is_call(process, before->rip))
		return;
	assert_true(memory_get(process, now->rsp, &pc, sizeof(pc)));
	call_add(process, now->rsp, pc, false);
}

/* Return: false at the breakpoint that ends the target. */
static bool instruction_step(struct process *process, struct user_regs_struct *regs,
			     uint64_t *steps)
{
	struct user_regs_struct before = *regs;
	int stop = step(process, 0);

	if (stop == SIGUSR1) {
		registers_get(process, &before);
		calls_end(process, before.rsp);
		call_note(process, regs, &before);
		assert_int_equal(step(process, SIGUSR1), SIGTRAP);
		registers_get(process, regs);
		signal_enter(process, &before, regs);
	} else {
		assert_int_equal(stop, SIGTRAP);
		registers_get(process, regs);
		if (regs->rip == before.rip + 1 && *steps > 100) {
			uint8_t code = 0;

			memory_get(process, before.rip, &code, 1);
			if (code == 0xcc)
				return false;
		}
		calls_end(process, regs->rsp);
		call_note(process, &before, regs);
	}
	if (process->call_count < DEEP || *steps % DEEP_STRIDE == 0)
		instruction_check(process, regs);
	(*steps)++;
	return true;
}

static void target_start(struct process *process)
{
	int status;

	process->pid = fork();
	if (process->pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		unwind_target_run();
		_exit(0);
	}
	assert_true(process->pid > 0);
	assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
}

static void every_instruction_is_unwound(void **state)
{
	struct process *process = calloc(1, sizeof(*process));
	struct user_regs_struct regs;
	uint64_t steps = 0, checked = 0;

	(void)state;
	assert_non_null(process);
	target_start(process);
	images_read(process);
	registers_get(process, &regs);
	/* The callers of the target do not change. */
	assert_int_equal(walk(process, &regs), UNWIND_END_COMPLETE);
	assert_true(process->found_count > 5);
	process->base_count = process->found_count - 1;
	memcpy(process->base, process->found + 1, process->base_count * sizeof(*process->base));
	while (instruction_step(process, &regs, &steps))
		;
	kill(process->pid, SIGKILL);
	waitpid(process->pid, NULL, 0);
	for (int i = 0; i < UNWIND_ENDS; i++)
		checked += process->ends[i];
	print_message("%lu instructions, %lu checked, %lu complete, %lu wrong, up to %lu calls\n",
		      steps, checked, process->ends[UNWIND_END_COMPLETE], process->wrong,
		      process->deepest);
	assert_int_equal(process->wrong, 0);
	assert_true(process->deepest >= UNWIND_TARGET_DEPTH);
	/* Some instructions of the C library have no call frame information. */
	assert_true(checked > 1000 && process->ends[UNWIND_END_COMPLETE] * 100 >= checked * 99);
	for (size_t i = 0; i < process->image_count; i++)
		unwind_table_destroy(process->images[i].table);
	free(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_instruction_is_unwound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
