// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops with known executions. Each loop waits for something else.
 *
 *	kernels --list                    print the names of kernels
 *	kernels KERNEL PLACE SECONDS      run a kernel for about this CPU time in each thread
 *
 * PLACE is where the loop is: "alone" in a procedure that is called once, in a "callee" that runs
 * for some microseconds at each call, or in a larger "program" that also does other work. The
 * output is "NUMBER MAIN OUTER": the kernel's number and the executions of its marks (marks.h),
 * those before the measurement included.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "marks.h"

#define LINE_BYTES 64
#define PAGE_BYTES 4096
#define BIG_BYTES ((size_t)64 << 20)
#define L1_BYTES ((size_t)8 << 10)
#define L2_BYTES ((size_t)256 << 10)
#define L3_BYTES ((size_t)4 << 20)
#define RANDOM_FACTOR 6364136223846793005U
#define RANDOM_TERM 1442695040888963407U

/* Marks need constants, also without optimization. */
enum {
	CHASE_L1,
	CHASE_L2,
	CHASE_L3,
	CHASE_DRAM,
	CHASE_END,
	GATHER_L1,
	GATHER_DRAM,
	GATHER_DEPENDENT,
	STREAM,
	STRIDE,
	UPDATE_L1,
	UPDATE_DRAM,
	BRANCH_RANDOM,
	BRANCH_STEADY,
	BRANCH_INDIRECT,
	BRANCH_RETURN,
	DIVIDE,
	SQUARE_ROOT,
	MULTIPLY,
	ADD_CHAIN,
	FLOAT_CHAIN,
	ADD_PARALLEL,
	STORE_STREAM,
	STORE_FORWARD,
	ALIAS_4K,
	ATOMIC_ALONE,
	ATOMIC_CONTENDED,
	SHARING_TRUE,
	SHARING_FALSE,
	BIG_CODE,
	PAGE_FAULT,
	NEST_4,
	NEST_100,
	NEST_1000,
	NEST_VARYING,
	NEST_TRIPLE,
	NEST_STORES,
	TWO_LOOPS,
	CALLS,
	RECURSION,
	TEXT_LENGTHS,
	VECTOR_SUM,
	VECTOR_SCALE,
	BINARY_SEARCH,
	REVERSE_BYTES,
	COUNT_BITS,
	MATRIX_VECTOR,
};

struct node {
	struct node *next;
	char room[LINE_BYTES - sizeof(struct node *)];
};

typedef int64_t vector __attribute__((vector_size(32)));
typedef float float_vector __attribute__((vector_size(32)));

static struct node *list;
static unsigned char *big;
static uint32_t *order;
static size_t order_count;
static char *texts;
static uint32_t trips[64];
static struct {
	_Alignas(LINE_BYTES) volatile unsigned long first;
	volatile unsigned long second;
	_Alignas(LINE_BYTES) volatile unsigned long own;
} shared;
static volatile unsigned long result;
/* Trip counts that the compiler does not know. */
static volatile unsigned long four = 4, hundred = 100, thousand = 1000, many = 20000;

#define BODY static inline __attribute__((always_inline)) void
#define PROCEDURE static __attribute__((noinline, noipa))
#define HIDE(x) __asm__("" : "+r"(x))

/* --- loads ----------------------------------------------------------------- */

#define CHASE(name, number)                                                                        \
	BODY name(unsigned long count)                                                             \
	{                                                                                          \
		struct node *node = list;                                                          \
                                                                                                   \
		for (unsigned long i = 0; i < count; i++) {                                        \
			MARK(number, MARK_MAIN);                                                   \
			node = node->next;                                                         \
		}                                                                                  \
		result = (unsigned long)node;                                                      \
	}

CHASE(chase_l1, CHASE_L1)
CHASE(chase_l2, CHASE_L2)
CHASE(chase_l3, CHASE_L3)
CHASE(chase_dram, CHASE_DRAM)

/* The inner loop has no counter. */
BODY chase_end(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		struct node *node, *first;

		/* The next instruction is not the first one of the inner loop. */
		MARK(CHASE_END, MARK_OUTER);
		node = first = list;
		do {
			MARK(CHASE_END, MARK_MAIN);
			node = node->next;
		} while (node != first);
	}
}

