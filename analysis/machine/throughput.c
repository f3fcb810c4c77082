// SPDX-License-Identifier: GPL-2.0-only
#include "analysis/machine/throughput.h"

#include <math.h>
#include <string.h>

/* Iterations of a loop that are looked at: the later ones show its steady state. */
#define WARM_UP 4
#define STEADY 4
#define STORES_MAX 8

static const struct bound_cost *cost_of(const struct machine_bound *bound, const struct insn *insn)
{
	bool memory = (insn->flags & (INSN_READS_MEMORY | INSN_WRITES_MEMORY)) != 0;

	if ((insn->flags & INSN_ZEROES) != 0)
		return &bound->nothing;
	for (size_t i = 0; i < bound->exception_count; i++)
		if (bound->exceptions[i].opcode == insn->opcode &&
		    !(memory && bound->exceptions[i].registers_only))
			return &bound->exceptions[i].cost;
	return &bound->classes[insn->class];
}

/* Work that does more with memory than move it from there. */
static bool has_extra_load(const struct insn *insn)
{
	return (insn->flags & INSN_READS_MEMORY) != 0 && insn->class != INSN_LOAD;
}

static bool has_extra_store(const struct insn *insn)
{
	return (insn->flags & INSN_WRITES_MEMORY) != 0 && insn->class != INSN_STORE;
}

/* A branch that passes together with the comparison before it. */
static bool is_fused(const struct machine_bound *bound, const struct insn *insns, size_t index)
{
	const struct insn *before;

	if (!bound->fuses || index == 0 || insns[index].flow != INSN_FLOW_BRANCH)
		return false;
	before = &insns[index - 1];
	return before->class == INSN_ALU && (before->flags & INSN_WRITES_MEMORY) == 0 &&
	       insn_regs_meet(&before->writes, &insns[index].reads);
}

/* Operations in the front end: accesses to memory pass with the work that needs them. */
static unsigned int front_of(const struct machine_bound *bound, const struct insn *insns,
			     size_t index)
{
	const struct insn *insn = &insns[index];
	unsigned int front;

	if (is_fused(bound, insns, index))
		return 0;
	front = cost_of(bound, insn)->front;
	return has_extra_store(insn) ? front + bound->store.front : front;
}

/* Operations for each set of ports that some can go to. */
struct port_load {
	uint16_t ports;
	double cycles;
};

struct port_loads {
	struct port_load sets[BOUND_PORTS_MAX];
	size_t count;
};

static void add_load(struct port_loads *loads, const struct bound_cost *cost)
{
	double cycles = (double)cost->back * cost->busy;

	if (cost->ports == 0 || cost->back == 0)
		return;
	for (size_t i = 0; i < loads->count; i++)
		if (loads->sets[i].ports == cost->ports) {
			loads->sets[i].cycles += cycles;
			return;
		}
	if (loads->count < BOUND_PORTS_MAX)
		loads->sets[loads->count++] =
			(struct port_load){.ports = cost->ports, .cycles = cycles};
}

static double cycles_within(const struct port_loads *loads, uint16_t ports)
{
	double cycles = 0;

	for (size_t i = 0; i < loads->count; i++)
		if ((loads->sets[i].ports & ~ports) == 0)
			cycles += loads->sets[i].cycles;
	return cycles / __builtin_popcount(ports);
}

/* The busiest ports are those of one set, or of two that overlap. */
static double port_bound(const struct machine_bound *bound, const struct insn *insns, size_t count)
{
	struct port_loads loads = {.count = 0};
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		if (!is_fused(bound, insns, i))
			add_load(&loads, cost_of(bound, &insns[i]));
		if (has_extra_load(&insns[i]))
			add_load(&loads, &bound->load);
		if (has_extra_store(&insns[i]))
			add_load(&loads, &bound->store);
	}
	for (size_t i = 0; i < loads.count; i++)
		for (size_t j = i; j < loads.count; j++) {
			double cycles =
				cycles_within(&loads, loads.sets[i].ports | loads.sets[j].ports);

			most = cycles > most ? cycles : most;
		}
	return most;
}

/*
 * When results are there if only they are waited for: registers, and values that
 * were stored and are loaded again through the same operand.
 */
struct dataflow {
	double registers[INSN_REGS];
	struct {
		struct insn_memory memory;
		double ready;
	} stores[STORES_MAX];
	size_t store_count;
	double last;
};

