// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_predictor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define INSN_BYTES 4
#define WEAKLY_NOT_TAKEN 1
#define WEAKLY_TAKEN 2
#define STRONGLY_TAKEN 3

int sim_predictor_init(struct sim_predictor *predictor, const struct sim_machine *machine)
{
	*predictor = (struct sim_predictor){.machine = machine};
	predictor->counters = malloc(machine->counters);
	predictor->targets = calloc(machine->targets + 1, sizeof(*predictor->targets));
	if (!predictor->counters || !predictor->targets) {
		sim_predictor_deinit(predictor);
		return -ENOMEM;
	}
	memset(predictor->counters, WEAKLY_NOT_TAKEN, machine->counters);
	return 0;
}

static bool conditional(struct sim_predictor *p, uint64_t pc, bool taken)
{
	uint32_t history = p->history & ((1U << p->machine->history) - 1);
	uint8_t *counter = &p->counters[((pc / INSN_BYTES) ^ history) & (p->machine->counters - 1)];
	bool foreseen = (*counter >= WEAKLY_TAKEN) == taken;

	if (taken && *counter < STRONGLY_TAKEN)
		++*counter;
	else if (!taken && *counter > 0)
		--*counter;
	p->history = p->history << 1 | taken;
	return foreseen;
}

static bool indirect(struct sim_predictor *p, const struct sim_insn *insn, uint64_t next)
{
	uint64_t *target, last;

	if (p->machine->hints)
		return (uint16_t)(insn->pc + INSN_BYTES + insn->op.hint) == (uint16_t)next;
	if (p->machine->targets == 0)
		return false;
	target = &p->targets[insn->pc / INSN_BYTES % p->machine->targets];
	last = *target;
	*target = next;
	return last == next;
}

static void call(struct sim_predictor *p, const struct sim_insn *insn)
{
	p->top = (p->top + 1) % p->machine->return_stack;
	p->returns[p->top] = insn->pc + INSN_BYTES;
}

static bool returned(struct sim_predictor *p, uint64_t next)
{
	bool foreseen = p->returns[p->top] == next;

	p->top = (p->top + p->machine->return_stack - 1) % p->machine->return_stack;
	return foreseen;
}

bool sim_predictor_foresees(struct sim_predictor *predictor, const struct sim_insn *insn,
			    uint64_t next)
{
	bool foreseen;

	switch (insn->op.flow) {
	case SIM_CONDITIONAL:
		return conditional(predictor, insn->pc, next != insn->pc + INSN_BYTES);
	case SIM_CALL:
		call(predictor, insn);
		return true;
	case SIM_INDIRECT:
		return indirect(predictor, insn, next);
	case SIM_INDIRECT_CALL:
		foreseen = indirect(predictor, insn, next);
		call(predictor, insn);
		return foreseen;
	case SIM_RETURN:
		return returned(predictor, next);
	default:
		return true;
	}
}

void sim_predictor_deinit(struct sim_predictor *predictor)
{
	free(predictor->counters);
	free(predictor->targets);
	*predictor = (struct sim_predictor){0};
}