#define GATHER(name, number)                                                                       \
	BODY name(unsigned long count)                                                             \
	{                                                                                          \
		unsigned long sum = 0;                                                             \
                                                                                                   \
		for (unsigned long i = 0; i < count; i++) {                                        \
			MARK(number, MARK_MAIN);                                                   \
			sum += big[(size_t)order[i % order_count] * LINE_BYTES];                   \
		}                                                                                  \
		result = sum;                                                                      \
	}

GATHER(gather_l1, GATHER_L1)
GATHER(gather_dram, GATHER_DRAM)

BODY gather_dependent(unsigned long count)
{
	uint32_t at = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(GATHER_DEPENDENT, MARK_MAIN);
		at = order[(at + i) % order_count];
	}
	result = at;
}

BODY stream(unsigned long count)
{
	const uint64_t *words = (const uint64_t *)(const void *)big;
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(STREAM, MARK_MAIN);
		sum += words[i % (BIG_BYTES / sizeof(*words))];
	}
	result = sum;
}

BODY stride(unsigned long count)
{
	unsigned long sum = 0;
	size_t at = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(STRIDE, MARK_MAIN);
		sum += big[at];
		at = (at + PAGE_BYTES + LINE_BYTES) % BIG_BYTES;
	}
	result = sum;
}

#define UPDATE(name, number, bytes)                                                                \
	BODY name(unsigned long count)                                                             \
	{                                                                                          \
		unsigned long value = 3;                                                           \
                                                                                                   \
		for (unsigned long i = 0; i < count; i++) {                                        \
			MARK(number, MARK_MAIN);                                                   \
			value = value * RANDOM_FACTOR + RANDOM_TERM;                               \
			big[(value >> 33) % (bytes)]++;                                            \
		}                                                                                  \
	}

UPDATE(update_l1, UPDATE_L1, L1_BYTES)
UPDATE(update_dram, UPDATE_DRAM, BIG_BYTES)

/* --- branches --------------------------------------------------------------- */

BODY branch_random(unsigned long count)
{
	unsigned long value = 3, sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(BRANCH_RANDOM, MARK_MAIN);
		value = value * RANDOM_FACTOR + RANDOM_TERM;
		if (value >> 63 != 0) {
			HIDE(sum);
			sum += 3;
		}
	}
	result = sum;
}

BODY branch_steady(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(BRANCH_STEADY, MARK_MAIN);
		if (i % 4 == 0) {
			HIDE(sum);
			sum += 3;
		}
		if (i % 2 == 0) {
			HIDE(sum);
			sum ^= 5;
		}
	}
	result = sum;
}

PROCEDURE unsigned long operation_add(unsigned long value)
{
	return value + 7;
}

PROCEDURE unsigned long operation_xor(unsigned long value)
{
	return value ^ 7;
}

PROCEDURE unsigned long operation_rotate(unsigned long value)
{
	return value << 7 | value >> 57;
}

PROCEDURE unsigned long operation_not(unsigned long value)
{
	return ~value;
}

static unsigned long (*const operations[])(unsigned long value) = {operation_add, operation_xor,
								   operation_rotate, operation_not};

BODY branch_indirect(unsigned long count)
{
	unsigned long value = 3, sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(BRANCH_INDIRECT, MARK_MAIN);
		value = value * RANDOM_FACTOR + RANDOM_TERM;
		sum = operations[value >> 62](sum);
	}
	result = sum;
}

/* Deeper than the processor's stack of return addresses. */
PROCEDURE unsigned long descend(unsigned long depth)
{
	MARK(BRANCH_RETURN, MARK_MAIN);
	if (depth <= 1)
		return 1;
	depth = descend(depth - 1);
	HIDE(depth); /* or the compiler makes it a loop */
	return depth + 1;
}

BODY branch_return(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		MARK(BRANCH_RETURN, MARK_OUTER);
		result = descend(hundred);
	}
}

/* --- arithmetic -------------------------------------------------------------- */