static bool same_memory(const struct insn_memory *a, const struct insn_memory *b)
{
	return a->base == b->base && a->index == b->index && a->scale == b->scale &&
	       a->displacement == b->displacement && a->bytes == b->bytes;
}

static bool uses(const struct insn_memory *memory, const struct insn_regs *regs)
{
	return insn_regs_has(regs, memory->base) || insn_regs_has(regs, memory->index);
}

/* A new store of the same operand replaces the old one; registers that move make it unknown. */
static void forget_stores(struct dataflow *flow, const struct insn *insn, bool stores)
{
	size_t kept = 0;

	for (size_t i = 0; i < flow->store_count; i++)
		if (!uses(&flow->stores[i].memory, &insn->writes) &&
		    !(stores && same_memory(&flow->stores[i].memory, &insn->memory)))
			flow->stores[kept++] = flow->stores[i];
	flow->store_count = kept;
}

static double ready_of_memory(const struct machine_bound *bound, const struct dataflow *flow,
			      const struct insn *insn)
{
	if ((insn->flags & INSN_READS_MEMORY) == 0)
		return 0;
	for (size_t i = 0; i < flow->store_count; i++)
		if (same_memory(&flow->stores[i].memory, &insn->memory))
			return flow->stores[i].ready + bound->forward_latency;
	return 0;
}

static double ready_of_registers(const struct dataflow *flow, const struct insn_regs *regs)
{
	double ready = 0;

	for (unsigned int w = 0; w < 2; w++)
		for (uint64_t bits = regs->words[w]; bits != 0; bits &= bits - 1) {
			double at = flow->registers[w * 64 + (unsigned int)__builtin_ctzll(bits)];

			ready = at > ready ? at : ready;
		}
	return ready;
}

/* The address is needed before the load, other operands only behind it. */
static double result_of(const struct machine_bound *bound, const struct dataflow *flow,
			const struct insn *insn)
{
	const struct bound_cost *cost = cost_of(bound, insn);
	struct insn_regs address = {0};
	double start, loaded;

	if ((insn->flags & INSN_ZEROES) != 0)
		return 0;
	start = ready_of_registers(flow, &insn->reads);
	if (has_extra_load(insn)) {
		insn_regs_add(&address, insn->memory.base);
		insn_regs_add(&address, insn->memory.index);
		loaded = ready_of_registers(flow, &address) + bound->load.latency;
		start = loaded > start ? loaded : start;
	}
	loaded = ready_of_memory(bound, flow, insn);
	if (insn->class == INSN_LOAD)
		return loaded > start + cost->latency ? loaded : start + cost->latency;
	start = loaded > start ? loaded : start;
	return start + cost->latency;
}

/* Return: by how much it is later than all before it, which it keeps from retiring. */
static double flow_through(const struct machine_bound *bound, struct dataflow *flow,
			   const struct insn *insn)
{
	bool stores = (insn->flags & INSN_WRITES_MEMORY) != 0;
	double ready = result_of(bound, flow, insn), before = flow->last;

	forget_stores(flow, insn, stores);
	for (unsigned int w = 0; w < 2; w++)
		for (uint64_t bits = insn->writes.words[w]; bits != 0; bits &= bits - 1)
			flow->registers[w * 64 + (unsigned int)__builtin_ctzll(bits)] = ready;
	/* The stack engine moves the stack pointer without taking time. */
	if (insn->memory.pushes && insn_regs_has(&insn->writes, insn->memory.base))
		flow->registers[insn->memory.base] = 0;
	if (stores && flow->store_count < STORES_MAX && !insn->memory.pushes &&
	    !uses(&insn->memory, &insn->writes)) {
		flow->stores[flow->store_count].memory = insn->memory;
		flow->stores[flow->store_count++].ready = ready;
	}
	if (ready <= before)
		return 0;
	flow->last = ready;
	return ready - before;
}

typedef void (*hold_fn)(void *context, size_t insn, double cycles);

/*
 * Cycles of an iteration, once it is steady.
 * @hold: who holds the others up, in each of STEADY iterations; may be NULL
 */
