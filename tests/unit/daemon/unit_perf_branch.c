// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edges of the perf source: samples are made from the registers of real programs, and the predicted
 * edges are those that the programs then take.
 */
#include "tests/lib/unit.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/source/bpf/branch_snapshot.h"
#include "daemon/source/perf_branch.h"
#include "db/profile.h"
#include "daemon/source/perf_registers.h"
#include "daemon/source/perf_slot.h"
#include "daemon/source/source.h"
#include "lib/clock.h"
#include "tests/fixtures/leaderless.h"
#include "tests/fixtures/x86_program.h"
#include "tests/fixtures/x86_tracee.h"

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

/* Touch memory, so that it is resident like executed code. */
static void touch(const void *at)
{
	(void)*(const volatile uint8_t *)at;
}

struct tally {
	struct perf_branch branch, followed;
	uint32_t visits, wrong, ended;
};

/* The edges that follow a record of perf. */
static uint32_t record_follow(struct perf_branch *branch, uint64_t version,
			      const struct perf_sample *sample, struct branch_ahead *ahead)
{
	struct dcpi_snapshot snapshot;
	uint64_t stuck;

	return perf_registers_read(&snapshot, sample)
		       ? perf_branch_follow(branch, version, &snapshot, ahead, &stuck, NULL)
		       : 0;
}

/* In the order of perf's register numbers: see asm/perf_regs.h. */
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

/* Make a snapshot like the BPF program. */
static void snapshot_of(struct branch_snapshot *snapshot, pid_t pid,
			const struct user_regs_struct *regs)
{
	const uint64_t registers[] = {regs->rax, regs->rcx,    regs->rdx, regs->rbx, regs->rsp,
				      regs->rbp, regs->rsi,    regs->rdi, regs->r8,  regs->r9,
				      regs->r10, regs->r11,    regs->r12, regs->r13, regs->r14,
				      regs->r15, regs->fs_base};

	*snapshot = (struct branch_snapshot){.head.pid = (uint32_t)pid,
					     .head.pc = regs->rip,
					     .head.flags = regs->eflags,
					     .head.flags_known = ~UINT64_C(0),
					     .head.known = (1U << 17) - 1};
	memcpy(snapshot->head.registers, registers, sizeof(registers));
	for (uint32_t i = 0; i < 2 * 17 + SNAPSHOT_STACK_PIECES; i++) {
		struct dcpi_piece *piece = &snapshot->piece[snapshot->head.pieces++];
		uint64_t at = i < 34 ? registers[i / 2] + (uint64_t)(i % 2) * DCPI_PIECE_BYTES
				     : regs->rsp + (uint64_t)(i - 32) * DCPI_PIECE_BYTES;
		struct iovec here = {piece->bytes, DCPI_PIECE_BYTES}, there;

		piece->address = (at - SNAPSHOT_BELOW) / DCPI_PIECE_BYTES * DCPI_PIECE_BYTES;
		there = (struct iovec){(void *)(uintptr_t)piece->address, DCPI_PIECE_BYTES};
		if (process_vm_readv(pid, &here, 1, &there, 1, 0) != DCPI_PIECE_BYTES)
			piece->address = 0;
	}
}

/* Outcome of a predicted edge. */
enum outcome {
	TAKEN,
	NOT_TAKEN,
	ENDED, /* the program ended or could not be stepped: unknown */
};

static enum outcome outcome_of(pid_t pid, struct user_regs_struct *regs,
			       const struct interpret_edge *edge)
{
	for (int i = 0; i < STEPS_MAX && regs->rip != edge->from; i++) {
		if (!x86_program_step(pid, regs))
			return ENDED;
	}
	if (regs->rip != edge->from)
		return NOT_TAKEN;
	if (!x86_program_step(pid, regs))
		return ENDED;
	return regs->rip == edge->to ? TAKEN : NOT_TAKEN;
}

