// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops with known executions. Each loop waits for something else.
 * run.h describes the arguments.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "run.h"

#define LINE_BYTES 64
#define PAGE_BYTES 4096
#define BIG_BYTES ((size_t)64 << 20)
#define L1_BYTES ((size_t)8 << 10)
#define L2_BYTES ((size_t)256 << 10)
#define L3_BYTES ((size_t)4 << 20)

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
	HASH_JOIN,
	TOKENIZER,
	TREE_INSERT,
	STRING_SEARCH,
	SPARSE_ROWS,
	LRU_CACHE,
	PARSER,
	PRIORITY_QUEUE,
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
/* Trip counts that the compiler does not know. */
static volatile unsigned long four = 4, hundred = 100, thousand = 1000, many = 20000;

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

/*
 * Deeper than the processor's stack of return addresses. The calls return to five different
 * addresses, one after another. With one address, an old entry of that stack would be right by
 * chance.
 */
#define DESCEND(name, next)                                                                        \
	PROCEDURE unsigned long name(unsigned long depth)                                          \
	{                                                                                          \
		MARK(BRANCH_RETURN, MARK_MAIN);                                                    \
		if (depth <= 1)                                                                    \
			return 1;                                                                  \
		depth = next(depth - 1);                                                           \
		HIDE(depth); /* or the compiler makes it a loop */                                 \
		return depth + 1;                                                                  \
	}

static unsigned long descend_1(unsigned long depth);
DESCEND(descend_5, descend_1)
DESCEND(descend_4, descend_5)
DESCEND(descend_3, descend_4)
DESCEND(descend_2, descend_3)
DESCEND(descend_1, descend_2)

BODY branch_return(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		MARK(BRANCH_RETURN, MARK_OUTER);
		result = descend_1(hundred);
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

BODY sharing_false(unsigned long count)
{
	volatile unsigned long *word = thread_number == 0 ? &shared.first : &shared.second;

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

/* --- short loops ---------------------------------------------------------------- */

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

/* --- algorithms with data-dependent exits ------------------------------------- */

/* Each count handles a batch; the data repeat after 64 counts. */
#define BATCH 16
#define ALL_KEYS (64 * BATCH)

static uint32_t keys[ALL_KEYS];

/* Half of the keys are in the table, in chains of 4 on average. */
#define BUCKETS 256
#define ENTRIES 1024

struct entry {
	struct entry *next;
	uint32_t key;
	uint32_t value;
};

static struct entry entries[ENTRIES], *buckets[BUCKETS];

BODY hash_join(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		for (unsigned long k = 0; k < BATCH; k++) {
			uint32_t key = keys[i % 64 * BATCH + k];
			const struct entry *entry = buckets[key * 2654435761U >> 24];

			MARK(HASH_JOIN, MARK_OUTER);
			while (entry != NULL && entry->key != key) {
				MARK(HASH_JOIN, MARK_MAIN);
				entry = entry->next;
			}
			if (entry != NULL)
				sum += entry->value;
		}
	}
	result = sum;
}

#define LINE_CHARACTERS 80

static char lines[64][LINE_CHARACTERS];

BODY tokenizer(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		const char *at = lines[i % 64];

		while (*at != 0) {
			MARK(TOKENIZER, MARK_OUTER);
			if (*at >= 'a' && *at <= 'z') {
				unsigned long hash = 5381;

				do {
					MARK(TOKENIZER, MARK_MAIN);
					hash = hash * 33 + (unsigned char)*at++;
				} while (*at >= 'a' && *at <= 'z');
				sum ^= hash;
			} else if (*at >= '0' && *at <= '9') {
				unsigned long number = 0;

				do
					number = number * 10 + (unsigned long)(*at++ - '0');
				while (*at >= '0' && *at <= '9');
				sum += number;
			} else {
				at++;
			}
		}
	}
	result = sum;
}

static struct branch {
	struct branch *children[2];
	uint32_t key;
} branches[ALL_KEYS];

/* A binary tree that is built again every 64 counts. */
BODY tree_insert(unsigned long count)
{
	struct branch *root = NULL;
	size_t used = 0;

	for (unsigned long i = 0; i < count; i++) {
		if (i % 64 == 0) {
			root = NULL;
			used = 0;
		}
		for (unsigned long k = 0; k < BATCH; k++) {
			uint32_t key = keys[i % 64 * BATCH + k];
			struct branch **at = &root, *added = &branches[used++];

			MARK(TREE_INSERT, MARK_OUTER);
			while (*at != NULL) {
				MARK(TREE_INSERT, MARK_MAIN);
				at = &(*at)->children[key >= (*at)->key];
			}
			*added = (struct branch){.key = key};
			*at = added;
		}
	}
	result = used;
}

