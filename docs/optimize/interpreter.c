// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that profile-guided optimisation makes faster: an interpreter whose checks rarely fail,
 * with the failure handling inline, and helpers that are worth inlining at one of many call sites.
 * Prints a checksum. interpreter [ROUNDS]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define STACK 64
#define CODE 512

enum op {
	PUSH,
	ADD,
	XOR,
	MULTIPLY,
	DUPLICATE,
	SWAP,
	SHIFT,
	LOAD,
	STORE,
	JUMP,
	HALT,
	OPS
};

struct machine {
	uint64_t stack[STACK];
	uint64_t memory[STACK];
	unsigned int depth;
	unsigned int at;
	uint64_t steps;
	const char *failure;
};

/* So large that no compiler inlines code with it, unless it knows that the code never runs. */
#define TELL(machine)                                                                              \
	do {                                                                                       \
		fprintf(stderr, "at %u of %d\n", (machine)->at, CODE);                             \
		fprintf(stderr, "depth %u of %d\n", (machine)->depth, STACK);                      \
		fprintf(stderr, "steps %llu\n", (unsigned long long)(machine)->steps);             \
		fprintf(stderr, "top %llx\n", (unsigned long long)(machine)->stack[0]);            \
		fprintf(stderr, "memory %llx\n", (unsigned long long)(machine)->memory[0]);        \
		fprintf(stderr, "failure %s\n", (machine)->failure);                               \
		fprintf(stderr, "code %u\n", code[0]);                                             \
	} while (0)

static uint8_t code[CODE];
static unsigned int failures[8];

static void describe(struct machine *machine, int what)
{
	static const char *const texts[8] = {"overflow", "underflow", "address", "operand",
					     "opcode",	 "end",	      "depth",	 "other"};

	failures[what]++;
	machine->failure = texts[what];
	if (failures[what] > 1000000)
		fprintf(stderr, "too many failures: %s at %u, depth %u\n", texts[what], machine->at,
			machine->depth);
}

static void push(struct machine *machine, uint64_t value)
{
	if (machine->depth >= STACK) {
		describe(machine, 0);
		machine->depth = 0;
		for (unsigned int i = 0; i < STACK; i++)
			machine->stack[i] ^= value + i;
		TELL(machine);
	} else if (machine->depth == STACK - 1 && value == UINT64_MAX) {
		describe(machine, 6);
	}
	machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
	if (machine->depth == 0) {
		describe(machine, 1);
		for (unsigned int i = 0; i < STACK; i++)
			machine->stack[i] += i * 3;
		TELL(machine);
		return machine->at;
	}
	if (machine->depth > STACK) {
		describe(machine, 7);
		machine->depth = STACK;
	}
	return machine->stack[--machine->depth];
}

static uint64_t operand(struct machine *machine)
{
	if (machine->at >= CODE) {
		describe(machine, 3);
		machine->at = 0;
	}
	return code[machine->at++];
}

static unsigned int address(struct machine *machine, uint64_t value)
{
	if (value >= 4 * STACK) {
		describe(machine, 2);
		return 0;
	}
	return (unsigned int)(value % STACK);
}

static uint64_t run(struct machine *machine)
{
	uint64_t a, b;

	for (;;) {
		machine->steps++;
		switch (operand(machine)) {
		case PUSH:
			push(machine, operand(machine));
			break;
		case ADD:
			a = pop(machine);
			b = pop(machine);
			push(machine, a + b);
			break;
		case XOR:
			a = pop(machine);
			b = pop(machine);
			push(machine, a ^ b);
			break;
		case MULTIPLY:
			a = pop(machine);
			b = pop(machine);
			push(machine, a * (b | 1));
			break;
		case DUPLICATE:
			a = pop(machine);
			push(machine, a);
			push(machine, a);
			break;
		case SWAP:
			a = pop(machine);
			b = pop(machine);
			push(machine, a);
			push(machine, b);
			break;
		case SHIFT:
			a = pop(machine);
			push(machine, a >> 7 ^ a << 13);
			break;
		case LOAD:
			push(machine, machine->memory[address(machine, operand(machine))]);
			break;
		case STORE:
			machine->memory[address(machine, operand(machine))] = pop(machine);
			break;
		case JUMP:
			machine->at = (unsigned int)operand(machine);
			break;
		case HALT:
			return pop(machine);
		default:
			describe(machine, 4);
			return 0;
		}
	}
}

int main(int argc, char **argv)
{
	static const uint8_t kernel[] = {LOAD, 1,    DUPLICATE, SHIFT, PUSH,	  17,	 MULTIPLY,
					 ADD,  LOAD, 2,		XOR,   DUPLICATE, STORE, 1,
					 PUSH, 3,    ADD,	STORE, 2};
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
	struct machine machine = {.memory = {0, 0x9e3779b97f4a7c15ULL, 12345}};
	uint64_t sum = 0;
	size_t n = 0;

	while (n + sizeof(kernel) + 3 < CODE) {
		for (size_t i = 0; i < sizeof(kernel); i++)
			code[n++] = kernel[i];
	}
	code[n++] = LOAD;
	code[n++] = 1;
	code[n] = HALT;
	for (unsigned long i = 0; i < rounds; i++) {
		machine.at = 0;
		sum = sum * 31 + run(&machine);
	}
	printf("%016llx after %llu steps%s%s\n", (unsigned long long)sum,
	       (unsigned long long)machine.steps, machine.failure != NULL ? ", " : "",
	       machine.failure != NULL ? machine.failure : "");
	return 0;
}