/* Check that the program reaches each branch and takes its predicted edge. */
static enum outcome follow(pid_t pid, struct user_regs_struct *regs,
			   const struct interpret_edge *edges, uint32_t count)
{
	unsigned long long start = regs->rip;
	enum outcome outcome = TAKEN;

	for (uint32_t e = 0; e < count && outcome == TAKEN; e++) {
		outcome = outcome_of(pid, regs, &edges[e]);
		if (outcome != TAKEN)
			print_message("from %#llx, edge %u of %u, %#llx to %#llx: at %#llx%s\n",
				      start, e, count, (unsigned long long)edges[e].from,
				      (unsigned long long)edges[e].to,
				      (unsigned long long)regs->rip,
				      outcome == ENDED ? ", ended" : "");
	}
	return outcome;
}

/* Registers alone give the same edges as registers and memory, or fewer. */
static bool visit(void *context, pid_t pid, const struct user_regs_struct *stopped)
{
	struct tally *tally = context;
	struct user_regs_struct regs = *stopped;
	struct record record = record_of(pid, stopped);
	struct branch_ahead ahead, known;
	struct branch_snapshot snapshot;
	uint32_t count, known_count;
	uint64_t stuck;

	tally->visits++;
	snapshot_of(&snapshot, pid, stopped);
	count = perf_branch_follow(&tally->followed, 1, &snapshot.head, &ahead, &stuck, NULL);
	known_count = record_follow(&tally->branch, 1, &record.sample, &known);
	assert_true(known_count <= count);
	for (uint32_t e = 0; e < known_count; e++)
		assert_true(known.near[e].from == ahead.near[e].from &&
			    known.near[e].to == ahead.near[e].to);
	switch (follow(pid, &regs, ahead.near, count)) {
	case TAKEN:
		break;
	case NOT_TAKEN:
		tally->wrong++;
		break;
	case ENDED:
		tally->ended++;
	}
	return true;
}

static void edges_are_taken(void **state)
{
	const struct x86_program *program;
	struct tally tally = {0};

	(void)state;
	for (program = x86_programs; program->name != NULL; program++) {
		perf_branch_refresh(&tally.branch);
		perf_branch_refresh(&tally.followed);
		x86_program_run(program, STOPS, visit, &tally);
	}
	perf_branch_deinit(&tally.branch);
	perf_branch_deinit(&tally.followed);
	if (tally.visits == 0) {
		print_message("nothing can be traced here\n");
		skip();
	}
	print_message("%u samples, %u edges of %u by registers, %u of %u by snapshots, %u wrong\n",
		      tally.visits, (unsigned int)tally.branch.edges,
		      (unsigned int)tally.branch.found, (unsigned int)tally.followed.edges,
		      (unsigned int)tally.followed.found, tally.wrong);
	assert_int_equal(tally.branch.tried, tally.visits);
	assert_int_equal(tally.followed.tried, tally.visits);
	assert_int_equal(tally.wrong, 0);
	assert_true(tally.ended * 100 <= tally.visits);
	assert_true(tally.branch.found * 5 >= tally.branch.tried);
	assert_true(tally.followed.found * 2 >= tally.followed.tried);
	/* 1.30 times as many on average, 0.03 from run to run: programs stop at random */
	assert_true(tally.followed.found * 20 >= tally.branch.found * 23);
	assert_true(tally.followed.edges >= tally.followed.found * 2);
}

/* Records that are short, of a 32-bit program, or of a process that has ended give no edges. */
static void refuses_what_is_not_there(void **state)
{
	static const struct user_regs_struct regs = {.rip = 1};
	struct perf_branch branch = {0};
	struct record record = record_of(1, &regs);
	struct branch_ahead ahead;
	size_t size;

	(void)state;
	for (size = 0; size < sizeof(record); size += 8) {
		record.sample.header.size = (uint16_t)size;
		assert_int_equal(record_follow(&branch, 1, &record.sample, &ahead), 0);
	}
	record.sample.header.size = sizeof(record);
	record.abi = PERF_SAMPLE_REGS_ABI_32;
	assert_int_equal(record_follow(&branch, 1, &record.sample, &ahead), 0);
	record.abi = PERF_SAMPLE_REGS_ABI_NONE;
	assert_int_equal(record_follow(&branch, 1, &record.sample, &ahead), 0);
	assert_int_equal(branch.tried, 0);
	record = record_of(INT32_MAX, &regs);
	assert_int_equal(record_follow(&branch, 1, &record.sample, &ahead), 0);
	perf_branch_deinit(&branch);
}

