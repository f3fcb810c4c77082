// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long numbers: a loop that carries only the carry flag from each iteration to the next. Prints a
 * sum.
 */
#include <stdint.h>
#include <stdio.h>

#define WORDS 64
#define ROUNDS 1000

static void __attribute__((noinline)) add(uint64_t *sum, const uint64_t *number, long words)
{
	uint64_t word;

	__asm__ volatile("	clc\n"
			 "1:	mov (%2), %0\n"
			 "	adc %0, (%1)\n"
			 "	lea 8(%1), %1\n"
			 "	lea 8(%2), %2\n"
			 "	dec %3\n"
			 "	jnz 1b\n"
			 : "=&r"(word), "+r"(sum), "+r"(number), "+r"(words)
			 :
			 : "memory", "cc");
}

int main(void)
{
	uint64_t sum[WORDS], number[WORDS], all = 0;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint64_t i = 0; i < WORDS; i++) {
			sum[i] = UINT64_MAX - (i == round % WORDS);
			number[i] = i == 0 ? 1 + round : i % 7;
		}
		add(sum, number, WORDS);
		for (int i = 0; i < WORDS; i++)
			all = all * 31 + sum[i];
	}
	printf("%016llx\n", (unsigned long long)all);
	return 0;
}
