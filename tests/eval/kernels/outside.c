// SPDX-License-Identifier: GPL-2.0-only
/*
 * Small programs with a known cause of waiting, written without knowledge of the rules that find
 * causes (docs/accuracy.md).
 *
 *	outside --list                print the names
 *	outside NAME SECONDS          run one for about this CPU time in each thread
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES ((size_t)4096)
#define SHAPES ((size_t)1 << 14)
#define ITEMS ((size_t)1 << 19)
#define NUMBERS 4096
#define DEPTH 200
#define BLOCK_BYTES ((size_t)1 << 20)
#define WORDS_PART 400
#define GRID_BYTES ((size_t)64 << 20)

#define PROCEDURE static __attribute__((noinline, noipa)) unsigned long

struct shape {
	unsigned long (*area)(const struct shape *shape);
	unsigned long width, height;
};

struct item {
	struct item *next;
	unsigned long weight;
	char name[80];
};

struct counters {
	volatile unsigned long hits;
	volatile unsigned long misses;
};

struct packet {
	uint16_t from, to, size, kind;
};

static struct shape *shapes[SHAPES];
static struct item *items;
static unsigned long numbers[NUMBERS], unsorted[NUMBERS];
static struct {
	_Alignas(128) struct counters counters[2];
	_Alignas(128) volatile unsigned long turn;
	_Alignas(128) volatile unsigned long end;
} shared;
static unsigned char *arena;
static unsigned char codes[SHAPES];
static char text[SHAPES];
static float *grid;
static char *file_pages;
static int file;
static volatile unsigned long sink;

static uint64_t random_next(void)
{
	static uint64_t state = 88172645463325252U;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* --- branches ---------------------------------------------------------------- */

PROCEDURE area_square(const struct shape *shape)
{
	return shape->width * shape->width;
}

PROCEDURE area_box(const struct shape *shape)
{
	return shape->width * shape->height;
}

PROCEDURE area_triangle(const struct shape *shape)
{
	return shape->width * shape->height / 2;
}

PROCEDURE area_line(const struct shape *shape)
{
	return shape->width & 0;
}

/* Method calls on objects of different types, in random order. */
PROCEDURE total_area(unsigned long count)
{
	unsigned long sum = 0;

	while (count-- > 0)
		for (size_t i = 0; i < SHAPES; i++)
			sum += shapes[i]->area(shapes[i]);
	return sum;
}

static void swap(unsigned long *a, unsigned long *b)
{
	unsigned long moved = *a;

	*a = *b;
	*b = moved;
}

/* The comparisons of a sort cannot be predicted. */
static __attribute__((noinline)) void sort_part(unsigned long *first, unsigned long *last)
{
	while (first < last) {
		unsigned long *low = first, *high = last, pivot = first[(last - first) / 2];

		while (low <= high) {
			while (*low < pivot)
				low++;
			while (*high > pivot)
				high--;
			if (low <= high)
				swap(low++, high--);
		}
		sort_part(first, high);
		first = low;
	}
}

PROCEDURE sort(unsigned long count)
{
	while (count-- > 0) {
		memcpy(numbers, unsorted, sizeof(numbers));
		sort_part(numbers, numbers + NUMBERS - 1);
	}
	return numbers[1];
}

/*
 * Returns from more calls than a processor remembers. They go to five places in turn: with one
 * place, an old entry of the processor's stack would be right by chance.
 */
#define LEVEL(name, next)                                                                          \
	PROCEDURE name(unsigned long depth, unsigned long value)                                   \
	{                                                                                          \
		if (depth == 0)                                                                    \
			return value;                                                              \
		value = next(depth - 1, value + depth);                                            \
		__asm__ volatile("" : "+r"(value));                                                \
		return value + 1;                                                                  \
	}

static unsigned long level_1(unsigned long depth, unsigned long value);
LEVEL(level_5, level_1)
LEVEL(level_4, level_5)
LEVEL(level_3, level_4)
LEVEL(level_2, level_3)
LEVEL(level_1, level_2)

PROCEDURE recurse(unsigned long count)
{
	unsigned long sum = 0;

	while (count-- > 0)
		sum += level_1(DEPTH, count);
	return sum;
}

/* --- memory ------------------------------------------------------------------ */

PROCEDURE list_weight(unsigned long count)
{
	unsigned long sum = 0;

	while (count-- > 0)
		for (const struct item *item = items; item != NULL; item = item->next)
			sum += item->weight;
	return sum;
}

/* A new block of memory for each request. */
PROCEDURE fresh_blocks(unsigned long count)
{
	unsigned long sum = 0;

	while (count-- > 0) {
		unsigned long *block = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (block == MAP_FAILED)
			exit(2);
		for (size_t i = 0; i < BLOCK_BYTES / sizeof(*block); i += 64)
			block[i] = i;
		sum += block[count % 64 * 64];
		munmap(block, BLOCK_BYTES);
	}
	return sum;
}