/* A branch that depends on the stack is not predicted. */
static void reads_no_stack(void **state)
{
	static const uint8_t code[] = {0x58, 0x85, 0xc0, 0x75, 0x00}; /* pop; test; jne */
	struct user_regs_struct regs = {.rip = (uintptr_t)code};
	struct branch_ahead ahead;
	uint64_t stack[2] = {1, 1};
	struct perf_branch branch = {0};
	struct record record;

	(void)state;
	touch(code);
	regs.rsp = (uintptr_t)stack;
	record = record_of(getpid(), &regs);
	assert_int_equal(record_follow(&branch, 1, &record.sample, &ahead), 0);
	regs.rip++; /* without the pop it is known */
	record = record_of(getpid(), &regs);
	assert_true(record_follow(&branch, 1, &record.sample, &ahead) >= 1);
	assert_int_equal(ahead.near[0].from, (uintptr_t)code + 3);
	assert_int_equal(ahead.near[0].to, (uintptr_t)code + 5);
	/* If its PC is marked as exact, the registers are from another place. */
	record.sample.header.misc = PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP;
	assert_int_equal(record_follow(&branch, 1, &record.sample, &ahead), 0);
	perf_branch_deinit(&branch);
}

/* The stack is read from the snapshot, also across two pieces, and not from memory. */
static void snapshots_bring_the_stack(void **state)
{
	static const uint8_t code[] = {0x58, 0x85, 0xc0, 0x75, 0x00}; /* pop; test; jne */
	static const uint64_t addresses[][2] = {{0x10000, 0}, {0x10000, 0x10080}, {0, 0x10080}};
	struct branch_snapshot snapshot = {.head.pid = (uint32_t)getpid(),
					   .head.pc = (uintptr_t)code,
					   .head.known = 1U << 4,
					   .head.registers[4] = 0x1007c,
					   .head.pieces = 2};
	struct branch_ahead ahead;
	struct perf_branch branch = {0};

	(void)state;
	touch(code);
	snapshot.piece[1].bytes[3] = 1; /* of the upper half of the popped value */
	for (size_t i = 0; i < 3; i++) {
		uint64_t stuck;
		uint32_t count;

		snapshot.piece[0].address = addresses[i][0];
		snapshot.piece[1].address = addresses[i][1];
		count = perf_branch_follow(&branch, 1, &snapshot.head, &ahead, &stuck, NULL);
		assert_true(i == 1 ? count >= 1 : count == 0);
	}
	perf_branch_deinit(&branch);
}

/* Map code like a program: a private mapping of a file. */
static void code_map(void *at, const uint8_t *code, size_t bytes)
{
	char name[] = "/tmp/unit_perf_branch.XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0 && write(fd, code, bytes) == (ssize_t)bytes);
	unlink(name);
	assert_ptr_equal(mmap(at, 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0), at);
	close(fd);
	touch(at);
}

/* Code is read once per version of the mappings, and need not be readable afterwards. */
static void code_is_read_once_a_version(void **state)
{
	static const uint8_t jumps[][4] = {{0x85, 0xc0, 0x75, 0x10}, {0x85, 0xc0, 0x74, 0x20}};
	uint8_t *at = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t from = (uintptr_t)at + 2, stuck;
	struct branch_snapshot snapshot = {.head.pid = (uint32_t)getpid(),
					   .head.pc = (uintptr_t)at,
					   .head.known = 1,
					   .head.registers[0] = 1};
	struct branch_ahead ahead;
	struct perf_branch branch = {0};

	(void)state;
	code_map(at, jumps[0], sizeof(jumps[0]));
	assert_true(perf_branch_follow(&branch, 1, &snapshot.head, &ahead, &stuck, NULL) >= 1);
	assert_true(ahead.near[0].from == from && ahead.near[0].to == from + 2 + 0x10);
	code_map(at, jumps[1], sizeof(jumps[1]));
	assert_true(perf_branch_follow(&branch, 1, &snapshot.head, &ahead, &stuck, NULL) >= 1);
	assert_true(ahead.near[0].from == from && ahead.near[0].to == from + 2 + 0x10);
	assert_true(perf_branch_follow(&branch, 2, &snapshot.head, &ahead, &stuck, NULL) >= 1);
	assert_true(ahead.near[0].from == from && ahead.near[0].to == from + 2);
	code_map(at, jumps[0], sizeof(jumps[0]));
	perf_branch_refresh(&branch);
	assert_true(perf_branch_follow(&branch, 2, &snapshot.head, &ahead, &stuck, NULL) >= 1);
	assert_true(ahead.near[0].from == from && ahead.near[0].to == from + 2 + 0x10);
	munmap(at, 4096);
	assert_int_equal(perf_branch_follow(&branch, 3, &snapshot.head, &ahead, &stuck, NULL), 0);
	perf_branch_deinit(&branch);
}

