// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops of many shapes, whose trip counts are known from the code or not; for
 * tests/cli_trip_counts.sh. Their effects are visible, so that compilers do not remove them.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))
#define SIZE 37

static volatile unsigned long sink = 1;
static volatile int numbers[SIZE][SIZE];
static volatile long line[4 * SIZE];

static NOINLINE void note(unsigned long value)
{
	sink = sink * 31 + value;
}

static NOINLINE unsigned int draw(void)
{
	static volatile unsigned int state = 1;

	state = state * 1664525U + 1013904223U;
	return state >> 24;
}

/* --- known: a counter and a constant ------------------------------------------------ */

static NOINLINE void upward(void)
{
	for (int i = 0; i < 100; i++)
		sink += (unsigned long)i;
}

static NOINLINE void downward(void)
{
	for (int i = 50; i > 0; i--)
		sink += (unsigned long)i;
	for (int i = 70; i >= 0; i--)
		note((unsigned long)i);
}

static NOINLINE void by_steps(void)
{
	for (int i = 3; i <= 100; i += 7)
		sink ^= (unsigned long)i;
	for (unsigned int i = 1000; i > 13; i -= 11)
		note(i);
	for (long i = -40; i != 40; i += 5)
		sink += (unsigned long)i;
}

static NOINLINE void wide_and_narrow(void)
{
	for (uint64_t i = UINT64_C(1) << 40; i < (UINT64_C(1) << 40) + 33; i++)
		sink += i;
	for (unsigned char i = 0; i < 200; i++)
		sink ^= i;
	for (short i = -5; i < 90; i++)
		note((unsigned long)i);
}

static NOINLINE void tested_at_the_end(void)
{
	int i = 0;

	do {
		note((unsigned long)i);
	} while (++i < 17);
	do {
		sink += (unsigned long)i;
	} while (i-- != 2);
}

/* --- known: arrays -------------------------------------------------------------------- */

static NOINLINE void array(void)
{
	for (int i = 0; i < SIZE; i++) {
		for (int j = 0; j < SIZE; j++)
			numbers[i][j] = i + j;
	}
}

static NOINLINE void pointers(volatile long *from)
{
	volatile long *end = from + 2 * SIZE;

	for (volatile long *p = from; p < end; p++)
		*p += 3;
	for (volatile long *p = end; p-- != from;)
		*p ^= 5;
	for (volatile long *p = from; p < end; p += 5)
		note((unsigned long)*p);
	for (volatile long *p = from + 1; end > p; p += 7)
		note((unsigned long)*p);
}

static NOINLINE void one_after_the_other(void)
{
	int i = 0;

	for (; i < 20; i++)
		line[i] = i;
	for (; i < 45; i++)
		line[i] = -i;
	for (; i < SIZE * 4; i += 2)
		line[i]++;
}

static NOINLINE void four_deep(void)
{
	for (int a = 0; a < 5; a++)
		for (int b = 1; b < 7; b++)
			for (int c = 9; c > 0; c -= 2)
				for (int d = 0; d < 3; d++)
					note((unsigned long)(a + b + c + d));
}

/* --- known on average ------------------------------------------------------------------ */

static NOINLINE void triangles(void)
{
	for (int i = 0; i < SIZE; i++) {
		for (int j = i + 1; j < SIZE; j++)
			numbers[i][j] += numbers[j][i];
	}
	for (int i = 0; i < SIZE; i++) {
		for (int j = i + 1; j < SIZE; j += 2)
			numbers[j][i] ^= i;
	}
	for (int i = 0; i < SIZE; i++) {
		for (int j = 0; j <= i; j++)
			sink += (unsigned long)numbers[i][j];
	}
}

static NOINLINE void pyramid(void)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = i + 1; j < SIZE; j++)
			for (int k = i; k < SIZE; k++)
				numbers[j][k] -= numbers[i][k];
}

static NOINLINE void bubbles(void)
{
	for (int end = SIZE - 1; end > 0; end--) {
		for (int i = 0; i < end; i++) {
			if (numbers[0][i] > numbers[0][i + 1]) {
				int swap = numbers[0][i];

				numbers[0][i] = numbers[0][i + 1];
				numbers[0][i + 1] = swap;
			}
		}
	}
}

