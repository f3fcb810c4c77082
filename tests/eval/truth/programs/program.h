/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code of the programs of the truth harness. Each is a small, well-known computation, is
 * deterministic, and prints a checksum that is equal on every architecture. The first argument, if
 * any, is the number of repetitions.
 */
#ifndef DCPI_TESTS_TRUTH_PROGRAM_H
#define DCPI_TESTS_TRUTH_PROGRAM_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/** program_random() - Knuth's MMIX generator. Return: 31 bits. */
static inline uint32_t program_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

/** program_rounds() - return the number of repetitions. */
static inline unsigned int program_rounds(int argc, char **argv, unsigned int rounds)
{
	return argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : rounds;
}

/** program_allocate() - allocate zeroed memory, or end the program. */
static inline void *program_allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count, bytes);

	if (!memory) {
		perror("memory");
		exit(2);
	}
	return memory;
}

/** program_end() - print the checksum. Return: the exit status. */
static inline int program_end(uint64_t checksum)
{
	printf("%016llx\n", (unsigned long long)checksum);
	return 0;
}

#endif