#define LETTERS 1024

static char letters[LETTERS + 1];

/* A word of 8 letters; few letters of it agree at most places. */
BODY string_search(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		const char *word = &letters[(i % 64 + 1) * 8], *at = letters;

		for (; at + 8 <= letters + LETTERS; at++) {
			size_t same = 0;

			MARK(STRING_SEARCH, MARK_OUTER);
			while (same < 8 && at[same] == word[same]) {
				MARK(STRING_SEARCH, MARK_MAIN);
				same++;
			}
			if (same == 8)
				break;
		}
		sum += (unsigned long)(at - letters);
	}
	result = sum;
}

static struct {
	double values[8 * ALL_KEYS];
	uint32_t columns[8 * ALL_KEYS];
	uint32_t starts[ALL_KEYS + 1];
} sparse;

/* Rows of 0 to 7 numbers. */
BODY sparse_rows(unsigned long count)
{
	const double *from = (const double *)(const void *)big;
	double *to = (double *)(void *)(big + L2_BYTES);

	for (unsigned long i = 0; i < count; i++) {
		unsigned long first = i % 64 * BATCH;

		for (unsigned long row = first; row < first + BATCH; row++) {
			double sum = 0;

			MARK(SPARSE_ROWS, MARK_OUTER);
			for (uint32_t k = sparse.starts[row]; k < sparse.starts[row + 1]; k++) {
				MARK(SPARSE_ROWS, MARK_MAIN);
				sum += sparse.values[k] * from[sparse.columns[k]];
			}
			to[row] = sum;
		}
	}
}

#define CACHED 64

static struct cached {
	struct cached *newer, *older, *next;
	uint32_t key;
} cached[CACHED + 1], *cached_of[16];

static inline __attribute__((always_inline)) void cached_move(struct cached *item)
{
	struct cached *ends = &cached[CACHED];

	item->newer->older = item->older;
	item->older->newer = item->newer;
	item->older = ends->older;
	item->newer = ends;
	ends->older->newer = item;
	ends->older = item;
}

static inline __attribute__((always_inline)) void cached_replace(struct cached *item, uint32_t key)
{
	struct cached **at = &cached_of[item->key % 16];

	while (*at != NULL && *at != item)
		at = &(*at)->next;
	if (*at != NULL)
		*at = item->next;
	item->key = key;
	item->next = cached_of[key % 16];
	cached_of[key % 16] = item;
}

static inline __attribute__((always_inline)) void cached_clear(void)
{
	memset(cached_of, 0, sizeof(cached_of));
	for (size_t i = 0; i <= CACHED; i++) {
		cached[i].newer = &cached[(i + 1) % (CACHED + 1)];
		cached[(i + 1) % (CACHED + 1)].older = &cached[i];
	}
}

/* A cache with the least recently used item replaced, which is cleared every 64 counts. */
BODY lru_cache(unsigned long count)
{
	unsigned long hits = 0;

	for (unsigned long i = 0; i < count; i++) {
		if (i % 64 == 0)
			cached_clear();
		for (unsigned long k = 0; k < BATCH; k++) {
			uint32_t key = keys[i % 64 * BATCH + k] % 128;
			struct cached *item = cached_of[key % 16];

			MARK(LRU_CACHE, MARK_OUTER);
			while (item != NULL && item->key != key) {
				MARK(LRU_CACHE, MARK_MAIN);
				item = item->next;
			}
			hits += item != NULL;
			if (item == NULL) {
				item = cached[CACHED].newer;
				cached_replace(item, key);
			}
			cached_move(item);
		}
	}
	result = hits;
}

static char sums[64][LINE_CHARACTERS];

PROCEDURE unsigned long parse_sum(const char **at);

PROCEDURE unsigned long parse_factor(const char **at)
{
	unsigned long value = 0;

	MARK(PARSER, MARK_MAIN);
	if (**at == '(') {
		++*at;
		value = parse_sum(at);
		++*at;
		return value;
	}
	while (**at >= '0' && **at <= '9')
		value = value * 10 + (unsigned long)(*(*at)++ - '0');
	return value;
}

PROCEDURE unsigned long parse_product(const char **at)
{
	unsigned long value = parse_factor(at);

	MARK(PARSER, MARK_OUTER);
	while (**at == '*') {
		++*at;
		value *= parse_factor(at);
	}
	return value;
}