BODY divide(unsigned long count)
{
	unsigned long value = 123456789;

	for (unsigned long i = 1; i <= count; i++) {
		MARK(DIVIDE, MARK_MAIN);
		value = value / (i | 3) + 0x123456789abc;
	}
	result = value;
}

BODY square_root(unsigned long count)
{
	double value = 2;

	for (unsigned long i = 0; i < count; i++) {
		MARK(SQUARE_ROOT, MARK_MAIN);
		value = sqrt(value) + (double)(long)i;
	}
	result = (unsigned long)value;
}

BODY multiply(unsigned long count)
{
	unsigned long value = 3;

	for (unsigned long i = 0; i < count; i++) {
		MARK(MULTIPLY, MARK_MAIN);
		value = value * RANDOM_FACTOR + i;
	}
	result = value;
}

BODY add_chain(unsigned long count)
{
	unsigned long value = 3;

	for (unsigned long i = 0; i < count; i++) {
		MARK(ADD_CHAIN, MARK_MAIN);
		value = (value + i) ^ 9;
		HIDE(value);
		value = (value + 3) ^ 7;
	}
	result = value;
}

BODY float_chain(unsigned long count)
{
	double value = 3;

	while (count-- > 0) {
		MARK(FLOAT_CHAIN, MARK_MAIN);
		value += 1.25;
	}
	result = (unsigned long)value;
}

BODY add_parallel(unsigned long count)
{
	unsigned long a = 0, b = 0, c = 0, d = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(ADD_PARALLEL, MARK_MAIN);
		a += i;
		b ^= i;
		c -= i;
		d |= i;
		HIDE(a);
		HIDE(b);
	}
	result = a + b + c + d;
}

/* --- stores ------------------------------------------------------------------ */

BODY store_stream(unsigned long count)
{
	uint64_t *words = (uint64_t *)(void *)big;

	for (unsigned long i = 0; i < count; i++) {
		MARK(STORE_STREAM, MARK_MAIN);
		words[i % (BIG_BYTES / sizeof(*words))] = i;
	}
}

BODY store_forward(unsigned long count)
{
	volatile uint8_t *bytes = big;
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(STORE_FORWARD, MARK_MAIN);
		bytes[0] = (uint8_t)sum;
		bytes[1] = (uint8_t)i;
		sum += *(volatile uint32_t *)(volatile void *)bytes;
	}
	result = sum;
}

BODY alias_4k(unsigned long count)
{
	volatile uint64_t *here = (uint64_t *)(void *)big;
	volatile uint64_t *there = (uint64_t *)(void *)(big + PAGE_BYTES);
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(ALIAS_4K, MARK_MAIN);
		here[i % 256] = sum;
		sum += there[i % 256] + 1;
	}
	result = sum;
}

/* --- sharing ----------------------------------------------------------------- */

#define ATOMIC(name, number)                                                                       \
	BODY name(unsigned long count)                                                             \
	{                                                                                          \
		for (unsigned long i = 0; i < count; i++) {                                        \
			MARK(number, MARK_MAIN);                                                   \
			__atomic_add_fetch(&shared.own, 1, __ATOMIC_SEQ_CST);                      \
		}                                                                                  \
	}

ATOMIC(atomic_alone, ATOMIC_ALONE)
ATOMIC(atomic_contended, ATOMIC_CONTENDED)

BODY sharing_true(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		MARK(SHARING_TRUE, MARK_MAIN);
		shared.first += i;
	}
}

static __thread volatile unsigned long *mine;

BODY sharing_false(unsigned long count)
{
	volatile unsigned long *word = mine;

	for (unsigned long i = 0; i < count; i++) {
		MARK(SHARING_FALSE, MARK_MAIN);
		*word += i;
	}
}

/* --- code and pages ----------------------------------------------------------- */

#define REPEAT_8(x) x x x x x x x x
#define PIECE "imul $3, %0, %0\n\tadd $123456, %0\n\trol $7, %0\n\t"

/* 57 KB of instructions */
BODY big_code(unsigned long count)
{
	unsigned long value = 3;

	for (unsigned long i = 0; i < count; i++) {
		MARK(BIG_CODE, MARK_MAIN);
		__asm__ volatile(REPEAT_8(REPEAT_8(REPEAT_8(REPEAT_8(PIECE)))) : "+r"(value));
	}
	result = value;
}

