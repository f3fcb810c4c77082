// SPDX-License-Identifier: GPL-2.0-only
/*
 * The x86-64 interpreter compared with this CPU, on random instructions and registers, some of them
 * hidden from the interpreter. All values that it claims to know afterwards must be those computed
 * by the CPU.
 */
#include "tests/lib/unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tests/fixtures/x86_tracee.h"

enum {
	ROUNDS = 150000,
	INSNS_MAX = 5,
	INT3 = 0xcc
};

/* Most addresses are in a few cells of the tracee's data, so that accesses overlap. */
struct trial {
	struct x86_tracee *tracee;
	uint64_t seed;
	bool forgetful;
};

static uint32_t draw(struct trial *trial, uint32_t below)
{
	return (uint32_t)(unit_random(&trial->seed) >> 20) % below;
}

static uint8_t *put_prefixes(struct trial *trial, uint8_t *to)
{
	static const uint8_t rare[] = {0xf2, 0xf3, 0x67, 0xf0, 0x64, 0x65, 0x2e};

	if (draw(trial, 6) == 0)
		*to++ = 0x66;
	if (draw(trial, 8) == 0)
		*to++ = rare[draw(trial, sizeof(rare))];
	if (draw(trial, 2) == 0)
		*to++ = (uint8_t)(0x40 + draw(trial, 16));
	return to;
}

static uint8_t *put_opcode(struct trial *trial, uint8_t *to)
{
	uint32_t map = draw(trial, 16);

	if (map >= 9)
		*to++ = 0x0f;
	if (map == 15)
		*to++ = draw(trial, 2) ? 0x38 : 0x3a;
	*to++ = (uint8_t)draw(trial, 256);
	return to;
}

/* Write ModRM, SIB, displacement and immediate, or bytes that are decoded as these. */
static uint8_t *put_operands(struct trial *trial, uint8_t *to)
{
	uint32_t i, cell = draw(trial, 8) * 4;

	*to++ = (uint8_t)(draw(trial, 2) ? 0xc0 | draw(trial, 64) : 0x40 | draw(trial, 64));
	*to++ = (uint8_t)(draw(trial, 2) ? cell : draw(trial, 256));
	for (i = 0; i < 8; i++)
		*to++ = (uint8_t)(draw(trial, 3) ? draw(trial, 256) : 0);
	return to;
}

/* Write instructions; the interpreter must determine their lengths. */
static void put_code(struct trial *trial)
{
	uint8_t *to = trial->tracee->code;
	uint32_t count = 1 + draw(trial, INSNS_MAX), i;

	for (i = 0; i < count; i++)
		to = put_operands(trial, put_opcode(trial, put_prefixes(trial, to)));
	memset(to, INT3, (size_t)(trial->tracee->code + 256 - to));
}

static uint64_t random_value(struct trial *trial)
{
	uint64_t value = unit_random(&trial->seed);

	switch (draw(trial, 6)) {
	case 0:
		return value;
	case 1:
		return value & 0xff;
	case 2:
		return -(value & 3);
	case 3:
		return 1ULL << (value & 63);
	default:
		return TRACEE_DATA + 0x8000 + 16 * (value & 7);
	}
}

static void set_registers(struct trial *trial, struct user_regs_struct *regs,
			  struct interpret_state *state)
{
	uint32_t i, j;

	*regs = trial->tracee->first;
	x86_state_set(state, regs);
	state->pc = TRACEE_CODE;
	state->flags = 0x202 | (unit_random(&trial->seed) & 0x8d5);
	for (i = 0; i < 16; i++)
		state->reg[i] = random_value(trial);
	if (draw(trial, 2))
		state->reg[1] &= 31;
	x86_state_get(state, regs);
	for (j = draw(trial, 8); j > 4; j--) {
		i = draw(trial, 18);
		state->known &= ~(1U << i);
		state->reg[i] = random_value(trial);
	}
	if (draw(trial, 3) == 0) {
		state->flags_known &= unit_random(&trial->seed);
		state->flags ^= ~state->flags_known & 0x8d5;
	}
	for (i = 0; i < 256; i++)
		trial->tracee->data[0x8000 - 64 + i] = (uint8_t)unit_random(&trial->seed);
	trial->forgetful = draw(trial, 4) == 0;
}

