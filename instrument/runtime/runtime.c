// SPDX-License-Identifier: GPL-2.0-only
/*
 * What runs inside a rewritten program: gives each thread a block of counters, and each
 * process a file of its own. Called from the entries of procedures when a thread's word
 * or the process' is not in order, in any state of the program: no libc, no writable data
 * of its own, no vector registers, system calls only. errno is libc's and stays.
 */
#include <linux/fcntl.h>
#include <linux/mman.h>

#include "instrument/profile_layout.h"

/* <asm/unistd.h>, x86-64 */
enum {
	NR_READ = 0,
	NR_OPEN = 2,
	NR_CLOSE = 3,
	NR_MMAP = 9,
	NR_MUNMAP = 11,
	NR_MADVISE = 28,
	NR_GETPID = 39,
	NR_FTRUNCATE = 77,
	NR_UNLINK = 87,
	NR_ARCH_PRCTL = 158,
	NR_GETTID = 186,
	NR_TGKILL = 234,
};

#define ARCH_SET_GS 0x1001
#define PROT_READ_WRITE 3
#define MAP_SHARED_FILE 1
#define MADV_WIPE 18
#define ESRCH 3
#define EEXIST 17
#define NAMES_MAX 1000

/* Blocks tried to be mapped, most first. */
static const uint32_t block_counts[] = {PROFILE_LAYOUT_BLOCKS, 16, 1};

static long call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#define CALL1(n, a) call(n, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(n, a, b) call(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(n, a, b, c) call(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)

static uint32_t *guard_of(struct profile_layout_state *state)
{
	return (uint32_t *)((char *)state + state->guard);
}

/* Finds NAME=value in what the program was started with. Return: its length, 0: not there. */
static uint32_t find_variable(const char *name, char *value, uint32_t bytes)
{
	long fd = CALL3(NR_OPEN, "/proc/self/environ", O_RDONLY | O_CLOEXEC, 0);
	uint32_t matched = 0, length = 0;
	char buffer[256];
	int begins = 1, copying = 0;
	long n;

	if (fd < 0)
		return 0;
	while ((n = CALL3(NR_READ, fd, buffer, sizeof(buffer))) > 0) {
		for (long i = 0; i < n; i++) {
			char c = buffer[i];

			if (c == '\0') {
				if (copying)
					goto out;
				begins = 1;
				matched = 0;
			} else if (copying) {
				if (length + 1 < bytes)
					value[length++] = c;
			} else if (begins && name[matched] == c) {
				copying = name[++matched] == '\0';
			} else {
				begins = 0;
			}
		}
	}
out:
	CALL1(NR_CLOSE, fd);
	value[length] = '\0';
	return length;
}

static uint32_t append_number(char *out, uint32_t length, uint64_t number)
{
	char digits[20];
	uint32_t count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number != 0);
	while (count > 0)
		out[length++] = digits[--count];
	out[length] = '\0';
	return length;
}

