// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data of the code that slowdown.py inserts into programs. Linked with the unmodified program, too,
 * so that the two differ in the inserted code only.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MEMORY_BYTES ((size_t)128 << 20)

uint64_t slowdown_state = UINT64_C(88172645463325252);
unsigned char *slowdown_memory;
/* Executions of each block, in a program that counts them; weak: no other program has these. */
extern uint64_t slowdown_counts[] __attribute__((weak));
extern uint64_t slowdown_count_end[] __attribute__((weak));

__attribute__((constructor)) static void slowdown_begin(void)
{
	slowdown_memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (slowdown_memory == MAP_FAILED)
		abort();
}

/* The file of counts has one line for each block, added up over all processes by the reader. */
__attribute__((destructor)) static void slowdown_end(void)
{
	const char *path = getenv("SLOWDOWN_COUNTS");
	FILE *file = path != NULL && slowdown_counts != NULL ? fopen(path, "a") : NULL;

	if (file == NULL)
		return;
	for (const uint64_t *count = slowdown_counts; count < slowdown_count_end; count++)
		fprintf(file, "%" PRIu64 "\n", *count);
	fclose(file);
}
