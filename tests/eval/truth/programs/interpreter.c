// SPDX-License-Identifier: GPL-2.0-only
/* A byte-code machine that searches for primes: one big switch. */
#include "tests/eval/truth/programs/program.h"

enum op {
	PUSH,
	LOAD,
	STORE,
	ADD,
	SUB,
	MUL,
	MOD,
	LESS,
	EQUAL,
	JUMP,
	JUMP_FALSE,
	DUP,
	EMIT,
	CALL,
	RETURN,
	HALT
};

static int32_t code[128];
static int32_t length;

static int32_t emit(enum op op, int32_t operand)
{
	code[length++] = op;
	if (op == PUSH || op == LOAD || op == STORE || op == JUMP || op == JUMP_FALSE || op == CALL)
		code[length++] = operand;
	return length - 1;
}

/* prime(n in 0): return 1 unless some d in 1 divides n */
static int32_t assemble_prime(void)
{
	int32_t start = length, loop, last, no;

	emit(PUSH, 2);
	emit(STORE, 1);
	loop = length;
	emit(LOAD, 0);
	emit(LOAD, 1);
	emit(DUP, 0);
	emit(MUL, 0);
	emit(LESS, 0);
	last = emit(JUMP_FALSE, 0);
	emit(PUSH, 1);
	emit(RETURN, 0);
	code[last] = length;
	emit(LOAD, 0);
	emit(LOAD, 1);
	emit(MOD, 0);
	emit(PUSH, 0);
	emit(EQUAL, 0);
	no = emit(JUMP_FALSE, 0);
	emit(PUSH, 0);
	emit(RETURN, 0);
	code[no] = length;
	emit(LOAD, 1);
	emit(PUSH, 1);
	emit(ADD, 0);
	emit(STORE, 1);
	emit(JUMP, loop);
	return start;
}

/* for (n = 2; n < limit; n++) if (prime(n)) emit n; Return: the start address. */
static int32_t assemble(int32_t limit)
{
	int32_t prime = assemble_prime(), start = length, loop, end, next;

	emit(PUSH, 2);
	emit(STORE, 0);
	loop = length;
	emit(LOAD, 0);
	emit(PUSH, limit);
	emit(LESS, 0);
	end = emit(JUMP_FALSE, 0);
	emit(CALL, prime);
	next = emit(JUMP_FALSE, 0);
	emit(LOAD, 0);
	emit(EMIT, 0);
	code[next] = length;
	emit(LOAD, 0);
	emit(PUSH, 1);
	emit(ADD, 0);
	emit(STORE, 0);
	emit(JUMP, loop);
	code[end] = length;
	emit(HALT, 0);
	return start;
}

struct machine {
	int32_t stack[64];
	int32_t returns[16];
	int32_t variables[4];
	uint64_t emitted;
};

__attribute__((noipa)) static uint64_t run(struct machine *m, const int32_t *program, int32_t start)
{
	int32_t *top = m->stack, *back = m->returns;
	const int32_t *pc = program + start;
	uint64_t steps = 0;

	for (;; steps++) {
		switch ((enum op) * pc++) {
		case PUSH:
			*++top = *pc++;
			break;
		case LOAD:
			*++top = m->variables[*pc++];
			break;
		case STORE:
			m->variables[*pc++] = *top--;
			break;
		case ADD:
			top--;
			top[0] += top[1];
			break;
		case SUB:
			top--;
			top[0] -= top[1];
			break;
		case MUL:
			top--;
			top[0] *= top[1];
			break;
		case MOD:
			top--;
			top[0] = (int32_t)((uint32_t)top[0] % (uint32_t)top[1]);
			break;
		case LESS:
			top--;
			top[0] = top[0] < top[1];
			break;
		case EQUAL:
			top--;
			top[0] = top[0] == top[1];
			break;
		case JUMP:
			pc = program + *pc;
			break;
		case JUMP_FALSE:
			pc = *top-- ? pc + 1 : program + *pc;
			break;
		case DUP:
			top++;
			top[0] = top[-1];
			break;
		case EMIT:
			m->emitted = m->emitted * 31 + (uint32_t)*top--;
			break;
		case CALL:
			*back++ = (int32_t)(pc + 1 - program);
			pc = program + *pc;
			break;
		case RETURN:
			pc = program + *--back;
			break;
		case HALT:
			return steps;
		}
	}
}

int main(int argc, char **argv)
{
	unsigned int rounds = program_rounds(argc, argv, 3);
	int32_t start = assemble(4000);
	struct machine machine = {0};
	uint64_t sum = 0;

	while (rounds-- > 0) {
		sum = sum * 31 + run(&machine, code, start);
		sum += machine.emitted;
	}
	return program_end(sum);
}