BODY page_fault(unsigned long count)
{
	const size_t pages = 512;

	for (unsigned long i = 0; i < count; i++) {
		char *memory = mmap(NULL, pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		MARK(PAGE_FAULT, MARK_OUTER);
		if (memory == MAP_FAILED)
			exit(2);
		madvise(memory, pages * PAGE_BYTES, MADV_NOHUGEPAGE);
		for (size_t page = 0; page < pages; page++) {
			MARK(PAGE_FAULT, MARK_MAIN);
			((volatile char *)memory)[page * PAGE_BYTES] = 1;
		}
		munmap(memory, pages * PAGE_BYTES);
	}
}

/* --- nests ------------------------------------------------------------------- */

#define NEST(name, number, length)                                                                 \
	BODY name(unsigned long count)                                                             \
	{                                                                                          \
		unsigned long value = 3, inner = (length);                                         \
                                                                                                   \
		for (unsigned long i = 0; i < count; i++) {                                        \
			MARK(number, MARK_OUTER);                                                  \
			for (unsigned long k = 0; k < inner; k++) {                                \
				MARK(number, MARK_MAIN);                                           \
				value = value * 3 + k;                                             \
				HIDE(value);                                                       \
			}                                                                          \
			value ^= 5;                                                                \
		}                                                                                  \
		result = value;                                                                    \
	}

NEST(nest_4, NEST_4, four)
NEST(nest_100, NEST_100, hundred)
NEST(nest_1000, NEST_1000, thousand)

BODY nest_varying(unsigned long count)
{
	unsigned long value = 3;

	for (unsigned long i = 0; i < count; i++) {
		unsigned long inner = trips[i % 64];

		MARK(NEST_VARYING, MARK_OUTER);
		for (unsigned long k = 0; k < inner; k++) {
			MARK(NEST_VARYING, MARK_MAIN);
			value = value * 3 + k;
			HIDE(value);
		}
	}
	result = value;
}

BODY nest_triple(unsigned long count)
{
	unsigned long value = 3;

	for (unsigned long i = 0; i < count; i++) {
		for (unsigned long j = 0; j < 30; j++) {
			MARK(NEST_TRIPLE, MARK_OUTER);
			for (unsigned long k = 0; k < 20; k++) {
				MARK(NEST_TRIPLE, MARK_MAIN);
				value = value * 3 + k;
				HIDE(value);
			}
			HIDE(value);
		}
	}
	result = value;
}

/* Some milliseconds in each iteration of the outer loop. */
BODY nest_stores(unsigned long count)
{
	uint64_t *words = (uint64_t *)(void *)big;

	for (unsigned long i = 0; i < count; i++) {
		MARK(NEST_STORES, MARK_OUTER);
		for (unsigned long k = 0; k < BIG_BYTES / 64; k++) {
			MARK(NEST_STORES, MARK_MAIN);
			words[k] = i;
		}
	}
}

/* Like the comparison of files from both ends: two loops that run equally often. */
BODY two_loops(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		unsigned long up = 0, down = many;

		MARK(TWO_LOOPS, MARK_OUTER);
		while (up < many / 2 && big[up] != 255) {
			MARK(TWO_LOOPS, MARK_MAIN);
			up++;
		}
		while (down > many / 2 && big[down] != 255) {
			MARK(TWO_LOOPS, MARK_MAIN);
			down--;
		}
		result = up + down;
	}
}

/* --- calls ------------------------------------------------------------------- */

PROCEDURE unsigned long scramble(unsigned long value)
{
	return (value ^ value >> 7) * RANDOM_FACTOR + 1;
}

BODY calls(unsigned long count)
{
	unsigned long value = 1;

	for (unsigned long i = 0; i < count; i++) {
		MARK(CALLS, MARK_MAIN);
		value += scramble(value);
	}
	result = value;
}

/* Calls itself for a tree of 2^11 - 1 nodes. */
PROCEDURE unsigned long tree(unsigned long depth)
{
	MARK(RECURSION, MARK_MAIN);
	if (depth == 0)
		return 1;
	return tree(depth - 1) + 2 * tree(depth - 1);
}

