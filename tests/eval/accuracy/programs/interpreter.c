// SPDX-License-Identifier: GPL-2.0-only
/* A register machine running a sieve and Collatz chains, and a walk over expression trees. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum op {
	SET,
	MOVE,
	ADD,
	MUL,
	AND,
	HALF,
	LOAD,
	STORE,
	JUMP,
	LESS,
	ZERO,
	CALL,
	RETURN,
	HALT
};

struct code {
	enum op op;
	int a, b, c;
};

#define CELLS 8192

static int64_t memory[CELLS];

static int64_t run(const struct code *code)
{
	int64_t r[8] = {0};
	int calls[16], depth = 0, pc = 0;

	for (;;) {
		const struct code *i = &code[pc++];

		switch (i->op) {
		case SET:
			r[i->a] = i->b;
			break;
		case MOVE:
			r[i->a] = r[i->b];
			break;
		case ADD:
			r[i->a] = r[i->b] + r[i->c];
			break;
		case MUL:
			r[i->a] = r[i->b] * r[i->c];
			break;
		case AND:
			r[i->a] = r[i->b] & r[i->c];
			break;
		case HALF:
			r[i->a] = r[i->b] >> 1;
			break;
		case LOAD:
			r[i->a] = memory[(uint64_t)r[i->b] % CELLS];
			break;
		case STORE:
			memory[(uint64_t)r[i->b] % CELLS] = r[i->a];
			break;
		case JUMP:
			pc = i->a;
			break;
		case LESS:
			pc = r[i->b] < r[i->c] ? pc : i->a;
			break;
		case ZERO:
			pc = r[i->b] == 0 ? i->a : pc;
			break;
		case CALL:
			calls[depth++ % 16] = pc;
			pc = i->a;
			break;
		case RETURN:
			pc = calls[--depth % 16];
			break;
		default:
			return r[0];
		}
	}
}

/* r0 counts the primes below r1; r2: candidate, r3: multiple, r4: mark, r5: one */
static const struct code sieve[] = {
	{SET, 1, 8000, 0},
	{SET, 2, 2, 0},
	{SET, 5, 1, 0},
	{SET, 3, 0, 0},
	{SET, 4, 0, 0},
	/* 5: clear */ {LESS, 9, 3, 1},
	{STORE, 4, 3, 0},
	{ADD, 3, 3, 5},
	{JUMP, 5, 0, 0},
	/* 9: candidates */ {LESS, 20, 2, 1},
	{LOAD, 4, 2, 0},
	{ZERO, 13, 4, 0},
	{JUMP, 18, 0, 0},
	/* 13 */ {ADD, 0, 0, 5},
	{MUL, 3, 2, 2},
	{LESS, 18, 3, 1},
	{STORE, 5, 3, 0},
	{JUMP, 21, 0, 0},
	/* 18 */ {ADD, 2, 2, 5},
	{JUMP, 9, 0, 0},
	/* 20 */ {HALT, 0, 0, 0},
	/* 21 */ {ADD, 3, 3, 2},
	{JUMP, 15, 0, 0},
};

/* r0 adds up the lengths of the chains of 1 .. r1 - 1; r2: start, r3: member */
static const struct code collatz[] = {
	{SET, 1, 600, 0},
	{SET, 2, 1, 0},
	{SET, 5, 1, 0},
	{SET, 6, 3, 0},
	/* 4 */ {LESS, 12, 2, 1},
	{MOVE, 3, 2, 0},
	/* 6 */ {LESS, 10, 5, 3},
	{CALL, 13, 0, 0},
	{ADD, 0, 0, 5},
	{JUMP, 6, 0, 0},
	/* 10 */ {ADD, 2, 2, 5},
	{JUMP, 4, 0, 0},
	/* 12 */ {HALT, 0, 0, 0},
	/* 13: step */ {AND, 4, 3, 5},
	{ZERO, 18, 4, 0},
	{MUL, 3, 3, 6},
	{ADD, 3, 3, 5},
	{RETURN, 0, 0, 0},
	/* 18 */ {HALF, 3, 3, 0},
	{RETURN, 0, 0, 0},
};

struct tree {
	const struct tree *left, *right;
	int64_t value;
	char op;
};

static struct tree trees[256];

static const struct tree *grow(int *used, uint32_t *seed, int depth)
{
	struct tree *t = &trees[(*used)++];

	*seed = *seed * 1664525U + 1013904223U;
	t->value = *seed >> 24;
	t->op = "+-*?v"[*seed >> 16 & 3];
	if (depth == 0 || *used > 240) {
		t->op = 'v';
		return t;
	}
	t->left = grow(used, seed, depth - 1);
	t->right = grow(used, seed, depth - 1 - (int)(*seed >> 30 & 1 && depth > 1));
	return t;
}

static int64_t evaluate(const struct tree *t, int64_t x)
{
	switch (t->op) {
	case '+':
		return (evaluate(t->left, x) + evaluate(t->right, x)) % 65536;
	case '-':
		return (evaluate(t->left, x) - evaluate(t->right, x)) % 65536;
	case '*':
		return evaluate(t->left, x) * evaluate(t->right, x) % 65536;
	case '?':
		return (evaluate(t->left, x) ^ x) & 1 ? evaluate(t->right, x) : x;
	default:
		return t->value + x;
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1;
	int64_t sum = 0;

	for (int r = 0; r < rounds; r++) {
		uint32_t seed = (uint32_t)r / 16;
		int used = 0;
		const struct tree *t = grow(&used, &seed, 6);

		sum += run(sieve) + run(collatz);
		for (int x = 0; x < 300; x++)
			sum = (int64_t)((uint64_t)sum + (uint64_t)evaluate(t, x) % 1000);
	}
	printf("%lld\n", (long long)sum);
	return 0;
}
