// SPDX-License-Identifier: GPL-2.0-only
#include "tests/eval/truth/sim_memory.h"

#include <errno.h>

int sim_memory_init(struct sim_memory *memory, const struct sim_machine *machine)
{
	*memory = (struct sim_memory){.machine = machine};
	sim_write_buffer_init(&memory->writes, machine);
	if (sim_cache_init(&memory->l1i, &machine->l1i) != 0 ||
	    sim_cache_init(&memory->l1d, &machine->l1d) != 0 ||
	    sim_cache_init(&memory->l2, &machine->l2) != 0 ||
	    sim_cache_init(&memory->l3, &machine->l3) != 0 ||
	    sim_tlb_init(&memory->itb, machine->itb_entries, machine->page_bytes) != 0 ||
	    sim_tlb_init(&memory->dtb, machine->dtb_entries, machine->page_bytes) != 0) {
		sim_memory_deinit(memory);
		return -ENOMEM;
	}
	return 0;
}

enum level {
	L2,
	L3,
	MEMORY
};

/* Return the level that has a line which L1 lacks; afterwards all levels have it. */
static enum level level_of(struct sim_memory *memory, uint64_t address)
{
	if (sim_cache_find(&memory->l2, address))
		return L2;
	sim_cache_fill(&memory->l2, address, 0);
	if (sim_cache_find(&memory->l3, address))
		return L3;
	sim_cache_fill(&memory->l3, address, 0);
	return MEMORY;
}

static uint32_t read_cycles(struct sim_memory *memory, uint64_t address)
{
	const struct sim_machine *m = memory->machine;

	switch (level_of(memory, address)) {
	case L2:
		return m->l2_cycles;
	case L3:
		return m->l3_cycles;
	default:
		return m->memory_cycles;
	}
}

static uint32_t write_cycles(struct sim_memory *memory, uint64_t address)
{
	const struct sim_machine *m = memory->machine;

	switch (level_of(memory, address)) {
	case L2:
		return m->write_l2;
	case L3:
		return m->write_l3;
	default:
		return m->write_memory;
	}
}

uint32_t sim_memory_fetch(struct sim_memory *memory, uint64_t address)
{
	if (sim_cache_find(&memory->l1i, address))
		return 0;
	sim_cache_fill(&memory->l1i, address, 0);
	return read_cycles(memory, address);
}

uint64_t sim_memory_miss_free_at(const struct sim_memory *memory, uint64_t now)
{
	uint64_t first = memory->misses[0];
	uint32_t i;

	for (i = 1; i < memory->machine->misses; i++) {
		if (memory->misses[i] < first)
			first = memory->misses[i];
	}
	return first > now ? first : now;
}

bool sim_memory_hits(struct sim_memory *memory, uint64_t address)
{
	return sim_cache_find(&memory->l1d, address) != NULL;
}

static void miss_begins(struct sim_memory *memory, uint64_t until)
{
	uint32_t oldest = 0, i;

	for (i = 1; i < memory->machine->misses; i++) {
		if (memory->misses[i] < memory->misses[oldest])
			oldest = i;
	}
	memory->misses[oldest] = until;
}

uint64_t sim_memory_load(struct sim_memory *memory, uint64_t address, uint64_t now, bool *missed)
{
	struct sim_line *line = sim_cache_find(&memory->l1d, address);
	uint64_t ready;

	if (line)
		return line->ready > now ? line->ready : now;
	ready = now + read_cycles(memory, address);
	sim_cache_fill(&memory->l1d, address, ready);
	miss_begins(memory, ready);
	*missed = true;
	return ready;
}

uint64_t sim_memory_store_at(struct sim_memory *memory, uint64_t address, uint64_t now)
{
	if (sim_write_buffer_joins(&memory->writes, address, now))
		return now;
	return sim_write_buffer_free_at(&memory->writes, now);
}

void sim_memory_store(struct sim_memory *memory, uint64_t address, uint64_t now)
{
	const struct sim_machine *m = memory->machine;
	uint32_t cost;

	if (sim_write_buffer_joins(&memory->writes, address, now))
		return;
	if (!m->write_allocate) {
		sim_cache_find(&memory->l1d, address);
		cost = write_cycles(memory, address);
	} else if (sim_cache_find(&memory->l1d, address)) {
		cost = m->write_l1;
	} else {
		sim_cache_fill(&memory->l1d, address, 0);
		cost = write_cycles(memory, address);
	}
	sim_write_buffer_add(&memory->writes, address, now, cost);
}

void sim_memory_deinit(struct sim_memory *memory)
{
	sim_cache_deinit(&memory->l1i);
	sim_cache_deinit(&memory->l1d);
	sim_cache_deinit(&memory->l2);
	sim_cache_deinit(&memory->l3);
	sim_tlb_deinit(&memory->itb);
	sim_tlb_deinit(&memory->dtb);
}
