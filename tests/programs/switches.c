// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches and computed gotos of many shapes, all of whose cases run; for
 * tests/cli_jump_tables.sh. Each case has a different effect, so that compilers do not make tables
 * of values.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink = 1;

static NOINLINE void note(unsigned long value)
{
	sink = sink * 31 + value;
}

static NOINLINE void other(unsigned long value)
{
	sink ^= value << 3;
}

#define CASE(n)                                                                                    \
	case n:                                                                                    \
		if ((n)&1)                                                                         \
			note((unsigned long)(n)*7 + 3);                                            \
		else                                                                               \
			other((unsigned long)(n) + sink / 3);                                      \
		sink += (unsigned long)(n) * (unsigned long)(n);                                   \
		break;
#define CASES4(n) CASE(n) CASE((n) + 1) CASE((n) + 2) CASE((n) + 3)
#define CASES16(n) CASES4(n) CASES4((n) + 4) CASES4((n) + 8) CASES4((n) + 12)

static NOINLINE void dense(int n)
{
	switch (n) {
		CASES16(0)
	default:
		note(99);
	}
}

static NOINLINE void biased(int n)
{
	switch (n) {
		CASES16(65)
		CASES4(81)
	default:
		other(98);
	}
}

static NOINLINE void negative(long n)
{
	switch (n) {
		CASES16(-9)
	default:
		note(97);
	}
}

static NOINLINE void two_ranges(unsigned int n)
{
	switch (n) {
		CASES16(0)
		CASES16(100000)
	default:
		other(96);
	}
}

static NOINLINE void holes(unsigned long n)
{
	switch (n) {
		CASES4(1)
		CASES4(9)
		CASES4(17)
		CASE(31)
	default:
		note(95);
	}
}

static NOINLINE void of_bytes(const unsigned char *text)
{
	for (; *text != 0; text++) {
		switch (*text) {
			CASES16('a')
			CASES4('0')
		case ' ':
		case '\t':
			other(1);
			break;
		default:
			note(94);
		}
	}
}

static NOINLINE void masked(unsigned int n)
{
	switch (n & 15) {
		CASES16(0)
	}
}

static NOINLINE void shifted(unsigned char n)
{
	switch (n >> 4) {
		CASES16(0)
	}
}

static NOINLINE void no_default(unsigned int n)
{
	switch (n) {
		CASES4(0)
		CASES4(4)
	default:
		__builtin_unreachable();
	}
}

struct node {
	struct node *next;
	unsigned char kind;
	short value;
};

static NOINLINE void of_fields(struct node *node)
{
	for (; node != NULL; node = node->next) {
		switch (node->kind) {
			CASES4(0)
			CASES4(4)
		default:
			other(93);
		}
		switch (node->value) {
			CASES4(20)
			CASES4(24)
		}
	}
}

static NOINLINE void nested(int a, int b)
{
	switch (a) {
	case 0:
		switch (b) {
			CASES4(0)
			CASES4(4)
		}
		break;
		CASES4(1)
	case 5:
		switch (b) {
			CASES4(2)
			CASES4(6)
		default:
			note(92);
		}
		/* fall through */
		CASES4(6)
	}
}

static NOINLINE unsigned long tail_calls(unsigned int n, unsigned long value)
{
	switch (n) {
	case 0:
		return note(value), value;
	case 1:
		return value * 3;
	case 2:
		other(value);
		return value ^ sink;
	case 3:
		return sink;
	case 4:
		abort();
	case 5:
		return tail_calls(n - 2, value + 1);
	}
	return value + 5;
}

/* The base of a table is loop invariant, registers are scarce, values are spilled. */
static NOINLINE unsigned long machine(const unsigned char *code, unsigned long *stack)
{
	unsigned long a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;

	for (;;) {
		switch (*code++) {
		case 0:
			return a + b + c + d + e + f + g;
		case 1:
			a += b ^ *stack;
			break;
		case 2:
			b = b * c + stack[1];
			break;
		case 3:
			note(a);
			c -= d;
			break;
		case 4:
			d ^= e;
			stack[2] = d;
			break;
		case 5:
			e += f;
			other(e);
			break;
		case 6:
			f = f << 1 | (g & 1);
			break;
		case 7:
			g = g / 3 + a;
			break;
		case 8:
			if (a & 1)
				code++;
			break;
		default:
			note(g);
		}
	}
}

static NOINLINE unsigned long threaded(const unsigned char *code)
{
	static const void *const labels[] = {&&stop, &&add, &&twice, &&call, &&skip};
	unsigned long value = 1;

	goto *labels[*code];
add:
	value += 7;
	goto *labels[*++code];
twice:
	value *= 2;
	goto *labels[*++code];
call:
	note(value);
	goto *labels[*++code];
skip:
	code++;
	goto *labels[*++code];
stop:
	return value;
}

/*
 * Between the cases are noreturn calls, with other values in the registers: the code after these
 * calls is only known to be cases when the jump is resolved.
 */
__attribute__((noipa)) static void complain(FILE *file, const char *text, int n)
{
	fprintf(file, "%s %d\n", text, n);
}

__attribute__((noipa)) static void options(char **all)
{
	for (; *all != NULL; all++) {
		if (**all != '-')
			continue;
		for (const char *c = *all + 1; *c != '\0'; c++) {
			switch (*c) {
			case 'a':
				note(1);
				break;
			case 'b':
				note(20);
				break;
			case 'h':
				complain(stdout, "help", 1);
				exit(0);
			case 'c':
				sink ^= 77;
				break;
			case 'd':
				sink += 5;
				break;
			case 'e':
				sink *= 3;
				break;
			case 'v':
				complain(stdout, "version", 2);
				exit(0);
			case 'f':
				sink -= 9;
				break;
			case 'z':
				note(300);
				break;
			default:
				complain(stderr, "what", 3);
				exit(1);
			}
		}
	}
}

static void run_ranges(void)
{
	for (int n = -12; n < 120; n++) {
		dense(n);
		biased(n);
		negative(n);
		two_ranges((unsigned int)n);
		two_ranges((unsigned int)n + 99990);
		holes((unsigned long)n);
		masked((unsigned int)n);
		shifted((unsigned char)(n * 5));
		no_default((unsigned int)n & 7);
		nested(n % 11, n / 11);
		nested(0, n & 7);
		nested(5, n % 12);
		if ((unsigned int)n % 6 != 4)
			note(tail_calls((unsigned int)n % 6, sink));
	}
}

int main(void)
{
	static const unsigned char code[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 200, 8, 2, 7, 5, 0};
	static const unsigned char jumps[] = {1, 2, 3, 2, 4, 9, 1, 3, 0};
	unsigned long stack[4] = {3, 1, 4, 1};
	struct node nodes[40] = {{0}};
	char *words[] = {"-abc", "x", "-dzef", "-", NULL};

	for (int i = 0; i < 40; i++) {
		nodes[i].next = i < 39 ? &nodes[i + 1] : NULL;
		nodes[i].kind = (unsigned char)(i % 10);
		nodes[i].value = (short)(15 + i / 2);
	}
	run_ranges();
	options(words);
	of_bytes((const unsigned char *)"the quick brown fox 0123456789\t!ABCabcdefghijklmnopqrst");
	of_fields(nodes);
	note(machine(code, stack));
	note(threaded(jumps));
	printf("%lu\n", sink);
	return 0;
}
