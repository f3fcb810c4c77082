// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/source/perf_branch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kmod/uapi/dcpi_snapshot.h"
#include "lib/array.h"
#include "lib/cleanup.h"
#include "lib/clock.h"
#include "loader-hook/proc/process_maps.h"

#define RANGES_MAX 65536
/* A flag of the words of /proc/PID/pagemap, one word per page. */
#define PAGEMAP_PRESENT (1ULL << 63)
/* x86's int3. An instruction may also contain such a byte; then the file contains it, too. */
#define BREAKPOINT 0xcc

#if defined(__x86_64__)
#define INTERPRET interpret_x86_64_path
#define WALK interpret_x86_64_walk
#define LATCH interpret_x86_64_latch
#define FIND_ACCESSES access_find_x86_64
#elif defined(__aarch64__)
#define INTERPRET interpret_arm64_path
#define WALK interpret_arm64_walk
#define LATCH interpret_arm64_latch
#endif

#ifdef INTERPRET

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

struct memory {
	struct perf_branch *branch;
	struct perf_branch_process *process;
	const struct dcpi_snapshot *snapshot;
};

/*
 * Read memory from a snapshot, as it was at the sample. Pieces of registers with nearby values
 * overlap.
 */
static bool snapshot_read(const struct dcpi_snapshot *snapshot, uint64_t address, uint8_t *to,
			  size_t bytes)
{
	const struct dcpi_piece *pieces = (const void *)(snapshot + 1);
	size_t done = 0;

	for (uint32_t i = 0; i < snapshot->pieces && done < bytes; i++) {
		const struct dcpi_piece *piece = &pieces[i];
		uint64_t at = address + done - piece->address;
		size_t part = bytes - done;

		if (piece->address == 0 || at >= DCPI_PIECE_BYTES)
			continue;
		if (part > DCPI_PIECE_BYTES - at)
			part = DCPI_PIECE_BYTES - at;
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
	if (!is_code && snapshot_read(memory->snapshot, address, to, bytes))
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

#ifdef FIND_ACCESSES
/* @space: of the process and the version of its mappings */
struct access_search {
	struct memory memory;
	uint64_t space;
};

static bool access_read(void *context, u64 address, void *to, size_t bytes)
{
	struct access_search *search = context;

	return memory_read(&search->memory, address, to, bytes);
}

static bool access_before(void *context, u64 pc, u64 *ret)
{
	const struct access_search *search = context;

	return arrival_cache_find(&search->memory.branch->arrivals, search->space, pc, ret);
}

static void access_follows(void *context, u64 from, u64 to)
{
	struct access_search *search = context;

	arrival_cache_add(&search->memory.branch->arrivals, search->space, from, to);
}

static void accesses_find(const struct memory *memory, const struct interpret_state *state,
			  struct access_list *ret)
{
	struct access_search search = {
		.memory = *memory,
		.space = memory->process->version ^ (uint64_t)memory->process->pid << 48,
	};
	const struct access_input input = {access_read, access_before, access_follows, &search};

	FIND_ACCESSES(state, &input, ret);
	memory->branch->accesses += ret->count;
}
#else
static void accesses_find(const struct memory *memory, const struct interpret_state *state,
			  struct access_list *ret)
{
	(void)memory;
	(void)state;
	ret->count = 0;
}
#endif

bool perf_branch_read(struct perf_branch *branch, uint32_t pid, uint64_t version, uint64_t address,
		      void *to, size_t bytes)
{
	struct perf_branch_process *process = process_of(branch, pid, version);
	uint64_t begin_ns = clock_monotonic_ns();
	bool done;

	if (process == NULL || !may_wait(branch) || address + bytes < address)
		return false;
	done = is_in_memory(process, address) && is_in_memory(process, address + bytes - 1) &&
	       process_read_at(process, address, to, bytes);
	branch->wait_ns += clock_monotonic_ns() - begin_ns;
	return done;
}

static struct interpret_state state_of(const struct dcpi_snapshot *snapshot)
{
	struct interpret_state state = {
		.pc = snapshot->pc,
		.flags = snapshot->flags,
		.flags_known = snapshot->flags_known,
		.known = snapshot->known,
	};

	_Static_assert(sizeof(state.reg) == sizeof(snapshot->registers), "the same registers");
	memcpy(state.reg, snapshot->registers, sizeof(state.reg));
	return state;
}

/* Interpret the code before a branch that ends a loop twice, as if the iteration ended now. */
static void latch_take(struct branch_ahead *ahead, struct memory *memory,
		       const struct interpret_state *sample, const struct interpret_latch *latch)
{
	struct interpret_state state = *sample;
	struct interpret_edge edges[2];

	for (size_t i = 0; i < 2; i++) {
		uint32_t count;

		state.pc = latch->start;
		state.flags_known = 0;
		INTERPRET(&state, memory_read, memory, &edges[i], 1, &count);
		if (count == 0 || edges[i].from != latch->branch)
			return;
	}
	branch_ahead_latch(ahead, edges);
}

static void latches_find(struct branch_ahead *ahead, struct memory *memory,
			 const struct interpret_state *sample)
{
	uint32_t insns = BRANCH_AHEAD_LATCH_INSNS;
	struct interpret_latch latch = {.next = sample->pc};

	for (uint32_t i = 0; i < BRANCH_AHEAD_LATCHES; i++) {
		if (!LATCH(&latch, latch.next, sample->pc, &insns, memory_read, memory))
			return;
		latch_take(ahead, memory, sample, &latch);
	}
}

/*
 * The near edges are found first, without the assumptions of interpret_x86_64_walk(), because edges
 * that did not happen must not be stored.
 *
 * Return: the branch after the near edges, if it depends on unknown values; 0: none
 */
static uint64_t ahead_find(struct branch_ahead *ahead, struct memory *memory,
			   const struct interpret_state *sample)
{
	const struct interpret_visitor visitor = {branch_ahead_visit, ahead, BRANCH_AHEAD_STEPS};
	struct interpret_state near = *sample, far = *sample;
	enum interpret_end end = INTERPRET(&near, memory_read, memory, ahead->near,
					   BRANCH_AHEAD_NEAR, &ahead->near_count);

	ahead->near_known = true;
	WALK(&far, memory_read, memory, &visitor);
	return end == INTERPRET_UNKNOWN ? near.pc : 0;
}

uint32_t perf_branch_follow(struct perf_branch *branch, uint64_t version,
			    const struct dcpi_snapshot *snapshot, struct branch_ahead *ahead,
			    uint64_t *stuck, struct access_list *accesses)
{
	struct interpret_state state = state_of(snapshot);
	bool is_sample = snapshot->kind != DCPI_SNAPSHOT_PROBE;
	struct memory memory = {.branch = branch, .snapshot = snapshot};

	if (accesses != NULL)
		accesses->count = 0;
	*stuck = 0;
	branch_ahead_init(ahead);
	memory.process = process_of(branch, snapshot->pid, version);
	if (memory.process == NULL) {
		branch->untried += is_sample;
		return 0;
	}
	if (accesses != NULL)
		accesses_find(&memory, &state, accesses);
	if (!is_sample) {
		INTERPRET(&state, memory_read, &memory, ahead->near, 1, &ahead->near_count);
		return ahead->near_count;
	}
	latches_find(ahead, &memory, &state);
	*stuck = ahead_find(ahead, &memory, &state);
	branch->tried++;
	branch->found += ahead->near_count > 0;
	branch->edges += ahead->near_count + ahead->far_count;
	return ahead->near_count;
}

struct file_place perf_branch_place(struct perf_branch *branch, uint32_t pid, uint64_t version,
				    uint64_t address)
{
	const struct perf_branch_process *process = process_of(branch, pid, version);
	const struct perf_branch_range *range = process != NULL ? range_of(process, address) : NULL;

	if (range == NULL || !range->is_code)
		return (struct file_place){.inode = 0};
	return file_place_after(range->from, address - range->start);
}

#else

bool perf_branch_read(struct perf_branch *branch, uint32_t pid, uint64_t version, uint64_t address,
		      void *to, size_t bytes)
{
	(void)branch;
	(void)pid;
	(void)version;
	(void)address;
	(void)to;
	(void)bytes;
	return false;
}

uint32_t perf_branch_follow(struct perf_branch *branch, uint64_t version,
			    const struct dcpi_snapshot *snapshot, struct branch_ahead *ahead,
			    uint64_t *stuck, struct access_list *accesses)
{
	(void)branch;
	(void)version;
	(void)snapshot;
	branch_ahead_init(ahead);
	*stuck = 0;
	if (accesses != NULL)
		accesses->count = 0;
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