static bool tracee_read(void *context, u64 address, void *to, size_t bytes)
{
	struct trial *trial = context;

	if (address - TRACEE_CODE <= TRACEE_CODE_BYTES - bytes) {
		memcpy(to, trial->tracee->code + (address - TRACEE_CODE), bytes);
		return true;
	}
	if (bytes > 8 || address - TRACEE_DATA > TRACEE_DATA_BYTES - bytes ||
	    (trial->forgetful && draw(trial, 2)))
		return false;
	memcpy(to, trial->tracee->data + (address - TRACEE_DATA), bytes);
	return true;
}

static void fail_with(const struct trial *trial, const struct user_regs_struct *regs,
		      const struct interpret_state *state, const struct interpret_edge *edge,
		      int what)
{
	char code[3 * 64 + 1];
	size_t i;

	for (i = 0; i < 64; i++)
		snprintf(code + 3 * i, 4, "%02x ", trial->tracee->code[i]);
	if (what < 18)
		print_error("register %d: interpreted %#llx\n", what,
			    (unsigned long long)state->reg[what]);
	fail_msg("after %u steps %d differs: flags %#llx (known %#llx) pc %#llx, CPU: flags "
		 "%#llx pc %#llx rax %#llx rcx %#llx rdx %#llx rdi %#llx rsp %#llx; code: %s",
		 edge->steps, what, (unsigned long long)state->flags,
		 (unsigned long long)state->flags_known, (unsigned long long)state->pc,
		 regs->eflags, regs->rip, regs->rax, regs->rcx, regs->rdx, regs->rdi, regs->rsp,
		 code);
}

struct tally {
	uint32_t insns, edges, signals, undefined, refused;
};

static void try_code(struct trial *trial, struct tally *tally)
{
	struct user_regs_struct regs;
	struct interpret_state state;
	struct interpret_edge edge;
	enum interpret_end end;
	uint32_t steps;
	int raised, what;

	put_code(trial);
	set_registers(trial, &regs, &state);
	end = interpret_x86_64(&state, tracee_read, trial, &edge);
	tally->refused += end != INTERPRET_EDGE && edge.steps == 1;
	if (end == INTERPRET_TOO_LONG || (end == INTERPRET_EDGE && edge.to == edge.from))
		return; /* cannot be distinguished from steps of a repeated instruction */
	tally->edges += end == INTERPRET_EDGE;
	for (steps = end == INTERPRET_EDGE ? edge.steps : edge.steps - 1; steps > 0; steps--) {
		raised = x86_tracee_step(trial->tracee, &regs);
		tally->signals += raised != 0;
		tally->undefined += raised == SIGILL;
		if (raised != 0)
			return; /* after a fault, the program's behavior is not compared */
		tally->insns++;
	}
	what = x86_state_differs(&state, &regs);
	if (what >= 0)
		fail_with(trial, &regs, &state, &edge, what);
}

static void test_agrees_with_cpu(void **state)
{
	static struct x86_tracee tracee;
	struct trial trial = {.tracee = &tracee, .seed = 20};
	struct tally tally = {0};
	const char *seed = getenv("SEED");
	int round;

	(void)state;
	if (seed != NULL)
		trial.seed = strtoull(seed, NULL, 0);
	if (!x86_tracee_open(&tracee)) {
		print_message("no ptrace here\n");
		skip();
	}
	for (round = 0; round < ROUNDS; round++)
		try_code(&trial, &tally);
	x86_tracee_close(&tracee);
	print_message("%u instructions, %u edges, %u faults, %u of them undefined, %u refused\n",
		      tally.insns, tally.edges, tally.signals, tally.undefined, tally.refused);
	assert_true(tally.insns > ROUNDS / 4);
	assert_true(tally.edges > ROUNDS / 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