BODY recursion(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		MARK(RECURSION, MARK_OUTER);
		result = tree(10);
	}
}

#define TEXTS 16
#define TEXT_BYTES 128

/* The lengths of the texts are 4, 11, 18 .. 109. */
BODY text_lengths(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		const char *text = texts + i % TEXTS * TEXT_BYTES;

		MARK(TEXT_LENGTHS, MARK_OUTER);
		while (*text != 0) {
			MARK(TEXT_LENGTHS, MARK_MAIN);
			sum = sum * 31 + (unsigned char)*text++;
		}
	}
	result = sum;
}

/* --- vectors ----------------------------------------------------------------- */

BODY vector_sum(unsigned long count)
{
	const vector *from = (const vector *)(const void *)big;
	vector sum = {0};

	for (unsigned long i = 0; i < count; i++) {
		MARK(VECTOR_SUM, MARK_MAIN);
		sum += from[i % (L2_BYTES / sizeof(vector))];
	}
	result = (unsigned long)(sum[0] + sum[3]);
}

BODY vector_scale(unsigned long count)
{
	float_vector *to = (float_vector *)(void *)big;
	float_vector factor = {1, 2, 3, 4, 5, 6, 7, 8};

	for (unsigned long i = 0; i < count; i++) {
		float_vector *end = to + L1_BYTES / sizeof(float_vector);

		MARK(VECTOR_SCALE, MARK_OUTER);
		for (float_vector *at = to; at < end; at++) {
			MARK(VECTOR_SCALE, MARK_MAIN);
			*at = *at * factor + factor;
		}
	}
}

/* --- unseen: no constant of the analysis was chosen with these --------------- */

#define SORTED_COUNT 1024

/* The number of remaining elements is halved: 10 iterations. */
BODY binary_search(unsigned long count)
{
	const uint32_t *sorted = (const uint32_t *)(const void *)big;
	unsigned long sum = 0;
	uint32_t key = 1;

	for (unsigned long i = 0; i < count; i++) {
		const uint32_t *at = sorted;

		MARK(BINARY_SEARCH, MARK_OUTER);
		key = key * 1664525 + 1013904223;
		for (size_t left = SORTED_COUNT; left > 1; left -= left / 2) {
			MARK(BINARY_SEARCH, MARK_MAIN);
			if (at[left / 2] <= key)
				at += left / 2;
		}
		sum += (unsigned long)(at - sorted);
	}
	result = sum;
}

#define REVERSE_LENGTH 500

BODY reverse_bytes(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		unsigned char *low = big, *high = big + REVERSE_LENGTH;

		MARK(REVERSE_BYTES, MARK_OUTER);
		while (low < high) {
			unsigned char byte = *low;

			MARK(REVERSE_BYTES, MARK_MAIN);
			*low++ = *--high;
			*high = byte;
		}
	}
}

/* 19 bits are set in each number. */
BODY count_bits(unsigned long count)
{
	unsigned long bits = 0x1248888842429299, sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(COUNT_BITS, MARK_OUTER);
		bits = bits << 7 | bits >> 57;
		for (unsigned long left = bits; left != 0; left &= left - 1) {
			MARK(COUNT_BITS, MARK_MAIN);
			sum++;
			HIDE(sum);
		}
	}
	result = sum;
}

#define MATRIX_SIZE 24

BODY matrix_vector(unsigned long count)
{
	const double *matrix = (const double *)(const void *)big;
	const double *from = matrix + MATRIX_SIZE * MATRIX_SIZE;
	double *to = (double *)(void *)(big + L2_BYTES);

	for (unsigned long i = 0; i < count; i++) {
		MARK(MATRIX_VECTOR, MARK_OUTER);
		for (size_t row = 0; row < MATRIX_SIZE; row++) {
			double sum = 0;

			for (size_t column = 0; column < MATRIX_SIZE; column++) {
				MARK(MATRIX_VECTOR, MARK_MAIN);
				sum += matrix[row * MATRIX_SIZE + column] * from[column];
			}
			to[row] = sum;
		}
	}
}

