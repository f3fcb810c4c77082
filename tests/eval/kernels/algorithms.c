// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small well-known algorithms with known executions, which were written after the estimators
 * (docs/accuracy.md). run.h describes the arguments.
 *
 * Each count handles one batch, and the data repeat after 64 counts.
 */
#include <stdint.h>

#include "run.h"

enum {
	LIST_INSERT,
	BUBBLE_SORT,
	SIEVE,
	CRC_BLOCKS,
	STATE_MACHINE,
	MATRIX_MULTIPLY,
	QUICK_SORT,
	LIBRARY_SORT,
	OPEN_HASH,
	PREFIX_SUM,
	FIBONACCI,
	GREATEST_DIVISOR,
	COLLATZ,
	BYTECODE,
	STENCIL,
	TWO_CALLERS,
	HISTOGRAM,
	EDIT_DISTANCE,
	QUEENS,
	MANDELBROT,
	SPIN_LOCK,
	WORD_COUNT,
	DISJOINT_SETS,
	POINTER_RING,
};

#define NUMBERS 4096

static uint32_t numbers[NUMBERS], work[NUMBERS];
static unsigned char bytes[NUMBERS];

/* Insert into a sorted list. */
static struct item {
	struct item *next;
	uint32_t key;
} items[128];

BODY list_insert(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		struct item *head = NULL;

		for (unsigned long k = 0; k < 128; k++) {
			struct item **at = &head;

			MARK(LIST_INSERT, MARK_OUTER);
			items[k].key = numbers[i % 32 * 128 + k];
			while (*at != NULL && (*at)->key < items[k].key) {
				MARK(LIST_INSERT, MARK_MAIN);
				at = &(*at)->next;
			}
			items[k].next = *at;
			*at = &items[k];
		}
	}
}

BODY bubble_sort(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		int swapped = 1;

		memcpy(work, &numbers[i % 64 * 64], 64 * sizeof(*work));
		for (size_t end = 64; swapped; end--) {
			MARK(BUBBLE_SORT, MARK_OUTER);
			swapped = 0;
			for (size_t k = 1; k < end; k++) {
				MARK(BUBBLE_SORT, MARK_MAIN);
				if (work[k - 1] > work[k]) {
					uint32_t moved = work[k];

					work[k] = work[k - 1];
					work[k - 1] = moved;
					swapped = 1;
				}
			}
		}
	}
}

#define SIEVE_SIZE 65536

static unsigned char composite[SIEVE_SIZE];

BODY sieve(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		memset(composite, 0, sizeof(composite));
		for (size_t p = 2; p * p < SIEVE_SIZE; p++) {
			if (composite[p])
				continue;
			MARK(SIEVE, MARK_OUTER);
			for (size_t k = p * p; k < SIEVE_SIZE; k += p) {
				MARK(SIEVE, MARK_MAIN);
				composite[k] = 1;
			}
		}
	}
}

static uint32_t crc_table[256];

PROCEDURE uint32_t crc_of(const unsigned char *data, size_t length)
{
	uint32_t crc = 0xffffffff;

	MARK(CRC_BLOCKS, MARK_OUTER);
	while (length-- > 0) {
		MARK(CRC_BLOCKS, MARK_MAIN);
		crc = crc >> 8 ^ crc_table[(crc ^ *data++) & 255];
	}
	return ~crc;
}

BODY crc_blocks(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++)
		sum += crc_of(&bytes[i % 16 * 128], 100 + i % 64);
	result = sum;
}

/* Comments in C. */
BODY state_machine(unsigned long count)
{
	unsigned long comments = 0;

	for (unsigned long i = 0; i < count; i++) {
		enum {
			CODE,
			SLASH,
			COMMENT,
			STAR,
			TEXT
		} state = CODE;

		for (size_t k = 0; k < 256; k++) {
			unsigned char c = bytes[i % 16 * 256 + k];

			MARK(STATE_MACHINE, MARK_MAIN);
			switch (state) {
			case CODE:
				state = c == '/' ? SLASH : c == '"' ? TEXT : CODE;
				break;
			case SLASH:
				state = c == '*' ? COMMENT : c == '/' ? SLASH : CODE;
				break;
			case COMMENT:
				MARK(STATE_MACHINE, MARK_OUTER);
				state = c == '*' ? STAR : COMMENT;
				break;
			case STAR:
				if (c == '/')
					comments++;
				state = c == '/' ? CODE : c == '*' ? STAR : COMMENT;
				break;
			case TEXT:
				state = c == '"' ? CODE : TEXT;
				break;
			}
		}
	}
	result = comments;
}

