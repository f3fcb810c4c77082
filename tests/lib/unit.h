/* SPDX-License-Identifier: GPL-2.0-only */
/* Included by every unit test: cmocka and the headers that its header requires. */
#ifndef DCPI_TESTS_UNIT_H
#define DCPI_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* A deterministic source of random numbers for property tests (splitmix64). */
static inline uint64_t unit_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* unit_rounds() - rounds of a property test: @all with ALL in the environment, otherwise a quarter */
static inline int unit_rounds(int all)
{
	return getenv("ALL") != NULL ? all : all / 4;
}

#endif