/* --- places ------------------------------------------------------------------ */

static unsigned char work_bytes[PAGE_BYTES];

/* Work that is not the kernel's. */
static inline __attribute__((always_inline)) void work_fill(unsigned long seed)
{
	for (size_t i = 0; i < sizeof(work_bytes); i++) {
		seed = seed * RANDOM_FACTOR + RANDOM_TERM;
		work_bytes[i] = (unsigned char)(seed >> 56);
	}
}

static inline __attribute__((always_inline)) unsigned long work_sum(void)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < sizeof(work_bytes); i++) {
		if (work_bytes[i] % 3 == 0)
			sum += work_bytes[i];
		else
			sum ^= i;
	}
	return sum;
}

#define PLACES(name)                                                                               \
	PROCEDURE void alone_##name(unsigned long count, unsigned long part)                       \
	{                                                                                          \
		(void)part;                                                                        \
		name(count);                                                                       \
	}                                                                                          \
	PROCEDURE void callee_##name(unsigned long count)                                          \
	{                                                                                          \
		name(count);                                                                       \
	}                                                                                          \
	PROCEDURE void calls_##name(unsigned long count, unsigned long part)                       \
	{                                                                                          \
		for (; count > part; count -= part)                                                \
			callee_##name(part);                                                       \
		callee_##name(count);                                                              \
	}                                                                                          \
	PROCEDURE void program_##name(unsigned long count, unsigned long part)                     \
	{                                                                                          \
		unsigned long sum = 0, pass = part * 16;                                           \
                                                                                                   \
		for (; count > 0; count -= pass) {                                                 \
			work_fill(sum + count);                                                    \
			sum += work_sum();                                                         \
			pass = count < pass ? count : pass;                                        \
			name(pass);                                                                \
			if (sum % 7 == 0)                                                          \
				sum ^= work_sum();                                                 \
		}                                                                                  \
		result = sum;                                                                      \
	}

/* clang-format off */
#define EACH_KERNEL(X) \
	X(chase_l1) X(chase_l2) X(chase_l3) X(chase_dram) \
	X(chase_end) X(gather_l1) X(gather_dram) X(gather_dependent) \
	X(stream) X(stride) X(update_l1) X(update_dram) \
	X(branch_random) X(branch_steady) X(branch_indirect) X(branch_return) \
	X(divide) X(square_root) X(multiply) X(add_chain) \
	X(float_chain) X(add_parallel) X(store_stream) X(store_forward) \
	X(alias_4k) X(atomic_alone) X(atomic_contended) X(sharing_true) \
	X(sharing_false) X(big_code) X(page_fault) X(nest_4) \
	X(nest_100) X(nest_1000) X(nest_varying) X(nest_triple) \
	X(nest_stores) X(two_loops) X(calls) X(recursion) \
	X(text_lengths) X(vector_sum) X(vector_scale) X(binary_search) \
	X(reverse_bytes) X(count_bits) X(matrix_vector)
/* clang-format on */

EACH_KERNEL(PLACES)

typedef void (*place_fn)(unsigned long count, unsigned long part);

/*
 * @main, @outer: executions of the marks per count
 * @part:    count of a call of the callee
 * @bytes:   of the list, or of the data of a gather
 * @threads: that run it
 */