/* Code that is not in memory is not waited for: its file system may never provide it. */
static void fetches_nothing(void **state)
{
	static const uint8_t code[] = {0x85, 0xc0, 0x75, 0x00}; /* test; jne */
	uint8_t *at = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct branch_snapshot snapshot = {.head.pid = (uint32_t)getpid(),
					   .head.pc = (uintptr_t)at,
					   .head.known = 1,
					   .head.registers[0] = 1};
	struct branch_ahead ahead;
	struct perf_branch branch = {0};
	uint64_t stuck;

	(void)state;
	touch(code);
	code_map(at, code, sizeof(code));
	assert_int_equal(madvise(at, 4096, MADV_DONTNEED), 0);
	assert_int_equal(perf_branch_follow(&branch, 1, &snapshot.head, &ahead, &stuck, NULL), 0);
	assert_int_equal(perf_branch_follow(&branch, 1, &snapshot.head, &ahead, &stuck, NULL), 0);
	touch(at);
	assert_true(perf_branch_follow(&branch, 1, &snapshot.head, &ahead, &stuck, NULL) >= 1);
	munmap(at, 4096);
	perf_branch_deinit(&branch);
}

/* A process with an ended first thread continues, and its code is readable. */
static void reads_what_other_threads_have(void **state)
{
	static const uint8_t code[] = {0x85, 0xc0, 0x75, 0x00}; /* test; jne */
	struct user_regs_struct regs = {.rip = (uintptr_t)code};
	struct branch_ahead ahead;
	struct perf_branch branch = {0};
	struct record record;
	uint32_t count;
	pid_t pid;

	(void)state;
	touch(code);
	pid = leaderless_start(code);
	record = record_of(pid, &regs);
	count = record_follow(&branch, 1, &record.sample, &ahead);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(count >= 1);
	assert_int_equal(ahead.near[0].from, (uintptr_t)code + 2);
	perf_branch_deinit(&branch);
}

/* A process with many or frequently changed mappings, which take long to read, must wait. */
static void mappings_take_no_more_than_their_time(void **state)
{
	static const uint8_t code[] = {0x85, 0xc0, 0x75, 0x00}; /* test; jne */
	struct user_regs_struct regs = {.rip = (uintptr_t)code};
	struct record record = record_of(getpid(), &regs);
	struct branch_ahead ahead;
	struct perf_branch branch = {0};
	uint64_t second;
	uint32_t count;

	(void)state;
	touch(code);
	do {
		second = clock_monotonic_ns() / NS_PER_SECOND;
		branch.read_second = second;
		branch.read_ns = PERF_BRANCH_READ_NS - 1;
		branch.tried = branch.untried = 0;
		count = record_follow(&branch, 1, &record.sample, &ahead);
		/* Code already read is used, independent of the time that reading took. */
		count += record_follow(&branch, 1, &record.sample, &ahead) >= 1;
		assert_true(branch.read_ns >= PERF_BRANCH_READ_NS);
		record_follow(&branch, 2, &record.sample, &ahead);
	} while (clock_monotonic_ns() / NS_PER_SECOND != second);
	assert_true(count >= 2);
	assert_int_equal(branch.tried, 2);
	assert_int_equal(branch.untried, 1);
	do {
		second = clock_monotonic_ns() / NS_PER_SECOND;
		branch.read_second = second;
		branch.read_ns = 0;
		branch.wait_ns = PERF_BRANCH_WAIT_NS;
		branch.untried = 0;
		/* Further code of a known process is not read either. */
		memset(branch.process[0].blocks, 0, sizeof(branch.process[0].blocks));
		count = record_follow(&branch, 1, &record.sample, &ahead);
		record_follow(&branch, 3, &record.sample, &ahead);
	} while (clock_monotonic_ns() / NS_PER_SECOND != second);
	assert_int_equal(count, 0);
	assert_int_equal(branch.untried, 1);
	branch.read_second--;
	branch.wait_ns = UINT64_MAX; /* of another second */
	assert_true(record_follow(&branch, 2, &record.sample, &ahead) >= 1);
	assert_int_equal(branch.untried, 1);
	perf_branch_deinit(&branch);
}

