// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables whose length the code does not check, each followed by a table of the other kind: labels
 * followed by pointers to procedures, and these followed by labels.
 */
#include <stdio.h>

typedef long (*step_t)(long);

static long increase(long v)
{
	return v + 3;
}

static long double_it(long v)
{
	return v * 2;
}

static long decrease(long v)
{
	return v - 1;
}

struct machine {
	void *labels[4];
	step_t steps[3];
	void *more[2];
};

/* run() jumps through the first four pointers only; step() calls the next three. */
static struct machine *shared;

__attribute__((noinline)) static long run(const unsigned char *next)
{
	static const struct machine machine = {
		.labels = {&&add, &&multiply, &&subtract, &&end},
		.steps = {increase, double_it, decrease},
		.more = {&&add, &&end},
	};
	long v = 1;

	if (next == NULL) {
		shared = (struct machine *)(unsigned long)&machine;
		return 0;
	}
	goto *machine.labels[*next++];
add:
	v += 3;
	goto *machine.labels[*next++];
multiply:
	v *= 2;
	goto *machine.labels[*next++];
subtract:
	v--;
	goto *machine.labels[*next++];
end:
	return v;
}

/* A tail call: this procedure ends with a jump. */
__attribute__((noinline)) static long step(const struct machine *machine, unsigned int which,
					   long v)
{
	return machine->steps[which](v);
}

/* With -fipa-ra, the caller knows which registers the callees clobber. */
__attribute__((noinline)) static long sum_of(const unsigned char *program, int count)
{
	long a = 1, b = 2, c = 3, d = 4;

	for (int i = 0; i < count; i++) {
		a += run(program + i % 50);
		b ^= a + run(program + i % 7);
		c += b * 3;
		d ^= c + run(program + i % 13);
	}
	return a ^ b ^ c ^ d;
}

int main(void)
{
	unsigned char program[101];
	long total = 0;

	run(NULL);
	for (unsigned int i = 0; i < 5000; i++)
		total = step(shared, i % 3, total) & 0xffffff;
	for (int i = 0; i < 100; i++)
		program[i] = (unsigned char)(i % 3);
	program[100] = 3;
	printf("%ld %ld\n", total, sum_of(program, 200));
	return 0;
}