static const struct kernel {
	const char *name;
	place_fn alone, calls, program;
	unsigned long main, outer, part;
	size_t bytes;
	int threads;
} kernels[] = {
#define RUNS(name) #name, alone_##name, calls_##name, program_##name
	[CHASE_L1] = {RUNS(chase_l1), 1, 0, 2000, L1_BYTES, 1},
	[CHASE_L2] = {RUNS(chase_l2), 1, 0, 2000, L2_BYTES, 1},
	[CHASE_L3] = {RUNS(chase_l3), 1, 0, 500, L3_BYTES, 1},
	[CHASE_DRAM] = {RUNS(chase_dram), 1, 0, 100, BIG_BYTES, 1},
	[CHASE_END] = {RUNS(chase_end), L1_BYTES / LINE_BYTES, 1, 20, L1_BYTES, 1},
	[GATHER_L1] = {RUNS(gather_l1), 1, 0, 2000, L1_BYTES, 1},
	[GATHER_DRAM] = {RUNS(gather_dram), 1, 0, 500, BIG_BYTES, 1},
	[GATHER_DEPENDENT] = {RUNS(gather_dependent), 1, 0, 100, BIG_BYTES, 1},
	[STREAM] = {RUNS(stream), 1, 0, 5000, 0, 1},
	[STRIDE] = {RUNS(stride), 1, 0, 500, 0, 1},
	[UPDATE_L1] = {RUNS(update_l1), 1, 0, 2000, 0, 1},
	[UPDATE_DRAM] = {RUNS(update_dram), 1, 0, 500, 0, 1},
	[BRANCH_RANDOM] = {RUNS(branch_random), 1, 0, 1000, 0, 1},
	[BRANCH_STEADY] = {RUNS(branch_steady), 1, 0, 2000, 0, 1},
	[BRANCH_INDIRECT] = {RUNS(branch_indirect), 1, 0, 1000, 0, 1},
	[BRANCH_RETURN] = {RUNS(branch_return), 100, 1, 10, 0, 1},
	[DIVIDE] = {RUNS(divide), 1, 0, 1000, 0, 1},
	[SQUARE_ROOT] = {RUNS(square_root), 1, 0, 1000, 0, 1},
	[MULTIPLY] = {RUNS(multiply), 1, 0, 2000, 0, 1},
	[ADD_CHAIN] = {RUNS(add_chain), 1, 0, 2000, 0, 1},
	[FLOAT_CHAIN] = {RUNS(float_chain), 1, 0, 2000, 0, 1},
	[ADD_PARALLEL] = {RUNS(add_parallel), 1, 0, 5000, 0, 1},
	[STORE_STREAM] = {RUNS(store_stream), 1, 0, 5000, 0, 1},
	[STORE_FORWARD] = {RUNS(store_forward), 1, 0, 1000, 0, 1},
	[ALIAS_4K] = {RUNS(alias_4k), 1, 0, 2000, 0, 1},
	[ATOMIC_ALONE] = {RUNS(atomic_alone), 1, 0, 1000, 0, 1},
	[ATOMIC_CONTENDED] = {RUNS(atomic_contended), 1, 0, 500, 0, 2},
	[SHARING_TRUE] = {RUNS(sharing_true), 1, 0, 500, 0, 2},
	[SHARING_FALSE] = {RUNS(sharing_false), 1, 0, 500, 0, 2},
	[BIG_CODE] = {RUNS(big_code), 1, 0, 4, 0, 1},
	[PAGE_FAULT] = {RUNS(page_fault), 512, 1, 1, 0, 1},
	[NEST_4] = {RUNS(nest_4), 4, 1, 500, 0, 1},
	[NEST_100] = {RUNS(nest_100), 100, 1, 20, 0, 1},
	[NEST_1000] = {RUNS(nest_1000), 1000, 1, 2, 0, 1},
	[NEST_VARYING] = {RUNS(nest_varying), 50, 1, 64, 0, 1},
	[NEST_TRIPLE] = {RUNS(nest_triple), 600, 30, 5, 0, 1},
	[NEST_STORES] = {RUNS(nest_stores), BIG_BYTES / 64, 1, 1, 0, 1},
	[TWO_LOOPS] = {RUNS(two_loops), 20000, 1, 1, 0, 1},
	[CALLS] = {RUNS(calls), 1, 0, 1000, 0, 1},
	[RECURSION] = {RUNS(recursion), 2047, 1, 2, 0, 1},
	[TEXT_LENGTHS] = {RUNS(text_lengths), 0, 1, 64, 0, 1},
	[VECTOR_SUM] = {RUNS(vector_sum), 1, 0, 2000, 0, 1},
	[VECTOR_SCALE] = {RUNS(vector_scale), 256, 1, 10, 0, 1},
	[BINARY_SEARCH] = {RUNS(binary_search), 10, 1, 100, 0, 1},
	[REVERSE_BYTES] = {RUNS(reverse_bytes), REVERSE_LENGTH / 2, 1, 10, 0, 1},
	[COUNT_BITS] = {RUNS(count_bits), 19, 1, 50, 0, 1},
	[MATRIX_VECTOR] = {RUNS(matrix_vector), MATRIX_SIZE *MATRIX_SIZE, 1, 5, 0, 1},
};

