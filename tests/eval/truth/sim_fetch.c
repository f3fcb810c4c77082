// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_fetch.h"

void sim_fetch_init(struct sim_fetch *fetch, const struct sim_machine *machine,
		    struct sim_memory *memory)
{
	*fetch = (struct sim_fetch){
		.machine = machine,
		.memory = memory,
		.block = UINT64_MAX,
		.line = UINT64_MAX,
		.page = UINT64_MAX,
	};
}

static void delay(struct sim_fetch *fetch, uint64_t until, enum sim_cause cause)
{
	fetch->ready = until;
	fetch->delays[fetch->delay_count++] = (struct sim_delay){until, (uint8_t)cause};
}

static void redirected(struct sim_fetch *fetch)
{
	if (fetch->restart > fetch->ready)
		delay(fetch, fetch->restart, fetch->restart_cause);
	else if (fetch->taken)
		delay(fetch, fetch->ready + fetch->machine->taken_bubble, SIM_CAUSE_FETCH);
	fetch->restart = 0;
	fetch->taken = false;
}

static void memory(struct sim_fetch *fetch, struct sim_insn *insn)
{
	const struct sim_machine *m = fetch->machine;
	uint64_t page = insn->pc / m->page_bytes, line = insn->pc / m->l1i.line;
	uint32_t cycles;

	if (page != fetch->page && !sim_tlb_access(&fetch->memory->itb, insn->pc)) {
		insn->events[SIM_EVENT_ITB_MISS]++;
		delay(fetch, fetch->ready + m->itb_cycles, SIM_CAUSE_ITB);
	}
	fetch->page = page;
	if (line == fetch->line)
		return;
	fetch->line = line;
	cycles = sim_memory_fetch(fetch->memory, insn->pc);
	if (cycles > 0) {
		insn->events[SIM_EVENT_IMISS]++;
		delay(fetch, fetch->ready + cycles, SIM_CAUSE_ICACHE);
	}
}

static void block_begins(struct sim_fetch *fetch, struct sim_insn *insn, uint64_t now)
{
	uint64_t room = fetch->left[fetch->turn] + 1;
	bool taken = fetch->taken;

	fetch->left[fetch->turn] = now;
	fetch->turn = (fetch->turn + 1) % fetch->machine->fetch_ahead;
	fetch->ready++;
	if (fetch->ready < room)
		fetch->ready = room;
	redirected(fetch);
	/* The target of a taken branch never issues together with the branch. */
	if (taken && fetch->ready <= now)
		fetch->ready = now + 1;
	memory(fetch, insn);
}

void sim_fetch_insn(struct sim_fetch *fetch, struct sim_insn *insn, uint64_t now)
{
	uint64_t block = insn->pc / fetch->machine->fetch_bytes;

	fetch->delay_count = 0;
	if (block == fetch->block && !fetch->taken && fetch->restart == 0)
		return;
	fetch->block = block;
	block_begins(fetch, insn, now);
}

void sim_fetch_taken(struct sim_fetch *fetch)
{
	fetch->taken = true;
}

void sim_fetch_restart(struct sim_fetch *fetch, uint64_t cycle, enum sim_cause cause)
{
	fetch->restart = cycle;
	fetch->restart_cause = (uint8_t)cause;
}