/* A file that is mapped, read once and unmapped. */
PROCEDURE file_pages_sum(unsigned long count)
{
	unsigned long sum = 0;

	while (count-- > 0) {
		file_pages = mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
		if (file_pages == MAP_FAILED)
			exit(2);
		for (size_t i = 0; i < BLOCK_BYTES; i += PAGE_BYTES)
			sum += (unsigned long)file_pages[i]++;
		munmap(file_pages, BLOCK_BYTES);
	}
	return sum;
}

/* Packed fields are written, and the whole is read. */
PROCEDURE packets(unsigned long count)
{
	volatile struct packet *packet = (volatile struct packet *)(void *)arena;
	unsigned long sum = 0;

	while (count-- > 0) {
		packet->from = (uint16_t)sum;
		packet->to = (uint16_t)count;
		packet->size = 60;
		packet->kind = 1;
		sum += *(volatile uint64_t *)(volatile void *)packet;
	}
	return sum;
}

/* Each load follows a store with the same offset in another page. */
PROCEDURE filter(unsigned long count)
{
	volatile uint32_t *in = (volatile uint32_t *)(void *)arena;
	volatile uint32_t *out = (volatile uint32_t *)(void *)(arena + 2 * PAGE_BYTES);
	uint32_t value = 1;

	while (count-- > 0)
		for (size_t i = 0; i < WORDS_PART; i++) {
			value = in[i] + value / 2;
			out[i + 1] = value;
		}
	return value;
}

/* --- arithmetic, threads ----------------------------------------------------- */

PROCEDURE hash_modulo(unsigned long count)
{
	unsigned long hash = 5381, buckets = sink % 2 + 1000003;

	while (count-- > 0)
		hash = (hash * 33 + count) % buckets;
	return hash;
}

/* Each thread has its own counter, in the same line. */
PROCEDURE own_counters(unsigned long count, int thread)
{
	struct counters *own = &shared.counters[thread];

	while (count-- > 0) {
		if (count % 3 == 0)
			own->misses++;
		else
			own->hits++;
	}
	return own->hits;
}

/* Both threads increment one counter. */
PROCEDURE one_counter(unsigned long count, int thread)
{
	unsigned long last = (unsigned long)thread;

	while (count-- > 0)
		shared.turn = last = shared.turn + 1;
	return last;
}

/* --- written after the first measurement of the programs above ------------------------ */

/* Operations of an interpreter, in random order. */
PROCEDURE interpret(unsigned long count)
{
	static const void *const operations[] = {&&add, &&shift, &&negate, &&twice};
	unsigned long value = 1, at = 0;

next:
	if (at == SHAPES) {
		at = 0;
		if (count-- == 0)
			return value;
	}
	goto *operations[codes[at++]];
add:
	value += at;
	goto next;
shift:
	value ^= value >> 5;
	goto next;
negate:
	value = ~value;
	goto next;
twice:
	value *= 2;
	goto next;
}

/* The columns of one matrix in the inner loop. */
PROCEDURE matrix_product(unsigned long count)
{
	const size_t size = 1024;
	const float *a = grid, *b = grid + size * size;
	float sum = 0;

	while (count-- > 0)
		for (size_t column = 0; column < size; column++) {
			const float *row = a + count % size * size;

			for (size_t i = 0; i < size; i++)
				sum += row[i] * b[i * size + column];
		}
	return (unsigned long)sum;
}

/* A division in each step depends on the last one. */
PROCEDURE continued_fraction(unsigned long count)
{
	double value = 1.5;

	while (count-- > 0)
		value = 1 + (double)(count % 7 + 1) / value;
	return (unsigned long)value;
}

/* The ends of short words cannot be predicted. */
PROCEDURE word_lengths(unsigned long count)
{
	unsigned long words = 0;

	while (count-- > 0)
		for (const char *at = text; *at != 0; words++) {
			while (*at != ' ' && *at != 0)
				at++;
			while (*at == ' ')
				at++;
		}
	return words;
}

/* References are counted as between threads. */
PROCEDURE references(unsigned long count)
{
	while (count-- > 0) {
		__atomic_add_fetch(&shared.end, 1, __ATOMIC_SEQ_CST);
		if (__atomic_sub_fetch(&shared.end, 1, __ATOMIC_SEQ_CST) > 2)
			return 1;
	}
	return 0;
}

/* Counters of a table that is larger than the caches. */
PROCEDURE histogram(unsigned long count)
{
	uint32_t *table = (uint32_t *)(void *)grid;
	uint64_t value = 7;

	while (count-- > 0) {
		value = value * 6364136223846793005U + 1442695040888963407U;
		table[value >> 40]++;
	}
	return table[0];
}

