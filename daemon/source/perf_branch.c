// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/perf_branch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/source/bpf/branch_snapshot.h"
#include "daemon/source/perf_slot.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "loader-hook/process_maps.h"

#define RANGES_MAX 65536
/* A flag of the words of /proc/PID/pagemap, one word per page. */
#define PAGEMAP_PRESENT (1ULL << 63)
/* x86's int3. An instruction may also contain such a byte; then the file contains it, too. */
#define BREAKPOINT 0xcc

#if defined(__x86_64__)
#define INTERPRET interpret_x86_64_path
/* perf's numbers of rax .. r15, in the order of their encoding */
static const uint8_t perf_number[] = {0, 2, 3, 1, 7, 6, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23};
#define PERF_PC 8
#define PERF_FLAGS 9
#define PERF_REGISTERS 0xff03ffULL
#define STACK_POINTER 4
#elif defined(__aarch64__)
#define INTERPRET interpret_arm64_path
static const uint8_t perf_number[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				      11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				      22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
#define PERF_PC 32
#define PERF_REGISTERS 0x1ffffffffULL
#define STACK_POINTER 31
#endif

#ifdef INTERPRET

uint64_t perf_branch_registers(void)
{
	return PERF_REGISTERS;
}

static int range_compare(const void *key, const void *element)
{
	uint64_t address = *(const uint64_t *)key;
	const struct perf_branch_range *range = element;

	if (address < range->start)
		return -1;
	return address >= range->end;
}

static const struct perf_branch_range *range_of(const struct perf_branch_process *process,
						uint64_t address)
{
	if (process->count == 0) /* bsearch() needs an array */
		return NULL;
	return bsearch(&address, process->ranges, process->count, sizeof(*process->ranges),
		       range_compare);
}

/* @snapshot: may be NULL */
struct memory {
	struct perf_branch *branch;
	struct perf_branch_process *process;
	const struct branch_snapshot *snapshot;
};

/*
 * Read memory from a snapshot, as it was at the sample. Pieces of registers with nearby values
 * overlap.
 */
static bool snapshot_read(const struct branch_snapshot *snapshot, uint64_t address, uint8_t *to,
			  size_t bytes)
{
	size_t done = 0;

	for (uint32_t i = 0; i < snapshot->pieces && done < bytes; i++) {
		const struct branch_piece *piece = &snapshot->piece[i];
		uint64_t at = address + done - piece->address;
		size_t part = bytes - done;

		if (piece->address == 0 || at >= SNAPSHOT_PIECE_BYTES)
			continue;
		if (part > SNAPSHOT_PIECE_BYTES - at)
			part = SNAPSHOT_PIECE_BYTES - at;
		memcpy(to + done, piece->bytes + at, part);
		done += part;
		i = UINT32_MAX; /* the rest may be in any piece */
	}
	return done == bytes;
}

static bool process_read_at(const struct perf_branch_process *process, uint64_t address, void *to,
			    size_t bytes)
{
	struct iovec here = {.iov_base = to, .iov_len = bytes};
	struct iovec there = {.iov_base = (void *)(uintptr_t)address, .iov_len = bytes};

	return process_vm_readv((pid_t)process->thread, &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/*
 * Check that a page is in memory. Otherwise the read would fetch it from a disk, or through a file
 * system whose server is another machine or, with FUSE, any user's program, and which may never
 * answer. Pages with code that a program was executing are nearly always in memory. (A page may be
 * evicted between the check and the read, but an attacker cannot time that reliably.)
 */
static bool is_in_memory(struct perf_branch_process *process, uint64_t address)
{
	uint64_t page, number = address / (uint64_t)sysconf(_SC_PAGESIZE);
	char path[32];

	if (!process->has_pagemap) {
		snprintf(path, sizeof(path), "/proc/%u/pagemap", process->thread);
		process->pagemap = open(path, O_RDONLY | O_CLOEXEC);
		if (process->pagemap < 0)
			process->pagemap = -errno;
		process->has_pagemap = true;
	}
	/* Some kernels have no pagemap. */
	if (process->pagemap == -ENOENT)
		return true;
	return pread(process->pagemap, &page, sizeof(page), (off_t)(number * sizeof(page))) ==
		       sizeof(page) &&
	       (page & PAGEMAP_PRESENT) != 0;
}

static void files_close(struct perf_branch_process *process)
{
	file_mapping_close(&process->code);
	if (process->has_pagemap && process->pagemap >= 0)
		close(process->pagemap);
	process->has_pagemap = false;
}

static bool may_wait(struct perf_branch *branch)
{
	uint64_t second = clock_monotonic_ns() / NS_PER_SECOND;

	if (second != branch->read_second) {
		branch->read_second = second;
		branch->read_ns = branch->wait_ns = 0;
	}
	return branch->wait_ns < PERF_BRANCH_WAIT_NS;
}

static bool may_read_mappings(struct perf_branch *branch)
{
	return may_wait(branch) && branch->read_ns < PERF_BRANCH_READ_NS;
}

/*
 * Return the cached copy of a block of unchanging memory: hot code is read repeatedly. No mapping
 * ends within a block.
 */
static const uint8_t *block_of(struct perf_branch *branch, struct perf_branch_process *process,
			       uint64_t address)
{
	uint64_t start = address / PERF_BRANCH_BLOCK_BYTES * PERF_BRANCH_BLOCK_BYTES;
	struct perf_branch_block *block =
		&process->blocks[address / PERF_BRANCH_BLOCK_BYTES % PERF_BRANCH_BLOCKS];

	if (start == 0)
		return NULL;
	if (block->start != start) {
		uint64_t begin_ns = clock_monotonic_ns();

		block->start = 0;
		if (may_wait(branch) && is_in_memory(process, start) &&
		    process_read_at(process, start, block->bytes, sizeof(block->bytes)))
			block->start = start;
		branch->wait_ns += clock_monotonic_ns() - begin_ns;
		if (block->start == 0)
			return NULL;
	}
	return block->bytes;
}

static bool blocks_read(struct perf_branch *branch, struct perf_branch_process *process,
			uint64_t address, uint8_t *to, size_t bytes)
{
	while (bytes > 0) {
		size_t at = address % PERF_BRANCH_BLOCK_BYTES;
		size_t part =
			PERF_BRANCH_BLOCK_BYTES - at < bytes ? PERF_BRANCH_BLOCK_BYTES - at : bytes;
		const uint8_t *block = block_of(branch, process, address);

		if (block == NULL)
			return false;
		memcpy(to, block + at, part);
		to += part;
		address += part;
		bytes -= part;
	}
	return true;
}

/* CPU time and elapsed time at the beginning of a read. */
struct stopwatch {
	uint64_t own_ns;
	uint64_t all_ns;
};

static struct stopwatch reading_begin(void)
{
	return (struct stopwatch){clock_ns(CLOCK_THREAD_CPUTIME_ID), clock_monotonic_ns()};
}

static void reading_end(struct perf_branch *branch, const struct stopwatch *begin)
{
	branch->read_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin->own_ns;
	branch->wait_ns += clock_monotonic_ns() - begin->all_ns;
}

static bool code_find(struct perf_branch *branch, struct perf_branch_process *process,
		      uint64_t address)
{
	struct stopwatch begin;
	int rc;

	file_mapping_close(&process->code);
	if (!may_read_mappings(branch))
		return false;
	begin = reading_begin();
	rc = file_mapping_find(&process->code, process->pid, address);
	reading_end(branch, &begin);
	return rc == 0;
}

/* Read code from the file that is mapped there. The last file stays open. */
static void code_read(struct perf_branch *branch, struct perf_branch_process *process,
		      uint64_t address, void *to, size_t bytes)
{
	const struct file_mapping *code = &process->code;

	if ((address < code->start || address >= code->end) && !code_find(branch, process, address))
		return;
	if (code->fd < 0 || bytes > code->end - address ||
	    pread(code->fd, to, bytes, (off_t)file_mapping_place(code, address).offset) !=
		    (ssize_t)bytes)
		process_read_at(process, address, to, bytes);
}

/*
 * Read memory from a snapshot if possible, because that is its state at the sample. But code in a
 * snapshot contains the breakpoints of our probes. So code is read from the process. If that
 * contains breakpoints by now, code is read from its file.
 */
static bool memory_read(void *context, u64 address, void *to, size_t bytes)
{
	const struct memory *memory = context;
	struct perf_branch_process *process = memory->process;
	const struct perf_branch_range *range = range_of(process, address);
	bool is_code;

	is_code = range != NULL && range->is_code;
	if (!is_code && memory->snapshot != NULL &&
	    snapshot_read(memory->snapshot, address, to, bytes))
		return true;
	if (range == NULL || range->end - address < bytes ||
	    !blocks_read(memory->branch, process, address, to, bytes))
		return false;
	if (is_code && memchr(to, BREAKPOINT, bytes) != NULL)
		code_read(memory->branch, process, address, to, bytes);
	return true;
}

/* Add a mapping of /proc/PID/maps that is readable, not writable, private and of a file. */
static void line_take(struct perf_branch_process *process, const char *line)
{
	struct process_mapping mapping;
	const char *permissions;

	if (!process_maps_take(&mapping, line) || mapping.inode == 0 ||
	    process->count >= RANGES_MAX)
		return;
	permissions = mapping.permissions;
	if (permissions[0] != 'r' || permissions[1] != '-' || permissions[3] != 'p' ||
	    (process->count > 0 && mapping.start < process->ranges[process->count - 1].end))
		return;
	if (array_reserve(&process->ranges, &process->capacity, process->count + 1,
			  sizeof(*process->ranges)) == 0)
		process->ranges[process->count++] = (struct perf_branch_range){
			.start = mapping.start,
			.end = mapping.end,
			.from = {mapping.device, mapping.inode, mapping.offset},
			.is_code = permissions[2] == 'x',
		};
}

static void process_read(struct perf_branch_process *process, uint32_t pid, uint64_t version)
{
	_cleanup_free_ char *line = NULL;
	_cleanup_file_ FILE *maps = NULL;
	uint64_t until_ns = clock_monotonic_ns() + PERF_BRANCH_WAIT_ONE_NS;
	size_t capacity = 0;

	files_close(process);
	memset(process->blocks, 0, sizeof(process->blocks));
	process->pid = pid;
	process->version = version;
	process->count = 0;
	maps = process_maps_open(pid, &process->thread);
	while (maps != NULL && clock_monotonic_ns() < until_ns &&
	       getline(&line, &capacity, maps) >= 0)
		line_take(process, line);
}

/* Return: NULL if reading the mappings would exceed the limits of this second */
static struct perf_branch_process *process_of(struct perf_branch *branch, uint32_t pid,
					      uint64_t version)
{
	struct perf_branch_process *process = &branch->process[0];
	struct stopwatch begin;

	for (size_t i = 0; i < PERF_BRANCH_PROCESSES; i++) {
		struct perf_branch_process *candidate = &branch->process[i];

		if (candidate->pid == pid) {
			process = candidate;
			break;
		}
		if (candidate->used < process->used)
			process = candidate;
	}
	if (process->pid != pid || process->version != version) {
		if (!may_read_mappings(branch))
			return NULL;
		begin = reading_begin();
		process_read(process, pid, version);
		reading_end(branch, &begin);
	}
	process->used = ++branch->asked;
	return process;
}

/* perf stores registers in the order of its numbers, without gaps. */
static uint64_t register_at(const uint64_t *registers, uint32_t number)
{
	uint64_t below = PERF_REGISTERS & ((1ULL << number) - 1);

	return registers[__builtin_popcountll(below)];
}

/* AMD's IBS reports an exact PC, but registers as of the interrupt, which is later. */
bool perf_branch_state(struct interpret_state *state, const struct perf_sample *sample)
{
	const uint64_t *abi = (const void *)(sample + 1), *registers = abi + 1;
	size_t words = 1 + (size_t)__builtin_popcountll(PERF_REGISTERS), i;

	if ((sample->header.misc & PERF_RECORD_MISC_EXACT_IP) != 0 ||
	    sample->header.size < sizeof(*sample) + sizeof(*abi) ||
	    *abi != PERF_SAMPLE_REGS_ABI_64 ||
	    sample->header.size < sizeof(*sample) + words * sizeof(*abi))
		return false;
	memset(state, 0, sizeof(*state));
	for (i = 0; i < sizeof(perf_number); i++)
		state->reg[i] = register_at(registers, perf_number[i]);
	state->known = (u32)((1ULL << sizeof(perf_number)) - 1);
	state->pc = register_at(registers, PERF_PC);
#ifdef PERF_FLAGS
	state->flags = register_at(registers, PERF_FLAGS);
	state->flags_known = ~0ULL;
#endif
	return true;
}

uint64_t perf_branch_stack_pointer(const struct interpret_state *state)
{
	return state->reg[STACK_POINTER];
}

static uint32_t perf_branch_do_find(struct perf_branch_process *process, struct perf_branch *branch,
				    struct interpret_state *state,
				    const struct branch_snapshot *snapshot,
				    struct interpret_edge *edges, uint64_t *stuck)
{
	struct memory memory = {.branch = branch, .process = process, .snapshot = snapshot};
	enum interpret_end end;
	uint32_t count;

	*stuck = 0;
	if (process == NULL) {
		branch->untried += snapshot == NULL || snapshot->probe == 0;
		return 0;
	}
	end = INTERPRET(state, memory_read, &memory, edges, PERF_BRANCH_EDGES, &count);
	*stuck = end == INTERPRET_UNKNOWN ? state->pc : 0;
	if (snapshot != NULL && snapshot->probe != 0)
		return count;
	branch->tried++;
	branch->found += count > 0;
	branch->edges += count;
	return count;
}

uint32_t perf_branch_find(struct perf_branch *branch, uint64_t version,
			  const struct perf_sample *sample,
			  struct interpret_edge edges[PERF_BRANCH_EDGES])
{
	struct interpret_state state;
	uint64_t stuck;

	if (!perf_branch_state(&state, sample))
		return 0;
	return perf_branch_do_find(process_of(branch, sample->pid, version), branch, &state, NULL,
				   edges, &stuck);
}

uint32_t perf_branch_follow(struct perf_branch *branch, uint64_t version,
			    const struct branch_snapshot *snapshot,
			    struct interpret_edge edges[PERF_BRANCH_EDGES], uint64_t *stuck)
{
	struct interpret_state state = {
		.pc = snapshot->pc,
		.flags = snapshot->flags,
		.flags_known = ~0ULL,
		.known = snapshot->known,
	};

	memcpy(state.reg, snapshot->registers, sizeof(snapshot->registers));
	return perf_branch_do_find(process_of(branch, snapshot->pid, version), branch, &state,
				   snapshot, edges, stuck);
}

struct file_place perf_branch_place(struct perf_branch *branch, uint32_t pid, uint64_t version,
				    uint64_t address)
{
	const struct perf_branch_process *process = process_of(branch, pid, version);
	const struct perf_branch_range *range = process != NULL ? range_of(process, address) : NULL;

	if (range == NULL || !range->is_code)
		return (struct file_place){.inode = 0};
	return file_place_behind(range->from, address - range->start);
}

#else

uint64_t perf_branch_registers(void)
{
	return 0;
}

bool perf_branch_state(struct interpret_state *state, const struct perf_sample *sample)
{
	(void)state;
	(void)sample;
	return false;
}

uint64_t perf_branch_stack_pointer(const struct interpret_state *state)
{
	(void)state;
	return 0;
}

uint32_t perf_branch_find(struct perf_branch *branch, uint64_t version,
			  const struct perf_sample *sample,
			  struct interpret_edge edges[PERF_BRANCH_EDGES])
{
	(void)branch;
	(void)version;
	(void)sample;
	(void)edges;
	return 0;
}

uint32_t perf_branch_follow(struct perf_branch *branch, uint64_t version,
			    const struct branch_snapshot *snapshot,
			    struct interpret_edge edges[PERF_BRANCH_EDGES], uint64_t *stuck)
{
	(void)branch;
	(void)version;
	(void)snapshot;
	(void)edges;
	*stuck = 0;
	return 0;
}

struct file_place perf_branch_place(struct perf_branch *branch, uint32_t pid, uint64_t version,
				    uint64_t address)
{
	(void)branch;
	(void)version;
	(void)pid;
	(void)address;
	return (struct file_place){.inode = 0};
}

#endif

void perf_branch_refresh(struct perf_branch *branch)
{
	size_t i;

	for (i = 0; i < PERF_BRANCH_PROCESSES; i++)
		branch->process[i].pid = 0;
}

void perf_branch_rest(struct perf_branch *branch)
{
	size_t i;

	for (i = 0; i < PERF_BRANCH_PROCESSES; i++)
		files_close(&branch->process[i]);
}

void perf_branch_deinit(struct perf_branch *branch)
{
	size_t i;

	for (i = 0; i < PERF_BRANCH_PROCESSES; i++) {
		files_close(&branch->process[i]);
		free(branch->process[i].ranges);
	}
	memset(branch->process, 0, sizeof(branch->process));
}