#define SIZE 48

static double left[SIZE][SIZE], right[SIZE][SIZE], product[SIZE][SIZE];

BODY matrix_multiply(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		for (int row = 0; row < SIZE; row++) {
			for (int column = 0; column < SIZE; column++) {
				double sum = 0;

				MARK(MATRIX_MULTIPLY, MARK_OUTER);
				for (int k = 0; k < SIZE; k++) {
					MARK(MATRIX_MULTIPLY, MARK_MAIN);
					sum += left[row][k] * right[k][column];
				}
				product[row][column] = sum;
			}
		}
	}
}

PROCEDURE void sort(uint32_t *first, uint32_t *last)
{
	while (first < last) {
		uint32_t pivot = first[(last - first) / 2], *low = first, *high = last, moved;

		MARK(QUICK_SORT, MARK_OUTER);
		while (low <= high) {
			while (*low < pivot) {
				MARK(QUICK_SORT, MARK_MAIN);
				low++;
			}
			while (*high > pivot)
				high--;
			if (low <= high) {
				moved = *low;
				*low++ = *high;
				*high-- = moved;
			}
		}
		sort(first, high);
		first = low;
	}
}

BODY quick_sort(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		memcpy(work, &numbers[i % 4 * 1024], 1024 * sizeof(*work));
		sort(work, work + 1023);
	}
}

PROCEDURE int number_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	MARK(LIBRARY_SORT, MARK_MAIN);
	return *x < *y ? -1 : *x > *y;
}

BODY library_sort(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		MARK(LIBRARY_SORT, MARK_OUTER);
		memcpy(work, &numbers[i % 4 * 1024], 1024 * sizeof(*work));
		qsort(work, 1024, sizeof(*work), number_compare);
	}
}

#define SLOTS 1024

static uint32_t slots[SLOTS];

/* Fill three quarters of the table, then look up as many keys. */
BODY open_hash(unsigned long count)
{
	unsigned long found = 0;

	for (unsigned long i = 0; i < count; i++) {
		memset(slots, 0, sizeof(slots));
		for (size_t k = 0; k < 768; k++) {
			uint32_t key = numbers[i % 4 * 768 + k] | 1, at = key * 2654435761U >> 22;

			while (slots[at] != 0 && slots[at] != key)
				at = (at + 1) % SLOTS;
			slots[at] = key;
		}
		for (size_t k = 0; k < 768; k++) {
			uint32_t key = numbers[(i % 4 + 1) * 768 + k - 384] | 1;
			uint32_t at = key * 2654435761U >> 22;

			MARK(OPEN_HASH, MARK_OUTER);
			while (slots[at] != 0 && slots[at] != key) {
				MARK(OPEN_HASH, MARK_MAIN);
				at = (at + 1) % SLOTS;
			}
			found += slots[at] == key;
		}
	}
	result = found;
}

BODY prefix_sum(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		uint32_t sum = (uint32_t)i;

		for (size_t k = 0; k < NUMBERS; k++) {
			MARK(PREFIX_SUM, MARK_MAIN);
			sum += numbers[k];
			work[k] = sum;
		}
	}
}

PROCEDURE unsigned long fibonacci_of(unsigned long n)
{
	MARK(FIBONACCI, MARK_MAIN);
	return n < 2 ? n : fibonacci_of(n - 1) + fibonacci_of(n - 2);
}

BODY fibonacci(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		MARK(FIBONACCI, MARK_OUTER);
		result = fibonacci_of(16);
	}
}