/* PATH.PID, or PATH.PID.N where a program of that number has been before. */
static long create_file(struct profile_layout_state *state)
{
	char path[PROFILE_LAYOUT_PATH_BYTES + 48];
	uint32_t length = find_variable("DCPIX_OUT=", path, PROFILE_LAYOUT_PATH_BYTES);
	long fd = -EEXIST;

	if (length == 0) {
		while (length + 1 < PROFILE_LAYOUT_PATH_BYTES && state->path[length] != '\0') {
			path[length] = state->path[length];
			length++;
		}
	}
	path[length++] = '.';
	length = append_number(path, length, (uint64_t)CALL1(NR_GETPID, 0));
	for (uint32_t n = 0; fd == -EEXIST && n < NAMES_MAX; n++) {
		if (n > 0) {
			path[length] = '.';
			append_number(path, length + 1, n);
		}
		fd = CALL3(NR_OPEN, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	}
	return fd;
}

static void fill_header(struct profile_layout_header *header,
			const struct profile_layout_state *state)
{
	header->version = PROFILE_LAYOUT_VERSION;
	header->process = (uint32_t)CALL1(NR_GETPID, 0);
	header->image = state->image;
	header->counters = state->counters;
	header->block_bytes = state->block_bytes;
	header->magic = PROFILE_LAYOUT_MAGIC;
}

/* Maps a new file with as many blocks as the machine lets us have. Return: false: none. */
static int map_file(struct profile_layout_state *state)
{
	long fd = create_file(state);
	int mapped = 0;

	if (fd < 0)
		return 0;
	for (uint32_t i = 0; !mapped && i < sizeof(block_counts) / sizeof(block_counts[0]); i++) {
		uint64_t bytes = PROFILE_LAYOUT_PAGE + block_counts[i] * state->block_bytes;
		long at = -1;

		if (CALL2(NR_FTRUNCATE, fd, bytes) == 0)
			at = call(NR_MMAP, 0, (long)bytes, PROT_READ_WRITE, MAP_SHARED_FILE, fd, 0);
		if (at < 0 && at > -4096)
			continue;
		state->region = (uint64_t)at;
		state->region_blocks = block_counts[i];
		mapped = 1;
	}
	CALL1(NR_CLOSE, fd);
	if (mapped)
		fill_header((struct profile_layout_header *)state->region, state);
	return mapped;
}

/* A process begins, or goes on as a copy of another one, whose file is not its own. */
static void begin_process(struct profile_layout_state *state)
{
	if (state->region != 0)
		CALL2(NR_MUNMAP, state->region,
		      PROFILE_LAYOUT_PAGE + state->region_blocks * state->block_bytes);
	state->region = 0;
	map_file(state);
	CALL3(NR_MADVISE, guard_of(state), PROFILE_LAYOUT_PAGE, MADV_WIPE);
	*guard_of(state) = PROFILE_LAYOUT_READY;
}

/* The block of a thread that has ended serves another one. */
static uint32_t find_abandoned(struct profile_layout_header *header, uint32_t blocks,
			       uint32_t thread)
{
	uint32_t process = header->process;

	for (uint32_t i = 0; i < blocks; i++) {
		uint32_t owner = header->owners[i];

		if (owner != 0 && CALL3(NR_TGKILL, process, owner, 0) == -ESRCH &&
		    __atomic_compare_exchange_n(&header->owners[i], &owner, thread, 0,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return i;
	}
	return blocks;
}

static uint64_t find_block(struct profile_layout_state *state)
{
	struct profile_layout_header *header = (struct profile_layout_header *)state->region;
	uint32_t thread = (uint32_t)CALL1(NR_GETTID, 0);
	uint32_t limit = (uint32_t)state->region_blocks, block;

	if (state->region == 0)
		return (uint64_t)state + (uint64_t)state->spare;
	if (__atomic_load_n(&header->blocks, __ATOMIC_RELAXED) < limit)
		block = __atomic_fetch_add(&header->blocks, 1, __ATOMIC_RELAXED);
	else
		block = find_abandoned(header, limit, thread);
	if (block >= limit) {
		block = limit - 1;
		__atomic_fetch_add(&header->shared, 1, __ATOMIC_RELAXED);
	} else {
		__atomic_store_n(&header->owners[block], thread, __ATOMIC_RELAXED);
	}
	return state->region + PROFILE_LAYOUT_PAGE + block * state->block_bytes;
}

/* Called by runtime_entry() below. */
void runtime_enter(struct profile_layout_state *state);

__attribute__((used)) void runtime_enter(struct profile_layout_state *state)
{
	if (*guard_of(state) != PROFILE_LAYOUT_READY)
		begin_process(state);
	CALL2(NR_ARCH_PRCTL, ARCH_SET_GS, find_block(state));
	__asm__ volatile("movl %0, %%fs:(%1)"
			 :
			 : "r"(PROFILE_LAYOUT_READY), "r"(state->slot)
			 : "memory");
}

/*
 * The first byte of all. Gets the state's address on the stack, where its caller has
 * pushed it; gives all registers back but the flags. The stack may be anywhere.
 */
__asm__(".section .text.first, \"ax\"\n"
	"	.globl runtime_entry\n"
	"runtime_entry:\n"
	"	push %rax\n"
	"	push %rcx\n"
	"	push %rdx\n"
	"	push %rsi\n"
	"	push %rdi\n"
	"	push %r8\n"
	"	push %r9\n"
	"	push %r10\n"
	"	push %r11\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	mov 88(%rsp), %rdi\n"
	"	and $-16, %rsp\n"
	"	cld\n"
	"	call runtime_enter\n"
	"	mov %rbp, %rsp\n"
	"	pop %rbp\n"
	"	pop %r11\n"
	"	pop %r10\n"
	"	pop %r9\n"
	"	pop %r8\n"
	"	pop %rdi\n"
	"	pop %rsi\n"
	"	pop %rdx\n"
	"	pop %rcx\n"
	"	pop %rax\n"
	"	ret\n"
	"	.text\n");