/* Only used as code of a file; never called. */
extern uint8_t code_of_file[], branch_of_file[];
__asm__(".text\n"
	".globl code_of_file, branch_of_file\n"
	"code_of_file:\n"
	"	test %eax, %eax\n"
	"branch_of_file:\n"
	"	jne 1f\n"
	"	nop\n"
	"1:	ret\n");

/* Write a byte of code, as the kernel does for probes. */
static void byte_put(uint8_t *address, uint8_t byte)
{
	uint8_t *page = address - (uintptr_t)address % 4096;

	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC), 0);
	*address = byte;
	assert_int_equal(mprotect(page, 4096, PROT_READ | PROT_EXEC), 0);
}

/* Breakpoints of the profiler's probes, in a snapshot or in the process, hide no branch. */
static void probes_hide_no_branch(void **state)
{
	uintptr_t piece = (uintptr_t)code_of_file / DCPI_PIECE_BYTES * DCPI_PIECE_BYTES;
	struct branch_snapshot snapshot = {.head.pid = (uint32_t)getpid(),
					   .head.pc = (uintptr_t)code_of_file,
					   .head.known = 1,
					   .head.registers[0] = 1,
					   .head.pieces = 2};
	struct branch_ahead ahead;
	struct perf_branch branch = {0};
	uint8_t was = *branch_of_file;
	uint64_t stuck;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		snapshot.piece[i].address = piece + (uint64_t)i * DCPI_PIECE_BYTES;
		memcpy(snapshot.piece[i].bytes, (void *)(uintptr_t)snapshot.piece[i].address,
		       DCPI_PIECE_BYTES);
	}
	snapshot.piece[((uintptr_t)branch_of_file - piece) / DCPI_PIECE_BYTES]
		.bytes[(uintptr_t)branch_of_file % DCPI_PIECE_BYTES] = 0xcc;
	for (int in_process = 0; in_process < 2; in_process++) {
		if (in_process)
			byte_put(branch_of_file, 0xcc);
		perf_branch_refresh(&branch);
		assert_true(perf_branch_follow(&branch, 1, &snapshot.head, &ahead, &stuck, NULL) >=
			    1);
		assert_int_equal(ahead.near[0].from, (uintptr_t)branch_of_file);
		assert_int_equal(ahead.near[0].to, (uintptr_t)branch_of_file + 3);
	}
	byte_put(branch_of_file, was);
	perf_branch_deinit(&branch);
}

/* Two loops, and a branch between their ends that depends on memory. Not called. */
extern uint8_t loops_begin[], loops_inner[], loops_outer[];
__asm__(".text\n"
	".globl loops_begin, loops_inner, loops_outer\n"
	"loops_begin:\n"
	"	mov $500, %edx\n"
	"1:	sub $1, %edx\n"
	"loops_inner:\n"
	"	jne 1b\n"
	"	cmpl $0, (%rsi)\n"
	"	jne 2f\n"
	"	nop\n"
	"2:	add $1, %rcx\n"
	"	cmp %rdi, %rcx\n"
	"loops_outer:\n"
	"	jne loops_begin\n"
	"	ret\n");

/* Return: the class of the remaining executions of a branch; UINT32_MAX: not found */
static uint32_t remaining_class(const struct branch_ahead *ahead, const uint8_t *branch)
{
	struct branch_remaining found[BRANCH_AHEAD_REMAINING];
	uint32_t count = branch_ahead_remaining(ahead, found, 0);

	for (uint32_t i = 0; i < count; i++) {
		if (found[i].branch == (uintptr_t)branch)
			return found[i].class;
	}
	return UINT32_MAX;
}