/* Each record of a log is written to new memory. */
PROCEDURE log_records(unsigned long count)
{
	const size_t records = 4096, bytes = 512;
	unsigned long sum = 0;

	while (count-- > 0) {
		char *log = mmap(NULL, records * bytes, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (log == MAP_FAILED)
			exit(2);
		for (size_t i = 0; i < records; i++) {
			uint64_t *record = (uint64_t *)(void *)(log + i * bytes);

			record[0] = i;
			record[1] = count;
			record[7] = sum += i;
		}
		munmap(log, records * bytes);
	}
	return sum;
}

static const struct program {
	const char *name;
	unsigned long (*run)(unsigned long count);
	unsigned long (*run_thread)(unsigned long count, int thread);
	unsigned long count;
} programs[] = {
	{"total_area", total_area, NULL, 20},
	{"sort", sort, NULL, 100},
	{"recurse", recurse, NULL, 10000},
	{"list_weight", list_weight, NULL, 1},
	{"fresh_blocks", fresh_blocks, NULL, 100},
	{"file_pages_sum", file_pages_sum, NULL, 100},
	{"packets", packets, NULL, 1000000},
	{"filter", filter, NULL, 10000},
	{"hash_modulo", hash_modulo, NULL, 1000000},
	{"interpret", interpret, NULL, 20},
	{"matrix_product", matrix_product, NULL, 2},
	{"continued_fraction", continued_fraction, NULL, 1000000},
	{"word_lengths", word_lengths, NULL, 20},
	{"references", references, NULL, 1000000},
	{"histogram", histogram, NULL, 1000000},
	{"log_records", log_records, NULL, 50},
	{"own_counters", NULL, own_counters, 1000000},
	{"one_counter", NULL, one_counter, 1000000},
};

static void shapes_make(void)
{
	static unsigned long (*const areas[])(const struct shape *shape) = {
		area_square, area_box, area_triangle, area_line};

	for (size_t i = 0; i < SHAPES; i++) {
		shapes[i] = malloc(sizeof(*shapes[i]));
		if (shapes[i] == NULL)
			exit(2);
		*shapes[i] = (struct shape){areas[random_next() >> 62], i, i + 1};
	}
}

static void items_make(void)
{
	struct item *all = calloc(ITEMS, sizeof(*all));
	uint32_t *order = calloc(ITEMS, sizeof(*order));

	if (all == NULL || order == NULL)
		exit(2);
	for (size_t i = 0; i < ITEMS; i++) {
		size_t other = random_next() % (i + 1);

		order[i] = order[other];
		order[other] = (uint32_t)i;
	}
	for (size_t i = 0; i < ITEMS; i++) {
		all[order[i]].next = items;
		all[order[i]].weight = i;
		items = &all[order[i]];
	}
	free(order);
}

static void data_make(void)
{
	char name[] = "/tmp/outside-XXXXXX";

	shapes_make();
	items_make();
	arena = aligned_alloc(PAGE_BYTES, 4 * PAGE_BYTES);
	file = mkstemp(name);
	if (arena == NULL || file < 0 || ftruncate(file, (off_t)BLOCK_BYTES) != 0)
		exit(2);
	unlink(name);
	memset(arena, 1, 4 * PAGE_BYTES);
	for (size_t i = 0; i < NUMBERS; i++)
		unsorted[i] = random_next();
	for (size_t i = 0; i < SHAPES; i++)
		codes[i] = (unsigned char)(random_next() >> 62);
	for (size_t i = 0; i + 1 < SHAPES; i++)
		text[i] = random_next() >> 62 == 0 ? ' ' : 'a';
	grid = malloc(GRID_BYTES);
	if (grid == NULL)
		exit(2);
	memset(grid, 0, GRID_BYTES);
}

static double cpu_time(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct job {
	const struct program *program;
	double seconds;
	int thread;
};

/* Two threads share lines only while they run at the same time, so each gets a CPU. */
static void cpu_choose(int thread)
{
	cpu_set_t allowed, own;
	int number = 0;

	CPU_ZERO(&own);
	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) < 2)
		exit(2);
	while (!CPU_ISSET(number, &allowed) || thread-- > 0)
		number++;
	CPU_SET(number, &own);
	pthread_setaffinity_np(pthread_self(), sizeof(own), &own);
}

static void *job_run(void *argument)
{
	const struct job *job = argument;
	const struct program *program = job->program;

	if (program->run_thread != NULL)
		cpu_choose(job->thread);

	for (double end = cpu_time() + job->seconds; cpu_time() < end;)
		sink = program->run != NULL ? program->run(program->count)
					    : program->run_thread(program->count, job->thread);
	return NULL;
}

static int program_run(const struct program *program, double seconds)
{
	struct job jobs[2] = {{program, seconds, 0}, {program, seconds, 1}};
	pthread_t thread;

	if (program->run_thread != NULL && pthread_create(&thread, NULL, job_run, &jobs[1]) != 0)
		return 2;
	job_run(&jobs[0]);
	if (program->run_thread != NULL)
		pthread_join(thread, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		if (argc == 2)
			puts(programs[i].name);
		if (argc != 3 || strcmp(argv[1], programs[i].name) != 0)
			continue;
		data_make();
		return program_run(&programs[i], atof(argv[2]));
	}
	return argc == 2 ? 0 : 2;
}