/* --- unknown: these must not be reported as known -------------------------------------- */

static NOINLINE void by_argument(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		sink += i;
	while (count-- > 0)
		note(count);
}

static NOINLINE int left_early(int wanted)
{
	for (int i = 0; i < SIZE; i++) {
		if (numbers[3][i] == wanted)
			return i;
	}
	return -1;
}

static NOINLINE void left_in_the_middle(int wanted)
{
	int i = 0;

	do {
		sink += (unsigned long)i;
		if (numbers[i][5] == wanted)
			break;
		note((unsigned long)i);
	} while (++i < SIZE);
	for (i = 0; i < SIZE; i++) {
		if (numbers[i][7] > wanted && i > 4)
			goto out;
		sink += (unsigned long)numbers[i][8];
	}
	note(1);
out:
	note(2);
}

static NOINLINE void counted_sometimes(unsigned long part)
{
	for (int i = 0;;) {
		if (draw() % 4 == part)
			continue;
		sink += 2;
		if (++i == 25)
			break;
	}
}

static NOINLINE void tested_sometimes(unsigned int part)
{
	for (int i = 0;;) {
		i++;
		sink += (unsigned long)i;
		if (draw() % 4 == part)
			continue;
		if (i >= 25)
			break;
	}
}

static NOINLINE void moved_sometimes(unsigned long part)
{
	int i = 0;

	do {
		i = draw() % 4 == part ? i + 1 : i;
	} while (i < 9);
}

static NOINLINE void two_halves(void)
{
	union {
		uint64_t whole;
		uint32_t half[2];
	} volatile count = {.whole = 0};

	while (count.whole < 90) {
		count.whole++;
		sink += count.half[1];
		if (draw() % 3 == 0)
			count.half[0] += 2;
	}
}

static NOINLINE void skipped(int part)
{
	int i = 0;

	while (i < 100) {
		sink += (unsigned long)i;
		if (draw() % 3 == (unsigned int)part)
			i += 2;
		else
			i++;
	}
}

static NOINLINE void moved_by_others(int *counter)
{
	for (*counter = 0; *counter < 60; ++*counter) {
		note((unsigned long)*counter);
		if (draw() % 5 == 0)
			*counter += 3;
	}
}

static NOINLINE void step(int *counter)
{
	*counter += (int)(draw() % 3);
}

static NOINLINE void address_taken(void)
{
	int i;

	for (i = 0; i < 80; i++) {
		note((unsigned long)i);
		step(&i);
	}
}

static NOINLINE void either_start(int first)
{
	int i = first ? 10 : 30;

	for (; i < 64; i++)
		sink ^= (unsigned long)i;
}

static NOINLINE void halves(unsigned int value)
{
	for (unsigned int i = 1; i < 5000; i *= 2)
		note(i + value);
	for (; value > 0; value /= 2)
		note(value);
}

static NOINLINE void entered_sometimes(void)
{
	for (int i = 0; i < SIZE; i++) {
		if (numbers[i][i] % 3 == 0)
			continue;
		for (int j = 0; j < 12; j++)
			sink += (unsigned long)numbers[i][j];
	}
}

int main(void)
{
	int counter;

	for (int round = 0; round < 3; round++) {
		upward();
		downward();
		by_steps();
		wide_and_narrow();
		tested_at_the_end();
		array();
		pointers(line + round);
		one_after_the_other();
		four_deep();
		triangles();
		pyramid();
		bubbles();
		by_argument(5 + 20U * (unsigned int)round);
		note((unsigned long)left_early(9 * round));
		left_in_the_middle(8 * round);
		counted_sometimes((unsigned long)round);
		tested_sometimes((unsigned int)round);
		moved_sometimes((unsigned long)round);
		two_halves();
		skipped(round);
		moved_by_others(&counter);
		address_taken();
		either_start(round & 1);
		halves(1000U << round);
		entered_sometimes();
	}
	printf("%lu\n", sink);
	return 0;
}