/* Outer loops are measured whether or not the interpretation reaches their ends. */
static void outer_loops_have_remaining_executions(void **state)
{
	struct branch_snapshot snapshot = {.head.pid = (uint32_t)getpid(),
					   .head.pc = (uintptr_t)loops_begin,
					   .head.known = 1U << 1 | 1U << 6 | 1U << 7,
					   .head.registers[6] = 0x10000,
					   .head.registers[7] = 100,
					   .head.pieces = 1};
	struct perf_branch branch = {0};
	struct branch_ahead ahead;
	uint64_t stuck;

	(void)state;
	for (int known = 0; known < 2; known++) {
		snapshot.piece[0].address = known ? 0x10000 : 0;
		snapshot.head.registers[1] = 0;
		assert_int_equal(
			perf_branch_follow(&branch, 1, &snapshot.head, &ahead, &stuck, NULL),
			BRANCH_AHEAD_NEAR);
		/* 500 and 100 executions: the binary logarithms are 8.97 and 6.64. */
		assert_int_equal(remaining_class(&ahead, loops_inner), 35);
		assert_int_equal(remaining_class(&ahead, loops_outer), 26);
		assert_int_equal(ahead.far_count, known ? 2 : 0);
		snapshot.head.registers[1] = 99;
		perf_branch_follow(&branch, 1, &snapshot.head, &ahead, &stuck, NULL);
		assert_int_equal(remaining_class(&ahead, loops_outer), PROFILE_REMAINING_ONE);
	}
	perf_branch_deinit(&branch);
}

static void sample_take(void *context, const struct perf_sample *sample)
{
	struct branch_ahead ahead;

	if (sample->pid == (uint32_t)getpid())
		record_follow(context, 1, sample, &ahead);
}

/* Branches that depend only on registers. */
static __attribute__((noinline)) uint64_t spin(uint64_t seed)
{
	for (uint32_t i = 0; i < 1000000; i++)
		seed = seed * 6364136223846793005 + (seed & 64 ? 1 : 3);
	return seed;
}

/* The layout of samples from perf is as expected. */
static void samples_bring_registers(void **state)
{
	static const struct source_event event = {.type = PERF_TYPE_SOFTWARE,
						  .config = PERF_COUNT_SW_CPU_CLOCK,
						  .period_min = 500000,
						  .period_max = 500000};
	struct perf_slot_config config = {.event = &event, .user_only = true, .ring_pages = 16};
	struct perf_branch branch = {0};
	struct perf_slot slot = {0};
	volatile uint64_t sum = 0;
	cpu_set_t here;

	(void)state;
	CPU_ZERO(&here);
	CPU_SET(config.cpu, &here);
	config.registers = perf_registers_mask();
	if (sched_setaffinity(0, sizeof(here), &here) < 0 ||
	    perf_slot_open(&slot, &config, NULL) < 0) {
		print_message("perf cannot be used here\n");
		skip();
	}
	event_ring_enable(&slot.event);
	for (uint32_t i = 0; i < 1000 && branch.edges < 100; i++) {
		sum = spin(sum);
		perf_slot_drain(&slot, UINT64_MAX, sample_take, &branch);
	}
	perf_slot_close(&slot);
	perf_branch_deinit(&branch);
	assert_true(branch.edges >= 100);
	assert_true(branch.found * 2 > branch.tried);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_are_taken),
		cmocka_unit_test(refuses_what_is_not_there),
		cmocka_unit_test(reads_no_stack),
		cmocka_unit_test(snapshots_bring_the_stack),
		cmocka_unit_test(code_is_read_once_a_version),
		cmocka_unit_test(fetches_nothing),
		cmocka_unit_test(reads_what_other_threads_have),
		cmocka_unit_test(mappings_take_no_more_than_their_time),
		cmocka_unit_test(probes_hide_no_branch),
		cmocka_unit_test(outer_loops_have_remaining_executions),
		cmocka_unit_test(samples_bring_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