static double dependence_bound(const struct machine_bound *bound, const struct insn *insns,
			       size_t count, hold_fn hold, void *context)
{
	struct dataflow flow;
	double middle = 0;

	memset(&flow, 0, sizeof(flow));
	for (int iteration = 0; iteration < WARM_UP + STEADY; iteration++) {
		if (iteration == WARM_UP)
			middle = flow.last;
		for (size_t i = 0; i < count; i++) {
			double held = is_fused(bound, insns, i)
					      ? 0
					      : flow_through(bound, &flow, &insns[i]);

			if (hold != NULL && held > 0 && iteration >= WARM_UP)
				hold(context, i, held);
		}
	}
	return (flow.last - middle) / STEADY;
}

static unsigned int operations_of(const struct machine_bound *bound, const struct insn *insns,
				  size_t count)
{
	unsigned int operations = 0;

	for (size_t i = 0; i < count; i++)
		operations += front_of(bound, insns, i);
	return operations;
}

struct throughput throughput_of_block(const struct machine_bound *bound, const struct insn *insns,
				      size_t count, bool loops)
{
	struct throughput throughput = {0};

	throughput.front = (double)operations_of(bound, insns, count) / bound->width;
	throughput.ports = port_bound(bound, insns, count);
	if (loops) {
		throughput.dependences = dependence_bound(bound, insns, count, NULL, NULL);
		/* One taken branch a cycle. */
		if (throughput.dependences < 1)
			throughput.dependences = 1;
	}
	return throughput;
}

static bool loops(const struct cfg *cfg, uint32_t block_index)
{
	const struct cfg_block *block = &cfg->blocks[block_index];

	for (uint32_t i = 0; i < block->out_count; i++)
		if (cfg->edges[block->out + i].to == block_index)
			return true;
	return false;
}

/*
 * struct waits - where a loop's waits are put down
 * @insns: of the block
 * @part:  of what dependences take, that nothing else would
 */
struct waits {
	struct schedule_insn *insns;
	uint32_t first;
	uint32_t count;
	double part;
};

/*
 * Behind who is waited for: it has passed when the next one is seen to be the oldest. A cycle
 * is what any instruction takes that needs the one before, and no stall.
 */
static void add_wait(void *context, size_t insn, double cycles)
{
	const struct waits *waits = context;
	struct schedule_insn *behind = &waits->insns[(insn + 1) % waits->count];
	double wait = cycles * waits->part / STEADY;

	if (cycles <= 1) {
		waits->insns[insn].min_cycles += wait;
		return;
	}
	if (behind->stall_count == 0)
		behind->stalls[behind->stall_count++] = (struct static_stall){
			.kind = STALL_LATENCY, .from = waits->first + (uint32_t)insn};
	behind->stalls[0].cycles += wait;
	behind->min_cycles += wait;
	behind->issues_with_previous = false;
}

/* In proportion to operations in the front end. */
static void share_out(struct schedule_insn *ret, const struct machine_bound *bound,
		      const struct insn *insns, uint32_t count, double cycles)
{
	unsigned int operations = operations_of(bound, insns, count);

	for (uint32_t i = 0; i < count; i++) {
		double share = operations > 0 ? (double)front_of(bound, insns, i) / operations
					      : 1.0 / count;

		ret[i].min_cycles = cycles * share;
		ret[i].issues_with_previous = share <= 0;
	}
}

static void schedule_block(struct schedule_insn *ret, const struct machine_bound *bound,
			   const struct cfg *cfg, uint32_t block_index)
{
	const struct cfg_block *block = &cfg->blocks[block_index];
	const struct insn *insns = &cfg->insns[block->first];
	struct waits waits = {.insns = ret, .first = block->first, .count = block->count};
	bool again = loops(cfg, block_index);
	struct throughput t = throughput_of_block(bound, insns, block->count, again);
	double busy = fmax(t.front, t.ports), least = again ? fmax(busy, 1) : busy;

	share_out(ret, bound, insns, block->count, least);
	if (t.dependences <= least)
		return;
	waits.part = (t.dependences - least) / t.dependences;
	dependence_bound(bound, insns, block->count, add_wait, &waits);
}

int throughput_schedule(struct schedule *schedule, const struct machine_bound *bound,
			const struct cfg *cfg)
{
	for (uint32_t b = 0; b < cfg->block_count; b++)
		schedule_block(&schedule->insns[cfg->blocks[b].first], bound, cfg, b);
	return 0;
}