BODY greatest_divisor(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		for (size_t k = 0; k < 32; k++) {
			uint32_t a = numbers[i % 64 * 64 + k], b = numbers[i % 64 * 64 + 32 + k];

			MARK(GREATEST_DIVISOR, MARK_OUTER);
			while (b != 0) {
				uint32_t rest = a % b;

				MARK(GREATEST_DIVISOR, MARK_MAIN);
				a = b;
				b = rest;
			}
			sum += a;
		}
	}
	result = sum;
}

BODY collatz(unsigned long count)
{
	unsigned long steps = 0;

	for (unsigned long i = 0; i < count; i++) {
		unsigned long value = i % 64 + 27;

		MARK(COLLATZ, MARK_OUTER);
		while (value != 1) {
			MARK(COLLATZ, MARK_MAIN);
			value = value % 2 == 0 ? value / 2 : 3 * value + 1;
			steps++;
		}
	}
	result = steps;
}

/* An interpreter with a function for each operation. */
struct machine {
	unsigned long accumulator;
	unsigned long other;
	size_t at;
};

PROCEDURE void operation_add(struct machine *machine)
{
	MARK(BYTECODE, MARK_OUTER);
	machine->accumulator += machine->other;
}

PROCEDURE void operation_exchange(struct machine *machine)
{
	unsigned long moved = machine->other;

	machine->other = machine->accumulator;
	machine->accumulator = moved;
}

PROCEDURE void operation_shift(struct machine *machine)
{
	machine->accumulator = machine->accumulator << 1 | 1;
}

PROCEDURE void operation_skip(struct machine *machine)
{
	machine->at += machine->accumulator & 1;
}

static void (*const operations[])(struct machine *machine) = {operation_add, operation_exchange,
							      operation_shift, operation_skip};

BODY bytecode(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		struct machine machine = {1, 2, i % 16 * 128};
		size_t end = machine.at + 128;

		while (machine.at < end) {
			MARK(BYTECODE, MARK_MAIN);
			operations[bytes[machine.at++] % 4](&machine);
		}
		result = machine.accumulator;
	}
}

#define GRID 64

static float grid[2][GRID][GRID];

BODY stencil(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		float(*from)[GRID] = grid[i % 2], (*to)[GRID] = grid[(i + 1) % 2];

		for (int y = 1; y < GRID - 1; y++) {
			MARK(STENCIL, MARK_OUTER);
			for (int x = 1; x < GRID - 1; x++) {
				MARK(STENCIL, MARK_MAIN);
				to[y][x] = 0.25f * (from[y - 1][x] + from[y + 1][x] +
						    from[y][x - 1] + from[y][x + 1]);
			}
		}
	}
}

/* A short procedure that two loops call. */
PROCEDURE unsigned long mix(unsigned long a, unsigned long b)
{
	MARK(TWO_CALLERS, MARK_MAIN);
	a ^= b << 13 | b >> 51;
	a *= RANDOM_FACTOR;
	return a ^ a >> 29;
}

PROCEDURE unsigned long mix_words(const uint32_t *words, size_t length)
{
	unsigned long hash = 1;

	for (size_t i = 0; i < length; i++)
		hash = mix(hash, words[i]);
	return hash;
}

PROCEDURE unsigned long mix_bytes(const unsigned char *from, size_t length)
{
	unsigned long hash = 2;

	for (size_t i = 0; i < length; i++) {
		if (from[i] != ' ')
			hash = mix(hash, from[i]);
	}
	return hash;
}

BODY two_callers(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		MARK(TWO_CALLERS, MARK_OUTER);
		sum += mix_words(numbers, 300);
		sum += mix_bytes(bytes, 200);
	}
	result = sum;
}

static uint32_t bins[256];

BODY histogram(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		for (size_t k = 0; k < NUMBERS; k++) {
			MARK(HISTOGRAM, MARK_MAIN);
			bins[bytes[k]]++;
		}
	}
}

#define TEXT 40

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