PROCEDURE unsigned long parse_sum(const char **at)
{
	unsigned long value = parse_product(at);

	while (**at == '+') {
		++*at;
		value += parse_product(at);
	}
	return value;
}

/* By recursive descent. */
BODY parser(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		const char *at = sums[i % 64];

		sum += parse_sum(&at);
	}
	result = sum;
}

#define HEAP_SIZE 500

static uint32_t heap[HEAP_SIZE];

/* Replace the least key of a heap by a greater one. Every 64 counts the heap is made again. */
BODY priority_queue(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		if (i % 64 == 0) {
			for (size_t k = 0; k < HEAP_SIZE; k++)
				heap[k] = (uint32_t)k << 16;
		}
		for (unsigned long k = 0; k < BATCH; k++) {
			uint32_t key = heap[0] + keys[i % 64 * BATCH + k] % (HEAP_SIZE << 16);
			size_t at = 0, child;

			MARK(PRIORITY_QUEUE, MARK_OUTER);
			while ((child = 2 * at + 1) < HEAP_SIZE) {
				MARK(PRIORITY_QUEUE, MARK_MAIN);
				if (child + 1 < HEAP_SIZE && heap[child + 1] < heap[child])
					child++;
				if (heap[child] >= key)
					break;
				heap[at] = heap[child];
				at = child;
			}
			heap[at] = key;
		}
	}
	result = heap[0];
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
	X(reverse_bytes) X(count_bits) X(matrix_vector) X(hash_join) \
	X(tokenizer) X(tree_insert) X(string_search) X(sparse_rows) \
	X(lru_cache) X(parser) X(priority_queue)
/* clang-format on */

EACH_KERNEL(PLACES)

static const struct kernel kernels[] = {
	[CHASE_L1] = {RUNS(chase_l1), 2000, L1_BYTES, 1},
	[CHASE_L2] = {RUNS(chase_l2), 2000, L2_BYTES, 1},
	[CHASE_L3] = {RUNS(chase_l3), 500, L3_BYTES, 1},
	[CHASE_DRAM] = {RUNS(chase_dram), 100, BIG_BYTES, 1},
	[CHASE_END] = {RUNS(chase_end), 20, L1_BYTES, 1},
	[GATHER_L1] = {RUNS(gather_l1), 2000, L1_BYTES, 1},
	[GATHER_DRAM] = {RUNS(gather_dram), 500, BIG_BYTES, 1},
	[GATHER_DEPENDENT] = {RUNS(gather_dependent), 100, BIG_BYTES, 1},
	[STREAM] = {RUNS(stream), 5000, 0, 1},
	[STRIDE] = {RUNS(stride), 500, 0, 1},
	[UPDATE_L1] = {RUNS(update_l1), 2000, 0, 1},
	[UPDATE_DRAM] = {RUNS(update_dram), 500, 0, 1},
	[BRANCH_RANDOM] = {RUNS(branch_random), 1000, 0, 1},
	[BRANCH_STEADY] = {RUNS(branch_steady), 2000, 0, 1},
	[BRANCH_INDIRECT] = {RUNS(branch_indirect), 1000, 0, 1},
	[BRANCH_RETURN] = {RUNS(branch_return), 10, 0, 1},
	[DIVIDE] = {RUNS(divide), 1000, 0, 1},
	[SQUARE_ROOT] = {RUNS(square_root), 1000, 0, 1},
	[MULTIPLY] = {RUNS(multiply), 2000, 0, 1},
	[ADD_CHAIN] = {RUNS(add_chain), 2000, 0, 1},
	[FLOAT_CHAIN] = {RUNS(float_chain), 2000, 0, 1},
	[ADD_PARALLEL] = {RUNS(add_parallel), 5000, 0, 1},
	[STORE_STREAM] = {RUNS(store_stream), 5000, 0, 1},
	[STORE_FORWARD] = {RUNS(store_forward), 1000, 0, 1},
	[ALIAS_4K] = {RUNS(alias_4k), 2000, 0, 1},
	[ATOMIC_ALONE] = {RUNS(atomic_alone), 1000, 0, 1},
	[ATOMIC_CONTENDED] = {RUNS(atomic_contended), 500, 0, 2},
	[SHARING_TRUE] = {RUNS(sharing_true), 500, 0, 2},
	[SHARING_FALSE] = {RUNS(sharing_false), 500, 0, 2},
	[BIG_CODE] = {RUNS(big_code), 4, 0, 1},
	[PAGE_FAULT] = {RUNS(page_fault), 1, 0, 1},
	[NEST_4] = {RUNS(nest_4), 500, 0, 1},
	[NEST_100] = {RUNS(nest_100), 20, 0, 1},
	[NEST_1000] = {RUNS(nest_1000), 2, 0, 1},
	[NEST_VARYING] = {RUNS(nest_varying), 64, 0, 1},
	[NEST_TRIPLE] = {RUNS(nest_triple), 5, 0, 1},
	[NEST_STORES] = {RUNS(nest_stores), 1, 0, 1},
	[TWO_LOOPS] = {RUNS(two_loops), 1, 0, 1},
	[CALLS] = {RUNS(calls), 1000, 0, 1},
	[RECURSION] = {RUNS(recursion), 2, 0, 1},
	[TEXT_LENGTHS] = {RUNS(text_lengths), 64, 0, 1},
	[VECTOR_SUM] = {RUNS(vector_sum), 2000, 0, 1},
	[VECTOR_SCALE] = {RUNS(vector_scale), 10, 0, 1},
	[BINARY_SEARCH] = {RUNS(binary_search), 100, 0, 1},
	[REVERSE_BYTES] = {RUNS(reverse_bytes), 10, 0, 1},
	[COUNT_BITS] = {RUNS(count_bits), 50, 0, 1},
	[MATRIX_VECTOR] = {RUNS(matrix_vector), 5, 0, 1},
	[HASH_JOIN] = {RUNS(hash_join), 64, 0, 1},
	[TOKENIZER] = {RUNS(tokenizer), 64, 0, 1},
	[TREE_INSERT] = {RUNS(tree_insert), 64, 0, 1},
	[STRING_SEARCH] = {RUNS(string_search), 64, 0, 1},
	[SPARSE_ROWS] = {RUNS(sparse_rows), 64, 0, 1},
	[LRU_CACHE] = {RUNS(lru_cache), 64, 0, 1},
	[PARSER] = {RUNS(parser), 64, 0, 1},
	[PRIORITY_QUEUE] = {RUNS(priority_queue), 64, 0, 1},
};