/* --- the run ------------------------------------------------------------------ */

/* A list through @count lines, and their numbers, in an order that no processor predicts. */
static void list_make(size_t count)
{
	list = aligned_alloc(LINE_BYTES, count * sizeof(*list));
	order = calloc(count, sizeof(*order));
	if (list == NULL || order == NULL)
		exit(2);
	order_count = count;
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	for (size_t i = count - 1; i > 0; i--) {
		size_t other = (size_t)rand() % i;
		uint32_t moved = order[i];

		order[i] = order[other];
		order[other] = moved;
	}
	for (size_t i = 0; i < count; i++)
		list[order[i]].next = &list[order[(i + 1) % count]];
}

static void data_make(const struct kernel *kernel)
{
	list_make(kernel->bytes >= LINE_BYTES ? kernel->bytes / LINE_BYTES : 1);
	big = mmap(NULL, BIG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	texts = calloc(TEXTS, TEXT_BYTES);
	if (big == MAP_FAILED || texts == NULL)
		exit(2);
	memset(big, 1, BIG_BYTES);
	for (size_t i = 0; i < TEXTS; i++)
		memset(texts + i * TEXT_BYTES, 'a', 4 + 7 * i);
	/* 18 to 82, 50 on average */
	for (uint32_t i = 0; i < 64; i++)
		trips[i] = 18 + i * 37 % 64 + i % 2;
}

/* CPU time of the process in seconds: on a busy machine it decides the number of samples. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct job {
	const struct kernel *kernel;
	place_fn place;
	unsigned long count;
	volatile unsigned long *mine;
};

static void *job_run(void *argument)
{
	const struct job *job = argument;

	mine = job->mine;
	job->place(job->count, job->kernel->part);
	return NULL;
}

/* Counts are multiples of 64, because some kernels repeat after 64. */
static void run(const struct kernel *kernel, place_fn place, unsigned long count)
{
	struct job jobs[2] = {{kernel, place, count, &shared.first},
			      {kernel, place, count, &shared.second}};
	pthread_t thread;

	if (kernel->threads == 2 && pthread_create(&thread, NULL, job_run, &jobs[1]) != 0)
		exit(2);
	job_run(&jobs[0]);
	if (kernel->threads == 2)
		pthread_join(thread, NULL);
}

static unsigned long run_for(const struct kernel *kernel, place_fn place, double seconds)
{
	unsigned long count = 64, sum = 0;
	double took = 0, begun;

	for (; took < 0.05; count *= 2) {
		begun = now();
		run(kernel, place, count);
		took = (now() - begun) / kernel->threads;
		sum += count;
	}
	count = (unsigned long)((double)count / 2 * seconds / took) / 64 * 64 + 64;
	run(kernel, place, count);
	return (sum + count) * (unsigned long)kernel->threads;
}

static place_fn place_of(const struct kernel *kernel, const char *name)
{
	if (strcmp(name, "alone") == 0)
		return kernel->alone;
	if (strcmp(name, "callee") == 0)
		return kernel->calls;
	if (strcmp(name, "program") == 0)
		return kernel->program;
	exit(2);
}

static unsigned long text_mean(void)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < TEXTS; i++)
		sum += strlen(texts + i * TEXT_BYTES);
	return sum;
}

static void report(size_t number, unsigned long count)
{
	const struct kernel *kernel = &kernels[number];
	unsigned long main_count = count * kernel->main;

	if (number == TEXT_LENGTHS)
		main_count = count / TEXTS * text_mean();
	printf("%zu %lu %lu\n", number, main_count, count * kernel->outer);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		if (argc == 2)
			puts(kernels[i].name);
		if (argc != 4 || strcmp(argv[1], kernels[i].name) != 0)
			continue;
		data_make(&kernels[i]);
		report(i, run_for(&kernels[i], place_of(&kernels[i], argv[2]), atof(argv[3])));
		return 0;
	}
	return argc == 2 ? 0 : 2;
}