BODY edit_distance(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		const unsigned char *a = &bytes[i % 64 * 20], *b = a + 1000;
		uint32_t row[TEXT + 1];

		for (uint32_t k = 0; k <= TEXT; k++)
			row[k] = k;
		for (uint32_t y = 0; y < TEXT; y++) {
			uint32_t before = row[0];

			MARK(EDIT_DISTANCE, MARK_OUTER);
			row[0] = y + 1;
			for (uint32_t x = 0; x < TEXT; x++) {
				uint32_t above = row[x + 1];

				MARK(EDIT_DISTANCE, MARK_MAIN);
				row[x + 1] =
					least(least(above, row[x]) + 1, before + (a[y] != b[x]));
				before = above;
			}
		}
		result = row[TEXT];
	}
}

PROCEDURE unsigned long queens_place(uint32_t columns, uint32_t up, uint32_t down, uint32_t all)
{
	unsigned long found = 0;

	MARK(QUEENS, MARK_OUTER);
	if (columns == all)
		return 1;
	for (uint32_t free = all & ~(columns | up | down); free != 0; free &= free - 1) {
		uint32_t place = free & -free;

		MARK(QUEENS, MARK_MAIN);
		found += queens_place(columns | place, (up | place) << 1, (down | place) >> 1, all);
	}
	return found;
}

BODY queens(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++)
		result = queens_place(0, 0, 0, 127);
}

BODY mandelbrot(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		for (int k = 0; k < 16; k++) {
			double a = -2 + 0.18 * k, b = 0.018 * (double)(i % 64), x = 0, y = 0, next;
			int steps = 0;

			MARK(MANDELBROT, MARK_OUTER);
			while (steps < 200 && x * x + y * y < 4) {
				MARK(MANDELBROT, MARK_MAIN);
				next = x * x - y * y + a;
				y = 2 * x * y + b;
				x = next;
				steps++;
			}
			sum += (unsigned long)steps;
		}
	}
	result = sum;
}

static int lock;
static volatile unsigned long locked;

/* Two threads. The number of iterations that wait is not known. */
BODY spin_lock(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		MARK(SPIN_LOCK, MARK_MAIN);
		while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
			__builtin_ia32_pause();
		locked++;
		__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	}
}

BODY word_count(unsigned long count)
{
	unsigned long words = 0;

	for (unsigned long i = 0; i < count; i++) {
		const unsigned char *at = bytes, *end = bytes + NUMBERS;
		int inside = 0;

		while (at < end) {
			unsigned char c = *at++;

			MARK(WORD_COUNT, MARK_MAIN);
			if (c == ' ' || c == '*') {
				inside = 0;
			} else if (!inside) {
				MARK(WORD_COUNT, MARK_OUTER);
				inside = 1;
				words++;
			}
		}
	}
	result = words;
}

static uint32_t parents[512];

PROCEDURE uint32_t root_of(uint32_t at)
{
	MARK(DISJOINT_SETS, MARK_OUTER);
	while (parents[at] != at) {
		MARK(DISJOINT_SETS, MARK_MAIN);
		parents[at] = parents[parents[at]];
		at = parents[at];
	}
	return at;
}

BODY disjoint_sets(unsigned long count)
{
	for (unsigned long i = 0; i < count; i++) {
		for (uint32_t k = 0; k < 512; k++)
			parents[k] = k;
		for (size_t k = 0; k < 450; k++) {
			uint32_t pair = numbers[i % 8 * 450 + k];

			parents[root_of(pair % 512)] = root_of((pair >> 9) % 512);
		}
	}
}

/* A ring of nodes in the memory of a large array; the loop ends where it began. */
#define RING_NODES ((size_t)1 << 18)

static struct ring {
	struct ring *next;
	uint64_t values[7];
} * ring;

BODY pointer_ring(unsigned long count)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < count; i++) {
		const struct ring *node = ring;

		MARK(POINTER_RING, MARK_OUTER);
		do {
			MARK(POINTER_RING, MARK_MAIN);
			sum += node->values[2];
			node = node->next;
		} while (node != ring);
	}
	result = sum;
}

/* clang-format off */
#define EACH_KERNEL(X) \
	X(list_insert) X(bubble_sort) X(sieve) X(crc_blocks) \
	X(state_machine) X(matrix_multiply) X(quick_sort) X(library_sort) \
	X(open_hash) X(prefix_sum) X(fibonacci) X(greatest_divisor) \
	X(collatz) X(bytecode) X(stencil) X(two_callers) \
	X(histogram) X(edit_distance) X(queens) X(mandelbrot) \
	X(spin_lock) X(word_count) X(disjoint_sets) X(pointer_ring)