/* --- data ---------------------------------------------------------------------- */

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

static uint32_t random_below(uint32_t end)
{
	return (uint32_t)rand() % end;
}

/* Write a sum of products of numbers and sums in parentheses, of at most @left characters. */
static char *sum_make(char *to, uint32_t left)
{
	while (left >= 12) {
		uint32_t used = 2 + random_below(left - 10);
		char *begin = to;

		if (random_below(3) == 0 && used > 6) {
			*to++ = '(';
			to = sum_make(to, used - 2);
			*to++ = ')';
		} else {
			to += sprintf(to, "%u", random_below(1000));
		}
		*to++ = random_below(2) == 0 ? '*' : '+';
		left -= (uint32_t)(to - begin);
	}
	return to + sprintf(to, "%u", random_below(100));
}

static void line_make(char *to)
{
	static const char characters[] = "abcdefghijklmnopqrstuvwxyz";

	for (char *end = to + LINE_CHARACTERS - 12; to < end; *to++ = " +;("[random_below(4)]) {
		if (random_below(3) == 0) {
			to += sprintf(to, "%u", random_below(100000));
			continue;
		}
		for (uint32_t length = 1 + random_below(10); length > 0; length--)
			*to++ = characters[random_below(26)];
	}
	*to = 0;
}

/* Data of the algorithms with data-dependent exits. */
static void batches_make(void)
{
	for (size_t i = 0; i < ENTRIES; i++) {
		uint32_t key = 2 * (uint32_t)i * 40503U + 1;
		struct entry **bucket = &buckets[key * 2654435761U >> 24];

		entries[i] = (struct entry){*bucket, key, (uint32_t)i};
		*bucket = &entries[i];
	}
	for (size_t i = 0; i < ALL_KEYS; i++) {
		keys[i] = random_below(2) == 0 ? entries[random_below(ENTRIES)].key
					       : (uint32_t)rand();
		sparse.starts[i + 1] = sparse.starts[i] + random_below(8);
	}
	for (size_t i = 0; i < 8 * ALL_KEYS; i++) {
		sparse.values[i] = (double)random_below(100);
		sparse.columns[i] = random_below(L1_BYTES / sizeof(double));
	}
	for (size_t i = 0; i < LETTERS; i++)
		letters[i] = "abc"[random_below(3)];
	for (size_t i = 0; i < 64; i++) {
		line_make(lines[i]);
		*sum_make(sums[i], LINE_CHARACTERS - 2) = 0;
	}
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
	batches_make();
}

int main(int argc, char **argv)
{
	return kernels_main(argc, argv, kernels, sizeof(kernels) / sizeof(*kernels), data_make);
}