/* clang-format on */

EACH_KERNEL(PLACES)

static const struct kernel kernels[] = {
	[LIST_INSERT] = {RUNS(list_insert), 64, 0, 1},
	[BUBBLE_SORT] = {RUNS(bubble_sort), 64, 0, 1},
	[SIEVE] = {RUNS(sieve), 1, 0, 1},
	[CRC_BLOCKS] = {RUNS(crc_blocks), 64, 0, 1},
	[STATE_MACHINE] = {RUNS(state_machine), 64, 0, 1},
	[MATRIX_MULTIPLY] = {RUNS(matrix_multiply), 1, 0, 1},
	[QUICK_SORT] = {RUNS(quick_sort), 64, 0, 1},
	[LIBRARY_SORT] = {RUNS(library_sort), 64, 0, 1},
	[OPEN_HASH] = {RUNS(open_hash), 64, 0, 1},
	[PREFIX_SUM] = {RUNS(prefix_sum), 1, 0, 1},
	[FIBONACCI] = {RUNS(fibonacci), 1, 0, 1},
	[GREATEST_DIVISOR] = {RUNS(greatest_divisor), 64, 0, 1},
	[COLLATZ] = {RUNS(collatz), 64, 0, 1},
	[BYTECODE] = {RUNS(bytecode), 64, 0, 1},
	[STENCIL] = {RUNS(stencil), 2, 0, 1},
	[TWO_CALLERS] = {RUNS(two_callers), 2, 0, 1},
	[HISTOGRAM] = {RUNS(histogram), 1, 0, 1},
	[EDIT_DISTANCE] = {RUNS(edit_distance), 64, 0, 1},
	[QUEENS] = {RUNS(queens), 1, 0, 1},
	[MANDELBROT] = {RUNS(mandelbrot), 64, 0, 1},
	[SPIN_LOCK] = {RUNS(spin_lock), 256, 0, 2},
	[WORD_COUNT] = {RUNS(word_count), 1, 0, 1},
	[DISJOINT_SETS] = {RUNS(disjoint_sets), 64, 0, 1},
	[POINTER_RING] = {RUNS(pointer_ring), 1, 0, 1},
};

static uint64_t random_next(uint64_t *state)
{
	*state = *state * RANDOM_FACTOR + RANDOM_TERM;
	return *state >> 33;
}

static void ring_make(uint64_t *state)
{
	_Static_assert(sizeof(struct ring) == 64, "one node in each line");
	ring = aligned_alloc(sizeof(*ring), RING_NODES * sizeof(*ring));
	if (ring == NULL)
		exit(2);
	for (size_t i = 0; i < RING_NODES; i++)
		ring[i] = (struct ring){&ring[i], {i, i, i}};
	/* Sattolo's algorithm: a permutation with a single cycle. */
	for (size_t i = RING_NODES - 1; i > 0; i--) {
		size_t other = random_next(state) % i;
		struct ring *moved = ring[i].next;

		ring[i].next = ring[other].next;
		ring[other].next = moved;
	}
}

static void data_make(const struct kernel *kernel)
{
	static const char characters[] = "/*  \"ab cde**/fgh";
	uint64_t state = 1;

	(void)kernel;
	for (size_t i = 0; i < NUMBERS; i++) {
		numbers[i] = (uint32_t)random_next(&state);
		bytes[i] =
			(unsigned char)characters[random_next(&state) % (sizeof(characters) - 1)];
	}
	for (uint32_t i = 0; i < 256; i++) {
		crc_table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			crc_table[i] = crc_table[i] >> 1 ^ (crc_table[i] & 1) * 0xedb88320;
	}
	for (int row = 0; row < SIZE; row++) {
		for (int column = 0; column < SIZE; column++)
			left[row][column] = right[column][row] = (double)((row + column) % 17);
	}
	ring_make(&state);
}

int main(int argc, char **argv)
{
	return kernels_main(argc, argv, kernels, sizeof(kernels) / sizeof(*kernels), data_make);
}
